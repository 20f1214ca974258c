import { AppError } from '#shared/errors'
import type { Cost, Operation } from '#shared/kit/contract'
import { budgets, scaled } from './budgets.ts'
import type { Caller, Node } from './context.ts'
import { fewAtOnce } from './few-at-once.ts'
import { nodeState } from './node-state.ts'

/** As many calls at most a call costs, so that who is in thousands of rooms, as when others have written to them, is answered all the same. */
const callsAtMost = 25

/** How many calls a call costs that reads so many of its unit. */
function callsFor(cost: Exclude<Cost, 'cheap'>, count: number): number {
  const ofACall = 'rooms' in cost ? cost.rooms : cost.messages
  return Math.min(Math.ceil(count / ofACall), callsAtMost)
}

/**
 * Counts what a call reads, as it goes on. What that costs beyond the call itself is taken out of the caller's bucket, and out of that of the
 * address; refuses where either is empty.
 */
export function meterOf(
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

/** Does what is costly: of each address few at once, and the others in the order of their calls. */
export async function inTurn<T>(node: Pick<Node, 'state' | 'limits'>, ip: string, work: () => Promise<T>): Promise<T> {
  const turns = turnsOn(node)
  const own = turns.get(ip) ?? { run: fewAtOnce(scaled(budgets.costlyAtOnce, node.limits.scale)), waiting: 0 }
  turns.set(ip, own)
  own.waiting += 1
  try {
    return await own.run(work)
  } finally {
    own.waiting -= 1
    if (own.waiting === 0) turns.delete(ip)
  }
}
