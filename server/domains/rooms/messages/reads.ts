import { blockedBy } from '#server/domains/moderation/blocks/blocks'
import { readRoom } from '#server/domains/rooms/room-state/access'
import { type MemberFact, memberIn, messageIn } from '#server/domains/rooms/room-state/facts'
import { Members, Mentions, Reads } from '#server/domains/rooms/room-state/model'
import {
  goneAmong,
  isPurged,
  type OpenPurge,
  openPurgesIn,
  presentMessagesAt,
  presentMessagesBetween,
} from '#server/domains/rooms/room-state/redaction'
import { type Action, type Context, type Node, signedIn } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { RoomEvents } from '#server/log/model'
import type { RoomKey, View } from '#server/log/types'
import { upsert } from '#server/ports/database/port'
import type { messages as contract } from '#shared/api/rooms/messages'
import { groupRef } from '#shared/api/rooms/room-paths'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done, type RoomRef } from '#shared/kit/primitives'

const noReadMark = { seq: 0, n: 0 }
const idOf = (key: RoomKey, account: string) => `${key}|${account}`

type Arrival = Partial<Pick<MemberFact, 'joined_seq' | 'joined_n'>> | null | undefined
type Mark = { seq: number; n: number }

/** Unread messages since a member came: all (`left`), those of other unblocked people, and mentions among these. */
export async function countUnread(
  key: RoomKey,
  account: string,
  { read, arrival, total, blocked }: { read: Mark; arrival: Arrival; total: number; blocked: readonly string[] },
): Promise<{ left: number; unread: number; mentions: number }> {
  const from = Math.max(read.n, arrival?.joined_n ?? 0)
  if (total <= from) return { left: 0, unread: 0, mentions: 0 }
  const senders = new Set([account, ...blocked])
  const newest = { n: { $gte: Math.max(from, total - lookedThrough) + 1, $lte: total } }
  const open = await openPurgesIn([key])
  const [theirs, gone, mentions] = await Promise.all([
    messagesBy(key, [...senders], newest),
    RoomEvents.find({ room: key, ...newest, ...goneAmong(open) }, { sender: 1 }).lean(),
    mentionsAfter(key, account, Math.max(read.seq, arrival?.joined_seq ?? 0), { blocked, open }),
  ])
  const hidden = theirs + gone.filter(({ sender }) => !senders.has(sender)).length
  return { left: total - from, unread: total - from - hidden, mentions }
}

/** Only the newest unread messages are searched for own, blocked and deleted ones. Older ones count as unread. */
const lookedThrough = 1_000

const messagesBy = async (key: RoomKey, senders: readonly string[], which: object): Promise<number> =>
  senders.length === 0 ? 0 : RoomEvents.countDocuments({ room: key, ...which, sender: { $in: [...senders] } })

/** By the present messages: deleted ones and removed mentions do not count. */
async function mentionsAfter(
  key: RoomKey,
  account: string,
  seq: number,
  { blocked, open }: { blocked: readonly string[]; open: readonly OpenPurge[] },
): Promise<number> {
  const named = { room: key, user_address: account, seq: { $gt: seq } }
  const seqs = (await Mentions.find(named, { seq: 1 }).sort({ seq: -1 }).limit(lookedThrough).lean()).map(
    (row) => row.seq,
  )
  if (seqs.length === 0) return 0
  const shown = { sender: 1, seq: 1, 'body.mentions': 1, 'body.deleted': 1 }
  const rows = await RoomEvents.find({ room: key, seq: { $in: seqs } }, shown).lean<Naming[]>()
  const isCounted = ({ sender, body }: Naming) =>
    !blocked.includes(sender) && body.deleted === null && body.mentions.some(({ id }) => isSameAccount(id, account))
  return rows.filter((row) => isCounted(row) && !isPurged(open, row)).length
}

interface Naming {
  sender: string
  seq: number
  body: { mentions: { id: string }[]; deleted: object | null }
}

/** The read mark and the unread counts. */
export async function unreadCountsOf(key: RoomKey, account: string, arrival: Arrival, { total }: { total: number }) {
  const [mark, blocked] = await Promise.all([Reads.findOne({ _id: idOf(key, account) }).lean(), blockedBy(account)])
  const read = mark ?? noReadMark
  return { seq: read.seq, ...(await countUnread(key, account, { read, arrival, total, blocked })) }
}

export async function firstUnreadOf(
  key: RoomKey,
  account: string,
  arrival: Arrival,
  { total }: { total: number },
): Promise<{ seq: number; created_at: string } | null> {
  const read = await Reads.findOne({ _id: idOf(key, account) }).lean()
  const next = Math.max(read?.n ?? 0, arrival?.joined_n ?? 0) + 1
  const [row] = next <= total ? await presentMessagesBetween(key, next, next) : []
  return row ? { seq: row.seq, created_at: new Date(row.at).toISOString() } : null
}

type ReadListener = (
  account: string,
  read: { key: RoomKey; seq: number; n: number; unread: number; mentions: number; head: number; session: string },
) => void
const listenersOn = nodeState((): ReadListener[] => [])
/** Subscribes to read marks set on this node. */
export const onRead = (node: Node, listener: ReadListener): void => void listenersOn(node).push(listener)

export const read: Action<typeof contract.read> = ({ room, seq }, context) => markRead(context, room, () => seq)

export const readMessage: Action<typeof contract.readMessage> = async ({ id, messageId }, context) => {
  await markRead(context, groupRef(id), seqOfMessage(messageId))
  return done
}

/** The seq of a message in a room. */
export const seqOfMessage = (messageId: string) => (view: View) => {
  const message = messageIn(view, messageId)
  if (!message) throw new AppError('MESSAGE_NOT_FOUND')
  return message.seq
}

/** Marks a room as read up to a seq. */
export async function markRead(context: Context, room: RoomRef, seqIn: (view: View) => number) {
  const { account, session } = signedIn(context)
  const { key, also: head } = await readRoom(context.node, context.caller, room, (view) => ({
    seq: view.seq,
    total: view.total,
    member: memberIn(view, account),
    upTo: seqIn(view),
  }))
  const upTo = Math.min(head.upTo, head.seq)
  const n =
    upTo === head.seq ? head.total : ((await context.node.log.read(key, Math.max(0, upTo - 1), 1))[0]?.total ?? 0)
  await raiseReadMark(key, account, upTo, n)
  const { seq: read_seq, unread, mentions } = await unreadCountsOf(key, account, head.member, head)
  for (const listener of listenersOn(context.node))
    listener(account, { key, seq: read_seq, n, unread, mentions, head: head.seq, session: session.id })
  return { read_seq, unread, mentions }
}

/** Has an account read the nth message of a room? */
export const hasRead = async (key: RoomKey, account: string, n: number): Promise<boolean> =>
  ((await Reads.findOne({ _id: idOf(key, account) }, { n: 1 }).lean())?.n ?? 0) >= n

const receiptsAtMost = 200

/** Groups only: in an open room anybody could watch what others read. */
export const receipts: Action<typeof contract.receipts> = async ({ id }, context) => {
  signedIn(context)
  const { key } = await readRoom(context.node, context.caller, groupRef(id), () => null)
  const here = Members.find({ room: key, is_active: true }, { user_address: 1 })
  const members = await here.sort({ joined_at: -1 }).limit(receiptsAtMost).lean()
  const ids = members.map(({ user_address }) => idOf(key, user_address))
  const marks = await Reads.find({ _id: { $in: ids }, n: { $gte: 1 } }).lean()
  const places = [...new Set(marks.map(({ n }) => n))]
  await context.charge(places.length)
  const rows = await presentMessagesAt(places.map((n) => ({ room: key, n })))
  const read = new Map(rows.map(({ _id, n }) => [n, _id]))
  return {
    receipts: marks.flatMap(({ user_address, n }) => {
      const lastReadMessageId = read.get(n)
      return lastReadMessageId === undefined ? [] : [{ userAddress: user_address, lastReadMessageId }]
    }),
  }
}

/** Never lowers a mark, in any order of arrival. */
async function raiseReadMark(key: RoomKey, account: string, seq: number, n: number): Promise<void> {
  const update = { $max: { seq, n }, $setOnInsert: { room: key, user_address: account } }
  await upsert(() => Reads.updateOne({ _id: idOf(key, account) }, update, { upsert: true }))
}
