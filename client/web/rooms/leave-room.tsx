import type { RoomState } from '#client/sdk/types'
import type { Member } from '#shared/api/room'
import { roomKey } from '#shared/kit/room-key'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { isolated } from '../kit/format.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { kindOf } from './kind.ts'
import { closeRoom } from './open-rooms.ts'
import { useOpenRoom } from './room-context.ts'
import { goTo } from './route.ts'
import { useRoomList } from './use-rooms.ts'

const manages = ({ role }: { role: string | null }) => role === 'owner' || role === 'admin'

/** Asks for confirmation before the account leaves the room, and says what is lost. */
export function LeaveRoom({ state, onClose }: { state: RoomState; onClose: () => void }) {
  const client = useClient()
  const rooms = useRoomList()
  const { live, account } = useOpenRoom()
  const successors = useLoaded<'some' | 'none' | 'unknown'>(roomKey(live.ref), async () => {
    if (!manages(state.me)) return 'some'
    const { members, hasMore } = await client.rooms.members({ room: live.ref, limit: 200 })
    const isOther = (member: Member) => member.user_address !== account
    if (members.some((member) => isOther(member) && manages(member))) return 'some'
    return hasMore ? 'unknown' : 'none'
  })
  const leave = async () => {
    await client.rooms.leave({ room: live.ref })
    onClose()
    closeRoom(client, live.ref)
    rooms.reload()
    goTo(null)
  }

  return (
    <Dialog title="Leave" onClose={onClose}>
      <div className="stack wide">
        <p>Leave {isolated(state.room?.name ?? 'this room')}?</p>
        {successors.value === 'none' && <p className="banner">Nobody will manage this room then.</p>}
        {(successors.value === 'unknown' || successors.error !== null) && (
          <p className="banner">Nobody will manage this room then, unless it has another owner or admin.</p>
        )}
        {kindOf(live.ref).joining === 'invited' && <p>You can come back only when you are invited again.</p>}
        <div className="row end">
          <button type="button" className="button plain" onClick={onClose}>
            Cancel
          </button>
          <ActButton className="button grave" disabled={successors.isLoading} onPress={leave}>
            Leave
          </ActButton>
        </div>
      </div>
    </Dialog>
  )
}
