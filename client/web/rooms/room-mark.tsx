import type { RoomSummary } from '#shared/api/rooms/room'
import { Avatar } from '../kit/avatar.tsx'
import { Icon } from '../kit/icon.tsx'
import { useStoredPicture } from '../media/stored.ts'
import { lookOf } from './kind.ts'
import { titleOf } from './room-title.ts'
import styles from './rooms.module.css'

/** The picture of a room in a list: its own, the sign of its kind, or the avatar of the other person. */
export function RoomMark({ room }: { room: RoomSummary }) {
  const { icon } = lookOf(room)
  const picture = useStoredPicture(room.icon_url)
  if (!icon) return <Avatar id={room.peer?.id ?? room.id} name={titleOf(room)} size="small" />
  return (
    <span className={styles.roomMark}>
      {picture ? (
        <img src={picture} alt="" loading="lazy" referrerPolicy="no-referrer" />
      ) : (
        <Icon name={icon === 'hash' && room.access_level === 'staff' ? 'lock' : icon} />
      )}
    </span>
  )
}
