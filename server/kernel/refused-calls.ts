import { AppError } from '#shared/errors'
import type { Operation } from '#shared/kit/contract'
import type { Caller, Node } from './context.ts'
import type { Rate } from './limits.ts'

/**
 * Counts a call that was refused before it was spent, of its account or its address. Returns what is answered: the refusal, or that there
 * were too many. What failed for a reason of ours costs nothing, and what is refused as there was too much already.
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
