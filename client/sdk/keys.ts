import type { RoomRef } from '#shared/kit/primitives'

/** The text form of a room's key, as the server's `heads` name it. */
export const keyOf = ({ type, id }: RoomRef): string => (id === null ? type : `${type}:${id}`)

/** The key of a room named in a payload. */
export function keyIn(room: unknown): string {
  if (typeof room === 'string') return room
  const { type, id } = (room ?? {}) as Partial<RoomRef>
  return type === undefined ? '' : keyOf({ type, id: id ?? null })
}
