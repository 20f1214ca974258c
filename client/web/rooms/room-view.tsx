import { useCallback, useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import type { Room } from '#shared/api/rooms/room'
import { AppError } from '#shared/errors'
import type { PanelName } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, isolated, lengthOf, secondsUntil } from '../kit/format.ts'
import { Blank } from '../kit/notice.tsx'
import { problemText } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { useNowUntil } from '../kit/use-now.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { GateRefusal } from './gate-card.tsx'
import { JoinPlace } from './join-place.tsx'
import { OpenRoomView } from './open-room-view.tsx'
import { BackToRooms } from './room-header.tsx'
import { openRoom, reopenRoom, useRoom, useRoomList } from './use-rooms.ts'

/** A room that refuses the account: the reason, until when, and the possible actions. */
function RoomClosed({ state, onReopen }: { state: RoomState; onReopen: () => void }) {
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
            title={state.room ? t.closed.outside({ room: isolated(state.room.name) }) : t.closed.outsideThis}
          >
            <p>{outsideText(state)}</p>
          </Blank>
          <WayIn state={state} onJoined={entered} />
        </>
      ) : (
        <Blank isPage icon="warn" title={t.closed.failed}>
          <p>{state.error ? problemText(state.error) : t.closed.unknown}</p>
          <button type="button" className="button" onClick={onReopen}>
            {t.closed.retry}
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
      {t.closed.join}
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
    <Blank isPage icon="block" title={name === null ? t.closed.bannedThis : t.closed.banned({ room: name })}>
      <p>{reason ? t.closed.reason({ reason: isolated(reason) }) : t.closed.noReason}</p>
      <p>
        {!until
          ? t.closed.permanent
          : isOver
            ? t.closed.over
            : t.closed.left({ left: lengthOf(left), time: fullTimeOf(until) })}
      </p>
      {isOver ? (
        <button type="button" className="button main" onClick={onReopen}>
          {t.closed.rejoin}
        </button>
      ) : (
        <p>{t.closed.hint}</p>
      )}
    </Blank>
  )
}

/** The name of a room that is not open: as it was known before, or by its card, which whoever is banned may see of a public room. */
function useNameOf({ room, ref }: RoomState): string | null {
  const client = useClient()
  const card = useLoaded<string | null>(roomKey(ref), async () => {
    if (room) return room.name
    return client.rooms.get({ room: ref }).then(
      (answer) => answer.room.name,
      () => null,
    )
  })
  const name = room?.name ?? card.value
  return name ? isolated(name) : null
}

function outsideText({ access }: RoomState): string {
  if (access?.state === 'granted') return t.closed.unbanned
  if (access?.state !== 'removed') return t.closed.joinHint
  return access.reason ? t.closed.removedBecause({ reason: isolated(access.reason) }) : t.closed.removed
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export function RoomView({ roomRef, panel }: { roomRef: RoomRef; panel: PanelName | null }) {
  const client = useClient()
  const [live, setLive] = useState(() => openRoom(client, roomRef))
  const state = useRoom(live)
  const reopen = useCallback(() => setLive(reopenRoom(client, live.ref)), [client, live.ref])

  const isShut = state.status === 'refused' || state.status === 'left' || state.access?.state === 'banned'
  if (isShut) return <RoomClosed state={state} onReopen={reopen} />
  return <OpenRoomView live={live} state={state} panel={panel} onReopen={reopen} />
}
