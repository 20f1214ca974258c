import type { RoomSummary } from '#shared/api/room'
import { isolated, nameOf } from '../kit/format.ts'

/** What a room is called in a list; a direct conversation has the name of the other person. */
export const titleOf = (room: RoomSummary): string =>
  room.peer ? nameOf(room.peer.name, room.peer.id) : isolated(room.name)

/** How a room is named in a message, after a hash. */
export const slugOf = (room: RoomSummary): string =>
  room.slug ??
  room.name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
