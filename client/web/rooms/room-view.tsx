import { useCallback, useState } from 'react'
import type { PanelName } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'
import { useClient } from '../connection/client.ts'
import { OpenRoomView } from './open-room-view.tsx'
import { openRoom, reopenRoom } from './open-rooms.ts'
import { RoomClosed } from './room-closed.tsx'
import { useRoom } from './use-room.ts'

export function RoomView({ roomRef, panel }: { roomRef: RoomRef; panel: PanelName | null }) {
  const client = useClient()
  const [live, setLive] = useState(() => openRoom(client, roomRef))
  const state = useRoom(live)
  const reopen = useCallback(() => setLive(reopenRoom(client, live.ref)), [client, live.ref])

  const isShut = state.status === 'refused' || state.status === 'left' || state.access?.state === 'banned'
  if (isShut) return <RoomClosed state={state} onReopen={reopen} />
  return <OpenRoomView live={live} state={state} panel={panel} onReopen={reopen} />
}
