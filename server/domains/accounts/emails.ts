import { isDuplicate } from '#server/log/store'
import { AppError } from '#shared/errors'
import { type Account, Accounts } from './model.ts'

/** The account that has verified this address, which is in lower case. */
export const accountByEmail = (email: string): Promise<Account | null> => Accounts.findOne({ email }).lean<Account>()

/** Notes that the account has proved to receive this address's letters. EMAIL_IN_USE where another account has. */
export async function setEmail(id: string, email: string, at: number): Promise<void> {
  const time = new Date(at)
  const { matchedCount } = await Accounts.updateOne(
    { _id: id },
    {
      $set: {
        email,
        email_verified: true,
        email_verified_at: time,
        email_updates_opt_in: true,
        updated_at: time,
      },
    },
  ).catch((error: unknown) => {
    throw isDuplicate(error) ? new AppError('EMAIL_IN_USE') : error
  })
  if (matchedCount === 0) throw new AppError('USER_NOT_FOUND')
}

export async function clearEmail(id: string, at: number): Promise<void> {
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
