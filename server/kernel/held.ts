import { AppError } from '#shared/errors'
import { type Budget, scaledBudget } from './limits/budgets.ts'

/** A holder of a counted resource, and its budget; a null key is not counted. */
interface Share {
  key: unknown
  budget: Budget
  of: string
}

/**
 * Counts one more for each holder, and returns the function that ends the count. It throws `RATE_LIMIT_EXCEEDED` if one
 * is at its budget.
 */
export function holdShares(
  held: Map<unknown, number>,
  shares: readonly Share[],
  { scale, what, retryAfter }: { scale: number; what: string; retryAfter: number },
): () => void {
  const counted = shares.filter(({ key }) => key !== null)
  for (const { key, budget, of } of counted) {
    const most = scaledBudget(budget, scale)
    if ((held.get(key) ?? 0) < most) continue
    const message = `Your ${of} has ${most} ${what}, and may have no more`
    throw new AppError('RATE_LIMIT_EXCEEDED', { message, retryAfter })
  }
  for (const { key } of counted) held.set(key, (held.get(key) ?? 0) + 1)
  let isHeld = true
  return () => {
    if (!isHeld) return
    isHeld = false
    for (const { key } of counted) {
      const left = (held.get(key) ?? 0) - 1
      if (left > 0) held.set(key, left)
      else held.delete(key)
    }
  }
}
