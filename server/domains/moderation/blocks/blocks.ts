import { newId } from '#server/kernel/ids'
import { isSameAccount } from '#shared/kit/accounts'
import { Blocks } from './model.ts'

const idOf = (blocker: string, blocked: string) => `${blocker} ${blocked}`

/** Stores a block; `isNew` the first time. A new reason replaces the previous one. */
export async function recordBlock(blocker: string, blocked: string, reason: string | null, now: number) {
  const fields = {
    block_id: newId(),
    blocker_address: blocker,
    blocked_address: blocked,
    created_at: new Date(now).toISOString(),
  }
  const row = await Blocks.findOneAndUpdate(
    { _id: idOf(blocker, blocked) },
    { $set: { reason }, $setOnInsert: fields },
    { upsert: true, returnDocument: 'after' },
  ).lean()
  return row && { row, isNew: row.block_id === fields.block_id }
}

/** True if there was a block. */
export async function removeBlock(blocker: string, blocked: string): Promise<boolean> {
  const { deletedCount } = await Blocks.deleteOne({ _id: idOf(blocker, blocked) })
  return deletedCount === 1
}

/** The blocks by this account, newest first. */
export const blocksBy = (account: string) => Blocks.find({ blocker_address: account }).sort({ created_at: -1 }).lean()

export const areBlocked = async (one: string, other: string): Promise<boolean> =>
  (await blockedAmong(one, [other])).has(other)

/** The accounts among these that this one has blocked, or that have blocked it. */
export async function blockedAmong(account: string, others: readonly string[]): Promise<Set<string>> {
  if (others.length === 0) return new Set()
  const ids = others.flatMap((other) => [idOf(account, other), idOf(other, account)])
  const rows = await Blocks.find({ _id: { $in: ids } }, { blocker_address: 1, blocked_address: 1 }).lean()
  return new Set(
    rows.map(({ blocker_address, blocked_address }) =>
      isSameAccount(blocker_address, account) ? blocked_address : blocker_address,
    ),
  )
}

/** The accounts that this account has blocked. */
export async function blockedBy(account: string): Promise<string[]> {
  const rows = await Blocks.find({ blocker_address: account }, { blocked_address: 1 }).lean()
  return rows.map(({ blocked_address }) => blocked_address)
}

/** The accounts that have blocked this account. */
export async function blockersOf(account: string): Promise<string[]> {
  const rows = await Blocks.find({ blocked_address: account }, { blocker_address: 1 }).lean()
  return rows.map(({ blocker_address }) => blocker_address)
}
