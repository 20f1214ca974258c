import { readRoom } from '#server/domains/rooms/access'
import { type MemberFact, memberIn } from '#server/domains/rooms/facts'
import { Mentions, Reads } from '#server/domains/rooms/model'
import { type Action, type Node, signedIn } from '#server/kernel/context'
import { isDuplicate } from '#server/log/store'
import type { RoomKey } from '#server/log/types'
import type { messages as contract } from '#shared/api/messages'

const nobodyRead = { seq: 0, n: 0 }
const idOf = (key: RoomKey, account: string) => `${key}|${account}`

type Arrival = Pick<MemberFact, 'joined_seq' | 'joined_n'> | null | undefined
type Mark = { seq: number; n: number }

/** What is left to read: nothing of it was said before they came. */
export const unreadAfter = (read: Mark, arrival: Arrival, head: { total: number }): number =>
  Math.max(0, head.total - Math.max(read.n, arrival?.joined_n ?? 0))

/** How far somebody has read, and what is left. */
export async function unreadOf(key: RoomKey, account: string, arrival: Arrival, head: { total: number }) {
  const read = (await Reads.findOne({ _id: idOf(key, account) }).lean()) ?? nobodyRead
  return { seq: read.seq, unread: unreadAfter(read, arrival, head) }
}

export const mentionsAfter = (key: RoomKey, account: string, seq: number, arrival: Arrival): Promise<number> =>
  Mentions.countDocuments({
    room: key,
    user_address: account,
    seq: { $gt: Math.max(seq, arrival?.joined_seq ?? 0) },
  })

export type ReadListener = (
  account: string,
  read: { key: RoomKey; seq: number; n: number; unread: number; mentions: number; head: number },
) => void
const listeners = new WeakMap<Node, ReadListener[]>()
/** Told of each mark set on this node. */
export const onRead = (node: Node, listener: ReadListener): void =>
  void listeners.set(node, [...(listeners.get(node) ?? []), listener])

export const read: Action<typeof contract.read> = async ({ room, seq }, context) => {
  const { account } = signedIn(context)
  const { key, also: head } = await readRoom(context.node, context.caller, room, (view) => ({
    seq: view.seq,
    total: view.total,
    member: memberIn(view, account),
  }))
  const upTo = Math.min(seq, head.seq)
  const n =
    upTo === head.seq ? head.total : ((await context.node.log.read(key, Math.max(0, upTo - 1), 1))[0]?.total ?? 0)
  await raise(key, account, upTo, n)
  const { seq: read_seq, unread } = await unreadOf(key, account, head.member, head)
  const mentions = await mentionsAfter(key, account, read_seq, head.member)
  for (const listener of listeners.get(context.node) ?? [])
    listener(account, { key, seq: read_seq, n, unread, mentions, head: head.seq })
  return { read_seq, unread, mentions }
}

/** Never goes back, however marks cross. */
async function raise(key: RoomKey, account: string, seq: number, n: number): Promise<void> {
  const update = { $max: { seq, n }, $setOnInsert: { room: key, user_address: account } }
  const write = () => Reads.updateOne({ _id: idOf(key, account) }, update, { upsert: true })
  await write().catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
    return write()
  })
}
