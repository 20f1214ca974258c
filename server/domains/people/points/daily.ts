import { type Context, signedIn } from '#server/kernel/context'
import { dailyPoints } from '#shared/api/people/points'
import { awardPoints } from './ledger.ts'
import { PointEntries, type StoredEntry } from './model.ts'

const dayMilliseconds = 86_400_000
const prefix = 'daily_'
const afterAllDays = `${prefix}~`

/** The UTC day of a time, and the start of the next. */
function dayAt(now: number) {
  const next = (Math.floor(now / dayMilliseconds) + 1) * dayMilliseconds
  return { date: new Date(now).toISOString().slice(0, 10), nextAt: new Date(next).toISOString() }
}

export const isDailyClaim = (claim: string): boolean => claim.startsWith(prefix)

export async function dailyBonusOf(account: string, now: number) {
  const { date, nextAt } = dayAt(now)
  const last = await PointEntries.findOne({ wallet_address: account, claim: { $gt: prefix, $lt: afterAllDays } })
    .sort({ claim: -1 })
    .lean<StoredEntry>()
  const lastClaimed = last?.claim.slice(prefix.length) ?? null
  return { available: lastClaimed !== date, lastClaimed, nextResetAt: nextAt, points: dailyPoints }
}

/** The claim contains the day, so there is one bonus a day. */
export async function claimDaily(context: Context) {
  const { date, nextAt: nextClaimAt } = dayAt(context.node.now())
  const given = { claim: `${prefix}${date}`, points: dailyPoints, reason: 'Daily bonus' }
  const points = await awardPoints(context, signedIn(context).account, given)
  if (points === 0) return { success: false, points, error: 'You have claimed the bonus of today already', nextClaimAt }
  return { success: true, points, nextClaimAt }
}
