import { createHash } from 'node:crypto'
import { readBack } from '#server/kernel/read-back'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { accountOf, refuseNewcomer } from './accounts.ts'
import { type Account, Accounts } from './model.ts'

/** The account that has verified this address, which is in lower case. */
export const accountByEmail = (email: string): Promise<Account | null> => Accounts.findOne({ email }).lean<Account>()

/** The id of the account that an address founds by itself; a later one where others had the address since. */
export const emailAccountId = (email: string, taken = 0) =>
  `email:${createHash('sha256')
    .update(taken === 0 ? email : `${email}\n${taken}`)
    .digest('hex')}`

/** The account of the address itself, which may not be there yet: the first that no other account took the address from. */
async function ownAccountId(email: string, taken = 0): Promise<string> {
  const id = emailAccountId(email, taken)
  const isTaken = await Accounts.exists({ _id: id, email_taken: true })
  return isTaken ? ownAccountId(email, taken + 1) : id
}

/** Called before an account gives up an address, so that the next holder of the address cannot sign in to the account it created. */
async function takeFromFounder(id: string): Promise<void> {
  const email = (await Accounts.findOne({ _id: id }, { email: 1 }).lean<Account>())?.email
  if (email === undefined) return
  const founder = await ownAccountId(email)
  if (founder !== id) await Accounts.updateOne({ _id: founder }, { $set: { email_taken: true } })
}

/** The account that the holder of an address signs in to: the one that has verified it; otherwise the address's own, created if there is none. */
export async function accountOpenedByEmail(email: string, at: number, updates?: boolean): Promise<string> {
  const owner = await accountByEmail(email)
  if (owner) return owner._id
  const id = await ownAccountId(email)
  await refuseNewcomer([id])
  await Accounts.updateOne(
    { _id: id, email: { $exists: false } },
    { $set: verified(email, at, updates), $setOnInsert: { created_at: new Date(at) } },
    { upsert: true },
  ).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
  })
  const opened = await readBack(async () => (await accountByEmail(email)) ?? accountOf(id))
  return opened?._id ?? id
}

/** Notes that the account has proved to receive this address's letters. EMAIL_IN_USE where another account has. */
export async function setEmail(id: string, email: string, at: number, updates?: boolean): Promise<void> {
  await takeFromFounder(id)
  const { matchedCount } = await Accounts.updateOne({ _id: id }, { $set: verified(email, at, updates) }).catch(
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

const verified = (email: string, at: number, updates = true) => ({
  email,
  email_verified: true,
  email_verified_at: new Date(at),
  email_updates_opt_in: updates,
  updated_at: new Date(at),
})
