import type { Caller, Node } from '#server/kernel/context'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { nodeState } from '#server/kernel/operate/node-state'
import { AppError } from '#shared/errors'
import type { Cost, Operation } from '#shared/kit/contract'
import { budgets, scaledBudget } from './budgets.ts'

/** The most calls that one call costs, so that callers with thousands of rooms still get an answer. */
const callsAtMost = 25

/** The number of calls that a call costs for so many units. */
function callsFor(cost: Exclude<Cost, 'cheap'>, count: number): number {
  const ofACall = 'rooms' in cost ? cost.rooms : cost.messages
  return Math.min(Math.ceil(count / ofACall), callsAtMost)
}

/**
 * Counts the units that a call reads. Costs beyond the call itself are taken from the buckets of the caller and the
 * address. An empty bucket refuses.
 */
export function costMeterOf(
  { limits }: Pick<Node, 'limits'>,
  { cost, limit }: Operation,
  { account, ip }: Pick<Caller, 'account' | 'ip'>,
): (count: number) => Promise<void> {
  let counted = 0
  let paid = 1
  return async (count) => {
    if (cost === 'cheap') throw new Error('An operation that is declared as cheap has charged')
    counted += count
    for (; paid < callsFor(cost, counted); paid++) {
      const { rate, retryAfterSeconds } = await limits.spend(limit, account ?? ip)
      if (retryAfterSeconds !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: retryAfterSeconds, rate })
      const retryAfter = await limits.wait('costs', ip, budgets.costsOfAddress.most, 60)
      if (retryAfter !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter })
    }
  }
}

interface Turns {
  run: ReturnType<typeof fewAtOnce>
  waiting: number
}
const turnsOn = nodeState(() => new Map<string, Turns>())

/** Runs costly work: few at once for each address, the others in the order of their calls. */
export async function runCostlyCall<T>(
  node: Pick<Node, 'state' | 'limits'>,
  ip: string,
  work: () => Promise<T>,
): Promise<T> {
  const turns = turnsOn(node)
  const own = turns.get(ip) ?? { run: fewAtOnce(scaledBudget(budgets.costlyAtOnce, node.limits.scale)), waiting: 0 }
  turns.set(ip, own)
  own.waiting += 1
  try {
    return await own.run(work)
  } finally {
    own.waiting -= 1
    if (own.waiting === 0) turns.delete(ip)
  }
}
