import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { goTo } from './route.ts'

interface Wanted {
  room: string
  id: string
  seq: number | undefined
}
let wanted: Wanted | null = null

/** Opens a room at one of its messages. */
export function goToMessage(room: RoomRef, id: string, seq: number | undefined): void {
  wanted = { room: roomKey(room), id, seq }
  goTo(room)
}

/** The message at which this room is to be opened, once. */
export function takeWanted(room: RoomRef): Wanted | null {
  const found = wanted?.room === roomKey(room) ? wanted : null
  if (found) wanted = null
  return found
}
