import { UploadQuotas } from '#server/domains/media/files/model'
import { accountOf } from '#server/domains/people/accounts/accounts'
import type { Account } from '#server/domains/people/accounts/model'
import { installationSetting } from '#server/domains/platform/installation/index'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { Sender, UploadAdmission } from '#server/kernel/uploads'
import { isDuplicate } from '#server/ports/database/port'
import { uploads as contract } from '#shared/api/media/uploads'
import { AppError } from '#shared/errors'
import type { Operation } from '#shared/kit/contract'
import { uploadSettings } from './settings.ts'

const dayMilliseconds = 86_400_000
const megabyte = 1024 * 1024

/** Uploads in progress end within so many seconds. */
const soon = 10

/** A quota of a day, its owner, and the text of its refusal. */
interface Quota {
  whose: string
  most: number
  said: string
}

async function quotasOf(node: Node, { account, ip }: Sender): Promise<[own: Quota, ofAddress: Quota]> {
  const { addressBytes } = uploadSettings.of(node)
  return [
    { whose: account, most: await mostOf(node, account), said: 'You have uploaded' },
    // Many accounts cost nothing; addresses do.
    { whose: `address ${ip}`, most: addressBytes, said: 'From your address was uploaded' },
  ]
}

/** A file of any type is limited by the role and the age of its sender's account. */
export const mostUploadBytes =
  (node: Node) =>
  async (sender: Sender, operation: Operation): Promise<number | null> => {
    if (operation !== contract.file) return null
    const { fileBytes, newFileBytes, adminFileBytes } = uploadSettings.of(node)
    const account = await accountOf(sender.account)
    if (account !== null && account.role !== 'user') return adminFileBytes
    return isNewAccount(node, account) ? newFileBytes : fileBytes
  }

/** Bytes in transfer at this node, by owner. */
const receivingOf = nodeState(() => new Map<string, number>())

/** Admits uploads in parallel if all fit the quota. A single one is always admitted, as its file may be stored already. */
export const uploadAdmission =
  (node: Node): UploadAdmission =>
  async (sender, bytes) => {
    await refuseWhenOff()
    const receiving = receivingOf(node)
    const quotas = await Promise.all(
      (await quotasOf(node, sender)).map(async (quota) => ({ ...quota, stored: await storedToday(node, quota.whose) })),
    )
    for (const { stored, ...quota } of quotas) {
      const coming = receiving.get(quota.whose) ?? 0
      if (coming > 0 && stored + coming + bytes > quota.most)
        throw quotaError(quota, stored + bytes > quota.most ? untilTomorrow(node) : soon)
    }
    const add = (more: number) => {
      for (const { whose } of quotas) {
        const sum = (receiving.get(whose) ?? 0) + more
        if (sum > 0) receiving.set(whose, sum)
        else receiving.delete(whose)
      }
    }
    add(bytes)
    return () => add(-bytes)
  }

/** Refuses uploads while admins have turned them off. */
async function refuseWhenOff(): Promise<void> {
  if (!(await installationSetting('uploads_allowed')))
    throw new AppError('FORBIDDEN', { message: 'Uploads are turned off here at the moment' })
}

const dayOf = (node: Node) => Math.floor(node.now() / dayMilliseconds)
const untilTomorrow = (node: Node) => Math.ceil(((dayOf(node) + 1) * dayMilliseconds - node.now()) / 1_000)
const quotaError = ({ said, most }: Quota, retryAfter: number) =>
  new AppError('RATE_LIMIT_EXCEEDED', {
    message: `${said} as much as a day allows (${Math.floor(most / megabyte)} MB)`,
    retryAfter,
  })

async function storedToday(node: Node, whose: string): Promise<number> {
  const row = await UploadQuotas.findById(`${whose} ${dayOf(node)}`).lean<{ bytes: number }>()
  return row?.bytes ?? 0
}

/** Counts bytes of an account and its address for the day (UTC), or refuses. Returns the undo. */
export async function countTowardsQuota(node: Node, sender: Sender, bytes: number): Promise<() => Promise<unknown>> {
  await refuseWhenOff()
  const [own, ofAddress] = await quotasOf(node, sender)
  const giveBack = await count(node, own, bytes)
  try {
    const back = await count(node, ofAddress, bytes)
    return () => Promise.all([giveBack(), back()])
  } catch (error) {
    await giveBack()
    throw error
  }
}

async function mostOf(node: Node, account: string): Promise<number> {
  const { accountBytes, newAccountBytes } = uploadSettings.of(node)
  return isNewAccount(node, await accountOf(account)) ? newAccountBytes : accountBytes
}

/** Is it younger than a day? */
const isNewAccount = (node: Node, account: Account | null): boolean =>
  account === null || node.now() - account.created_at.getTime() < dayMilliseconds

async function count(node: Node, quota: Quota, bytes: number) {
  const { whose, most } = quota
  const day = dayOf(node)
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
  throw quotaError(quota, untilTomorrow(node))
}

const add = async (fits: object, bytes: number): Promise<boolean> =>
  (await UploadQuotas.updateOne(fits, { $inc: { bytes } })).matchedCount > 0
