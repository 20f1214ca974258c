import type { Message, RoomEvent } from '#shared/api/messages'
import { nobody } from './render.ts'

const unnamed = { id: '', name: '' }

/** What moderators do to people and their messages; what says by whom, to whom, until when and why is hidden from outsiders. */
const hidden = new Map<string, RoomEvent['data']>([
  ['moderation.applied', { target: unnamed, until: null, reason: null }],
  ['member.removed', { member: unnamed, reason: null }],
  ['messages.purged', { reason: null }],
  ['message.deleted', { deleted_by: '', reason: null }],
  ['poll.deleted', {}],
])

/** An event as those read it who may read the room and are neither members nor moderators of it: in its place, in its form. */
export function eventForOutsiders(event: RoomEvent): RoomEvent {
  const blank = hidden.get(event.type)
  return blank ? { ...event, actor: nobody, data: { ...event.data, ...blank } } : event
}

/** As `eventForOutsiders`, of a message that may be taken back. */
export const messageForOutsiders = (message: Message): Message =>
  message.is_deleted ? { ...message, deleted_by: null, delete_reason: null } : message
