import { recordOf, signed } from '#server/domains/events'
import { personOf } from '#server/domains/rooms/room-state/rendered'
import { type Row, UNREADABLE } from '#server/log/types'
import type { Person } from '#shared/api/rooms/room'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { roomOfKey } from '#shared/kit/primitives'

export const unnamedActor: Person = { id: '', name: '', role: null, isAgent: false }

/** An event that cannot be rendered has an unknown type, and keeps its place. */
export function eventOf(row: Row): RoomEvent {
  const { epoch, seq, at, type, sender } = row
  const room = roomOfKey(row.room)
  const placed = { room, epoch, seq, at: new Date(at).toISOString() }
  const record = recordOf(type)
  const plain = { ...placed, type, actor: unnamedActor, data: {} } as unknown as RoomEvent
  if (!record) return plain
  try {
    const body = signed(row)
    const actor = record.isUnsigned?.(body) ? unnamedActor : personOf(sender, body.actor)
    return { ...placed, type, actor, data: record.data(row, body, room) } as RoomEvent
  } catch {
    return { ...plain, type: UNREADABLE } as unknown as RoomEvent
  }
}
