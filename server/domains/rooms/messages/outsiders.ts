import { recordOf } from '#server/domains/events'
import type { Message } from '#shared/api/rooms/message'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { unnamedActor } from './render.ts'

/** The event for readers who are neither members nor moderators; its `seq` and shape stay. */
export function eventForOutsiders(event: RoomEvent): RoomEvent {
  const hidden = recordOf(event.type)?.hidden
  return hidden ? ({ ...event, actor: unnamedActor, data: { ...event.data, ...hidden } } as RoomEvent) : event
}

/** As `eventForOutsiders`, for a message that may be deleted. */
export const messageForOutsiders = (message: Message): Message =>
  message.is_deleted ? { ...message, deleted_by: null, delete_reason: null } : message
