import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { Counters } from '#shared/api/people/account-records'

type Count = (account: string) => Promise<Counters>

const countOn = nodeState((): { count: Count | null } => ({ count: null }))

/** Registers the counting domain at the start of a node. */
export const registerCounters = (node: Node, count: Count): void => void Object.assign(countOn(node), { count })

export function countersOf(node: Node, account: string): Promise<Counters> {
  const { count } = countOn(node)
  if (!count) throw new Error('Nobody counts yet')
  return count(account)
}
