import { UploadQuotas } from '#server/domains/files/model'
import type { Node } from '#server/kernel/context'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { uploadSettings } from './settings.ts'

const dayMilliseconds = 86_400_000

/** Counts what an account stores on a day (UTC), before it is stored; refuses what would be too much. Returns what gives it back. */
export async function countTowardsQuota(node: Node, account: string, bytes: number): Promise<() => Promise<unknown>> {
  const now = node.now()
  const day = Math.floor(now / dayMilliseconds)
  const most = uploadSettings.of(node).quotaBytes
  const today = { _id: `${account} ${day}` }
  const fits = { ...today, bytes: { $lte: most - bytes } }
  const giveBack = () => add(today, -bytes)
  if (await add(fits, bytes)) return giveBack
  try {
    await UploadQuotas.updateOne(
      today,
      { $setOnInsert: { bytes: 0, expires_at: new Date((day + 2) * dayMilliseconds) } },
      { upsert: true },
    )
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
  if (await add(fits, bytes)) return giveBack
  const retryAfter = Math.ceil(((day + 1) * dayMilliseconds - now) / 1_000)
  throw new AppError('RATE_LIMIT_EXCEEDED', { message: 'You have uploaded as much as a day allows', retryAfter })
}

const add = async (fits: object, bytes: number): Promise<boolean> =>
  (await UploadQuotas.updateOne(fits, { $inc: { bytes } })).matchedCount > 0
