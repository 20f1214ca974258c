import { useClient } from '../connection/client.ts'
import { Icon } from '../kit/icon.tsx'
import { PictureField } from '../media/picture-field.tsx'
import { useStoredPicture } from '../media/stored.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { useOpenRoom } from './room-context.ts'
import { useRoomList } from './use-rooms.ts'

/** Gives the open room an icon, or takes it away. */
export function RoomIconField({ url }: { url: string | null }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const rooms = useRoomList()
  const picture = useStoredPicture(url)
  return (
    <PictureField
      title={t.icon.field}
      shown={
        <span className="avatar large">
          {picture ? <img src={picture} alt={t.icon.current} /> : <Icon name="hash" />}
        </span>
      }
      onStore={(file) => client.uploads.icon({ room: live.ref, file }).then(rooms.reload)}
      onRemove={url === null ? undefined : () => client.uploads.removeIcon({ room: live.ref }).then(rooms.reload)}
    />
  )
}
