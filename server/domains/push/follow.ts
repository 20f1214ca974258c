import { profilesOf } from '#server/domains/accounts/profiles'
import { blockedAmong } from '#server/domains/blocks/blocks'
import { isOf } from '#server/domains/events/define'
import { friendsChanged } from '#server/domains/friends/events'
import { type Pair, Pairs } from '#server/domains/friends/model'
import { friendsAmong } from '#server/domains/friends/pairs'
import { mayListen } from '#server/domains/room-state/access'
import { messageCreated } from '#server/domains/room-state/events/messages'
import { type MessageFact, messageFactOf } from '#server/domains/room-state/facts'
import { kindOf } from '#server/domains/room-state/kinds'
import { rolesAmong } from '#server/domains/room-state/membership'
import { Members } from '#server/domains/room-state/model'
import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/every'
import { GLOBAL, type RoomKey } from '#server/log/types'
import { peersOf, roomOfKey } from '#shared/kit/room-key'
import { isBetweenTwo } from '#shared/kit/room-kinds'
import { subscribedAmong } from './browsers.ts'
import { doingOf } from './doings.ts'
import { noticesOf } from './messages.ts'
import { type Told, tellBrowsers } from './tell.ts'

const gatheredMilliseconds = 1_000
/** Of the messages of one second in one room the newest: of each sender, and of all together. */
const gatheredAtMost = { ofOne: 20, ofAll: 400 }
/** The members of a larger room are told of what names them alone. */
const membersToldAtMost = 500
const daySeconds = 86_400

/**
 * Has browsers told of messages and of requests to be friends, by the node that appended them: no other is. What is said in a room within a
 * second is told once, with the newest message of a friend, or else of somebody else.
 */
export function followForBrowsers(node: Node): () => void {
  const due = new Map<RoomKey, readonly MessageFact[]>()
  const asked = new Set<string>()
  node.log.onRows((key, rows, isOurs) => {
    if (!isOurs) return
    for (const row of rows) {
      if (isOf(row, friendsChanged)) asked.add(String(row.body.pair))
      if (key === GLOBAL || !isOf(row, messageCreated)) continue
      const message = messageFactOf(row)
      if (isForAll(key) || namedIn(message).length > 0) due.set(key, withNewest(due.get(key) ?? [], message))
    }
  })
  return every(
    node,
    gatheredMilliseconds,
    async () => {
      const [rooms, pairs] = [[...due], [...asked]]
      due.clear()
      asked.clear()
      for (const id of pairs) await tellOfRequest(node, id)
      await tellOfMessages(node, rooms)
    },
    'browsers were not told',
  )
}

/** Nobody takes the place of others by writing much. */
function withNewest(before: readonly MessageFact[], message: MessageFact): readonly MessageFact[] {
  const theirs = before.filter(({ sender }) => sender === message.sender)
  const kept = theirs.length < gatheredAtMost.ofOne ? before : before.filter((one) => one !== theirs[0])
  return [...kept, message].slice(-gatheredAtMost.ofAll)
}

const isForAll = (key: RoomKey) => kindOf(key).pushed.of === 'all'

/** Whom a message names, or answers. */
const namedIn = ({ body: { mentions, reply_to } }: MessageFact): string[] => [
  ...mentions.flatMap(({ kind, id }) => (kind === 'user' ? [id] : [])),
  ...(reply_to ? [reply_to.sender_address] : []),
]

async function tellOfMessages(node: Node, rooms: readonly [RoomKey, readonly MessageFact[]][]): Promise<void> {
  const concerned: [RoomKey, Map<string, MessageFact[]>][] = []
  for (const [key, messages] of rooms) concerned.push([key, await concernedBy(key, messages)])
  const subscribed = new Set(await subscribedAmong(concerned.flatMap(([, about]) => [...about.keys()])))
  for (const [key, about] of concerned) {
    const members = await membersAmong(
      node,
      key,
      [...about.keys()].filter((account) => subscribed.has(account)),
    )
    const ties = await tiesIn(about, members)
    const newest = new Map<string, MessageFact>()
    for (const account of members) {
      const message = newestFor(account, about.get(account) ?? [], ties)
      if (message) newest.set(account, message)
    }
    const told = new Map<string, Told>()
    for (const [account, notice] of await noticesOf(key, newest))
      told.set(account, { notice, room: key, seconds: daySeconds })
    await tellBrowsers(node, told)
  }
}

/** Of these messages, the oldest first, those of which each account may have to be told. */
async function concernedBy(key: RoomKey, messages: readonly MessageFact[]): Promise<Map<string, MessageFact[]>> {
  const about = new Map<string, MessageFact[]>()
  const everybody = isForAll(key) ? await allIn(key) : []
  for (const message of messages)
    for (const account of new Set([...everybody, ...namedIn(message)])) {
      if (account === message.sender) continue
      const known = about.get(account) ?? []
      known.push(message)
      about.set(account, known)
    }
  return about
}

interface Ties {
  friends: ReadonlySet<string>
  blocked: ReadonlySet<string>
}

/** How those who wrote stand to those whom several wrote to: asked of each of them, as they are fewer than their readers. */
async function tiesIn(
  about: ReadonlyMap<string, readonly MessageFact[]>,
  members: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Ties>> {
  const readers = [...members].filter((account) => sendersOf(about.get(account) ?? []).length > 1)
  const senders = sendersOf(readers.flatMap((account) => about.get(account) ?? []))
  const ties = senders.map(async (sender) => {
    const [friends, blocked] = await Promise.all([friendsAmong(sender, readers), blockedAmong(sender, readers)])
    return [sender, { friends: new Set(friends), blocked }] as const
  })
  return new Map(await Promise.all(ties))
}

const sendersOf = (messages: readonly MessageFact[]): string[] => [...new Set(messages.map(({ sender }) => sender))]

/** The one that an account is told of: of a friend, else of anybody but those between whom and it there is a block. */
function newestFor(
  account: string,
  messages: readonly MessageFact[],
  ties: ReadonlyMap<string, Ties>,
): MessageFact | undefined {
  if (sendersOf(messages).length === 1) return messages.at(-1)
  const isFriend = ({ sender }: MessageFact) => ties.get(sender)?.friends.has(account)
  const isBlocked = ({ sender }: MessageFact) => ties.get(sender)?.blocked.has(account)
  return messages.findLast(isFriend) ?? messages.findLast((message) => !isBlocked(message))
}

/** The members of a room; none where they are too many. */
async function allIn(key: RoomKey): Promise<readonly string[]> {
  const { type, id } = roomOfKey(key)
  if (isBetweenTwo(type)) return peersOf(id)
  const rows = await Members.find({ room: key, is_active: true }, { user_address: 1 })
    .limit(membersToldAtMost + 1)
    .lean()
  return rows.length > membersToldAtMost ? [] : rows.map(({ user_address }) => user_address)
}

/** Those who are in the room, and may hear of it. */
async function membersAmong(node: Node, key: RoomKey, accounts: readonly string[]): Promise<ReadonlySet<string>> {
  const { type, id } = roomOfKey(key)
  if (isBetweenTwo(type)) return new Set(accounts.filter((account) => peersOf(id).includes(account)))
  if (accounts.length === 0) return new Set()
  const members = (await rolesAmong(accounts, [key])).map(({ account }) => account)
  return new Set(await node.log.ask(key, (view, now) => members.filter((account) => mayListen(view, account, now))))
}

/** A request that still waits is told to who was asked. */
async function tellOfRequest(node: Node, id: string): Promise<void> {
  const pair = await Pairs.findOne({ _id: id, state: 'pending' }).lean<Pair>()
  if (!pair) return
  const { from_address: from, to_address: to, request_id } = pair
  const name = (await profilesOf(node, [from])).get(from)?.name ?? from
  const doing = { from, name, body: 'Would like to be your friend', url: '/#/friends', tag: `friend:${request_id}` }
  await tellBrowsers(node, doingOf(to, doing))
}
