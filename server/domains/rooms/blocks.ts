import { Blocks } from './model.ts'

/** Whether either has blocked the other. */
export const areBlocked = async (one: string, other: string): Promise<boolean> =>
  (await blockedAmong(one, [other])).has(other)

/** Those of these accounts who have blocked this one, or whom it has blocked. */
export async function blockedAmong(account: string, others: readonly string[]): Promise<Set<string>> {
  if (others.length === 0) return new Set()
  const ids = others.flatMap((other) => [`${account} ${other}`, `${other} ${account}`])
  const rows = await Blocks.find({ _id: { $in: ids } }, { blocker_address: 1, blocked_address: 1 }).lean()
  return new Set(
    rows.map(({ blocker_address, blocked_address }) =>
      blocker_address === account ? blocked_address : blocker_address,
    ),
  )
}

/** Whom this account has blocked. */
export async function blockedBy(account: string): Promise<string[]> {
  const rows = await Blocks.find({ blocker_address: account }, { blocked_address: 1 }).lean()
  return rows.map(({ blocked_address }) => blocked_address)
}
