import { recordOf, removedBy } from '#server/domains/events'
import { blockedAmong } from '#server/domains/moderation/blocks/blocks'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import { friendsChanged, friendsEnded } from '#server/domains/people/friends/events'
import { type Pair, Pairs } from '#server/domains/people/friends/model'
import { friendsAmong } from '#server/domains/people/friends/pairs'
import { isOf } from '#server/domains/rooms/events/define'
import { onRead } from '#server/domains/rooms/messages/reads'
import { mayListen } from '#server/domains/rooms/room-state/access'
import { messageCreated } from '#server/domains/rooms/room-state/events/messages'
import { type MessageFact, messageFactOf } from '#server/domains/rooms/room-state/facts'
import { rolesAmong } from '#server/domains/rooms/room-state/membership'
import { Members } from '#server/domains/rooms/room-state/model'
import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/every'
import { GLOBAL, type RoomKey, type Row } from '#server/log/types'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { peersOf, roomOfKey } from '#shared/kit/room-key'
import { isBetweenTwo } from '#shared/kit/room-kinds'
import { subscribedAmong } from './browsers.ts'
import { doingOf } from './doings.ts'
import { lookAgain, type Told, withdraw } from './giving.ts'
import { isForAll, namedIn, noticesOf } from './messages.ts'
import { tellBrowsers } from './tell.ts'

const gatheredMilliseconds = 1_000
/** Of the messages of one second in one room the newest: of each sender, and of all together. */
const gatheredAtMost = { ofOne: 20, ofAll: 400 }
/** The members of a larger room are told of what names them alone. */
const membersToldAtMost = 500
const daySeconds = 86_400

/**
 * Has browsers told of messages and of requests to be friends, by the node that appended them: no other is. What is said in a room within a
 * second is told once, with the newest message of a friend, or else of somebody else. What they were told of looks otherwise once it is read,
 * edited or deleted, or they are in the room no more.
 */
export function followForBrowsers(node: Node): () => void {
  const due = new Map<RoomKey, readonly MessageFact[]>()
  const asked = new Set<string>()
  const looks = new Map<string, Look>()
  const look = (of: Look) => looks.set(JSON.stringify(of), of)
  onRead(node, (account, { key, session }) => look({ which: { tag: key, account }, session }))
  node.log.onRows((key, rows, isOurs) => {
    if (!isOurs) return
    for (const row of rows) {
      if (isOf(row, friendsChanged)) asked.add(String(row.body.pair))
      if (isOf(row, friendsEnded)) withdraw(node, requestTag((row.body.pair as unknown as Pair).request_id))
      if (key === GLOBAL) continue
      const changed = changedBy(row)
      if (changed) look({ which: { tag: key, ...changed }, session: null })
      if (!isOf(row, messageCreated)) continue
      const message = messageFactOf(row)
      if (isForAll(key) || namedIn(message).length > 0) due.set(key, withNewest(due.get(key) ?? [], message))
    }
  })
  return every(
    node,
    gatheredMilliseconds,
    async () => {
      const [rooms, pairs, stale] = [[...due], [...asked], [...looks.values()]]
      due.clear()
      asked.clear()
      looks.clear()
      for (const { which, session } of stale) await lookAgain(node, which, session)
      for (const id of pairs) await tellOfRequest(node, id)
      await tellOfMessages(node, rooms)
    },
    'browsers were not told',
  )
}

/** Which notices may hold no more, and in whose session they were read. */
interface Look {
  which: Parameters<typeof lookAgain>[1]
  session: string | null
}

/** Which of the notices of a room a row may change: those of a message, those of who is there no more, or all; null of other rows. */
function changedBy(row: Row): { about?: string; account?: string } | null {
  const account = removedBy(row)
  if (account !== null) return { account }
  if (!recordOf(row.type)?.recounts) return null
  const { id, message_id: about = id } = row.body
  return typeof about === 'string' ? { about } : {}
}

const requestTag = (id: string) => `friend:${id}`

/** Nobody takes the place of others by writing much. */
function withNewest(before: readonly MessageFact[], message: MessageFact): readonly MessageFact[] {
  const theirs = before.filter(({ sender }) => isSameAccount(sender, message.sender))
  const kept = theirs.length < gatheredAtMost.ofOne ? before : before.filter((one) => one !== theirs[0])
  return [...kept, message].slice(-gatheredAtMost.ofAll)
}

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
    for (const [account, notice] of await noticesOf(key, newest)) {
      const { id = '' } = newest.get(account) ?? {}
      told.set(account, { notice, room: key, message: id, seconds: daySeconds })
    }
    await tellBrowsers(node, told)
  }
}

/** Of these messages, the oldest first, those of which each account may have to be told. */
async function concernedBy(key: RoomKey, messages: readonly MessageFact[]): Promise<Map<string, MessageFact[]>> {
  const about = new Map<string, MessageFact[]>()
  const everybody = isForAll(key) ? await allIn(key) : []
  for (const message of messages)
    for (const account of new Set([...everybody, ...namedIn(message)])) {
      if (isSameAccount(account, message.sender)) continue
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
  const pair = await Pairs.findOne({ _id: id }).lean<Pair>()
  if (!pair) return
  const { from_address: from, to_address: to, request_id } = pair
  if (pair.state !== 'pending') return withdraw(node, requestTag(request_id))
  const name = (await profilesOf(node, [from])).get(from)?.name ?? from
  const doing = {
    from,
    name,
    body: 'Would like to be your friend',
    url: linkTo('friends'),
    tag: requestTag(request_id),
  }
  await tellBrowsers(node, doingOf(to, doing))
}
