import { audiences, type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { friendTagChanged } from '#shared/api/friend-tags'
import { friends as contract } from '#shared/api/friends'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { announce, announceEnd, followFriends } from './live.ts'
import type { Pair } from './model.ts'
import { friendsOf, removeFriend, renameFriend, waiting } from './pairs.ts'
import { acceptRequest, askFriend, cancelRequest, declineRequest } from './requests.ts'
import { friendRow, requestRow, shown, shownOne } from './rows.ts'
import { tagFriend, tagsOf, untagFriend } from './tags.ts'

const requestsAtMost = 200

export const friends = defineDomain(
  contract,
  {
    async list({ limit, before }, context) {
      const { account } = signedIn(context)
      const { pairs, next } = await friendsOf(account, limit, before)
      const friends = await shown(context.node, account, pairs, friendRow)
      keepPrivately(context)
      return { friends, next }
    },

    async rename({ id, nickname }, context) {
      const { account } = signedIn(context)
      return found(await renameFriend(account, { id }, nickname || null), noFriend)
    },

    async renameByAddress({ friendAddress, nickname }, context) {
      const { account } = signedIn(context)
      return found(await renameFriend(account, { address: friendAddress }, nickname || null), noFriend)
    },

    async remove({ id }, context) {
      return ended(context, await removeFriend(signedIn(context).account, { id }), noFriend)
    },

    async removeByAddress({ friendAddress }, context) {
      return ended(context, await removeFriend(signedIn(context).account, { address: friendAddress }), noFriend)
    },

    async tags(_input, context) {
      return { tags: await tagsOf(signedIn(context).account) }
    },

    async tag({ friendAddress, tag, emoji, color }, context) {
      const { account } = signedIn(context)
      const said = { tag: tag || null, emoji: emoji || null }
      const given = said.tag === null && said.emoji === null ? null : { ...said, color: color || null }
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
        type === 'outgoing' ? [] : waiting(account, 'to_address', requestsAtMost),
        type === 'incoming' ? [] : waiting(account, 'from_address', requestsAtMost),
      ])
      const requests = await shown(context.node, account, [...incoming, ...outgoing], requestRow)
      keepPrivately(context)
      return { incoming: requests.slice(0, incoming.length), outgoing: requests.slice(incoming.length) }
    },

    async request({ toAddress, memo }, context) {
      const { account } = signedIn(context)
      const pair = await askFriend(context.node, account, toAddress, memo?.trim() || null)
      await announce(context.node, account, pair)
      const request = await shownOne(context.node, account, pair, requestRow)
      return { ...done, ...request, request }
    },

    async accept({ requestId }, context) {
      const { account } = signedIn(context)
      const pair = await acceptRequest(context.node, account, requestId)
      if (!pair) throw new AppError('NOT_FOUND', { message: noRequest })
      await announce(context.node, account, pair)
      return { ...done, friend: await shownOne(context.node, account, pair, friendRow) }
    },

    async decline({ requestId }, context) {
      return ended(context, await declineRequest(signedIn(context).account, requestId), noRequest)
    },

    async cancel({ id }, context) {
      const { account } = signedIn(context)
      const pair = await cancelRequest(account, id)
      if (pair) await announceEnd(context.node, account, pair)
      return done
    },
  },
  {
    start: (node) => [followFriends(node)],
  },
)

const noFriend = 'Friend not found'
const noRequest = 'Friend request not found, or answered already'

function found(isThere: boolean, message: string): typeof done {
  if (!isThere) throw new AppError('NOT_FOUND', { message })
  return done
}

async function ended(context: Context, pair: Pair | null, message: string): Promise<typeof done> {
  if (pair) await announceEnd(context.node, signedIn(context).account, pair)
  return found(pair !== null, message)
}

/** Only for this caller, even if another person signs in with this browser. */
function keepPrivately({ http }: Context): void {
  http?.setHeader('Cache-Control', 'private, max-age=10')
  http?.setHeader('Vary', 'Origin, Authorization, Cookie')
}
