import { AppError } from '#shared/errors'
import { type Budget, scaled } from './budgets.ts'

/** Of whom something is counted, and how much of it they may have at a time; nobody has a key of null. */
interface Share {
  key: unknown
  budget: Budget
  of: string
}

/** Counts one more for each of these. Returns what ends the count; throws `RATE_LIMIT_EXCEEDED` where one has as many as it may. */
export function hold(
  held: Map<unknown, number>,
  shares: readonly Share[],
  { scale, what, retryAfter }: { scale: number; what: string; retryAfter: number },
): () => void {
  const counted = shares.filter(({ key }) => key !== null)
  for (const { key, budget, of } of counted) {
    const most = scaled(budget, scale)
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
