import { blockersOf, blocksBy, recordBlock, removeBlock } from '#server/domains/moderation/blocks/blocks'
import { blocksChanged } from '#server/domains/moderation/blocks/events'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { endRelation } from '#server/domains/people/friends/live-events'
import { unsignedEntry } from '#server/domains/rooms/events/define'
import { blockChanged } from '#server/domains/rooms/room-state/events/people'
import { blocksIn } from '#server/domains/rooms/room-state/facts'
import { actorOf, entryOf } from '#server/domains/rooms/room-state/standing'
import { type Action, type Node, signedIn } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { GLOBAL, type RoomKey } from '#server/log/types'
import type { social as contract } from '#shared/api/moderation/social'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { canonicalAddress, dmOf, done, roomKey } from '#shared/kit/primitives'
import { conversationOf, roomOfKey } from '#shared/kit/room-key'
import type { Conversation } from '#shared/kit/room-kinds'
import { ConversationMutes } from './model.ts'

type StoredBlock = Awaited<ReturnType<typeof blocksBy>>[number]

const blockOutput = ({ block_id, blocker_address, blocked_address, reason, created_at }: StoredBlock) => ({
  id: block_id,
  blocker_address,
  blocked_address,
  reason: reason ?? null,
  created_at,
})

export const blocks: Action<typeof contract.blocks> = async (_input, context) => {
  const { account } = signedIn(context)
  const [mine, blockers] = await Promise.all([blocksBy(account), blockersOf(account)])
  return { blockedUsers: mine.map(blockOutput), blockedBy: blockers }
}

export const block: Action<typeof contract.block> = async ({ userAddress, reason }, context) => {
  const { account } = signedIn(context)
  return { success: true, block: await blockAccount(context.node, account, userAddress, reason ?? null) }
}

/**
 * The record comes first, then the friendship ends, then the event in the direct log. From that event on, neither can
 * write to the other.
 */
export async function blockAccount(node: Node, account: string, other: string, reason: string | null) {
  if (isSameAccount(other, account)) throw new AppError('VALIDATION_ERROR', { message: 'You cannot block yourself' })
  if (!(await accountOf(other))) throw new AppError('USER_NOT_FOUND')
  const recorded = await recordBlock(account, other, reason, node.now())
  if (!recorded) throw new AppError('CONFLICT')
  await endRelation(node, account, other)
  if (recorded.isNew) await announceBlock(node, account, other)
  await appendToDirectLog(node, account, other, true)
  return blockOutput(recorded.row)
}

export const unblock: Action<typeof contract.unblock> = async ({ userAddress }, context) => {
  const { account } = signedIn(context)
  if (await removeBlock(account, userAddress)) await announceBlock(context.node, account, userAddress)
  if (!isSameAccount(userAddress, account) && (await accountOf(userAddress)))
    await appendToDirectLog(context.node, account, userAddress, false)
  return done
}

/** Appends to `global`, because a block changes unread counts of other rooms. */
async function announceBlock(node: Node, account: string, other: string): Promise<void> {
  await node.log
    .act(GLOBAL, {
      sender: account,
      makes: blocksChanged,
      judge: () => ({ accept: unsignedEntry(blocksChanged, { other }) }),
    })
    .catch((error: unknown) => node.logger.warn({ error }, 'a block could not be told'))
}

async function appendToDirectLog(node: Node, account: string, other: string, on: boolean): Promise<void> {
  const actor = await actorOf(node, account)
  await node.log.act(roomKey(dmOf(account, other)), {
    sender: account,
    makes: blockChanged,
    judge(view) {
      const isSo = blocksIn(view).includes(account) === on
      return isSo ? { already: null } : { accept: entryOf(view, actor, blockChanged, { blocker: account, on }) }
    },
  })
}

const milliseconds = { '1h': 3_600_000, '8h': 28_800_000, '1d': 86_400_000, '1w': 604_800_000 } as const

type Mute = Awaited<ReturnType<typeof conversationMutesOf>>[number]

/** The conversation mutes of an account that are in force. */
export async function conversationMutesOf(account: string, now: number) {
  const rows = await ConversationMutes.find({ user_address: account }).sort({ updated_at: -1 }).lean()
  return rows.filter(({ muted_until }) => muted_until == null || Date.parse(muted_until) > now).map(muteOutput)
}

const muteOutput = (row: {
  mute_id: string
  user_address: string
  conversation_type: string
  conversation_id: string
  muted_until?: string | null
  created_at: string
  updated_at: string
}) => ({
  id: row.mute_id,
  user_address: row.user_address,
  conversation_type: row.conversation_type as Conversation,
  conversation_id: row.conversation_id,
  muted_until: row.muted_until ?? null,
  created_at: row.created_at,
  updated_at: row.updated_at,
})

/** The mute of a room, if any. A direct conversation is named by the other person, alpha by `global`. */
export function conversationMuteOf(mutes: readonly Mute[], key: RoomKey, account: string): Mute | null {
  const { conversationType, conversationId } = conversationOf(roomOfKey(key), account)
  return (
    mutes.find(
      ({ conversation_type, conversation_id }) =>
        conversation_type === conversationType && conversation_id === conversationId.toLowerCase(),
    ) ?? null
  )
}

export const mutes: Action<typeof contract.mutes> = async (_input, context) => ({
  mutes: await conversationMutesOf(signedIn(context).account, context.node.now()),
})

const idOf = (account: string, type: string, conversation: string) => `${account} ${type} ${conversation}`
const storedId = (id: string) => canonicalAddress(id).toLowerCase()

export const mute: Action<typeof contract.mute> = async ({ conversationType, conversationId, duration }, context) => {
  const { account } = signedIn(context)
  const now = context.node.now()
  const conversation_id = storedId(conversationId)
  const muted_until = duration === 'forever' ? null : new Date(now + milliseconds[duration]).toISOString()
  const time = new Date(now).toISOString()
  const row = await ConversationMutes.findOneAndUpdate(
    { _id: idOf(account, conversationType, conversation_id) },
    {
      $set: { muted_until, updated_at: time },
      $setOnInsert: {
        mute_id: newId(),
        user_address: account,
        conversation_type: conversationType,
        conversation_id,
        created_at: time,
      },
    },
    { upsert: true, returnDocument: 'after' },
  ).lean()
  if (!row) throw new Error('The silence is gone')
  return { success: true, mute: muteOutput(row) }
}

export const unmute: Action<typeof contract.unmute> = async ({ conversationType, conversationId }, context) => {
  await ConversationMutes.deleteOne({
    _id: idOf(signedIn(context).account, conversationType, storedId(conversationId)),
  })
  return done
}
