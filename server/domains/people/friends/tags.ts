import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { FriendTag } from '#shared/api/people/friend-tags'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
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
export function tagOf(pair: Pair, account: string): FriendTag | null {
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
export type GivenTag = Pick<StoredTag, 'tag' | 'emoji' | 'color'> | null

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
