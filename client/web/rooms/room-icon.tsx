import { useClient } from '../connection/client.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Icon } from '../kit/icon.tsx'
import { PictureField } from '../media/picture-field.tsx'
import { useStoredPicture } from '../media/stored.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { useOpenRoom } from './room-context.ts'
import { useRoomList } from './use-rooms.ts'

/** Gives the open room an icon, or takes it away. */
export function RoomIconDialog({ url, onClose }: { url: string | null; onClose: () => void }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const rooms = useRoomList()
  const picture = useStoredPicture(url)
  const then = () => {
    rooms.reload()
    onClose()
  }
  return (
    <Dialog title={t.icon.title} onClose={onClose}>
      <PictureField
        title={t.icon.field}
        shown={
          <span className="avatar large">
            {picture ? <img src={picture} alt={t.icon.current} /> : <Icon name="hash" />}
          </span>
        }
        onStore={(file) => client.uploads.icon({ room: live.ref, file }).then(then)}
        onRemove={url === null ? undefined : () => client.uploads.removeIcon({ room: live.ref }).then(then)}
      />
    </Dialog>
  )
}
