import { recordOf, removedBy } from '#server/domains/events'
import { blockedAmong } from '#server/domains/moderation/blocks/blocks'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import { friendsChanged, friendsEnded } from '#server/domains/people/friends/events'
import { type Pair, Pairs } from '#server/domains/people/friends/model'
import { friendsAmong } from '#server/domains/people/friends/pairs'
import { isRowOf } from '#server/domains/rooms/events/define'
import { onRead } from '#server/domains/rooms/messages/reads'
import { mayListen } from '#server/domains/rooms/room-state/access'
import { messageCreated } from '#server/domains/rooms/room-state/events/messages'
import { type MessageFact, messageFactOf } from '#server/domains/rooms/room-state/facts'
import { rolesOfAll } from '#server/domains/rooms/room-state/membership'
import { Members } from '#server/domains/rooms/room-state/model'
import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/work/every'
import { GLOBAL, type RoomKey, type Row } from '#server/log/types'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { peersOf, roomOfKey } from '#shared/kit/room-key'
import { isBetweenTwo } from '#shared/kit/room-kinds'
import { hasSubscribers, subscribedAccounts } from './browsers.ts'
import { type AccountNotice, recheckNotices, withdrawNotice } from './deliver.ts'
import { eventNotice } from './event-notices.ts'
import { accountsNamedIn, messageNotices, notifiesAll } from './message-notices.ts'
import { notifyBrowsers } from './notify.ts'

const gatheredMilliseconds = 1_000
/** The newest messages of a second in a room are kept: per sender, and in all. */
const gatheredAtMost = { ofOne: 20, ofAll: 400 }
/** In larger rooms members are notified of mentions and replies alone. */
const maxMembersNotified = 500
const daySeconds = 86_400

/** Notifies browsers of messages and friend requests that this node appended: once a second per room. Reads, edits and removals update notices. */
export function followPushEvents(node: Node): () => void {
  const due = new Map<RoomKey, readonly MessageFact[]>()
  const asked = new Set<string>()
  const looks = new Map<string, Recheck>()
  const look = (of: Recheck) => looks.set(JSON.stringify(of), of)
  onRead(node, (account, { key, session }) => look({ which: { tag: key, account }, session }))
  node.log.onRows((key, rows, isOurs) => {
    if (!isOurs) return
    for (const row of rows) {
      if (isRowOf(row, friendsChanged)) asked.add(String(row.body.pair))
      if (isRowOf(row, friendsEnded)) withdrawNotice(node, requestTag((row.body.pair as unknown as Pair).request_id))
      if (key === GLOBAL) continue
      const changed = changedBy(row)
      if (changed) look({ which: { tag: key, ...changed }, session: null })
      if (!isRowOf(row, messageCreated)) continue
      const message = messageFactOf(row)
      if (notifiesAll(key) || accountsNamedIn(message).length > 0) due.set(key, withNewest(due.get(key) ?? [], message))
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
      for (const { which, session } of stale) await recheckNotices(node, which, session)
      for (const id of pairs) await notifyFriendRequest(node, id)
      await notifyMessages(node, rooms)
    },
    'browsers were not told',
  )
}

/** Notices that may be outdated, and the session that read them. */
interface Recheck {
  which: Parameters<typeof recheckNotices>[1]
  session: string | null
}

/** The notices that a row may change: of a message, of a removed account, or all; null for others. */
function changedBy(row: Row): { about?: string; account?: string } | null {
  const account = removedBy(row)
  if (account !== null) return { account }
  if (!recordOf(row.type)?.recounts) return null
  const { id, message_id: about = id } = row.body
  return typeof about === 'string' ? { about } : {}
}

const requestTag = (id: string) => `friend:${id}`

/** A busy sender does not displace others. */
function withNewest(before: readonly MessageFact[], message: MessageFact): readonly MessageFact[] {
  const theirs = before.filter(({ sender }) => isSameAccount(sender, message.sender))
  const kept = theirs.length < gatheredAtMost.ofOne ? before : before.filter((one) => one !== theirs[0])
  return [...kept, message].slice(-gatheredAtMost.ofAll)
}

async function notifyMessages(node: Node, rooms: readonly [RoomKey, readonly MessageFact[]][]): Promise<void> {
  if (rooms.length === 0 || !(await hasSubscribers())) return
  const concerned: [RoomKey, Map<string, MessageFact[]>][] = []
  for (const [key, messages] of rooms) concerned.push([key, await recipientsOf(key, messages)])
  const subscribed = new Set(await subscribedAccounts(concerned.flatMap(([, about]) => [...about.keys()])))
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
    const notices = new Map<string, AccountNotice>()
    for (const [account, notice] of await messageNotices(key, newest)) {
      const { id = '' } = newest.get(account) ?? {}
      notices.set(account, { notice, room: key, message: id, seconds: daySeconds })
    }
    await notifyBrowsers(node, notices)
  }
}

/** The messages that may concern each account, oldest first. */
async function recipientsOf(key: RoomKey, messages: readonly MessageFact[]): Promise<Map<string, MessageFact[]>> {
  const about = new Map<string, MessageFact[]>()
  const everybody = notifiesAll(key) ? await allIn(key) : []
  for (const message of messages)
    for (const account of new Set([...everybody, ...accountsNamedIn(message)])) {
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

/** The friendships and blocks between senders and readers of several senders, by sender, as these are fewer. */
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

/** The message of an account's notice: the newest of a friend, else of anyone not blocked. */
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

/** The members of a room; none above the limit. */
async function allIn(key: RoomKey): Promise<readonly string[]> {
  const { type, id } = roomOfKey(key)
  if (isBetweenTwo(type)) return peersOf(id)
  const rows = await Members.find({ room: key, is_active: true }, { user_address: 1 })
    .limit(maxMembersNotified + 1)
    .lean()
  return rows.length > maxMembersNotified ? [] : rows.map(({ user_address }) => user_address)
}

/** The accounts that are members and may listen. */
async function membersAmong(node: Node, key: RoomKey, accounts: readonly string[]): Promise<ReadonlySet<string>> {
  const { type, id } = roomOfKey(key)
  if (isBetweenTwo(type)) return new Set(accounts.filter((account) => peersOf(id).includes(account)))
  if (accounts.length === 0) return new Set()
  const members = (await rolesOfAll(accounts, [key])).map(({ account }) => account)
  return new Set(await node.log.ask(key, (view, now) => members.filter((account) => mayListen(view, account, now))))
}

/** Notifies the receiver of a pending friend request. */
async function notifyFriendRequest(node: Node, id: string): Promise<void> {
  const pair = await Pairs.findOne({ _id: id }).lean<Pair>()
  if (!pair) return
  const { from_address: from, to_address: to, request_id } = pair
  if (pair.state !== 'pending') return withdrawNotice(node, requestTag(request_id))
  const name = (await profilesOf(node, [from])).get(from)?.name ?? from
  const doing = {
    from,
    name,
    body: 'Would like to be your friend',
    url: linkTo('friends'),
    tag: requestTag(request_id),
  }
  await notifyBrowsers(node, eventNotice(to, doing))
}
