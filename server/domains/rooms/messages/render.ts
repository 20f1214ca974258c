import { recordOf, signed } from '#server/domains/events'
import { person } from '#server/domains/rooms/room-state/shown'
import { type Row, UNREADABLE } from '#server/log/types'
import type { Person } from '#shared/api/room'
import type { RoomEvent } from '#shared/api/room-events'
import { roomOfKey } from '#shared/kit/primitives'

export const nobody: Person = { id: '', name: '', role: null, isAgent: false }

/** An event that cannot be rendered has an unknown type, and keeps its place. */
export function eventOf(row: Row): RoomEvent {
  const { epoch, seq, at, type, sender } = row
  const room = roomOfKey(row.room)
  const placed = { room, epoch, seq, at: new Date(at).toISOString() }
  const record = recordOf(type)
  const plain = { ...placed, type, actor: nobody, data: {} } as unknown as RoomEvent
  if (!record) return plain
  try {
    const body = signed(row)
    const actor = record.isUnsigned?.(body) ? nobody : person(sender, body.actor)
    return { ...placed, type, actor, data: record.data(row, body, room) } as RoomEvent
  } catch {
    return { ...plain, type: UNREADABLE } as unknown as RoomEvent
  }
}
