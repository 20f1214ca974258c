import { namesOfPeople } from '#server/domains/people/accounts/profiles'
import { messagesOf } from '#server/domains/rooms/messages/pages'
import { messageFactOf } from '#server/domains/rooms/room-state/facts'
import { isKnownRoom, kindOf } from '#server/domains/rooms/room-state/kinds'
import { Members, Rooms } from '#server/domains/rooms/room-state/model'
import type { Node } from '#server/kernel/context'
import { RoomEvents } from '#server/log/model'
import type { RoomKey, Row } from '#server/log/types'
import type { Message } from '#shared/api/rooms/message'
import { messages as contract } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { peerIn, roomOfKey } from '#shared/kit/room-key'

/** A current or former room of an account. */
export interface Conversation {
  key: RoomKey
  name: string
}

const messagesAtOnce = 100

/** The current and former rooms of an account. */
export async function conversationsOf(node: Node, account: string): Promise<Conversation[]> {
  const members = await Members.find({ user_address: account, joined_at: { $exists: true } }, { room: 1 }).lean()
  const keys = members.map(({ room }) => room).filter(isKnownRoom)
  const peers = new Map(keys.map((key) => [key, peerIn(roomOfKey(key), account)]))
  const [rooms, people] = await Promise.all([
    Rooms.find({ _id: { $in: keys } }, { name: 1 }).lean(),
    namesOfPeople(
      node,
      [...peers.values()].filter((peer) => peer !== null),
    ),
  ])
  const names = new Map(rooms.map(({ _id, name }) => [_id, name]))
  return keys.map((key) => {
    const peer = peers.get(key) ?? null
    return { key, name: peer === null ? (names.get(key) ?? key) : (people.get(peer) ?? peer) }
  })
}

/**
 * The messages that an account may export. Of conversations that address it these are all, of rooms its own. Replies of
 * others to its own are among them, where it can read the room.
 */
export async function* messagesForOwner(node: Node, account: string, key: RoomKey): AsyncGenerator<Message> {
  const own = messagesWhere(key, { sender: account }, true)
  if (!(await isReadable(node, account, key))) yield* own
  else if (kindOf(key).pushed.of === 'all') yield* allMessages(node, account, key)
  else {
    const replies = { 'body.reply_to.sender_address': account, sender: { $ne: account } }
    yield* inOrder(own, messagesWhere(key, replies, false))
  }
}

const pageAfter = (node: Node, account: string, key: RoomKey, after_seq: number, limit: number) =>
  node.callAs(account, contract.history, { room: roomOfKey(key), after_seq, limit })

async function isReadable(node: Node, account: string, key: RoomKey): Promise<boolean> {
  try {
    await pageAfter(node, account, key, 0, 1)
    return true
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return false
    throw error
  }
}

async function* allMessages(node: Node, account: string, key: RoomKey): AsyncGenerator<Message> {
  let after = 0
  let isMore = true
  while (isMore) {
    const { messages, has_more } = await pageAfter(node, account, key, after, messagesAtOnce)
    yield* messages
    after = messages.at(-1)?.seq ?? after
    isMore = has_more && messages.length > 0
  }
}

async function* messagesWhere(key: RoomKey, filter: object, isInsider: boolean): AsyncGenerator<Message> {
  let after = 0
  let found = messagesAtOnce
  while (found === messagesAtOnce) {
    const next = { ...filter, room: key, n: { $gt: after, $lte: Number.MAX_SAFE_INTEGER } }
    const rows = await RoomEvents.find(next).sort({ n: 1 }).limit(messagesAtOnce).lean<Row[]>()
    yield* await messagesOf(key, rows.map(messageFactOf), isInsider)
    found = rows.length
    after = rows.at(-1)?.n ?? after
  }
}

async function* inOrder(one: AsyncGenerator<Message>, other: AsyncGenerator<Message>): AsyncGenerator<Message> {
  let [first, second] = await Promise.all([one.next(), other.next()])
  while (!first.done || !second.done) {
    if (!first.done && (second.done || first.value.seq < second.value.seq)) {
      yield first.value
      first = await one.next()
    } else if (!second.done) {
      yield second.value
      second = await other.next()
    }
  }
}
