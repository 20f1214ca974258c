import { recordOf } from '#server/domains/events'
import type { Message } from '#shared/api/message'
import type { RoomEvent } from '#shared/api/room-events'
import { nobody } from './render.ts'

/** An event as those read it who may read the room and are neither members nor moderators of it: in its place, in its form. */
export function eventForOutsiders(event: RoomEvent): RoomEvent {
  const hidden = recordOf(event.type)?.hidden
  return hidden ? ({ ...event, actor: nobody, data: { ...event.data, ...hidden } } as RoomEvent) : event
}

/** As `eventForOutsiders`, of a message that may be taken back. */
export const messageForOutsiders = (message: Message): Message =>
  message.is_deleted ? { ...message, deleted_by: null, delete_reason: null } : message
