import { audiences, type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { friends as contract } from '#shared/api/people/friends'
import { friendTagChanged } from '#shared/api/people/profile-theme'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import {
  announcePair,
  announcePairEnd,
  followFriends,
  friendRow,
  pairOutput,
  pairOutputs,
  requestRow,
  tagFriend,
  tagsOf,
  untagFriend,
} from './live-events.ts'
import type { Pair } from './model.ts'
import { friendsOf, openRequests, removeFriend, renameFriend } from './pairs.ts'
import { acceptRequest, cancelRequest, declineRequest, requestFriendship } from './requests.ts'

const requestsAtMost = 200

export const friends = defineDomain(
  contract,
  {
    async list({ limit, before }, context) {
      const { account } = signedIn(context)
      const { pairs, next } = await friendsOf(account, limit, before)
      const friends = await pairOutputs(context.node, account, pairs, friendRow)
      cachePrivately(context)
      return { friends, next }
    },

    async rename({ id, nickname }, context) {
      const { account } = signedIn(context)
      return requireFound(await renameFriend(account, { id }, nickname || null), noFriend)
    },

    async renameByAddress({ friendAddress, nickname }, context) {
      const { account } = signedIn(context)
      return requireFound(await renameFriend(account, { address: friendAddress }, nickname || null), noFriend)
    },

    async remove({ id }, context) {
      return announceEnded(context, await removeFriend(signedIn(context).account, { id }), noFriend)
    },

    async removeByAddress({ friendAddress }, context) {
      return announceEnded(context, await removeFriend(signedIn(context).account, { address: friendAddress }), noFriend)
    },

    async tags(_input, context) {
      return { tags: await tagsOf(signedIn(context).account) }
    },

    async tag({ friendAddress, tag, emoji, color }, context) {
      const { account } = signedIn(context)
      const words = { tag: tag || null, emoji: emoji || null }
      const given = words.tag === null && words.emoji === null ? null : { ...words, color: color || null }
      const put = await tagFriend(context.node, account, friendAddress, given)
      context.emit(friendTagChanged, audiences.account(account), { friend_address: friendAddress, tag: put })
      return { ...done, tag: put }
    },

    async untag({ friendAddress }, context) {
      const { account } = signedIn(context)
      if (await untagFriend(account, friendAddress))
        context.emit(friendTagChanged, audiences.account(account), { friend_address: friendAddress, tag: null })
      return done
    },

    async requests({ type }, context) {
      const { account } = signedIn(context)
      const [incoming, outgoing] = await Promise.all([
        type === 'outgoing' ? [] : openRequests(account, 'to_address', requestsAtMost),
        type === 'incoming' ? [] : openRequests(account, 'from_address', requestsAtMost),
      ])
      const requests = await pairOutputs(context.node, account, [...incoming, ...outgoing], requestRow)
      cachePrivately(context)
      return { incoming: requests.slice(0, incoming.length), outgoing: requests.slice(incoming.length) }
    },

    async request({ toAddress, memo }, context) {
      const { account } = signedIn(context)
      const pair = await requestFriendship(context.node, account, toAddress, memo?.trim() || null)
      await announcePair(context.node, account, pair)
      const request = await pairOutput(context.node, account, pair, requestRow)
      return { ...done, ...request, request }
    },

    async accept({ requestId }, context) {
      const { account } = signedIn(context)
      const pair = await acceptRequest(context.node, account, requestId)
      if (!pair) throw new AppError('NOT_FOUND', { message: noRequest })
      await announcePair(context.node, account, pair)
      return { ...done, friend: await pairOutput(context.node, account, pair, friendRow) }
    },

    async decline({ requestId }, context) {
      return announceEnded(context, await declineRequest(signedIn(context).account, requestId), noRequest)
    },

    async cancel({ id }, context) {
      const { account } = signedIn(context)
      const pair = await cancelRequest(account, id)
      if (pair) await announcePairEnd(context.node, account, pair)
      return done
    },
  },
  {
    start: (node) => [followFriends(node)],
  },
)

const noFriend = 'Friend not found'
const noRequest = 'Friend request not found, or answered already'

function requireFound(isThere: boolean, message: string): typeof done {
  if (!isThere) throw new AppError('NOT_FOUND', { message })
  return done
}

async function announceEnded(context: Context, pair: Pair | null, message: string): Promise<typeof done> {
  if (pair) await announcePairEnd(context.node, signedIn(context).account, pair)
  return requireFound(pair !== null, message)
}

/** Only for this caller, even if another person signs in with this browser. */
function cachePrivately({ http }: Context): void {
  http?.setHeader('Cache-Control', 'private, max-age=10')
  http?.setHeader('Vary', 'Origin, Authorization, Cookie')
}
