import type { z } from 'zod'
import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { type Profile, profileOf, profilesOf } from '#server/domains/people/accounts/profiles'
import { type EventRecord, isRowOf, unsignedEntry } from '#server/domains/rooms/events/define'
import { audiences, type Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { GLOBAL, type Row } from '#server/log/types'
import {
  type Friend,
  type FriendRequest,
  friendAccepted,
  friendCancelled,
  friendDeclined,
  friendRemoved,
  friendRequested,
} from '#shared/api/people/friends'
import type { FriendTag } from '#shared/api/people/profile-theme'
import type { RoomEventType } from '#shared/api/rooms/room-events'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { friendsChanged, friendsEnded } from './events.ts'
import { type Pair, Pairs, type StoredTag } from './model.ts'
import { listedPairs, otherPersonOf, pairIdOf, unblockedPairs } from './pairs.ts'

/** Simultaneous writes may exceed it slightly. */
const tagsAtMost = 2_000

const ends = [
  ['from_address', 'from_tag'],
  ['to_address', 'to_tag'],
] as const

const fieldOf = (pair: Pair, account: string) => (isSameAccount(pair.from_address, account) ? 'from_tag' : 'to_tag')

/** The tag that this account put on the other person. Rows of older versions lack the field. */
function tagOf(pair: Pair, account: string): FriendTag | null {
  const stored = pair[fieldOf(pair, account)]
  return stored ? { ...stored, user_address: account, friend_address: otherPersonOf(pair, account) } : null
}

/** All tags of an account, the latest change first. */
export async function tagsOf(account: string): Promise<FriendTag[]> {
  const found = await Promise.all(
    ends.map(([end, field]) => Pairs.find({ [end]: account, state: 'friends', [field]: { $ne: null } }).lean<Pair[]>()),
  )
  const tags = (await listedPairs(account, found.flat())).flatMap((pair) => tagOf(pair, account) ?? [])
  return tags.sort((one, other) => (one.updated_at < other.updated_at ? 1 : -1))
}

/** The new text, emoji and colour; null removes the tag. */
type GivenTag = Pick<StoredTag, 'tag' | 'emoji' | 'color'> | null

/** Sets a friend's tag, and returns it. NOT_FOUND if the two are not friends, CONFLICT at the limit. */
export async function tagFriend(
  node: Node,
  account: string,
  friend: string,
  given: GivenTag,
): Promise<FriendTag | null> {
  const pair = await friendship(account, friend)
  if (!pair) throw new AppError('NOT_FOUND', { message: 'Friend not found' })
  const field = fieldOf(pair, account)
  const before = pair[field] ?? null
  if (given && !before && (await countOf(account)) >= tagsAtMost)
    throw new AppError('CONFLICT', { message: `You have ${tagsAtMost} tags. Take one away first.` })
  const now = new Date(node.now()).toISOString()
  const tag = given && { id: before?.id ?? newId(), created_at: before?.created_at ?? now, ...given, updated_at: now }
  const { matchedCount } = await Pairs.updateOne({ _id: pair._id, version: pair.version }, { $set: { [field]: tag } })
  if (matchedCount === 0) throw new AppError('NOT_FOUND', { message: 'Friend not found' })
  return tagOf({ ...pair, [field]: tag }, account)
}

/** True if there was a tag. */
export async function untagFriend(account: string, friend: string): Promise<boolean> {
  const pair = await friendship(account, friend)
  if (!pair || !tagOf(pair, account)) return false
  const { matchedCount } = await Pairs.updateOne(
    { _id: pair._id, version: pair.version },
    { $set: { [fieldOf(pair, account)]: null } },
  )
  return matchedCount === 1
}

async function friendship(account: string, friend: string): Promise<Pair | null> {
  const pair = await Pairs.findOne({ _id: pairIdOf(account, friend), state: 'friends' }).lean<Pair>()
  const [open] = pair ? await unblockedPairs(account, [pair]) : []
  return open ?? null
}

async function countOf(account: string): Promise<number> {
  const counts = await Promise.all(
    ends.map(([end, field]) => Pairs.countDocuments({ [end]: account, state: 'friends', [field]: { $ne: null } })),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

type PairRow<Shown> = (pair: Pair, account: string, other: Profile) => Shown

/** A pair as shown to one person, with the other's profile. */
export async function pairOutput<Shown>(node: Node, account: string, pair: Pair, show: PairRow<Shown>): Promise<Shown> {
  const other = otherPersonOf(pair, account)
  return show(pair, account, profileIn(await profilesOf(node, [other]), other))
}

export async function pairOutputs<Shown>(
  node: Node,
  account: string,
  pairs: readonly Pair[],
  show: PairRow<Shown>,
): Promise<Shown[]> {
  const profiles = await profilesOf(
    node,
    pairs.map((pair) => otherPersonOf(pair, account)),
  )
  return pairs.map((pair) => show(pair, account, profileIn(profiles, otherPersonOf(pair, account))))
}

const profileIn = (profiles: ReadonlyMap<string, Profile>, id: string): Profile =>
  profiles.get(id) ?? profileOf({ _id: id })

export const friendRow: PairRow<z.input<typeof Friend>> = (pair, account, { username, display_name, avatar_url }) => {
  const isAsker = isSameAccount(pair.from_address, account)
  const tag = tagOf(pair, account)
  return {
    id: isAsker ? pair.from_friend_id : pair.to_friend_id,
    user_address: account,
    friend_address: otherPersonOf(pair, account),
    nickname: isAsker ? pair.from_nickname : pair.to_nickname,
    tag,
    tags: tag === null ? [] : [tag],
    created_at: pair.changed_at,
    username,
    display_name,
    avatar_url,
  }
}

export const requestRow: PairRow<z.input<typeof FriendRequest>> = (
  pair,
  _account,
  { username, display_name, avatar_url },
) => ({
  id: pair.request_id,
  from_address: pair.from_address,
  to_address: pair.to_address,
  status: pair.state === 'friends' ? 'accepted' : 'pending',
  memo: pair.memo,
  created_at: pair.asked_at,
  updated_at: pair.changed_at,
  username,
  display_name,
  avatar_url,
})

const namespace = '/notifications'

/** The fields of an ended pair in its event, without nicknames and the request's text. */
type EndedPair = Pick<Pair, 'state' | 'request_id' | 'from_address' | 'to_address' | 'from_friend_id' | 'to_friend_id'>

export const announcePair = (node: Node, account: string, pair: Pair): Promise<void> =>
  appendToGlobal(node, account, friendsChanged, { pair: pair._id })

/** `account` ended the request or friendship. */
export function announcePairEnd(node: Node, account: string, pair: Pair): Promise<void> {
  const { state, request_id, from_address, to_address, from_friend_id, to_friend_id } = pair
  const was = { state, request_id, from_address, to_address, from_friend_id, to_friend_id } satisfies EndedPair
  return appendToGlobal(node, account, friendsEnded, { pair: was })
}

/** Ends a request or friendship for a block, after the block is stored. */
export async function endRelation(node: Node, account: string, other: string): Promise<void> {
  const pair = await Pairs.findOneAndDelete({ _id: pairIdOf(account, other) }).lean<Pair>()
  if (pair) await announcePairEnd(node, account, pair)
}

/**
 * Appends to `global`, so that both people are notified on any node. The stored change does not depend on it: lists
 * show it anyway.
 */
async function appendToGlobal<Body>(
  node: Node,
  account: string,
  makes: EventRecord<RoomEventType, Body>,
  body: NoInfer<Body>,
): Promise<void> {
  await node.log
    .act(GLOBAL, { sender: account, makes, judge: () => ({ accept: unsignedEntry(makes, body) }) })
    .catch((error: unknown) => node.logger.warn({ error }, 'a friendship could not be told'))
}

/** Notifies people on this node of their requests and friendships, in order of the changes. */
export function followFriends(node: Node): () => void {
  let sending = Promise.resolve()
  node.log.onRows((key, rows) => {
    if (key !== GLOBAL) return
    for (const row of rows) {
      if (isRowOf(row, friendsChanged))
        sending = sending.then(() => sendPair(node, String(row.body.pair))).catch(() => {})
      if (isRowOf(row, friendsEnded)) sending = sending.then(() => sendPairEnd(node, row)).catch(() => {})
    }
  })
  return () => {}
}

const connectedAccounts = (node: Node, { from_address, to_address }: EndedPair): string[] =>
  [from_address, to_address].filter((account) => node.live.audienceSize(namespace, audiences.account(account)) > 0)

async function sendPair(node: Node, id: string): Promise<void> {
  const pair = await Pairs.findOne({ _id: id }).lean<Pair>()
  if (!pair) return
  const here = connectedAccounts(node, pair)
  if (here.length === 0 || (await areBlocked(pair.from_address, pair.to_address))) return
  for (const account of here) {
    const theirs = audiences.account(account)
    if (pair.state === 'friends')
      node.live.send(friendAccepted, theirs, { friend: await pairOutput(node, account, pair, friendRow) })
    else node.live.send(friendRequested, theirs, { request: await pairOutput(node, account, pair, requestRow) })
  }
}

function sendPairEnd(node: Node, { sender, body }: Row): void {
  const pair = body.pair as unknown as EndedPair
  const { request_id: id, from_address, to_address } = pair
  for (const account of connectedAccounts(node, pair)) {
    const theirs = audiences.account(account)
    const ended = isSameAccount(sender, from_address) ? friendCancelled : friendDeclined
    if (pair.state === 'friends') node.live.send(friendRemoved, theirs, { friend: endedRow(pair, account) })
    else node.live.send(ended, theirs, { request: { id, from_address, to_address } })
  }
}

const endedRow = (pair: EndedPair, account: string) => ({
  id: isSameAccount(pair.from_address, account) ? pair.from_friend_id : pair.to_friend_id,
  user_address: account,
  friend_address: otherPersonOf(pair, account),
})
