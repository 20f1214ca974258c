import { useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import type { Room } from '#shared/api/room'
import { AppError } from '#shared/errors'
import { roomKey } from '#shared/kit/room-key'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, isolated, lengthOf, secondsUntil } from '../kit/format.ts'
import { Blank } from '../kit/notice.tsx'
import { problemText } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { useNowUntil } from '../kit/use-now.ts'
import { BackToRooms } from './back-to-rooms.tsx'
import { GateRefusal } from './gate-refusal.tsx'
import { JoinPlace } from './join-place.tsx'
import { useRoomList } from './use-rooms.ts'

/** A room that refuses the account: the reason, until when, and the possible actions. */
export function RoomClosed({ state, onReopen }: { state: RoomState; onReopen: () => void }) {
  const { reload } = useRoomList()
  const entered = () => {
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
        <>
          <Blank
            isPage
            icon="hash"
            title={state.room ? `You are not in ${isolated(state.room.name)}` : 'You are not in this room'}
          >
            <p>{outsideText(state)}</p>
          </Blank>
          <WayIn state={state} onJoined={entered} />
        </>
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

/** A press to join, with what the room asks for. */
function WayIn({ state, onJoined }: { state: RoomState; onJoined: () => void }) {
  const client = useClient()
  const [refusal, setRefusal] = useState<AppError | null>(null)
  const { ref } = state
  const card = useLoaded<Room>(roomKey(ref), async () => (await client.rooms.get({ room: ref })).room)
  const join = async () => {
    try {
      await client.rooms.join({ room: ref })
      onJoined()
    } catch (cause) {
      if (!(cause instanceof AppError) || cause.code !== 'GATE_NOT_PASSED') throw cause
      setRefusal(cause)
    }
  }
  const room = card.value
  if (room?.gate?.by === 'place')
    return <JoinPlace room={{ ref, name: room.name, gate: room.gate }} onJoined={onJoined} isPage />
  if (room && refusal)
    return <GateRefusal room={room} refusal={refusal} onPassed={join} onBack={() => setRefusal(null)} isPage />
  return (
    <ActButton className="button main" onPress={join}>
      Join this room
    </ActButton>
  )
}

function Banned({ state, onReopen }: { state: RoomState; onReopen: () => void }) {
  const until = state.access?.until ?? textOf(state.error?.details?.until)
  const reason = state.access?.reason ?? textOf(state.error?.details?.reason)
  const now = useNowUntil(until)
  const left = secondsUntil(until, now)
  const isOver = until !== null && left <= 0
  const name = useNameOf(state)
  return (
    <Blank isPage icon="block" title={`You are banned from ${name}`}>
      <p>{reason ? `Reason: ${isolated(reason)}` : 'No reason was given.'}</p>
      <p>
        {!until
          ? 'The ban has no end date.'
          : isOver
            ? 'The ban is over.'
            : `${lengthOf(left)} left, until ${fullTimeOf(until)}.`}
      </p>
      {isOver ? (
        <button type="button" className="button main" onClick={onReopen}>
          Come back in
        </button>
      ) : (
        <p>Its moderators can lift the ban, and you hear of it here. Your other rooms stay as they are.</p>
      )}
    </Blank>
  )
}

/** The name of a room that is not open: as it was known before, or by its card, which whoever is banned may see of a public room. */
function useNameOf({ room, ref }: RoomState): string {
  const client = useClient()
  const card = useLoaded<string | null>(roomKey(ref), async () => {
    if (room) return room.name
    return client.rooms.get({ room: ref }).then(
      (answer) => answer.room.name,
      () => null,
    )
  })
  const name = room?.name ?? card.value
  return name ? isolated(name) : 'this room'
}

function outsideText({ access }: RoomState): string {
  if (access?.state === 'granted') return 'Your ban was lifted. You may come back.'
  if (access?.state !== 'removed') return 'Join to read along and to write.'
  return access.reason
    ? `A moderator took you out: ${isolated(access.reason)}`
    : 'A moderator took you out. You may come back.'
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
