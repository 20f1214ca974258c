import { AppError } from '#shared/errors'
import type { Tier } from '#shared/kit/contract'
import type { Node } from './context.ts'

/** So many places that are read for one call cost as much as the call. */
const placesOfACall = 50

/** Takes what a call costs beyond itself that reads so many places, out of the same bucket; a place is a room, or a message of a log. */
export async function payFor(node: Node, account: string, places: number, tier: Tier): Promise<void> {
  for (let paid = placesOfACall; paid < places; paid += placesOfACall) {
    const { rate, retryAfterSeconds } = await node.limits.spend(tier, account)
    if (retryAfterSeconds !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: retryAfterSeconds, rate })
  }
}
