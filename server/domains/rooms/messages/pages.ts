import { messageOfEvent, recordOf, signed } from '#server/domains/events'
import { remarkFault, type SenderFacts } from '#server/domains/moderation/verdict/verdict'
import { keys, type MessageBody, type MessageFact, messageFactOf } from '#server/domains/rooms/room-state/facts'
import { Reactions } from '#server/domains/rooms/room-state/model'
import { presentRows } from '#server/domains/rooms/room-state/redaction'
import { messageOf, personOf } from '#server/domains/rooms/room-state/rendered'
import type { Node } from '#server/kernel/context'
import { rowById } from '#server/log/store'
import { type RoomKey, type Row, UNREADABLE } from '#server/log/types'
import type { Message } from '#shared/api/rooms/message'
import type { Person } from '#shared/api/rooms/room'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { quoteText } from '#shared/kit/cut'
import { signForm } from '#shared/kit/reaction-sign'
import { idIn, roomOfKey } from '#shared/kit/room-key'

const unnamedActor: Person = { id: '', name: '', role: null, isAgent: false }

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

/** The event for readers who are neither members nor moderators; its `seq` and shape stay. */
function eventForOutsiders(event: RoomEvent): RoomEvent {
  const hidden = recordOf(event.type)?.hidden
  return hidden ? ({ ...event, actor: unnamedActor, data: { ...event.data, ...hidden } } as RoomEvent) : event
}

/** As `eventForOutsiders`, for a message that may be deleted. */
const messageForOutsiders = (message: Message): Message =>
  message.is_deleted ? { ...message, deleted_by: null, delete_reason: null } : message

type Quote = MessageBody['reply_to']

/** A quote repeats its text, so the present rules judge it again. */
export const quoteOf = ({ id, sender, body: { text, type } }: MessageFact, facts: SenderFacts): Quote => ({
  id,
  sender_address: sender,
  content: remarkFault(text, facts) === null ? quoteText(text) : '',
  message_type: type,
})

/** A reply's quote in its present state: none if deleted, the new text if edited. */
export function quoteNow({ seq, body: { reply_to } }: MessageFact, answered: MessageFact | null | undefined): Quote {
  if (!reply_to || !answered) return reply_to
  const { text, deleted, edits } = answered.body
  if (deleted) return null
  return (edits.at(-1) ?? 0) > seq ? { ...reply_to, content: quoteText(text) } : reply_to
}

/** A connection with more than 1 MB unread is closed, so larger answers could never be read. */
const pageBytes = 256 * 1_024
const firstRows = 25

/** The rows after a seq that fit into one answer, at least one if there is any. */
export async function rowsAfter(node: Node, key: RoomKey, after: number, limit: number): Promise<Row[]> {
  const rows: Row[] = []
  let bytes = 0
  for (let step = firstRows; rows.length < limit; step = Math.ceil((rows.length * (pageBytes - bytes)) / bytes)) {
    const asked = Math.min(step, limit - rows.length)
    const next = await node.log.read(key, after + rows.length, asked)
    for (const row of next) {
      bytes += Buffer.byteLength(JSON.stringify(row.body))
      if (bytes > pageBytes && rows.length > 0) return rows
      rows.push(row)
    }
    if (next.length < asked || bytes >= pageBytes) return rows
  }
  return rows
}

/** Events of a catch-up: messages in their present state, with quotes. */
export async function eventsOf(stored: readonly Row[], isInsider: boolean): Promise<RoomEvent[]> {
  const rows = await presentRows(stored)
  const room = rows[0]?.room ?? ''
  const events = rows.map(eventOf)
  const original = rows.map((row, at) => (events[at]?.type === row.type ? messageOfEvent(row) : null))
  const before = original.flatMap((fact, at) => (fact && fact.id !== rows[at]?._id ? [fact.id] : []))
  const current = new Map((await rowsById(room, before)).map((row) => [row._id, messageFactOf(row)]))
  const facts = original.map((fact) => fact && newerFactOf(fact, current.get(fact.id)))
  const answered = await quotedMessages(
    room,
    facts.filter((fact) => fact !== null),
  )
  return events.map((event, at) => {
    const fact = facts[at]
    if (!fact) return isInsider ? event : eventForOutsiders(event)
    const message = messageOf(event.room, quotingNow(fact, answered))
    const shown = isInsider ? message : messageForOutsiders(message)
    return { ...event, data: { ...event.data, message: shown } } as RoomEvent
  })
}

/** An edit is in the log slightly before it is in the message's row. */
const newerFactOf = (original: MessageFact, stored: MessageFact | undefined): MessageFact =>
  stored && stored.body.version >= original.body.version ? stored : original

/** Messages in their present state, with quotes; a reply to a deleted message has none. */
export async function messagesOf(room: RoomKey, facts: readonly MessageFact[], isInsider: boolean): Promise<Message[]> {
  const answered = await quotedMessages(room, facts)
  const ref = roomOfKey(room)
  const messages = facts.map((fact) => messageOf(ref, quotingNow(fact, answered)))
  return isInsider ? messages : messages.map(messageForOutsiders)
}

async function quotedMessages(room: RoomKey, facts: readonly MessageFact[]): Promise<ReadonlyMap<string, MessageFact>> {
  const rows = await rowsById(
    room,
    facts.flatMap(({ body }) => body.reply_to?.id ?? []),
  )
  return new Map(rows.map((row) => [row._id, messageFactOf(row)]))
}

function quotingNow(fact: MessageFact, answered: ReadonlyMap<string, MessageFact>): MessageFact {
  const { reply_to } = fact.body
  const quote = reply_to && quoteNow(fact, answered.get(reply_to.id))
  return quote === reply_to ? fact : { ...fact, body: { ...fact.body, reply_to: quote } }
}

async function rowsById(room: RoomKey, ids: readonly string[]): Promise<Row[]> {
  const rows = await Promise.all([...new Set(ids)].map((id) => rowById(room, id)))
  return presentRows(rows.filter((row) => row !== null))
}

/** This account's reactions to these messages, by id. */
export async function ownReactions(
  room: RoomKey,
  ids: readonly string[],
  account: string | null,
): Promise<Record<string, string[]>> {
  if (account === null || ids.length === 0) return {}
  const own = ids.map((id) => `${room}|${keys.reacted(id, account)}`)
  const rows = await Reactions.find({ _id: { $in: own }, is_active: true }).lean()
  return Object.fromEntries(
    rows.flatMap(({ message_id, emojis }) =>
      emojis.length > 0 ? [[message_id, [...new Set(emojis.map(({ emoji }) => signForm(emoji)))]]] : [],
    ),
  )
}

const reactedAtMost = 100

/** The people who reacted to these messages, oldest first, up to a limit; the counts are complete. */
export async function reactionsOf(room: RoomKey, ids: readonly string[]) {
  const found = ids.map((message_id) => Reactions.find({ message_id, is_active: true }).limit(reactedAtMost).lean())
  const rows = (await Promise.all(found)).flat()
  const channel_id = idIn('channel_id', roomOfKey(room))
  return rows
    .filter((row) => row.room === room)
    .flatMap(({ message_id, user_address, emojis }) =>
      emojis.map(({ id, emoji, at }) => ({
        ...{ id, message_id, channel_id, user_address },
        emoji: signForm(emoji),
        created_at: at,
      })),
    )
    .sort((one, other) => (one.created_at < other.created_at ? -1 : 1))
}
