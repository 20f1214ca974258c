import type { RoomState } from '#client/sdk/types'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, isolated, lengthOf, secondsUntil } from '../kit/format.ts'
import { Blank } from '../kit/notice.tsx'
import { problemText } from '../kit/problem.ts'
import { useNowUntil } from '../kit/use-now.ts'
import { BackToRooms } from './back-to-rooms.tsx'
import { useRoomList } from './use-rooms.ts'

/** A room that refuses the account: the reason, until when, and the possible actions. */
export function RoomClosed({ state, onReopen }: { state: RoomState; onReopen: () => void }) {
  const client = useClient()
  const { reload } = useRoomList()
  const join = async () => {
    await client.rooms.join({ room: state.ref })
    reload()
    onReopen()
  }
  const isBanned = state.access?.state === 'banned' || state.error?.code === 'BANNED'
  const isOutside = state.status === 'left' || state.error?.code === 'NOT_A_MEMBER'

  return (
    <main className="room-none">
      <BackToRooms />
      {isBanned ? (
        <Banned state={state} onReopen={onReopen} />
      ) : isOutside ? (
        <Blank
          isPage
          icon="hash"
          title={state.room ? `You are not in ${isolated(state.room.name)}` : 'You are not in this room'}
        >
          <p>{state.access?.state === 'removed' ? removalText(state) : 'Join to read along and to write.'}</p>
          <ActButton className="button main" onPress={join}>
            Join this room
          </ActButton>
        </Blank>
      ) : (
        <Blank isPage icon="warn" title="This room did not open">
          <p>{state.error ? problemText(state.error) : 'Something went wrong.'}</p>
          <button type="button" className="button" onClick={onReopen}>
            Try again
          </button>
        </Blank>
      )}
    </main>
  )
}

function Banned({ state, onReopen }: { state: RoomState; onReopen: () => void }) {
  const until = state.access?.until ?? textOf(state.error?.details?.until)
  const reason = state.access?.reason ?? textOf(state.error?.details?.reason)
  const now = useNowUntil(until)
  const left = secondsUntil(until, now)
  return (
    <Blank isPage icon="block" title="You are banned from this room">
      {reason && <p>Reason: {reason}</p>}
      <p>
        {!until
          ? 'The ban has no end date.'
          : left > 0
            ? `${lengthOf(left)} left, until ${fullTimeOf(until)}.`
            : 'The ban is over.'}
      </p>
      {until && left <= 0 && (
        <button type="button" className="button main" onClick={onReopen}>
          Come back in
        </button>
      )}
    </Blank>
  )
}

const removalText = ({ access }: RoomState) =>
  access?.reason ? `A moderator took you out: ${access.reason}` : 'A moderator took you out. You may come back.'

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
