import { createHash } from 'node:crypto'
import { readDuplicate } from '#server/kernel/store/read-back'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { accountOf, refuseNewcomer } from './accounts.ts'
import { type Account, Accounts } from './model.ts'

/** The account that verified this address, which is in lower case. */
export const accountByEmail = (email: string): Promise<Account | null> => Accounts.findOne({ email }).lean<Account>()

/** The id of the account that an address creates by itself; `taken` counts earlier accounts that lost the address. */
export const emailAccountId = (email: string, taken = 0) =>
  `email:${createHash('sha256')
    .update(taken === 0 ? email : `${email}\n${taken}`)
    .digest('hex')}`

/** The id of the address's own account, which may not exist yet: the first that did not lose the address. */
async function ownAccountId(email: string, taken = 0): Promise<string> {
  const id = emailAccountId(email, taken)
  const isTaken = await Accounts.exists({ _id: id, email_taken: true })
  return isTaken ? ownAccountId(email, taken + 1) : id
}

/**
 * Runs before an account gives up an address. The next holder of the address thus cannot sign in to the account that it
 * created.
 */
async function takeFromFounder(id: string): Promise<void> {
  const email = (await Accounts.findOne({ _id: id }, { email: 1 }).lean<Account>())?.email
  if (email === undefined) return
  const founder = await ownAccountId(email)
  if (founder !== id) await Accounts.updateOne({ _id: founder }, { $set: { email_taken: true } })
}

/**
 * The account to which the holder of an address signs in. It is the one that verified the address, else the address's
 * own, created if needed.
 */
export async function accountOpenedByEmail(email: string, at: number, updates?: boolean): Promise<string> {
  const owner = await accountByEmail(email)
  if (owner) return owner._id
  const id = await ownAccountId(email)
  await refuseNewcomer([id])
  await Accounts.updateOne(
    { _id: id, email: { $exists: false } },
    { $set: verifiedFields(email, at, updates), $setOnInsert: { created_at: new Date(at) } },
    { upsert: true },
  ).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
  })
  const opened = await readDuplicate(async () => (await accountByEmail(email)) ?? accountOf(id))
  return opened?._id ?? id
}

/** Sets the verified address of an account. EMAIL_IN_USE if another account has it. */
export async function setEmail(id: string, email: string, at: number, updates?: boolean): Promise<void> {
  await takeFromFounder(id)
  const { matchedCount } = await Accounts.updateOne({ _id: id }, { $set: verifiedFields(email, at, updates) }).catch(
    (error: unknown) => {
      throw isDuplicate(error) ? new AppError('EMAIL_IN_USE') : error
    },
  )
  if (matchedCount === 0) throw new AppError('USER_NOT_FOUND')
}

export async function clearEmail(id: string, at: number): Promise<void> {
  await takeFromFounder(id)
  await Accounts.updateOne(
    { _id: id },
    {
      $unset: { email: '' },
      $set: {
        email_verified: false,
        email_verified_at: null,
        email_updates_opt_in: false,
        updated_at: new Date(at),
      },
    },
  )
}

const verifiedFields = (email: string, at: number, updates = true) => ({
  email,
  email_verified: true,
  email_verified_at: new Date(at),
  email_updates_opt_in: updates,
  updated_at: new Date(at),
})
