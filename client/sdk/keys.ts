import type { RoomRef } from '#shared/kit/primitives'
import { roomKey as keyOf } from '#shared/kit/room-key'

export { keyOf }

/** The key of a room named in a payload. */
export function keyIn(room: unknown): string {
  if (typeof room === 'string') return room
  const { type, id } = (room ?? {}) as Partial<RoomRef>
  return type === undefined ? '' : keyOf({ type, id: id ?? null })
}
