import { type MessageFact, messageFactOf } from '#server/domains/rooms/facts'
import { Reactions } from '#server/domains/rooms/model'
import { bodyOf } from '#server/domains/rooms/projection'
import { byId } from '#server/log/store'
import type { RoomKey, Row } from '#server/log/types'
import type { Message, RoomEvent } from '#shared/api/messages'
import { roomOfKey } from '#shared/kit/primitives'
import { eventOf, messageOf } from './render.ts'

/** Events of a catch-up: what an edit shows is the message as it is now. */
export async function eventsOf(rows: readonly Row[]): Promise<RoomEvent[]> {
  const edited = [...new Set(rows.flatMap((row) => (row.type === 'message.edited' ? [String(row.body.id)] : [])))]
  if (edited.length === 0) return rows.map(eventOf)
  const now = new Map((await rowsById(rows[0]?.room ?? '', edited)).map((row) => [row._id, row]))
  return rows.map((row) => {
    const event = eventOf(row)
    const current = row.type === 'message.edited' ? now.get(String(row.body.id)) : undefined
    if (!current || isBehind(current, row)) return event
    return { ...event, data: { message: messageOf(event.room, messageFactOf(current)) } }
  })
}

/** An edit is in the log a moment before it is in the message's row. */
const isBehind = (message: Row, edit: Row): boolean =>
  messageFactOf(message).body.version < bodyOf(edit, 'message.edited').message.body.version

/** Messages as they are now; a reply to what was taken back stands alone. */
export async function messagesOf(room: RoomKey, facts: readonly MessageFact[]): Promise<Message[]> {
  const targets = [...new Set(facts.flatMap(({ body }) => body.reply_to?.id ?? []))]
  const rows = targets.length === 0 ? [] : await rowsById(room, targets)
  const gone = new Set(rows.filter((row) => messageFactOf(row).body.deleted).map(({ _id }) => _id))
  const ref = roomOfKey(room)
  return facts.map((fact) => {
    const reply = fact.body.reply_to
    return messageOf(ref, reply && gone.has(reply.id) ? { ...fact, body: { ...fact.body, reply_to: null } } : fact)
  })
}

async function rowsById(room: RoomKey, ids: readonly string[]): Promise<Row[]> {
  const rows = await Promise.all(ids.map((id) => byId(room, id)))
  return rows.filter((row) => row !== null)
}

/** Who reacted to these messages, oldest first. */
export async function reactionsOf(room: RoomKey, ids: readonly string[]) {
  if (ids.length === 0) return []
  const rows = await Reactions.find({ message_id: { $in: [...ids] }, is_active: true }).lean()
  const channel_id = roomOfKey(room).type === 'channel' ? roomOfKey(room).id : null
  return rows
    .filter((row) => row.room === room)
    .flatMap(({ message_id, user_address, emojis }) =>
      emojis.map(({ id, emoji, at }) => ({ id, message_id, channel_id, user_address, emoji, created_at: at })),
    )
    .sort((one, other) => (one.created_at < other.created_at ? -1 : 1))
}
