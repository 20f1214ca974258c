import { accountOf } from '#server/domains/accounts/accounts'
import { part } from '#server/domains/friends/live'
import { actorOf, entryOf } from '#server/domains/rooms/entries'
import { blockChanged } from '#server/domains/rooms/events/people'
import { blocksIn } from '#server/domains/rooms/facts'
import { Blocks } from '#server/domains/rooms/model'
import { type Action, type Node, signedIn } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { GLOBAL } from '#server/log/types'
import type { social as contract } from '#shared/api/social'
import { AppError } from '#shared/errors'
import { dmOf, done, roomKey } from '#shared/kit/primitives'

type Row = NonNullable<Awaited<ReturnType<typeof findBlock>>>
const idOf = (blocker: string, blocked: string) => `${blocker} ${blocked}`
const findBlock = (blocker: string, blocked: string) => Blocks.findOne({ _id: idOf(blocker, blocked) }).lean()

const shown = ({ block_id, blocker_address, blocked_address, reason, created_at }: Row) => ({
  id: block_id,
  blocker_address,
  blocked_address,
  reason: reason ?? null,
  created_at,
})

export const blocks: Action<typeof contract.blocks> = async (_input, context) => {
  const { account } = signedIn(context)
  const [mine, others] = await Promise.all([
    Blocks.find({ blocker_address: account }).sort({ created_at: -1 }).lean(),
    Blocks.find({ blocked_address: account }, { blocker_address: 1 }).lean(),
  ])
  return { blockedUsers: mine.map(shown), blockedBy: others.map(({ blocker_address }) => blocker_address) }
}

export const block: Action<typeof contract.block> = async ({ userAddress, reason }, context) => {
  const { account } = signedIn(context)
  return { success: true, block: await blockSomebody(context.node, account, userAddress, reason ?? null) }
}

/** The record first, then what was between the two as friends, then the dm's log: from that event on neither can write to the other. */
export async function blockSomebody(node: Node, account: string, other: string, reason: string | null) {
  if (other === account) throw new AppError('VALIDATION_ERROR', { message: 'You cannot block yourself' })
  if (!(await accountOf(other))) throw new AppError('USER_NOT_FOUND')
  const fields = {
    block_id: newId(),
    blocker_address: account,
    blocked_address: other,
    created_at: new Date(node.now()).toISOString(),
  }
  const row = await Blocks.findOneAndUpdate(
    { _id: idOf(account, other) },
    { $set: { reason }, $setOnInsert: fields },
    { upsert: true, returnDocument: 'after' },
  ).lean()
  if (!row) throw new AppError('CONFLICT')
  await part(node, account, other)
  if (row.block_id === fields.block_id) await tellDevices(node, account, other)
  await tellDm(node, account, other, true)
  return shown(row)
}

export const unblock: Action<typeof contract.unblock> = async ({ userAddress }, context) => {
  const { account } = signedIn(context)
  const { deletedCount } = await Blocks.deleteOne({ _id: idOf(account, userAddress) })
  if (deletedCount === 1) await tellDevices(context.node, account, userAddress)
  if (userAddress !== account && (await accountOf(userAddress))) await tellDm(context.node, account, userAddress, false)
  return done
}

/** By the log that every node follows, as other rooms' unread counts change with a block. */
async function tellDevices(node: Node, account: string, other: string): Promise<void> {
  await node.log
    .act(GLOBAL, { sender: account, judge: () => ({ accept: { type: 'blocks.changed', body: { other } } }) })
    .catch((error: unknown) => node.logger.warn({ error }, 'a block could not be told'))
}

async function tellDm(node: Node, account: string, other: string, on: boolean): Promise<void> {
  const actor = await actorOf(account)
  await node.log.act<null>(roomKey(dmOf(account, other)), {
    sender: account,
    judge(view) {
      const isSo = blocksIn(view).includes(account) === on
      return isSo ? { already: null } : { accept: entryOf(view, actor, blockChanged, { blocker: account, on }) }
    },
  })
}
