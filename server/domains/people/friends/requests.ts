import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { isLeavingAccount, refuseNewContact } from '#server/domains/people/accounts/found'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { readDuplicate } from '#server/kernel/store/read-back'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { announcePairEnd } from './live-events.ts'
import { type Pair, Pairs } from './model.ts'
import { pairIdOf } from './pairs.ts'

const hourSeconds = 3_600
const requestsAnHour = 60
const requestsToOneAnHour = 5
const pendingAtMost = 100
const attempts = 3

/**
 * Stores a request; a request in the other direction makes both friends. Of simultaneous equal requests one is stored.
 */
export async function requestFriendship(node: Node, from: string, to: string, memo: string | null): Promise<Pair> {
  if (from === to) throw new AppError('VALIDATION_ERROR', { message: 'You cannot befriend yourself' })
  await allowRequest(node, from, to)
  await refuseNewContact(to)
  for (let attempt = 0; attempt < attempts; attempt++) {
    const asked = await insertPair(newPair(node, from, to, memo))
    if (asked) return keepIfAllowed(asked)
    const known = await readDuplicate(() => Pairs.findOne({ _id: pairIdOf(from, to) }).lean<Pair>())
    if (known?.state === 'friends') throw new AppError('VALIDATION_ERROR', { message: 'You are friends already' })
    if (isSameAccount(known?.from_address, from))
      throw new AppError('VALIDATION_ERROR', { message: 'Your request is pending already' })
    const accepted = known && (await acceptRequest(node, from, known.request_id))
    if (accepted) return accepted
  }
  throw new AppError('CONFLICT')
}

/**
 * Makes two people friends without a request, unless they have a relation or a block. Nobody is notified: both lists
 * show it.
 */
export async function makeFriends(node: Node, from: string, to: string): Promise<void> {
  const pair = await insertPair({ ...newPair(node, from, to, null), state: 'friends' })
  if (pair && (await areBlocked(from, to))) await deletePair(pair)
}

async function allowRequest(node: Node, from: string, to: string): Promise<void> {
  const allowed =
    (await node.limits.throttle('friend-requests-by', from, requestsAnHour, hourSeconds)) &&
    (await node.limits.throttle('friend-requests-to', `${from} ${to}`, requestsToOneAnHour, hourSeconds))
  if (!allowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
}

function newPair(node: Node, from_address: string, to_address: string, memo: string | null): Pair {
  const time = new Date(node.now()).toISOString()
  return {
    _id: pairIdOf(from_address, to_address),
    state: 'pending',
    request_id: newId(),
    from_address,
    to_address,
    memo,
    from_friend_id: newId(),
    to_friend_id: newId(),
    from_nickname: null,
    to_nickname: null,
    asked_at: time,
    changed_at: time,
    version: newId(),
  }
}

/** Null if the two have a relation already. */
async function insertPair(pair: Pair): Promise<Pair | null> {
  try {
    await Pairs.create(pair)
    return pair
  } catch (error) {
    if (isDuplicate(error)) return null
    throw error
  }
}

/** Checks again after the insert: a simultaneous block or request either sees this one, or is seen here. */
async function keepIfAllowed(pair: Pair): Promise<Pair> {
  const { from_address, to_address } = pair
  const [blocked, pending] = await Promise.all([
    areBlocked(from_address, to_address),
    Pairs.countDocuments({ from_address, state: 'pending' }),
  ])
  if (!blocked && pending <= pendingAtMost) return pair
  const { deletedCount } = await deletePair(pair)
  if (blocked) throw new AppError('FORBIDDEN', { message: 'You cannot send this user a friend request' })
  const isAnswered = deletedCount === 0
  if (isAnswered) return pair
  throw new AppError('CONFLICT', { message: `You have ${pendingAtMost} requests pending. Take one back first.` })
}

/**
 * Null if no such request waits for this account, or its sender is to be erased. A block is stored before it deletes friendships, a friendship before
 * it checks blocks. One of them thus always sees the other.
 */
export async function acceptRequest(node: Node, account: string, request_id: string): Promise<Pair | null> {
  const changed_at = new Date(node.now()).toISOString()
  const waiting = { request_id, to_address: account, state: 'pending' } as const
  const sent = await Pairs.findOne(waiting, { from_address: 1 }).lean()
  if (sent && (await isLeavingAccount(sent.from_address))) return null
  const pair = await Pairs.findOneAndUpdate(
    waiting,
    { $set: { state: 'friends', changed_at, version: newId() } },
    { returnDocument: 'after' },
  ).lean<Pair>()
  if (!pair || !(await areBlocked(pair.from_address, account))) return pair
  const { deletedCount } = await deletePair(pair)
  if (deletedCount === 1) await announcePairEnd(node, account, { ...pair, state: 'pending' })
  return null
}

const deletePair = ({ _id, version }: Pair) => Pairs.deleteOne({ _id, version })

/** The declined request; null if none waits for this account. */
export const declineRequest = (account: string, request_id: string): Promise<Pair | null> =>
  Pairs.findOneAndDelete({ request_id, to_address: account, state: 'pending' }).lean<Pair>()

/** As `declineRequest`, for the sender of the request. */
export const cancelRequest = (account: string, request_id: string): Promise<Pair | null> =>
  Pairs.findOneAndDelete({ request_id, from_address: account, state: 'pending' }).lean<Pair>()
