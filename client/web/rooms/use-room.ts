import { useSyncExternalStore } from 'react'
import type { LiveRoom, RoomState } from '#client/sdk/types'

export function useRoom(room: LiveRoom): RoomState {
  return useSyncExternalStore(
    (listener) => room.subscribe(listener),
    () => room.state,
  )
}
