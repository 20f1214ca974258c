import type { RoomSummary } from '#shared/api/rooms'
import { nameOf } from '../kit/format.ts'

/** What a room is called in a list; a direct conversation has the name of the other person. */
export const titleOf = (room: RoomSummary): string =>
  room.type === 'dm' && room.peer ? nameOf(room.peer.name, room.peer.id) : room.name
