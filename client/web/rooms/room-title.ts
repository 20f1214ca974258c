import type { RoomSummary } from '#shared/api/rooms/room'
import { isolated, nameOf } from '../kit/format.ts'

/** The title of a room in lists; for a direct conversation, the other person's name. */
export const titleOf = (room: RoomSummary): string =>
  room.peer ? nameOf(room.peer.name, room.peer.id) : isolated(room.name)

/** The name by which a message links the room, after a `#`. */
export const slugOf = (room: RoomSummary): string =>
  room.slug ??
  room.name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
