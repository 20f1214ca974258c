import { blockersOf, blocksBy, recordBlock, removeBlock } from '#server/domains/moderation/blocks/blocks'
import { blocksChanged } from '#server/domains/moderation/blocks/events'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { endRelation } from '#server/domains/people/friends/live-events'
import { unsignedEntry } from '#server/domains/rooms/events/define'
import { actorOf, entryOf } from '#server/domains/rooms/room-state/entries'
import { blockChanged } from '#server/domains/rooms/room-state/events/people'
import { blocksIn } from '#server/domains/rooms/room-state/facts'
import { type Action, type Node, signedIn } from '#server/kernel/context'
import { GLOBAL } from '#server/log/types'
import type { social as contract } from '#shared/api/moderation/social'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { dmOf, done, roomKey } from '#shared/kit/primitives'

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
