import { accountOf } from '#server/domains/accounts/accounts'
import { UploadQuotas } from '#server/domains/files/model'
import type { Node } from '#server/kernel/context'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { uploadSettings } from './settings.ts'

const dayMilliseconds = 86_400_000
const megabyte = 1024 * 1024

/** Whoever stores something, and the address that they do it from. */
export interface Uploader {
  account: string
  ip: string
}

/** Counts what is stored on a day (UTC) by an account and from an address, before it is stored; refuses what would be too much. Returns what gives it back. */
export async function countTowardsQuota(
  node: Node,
  { account, ip }: Uploader,
  bytes: number,
): Promise<() => Promise<unknown>> {
  const { addressBytes } = uploadSettings.of(node)
  const giveBack = await count(node, account, bytes, await mostOf(node, account), 'You have uploaded')
  try {
    // Many accounts cost nothing; addresses do.
    const back = await count(node, `address ${ip}`, bytes, addressBytes, 'From your address was uploaded')
    return () => Promise.all([giveBack(), back()])
  } catch (error) {
    await giveBack()
    throw error
  }
}

async function mostOf(node: Node, account: string): Promise<number> {
  const { accountBytes, newAccountBytes } = uploadSettings.of(node)
  const found = await accountOf(account)
  return found && node.now() - found.created_at.getTime() >= dayMilliseconds ? accountBytes : newAccountBytes
}

async function count(node: Node, whose: string, bytes: number, most: number, said: string) {
  const now = node.now()
  const day = Math.floor(now / dayMilliseconds)
  const today = { _id: `${whose} ${day}` }
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
  const message = `${said} as much as a day allows (${Math.floor(most / megabyte)} MB)`
  throw new AppError('RATE_LIMIT_EXCEEDED', { message, retryAfter })
}

const add = async (fits: object, bytes: number): Promise<boolean> =>
  (await UploadQuotas.updateOne(fits, { $inc: { bytes } })).matchedCount > 0
