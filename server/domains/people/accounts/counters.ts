import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import type { Counters } from '#shared/api/account-records'

type Count = (account: string) => Promise<Counters>

const countOn = nodeState((): { count: Count | null } => ({ count: null }))

/** Told at the start of a node by the domain that counts. */
export const countsAccounts = (node: Node, count: Count): void => void Object.assign(countOn(node), { count })

/** What can be counted of an account. */
export function countersOf(node: Node, account: string): Promise<Counters> {
  const { count } = countOn(node)
  if (!count) throw new Error('Nobody counts yet')
  return count(account)
}
