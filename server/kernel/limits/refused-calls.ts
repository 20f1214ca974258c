import type { Caller, Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import type { Operation } from '#shared/kit/contract'
import type { Rate } from './limits.ts'

/**
 * Counts a call that was refused before it was spent, by account or address. Returns the error to send: the refusal, or
 * that there were too many. Faults of the server and refusals by limits are free.
 */
export async function countRefused(
  { limits }: Pick<Node, 'limits'>,
  { limit }: Operation,
  { account, ip }: Pick<Caller, 'account' | 'ip'>,
  error: unknown,
  onRate: (rate: Rate) => void,
): Promise<unknown> {
  if (!(error instanceof AppError) || error.status >= 500 || error.status === 429) return error
  const { rate, retryAfterSeconds } = await limits.refusal(limit, account ?? ip)
  onRate(rate)
  return retryAfterSeconds === null
    ? error
    : new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: retryAfterSeconds, rate })
}
