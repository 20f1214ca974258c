import { AppError } from '#shared/errors'
import type { Tier } from '#shared/kit/contract'
import type { Node } from './context.ts'

/** So many places that are read for one call cost as much as the call. */
const placesOfACall = 50
/** As many calls at most a call costs, so that who is in thousands of rooms, as when others have written to them, is answered all the same. */
const callsAtMost = 25

/** Takes what a call costs beyond itself that reads so many places, out of the same bucket; a place is a room, or a message of a log. */
export async function payFor(node: Node, account: string, places: number, tier: Tier): Promise<void> {
  const calls = Math.min(Math.ceil(places / placesOfACall), callsAtMost)
  for (let paid = 1; paid < calls; paid++) {
    const { rate, retryAfterSeconds } = await node.limits.spend(tier, account)
    if (retryAfterSeconds !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: retryAfterSeconds, rate })
  }
}
