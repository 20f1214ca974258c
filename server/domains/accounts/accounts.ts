import type { AuthMethod } from '#shared/api/identity'
import { type Account, Accounts } from './model.ts'

export const accountOf = (id: string): Promise<Account | null> => Accounts.findOne({ _id: id }).lean<Account>()

export const accountByUsername = (username: string): Promise<Account | null> =>
  Accounts.findOne({ username }).lean<Account>()

/** Is this the store's "there is one already"? */
export const isDuplicate = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 11000

const walletTypes: Record<AuthMethod, string> = {
  wallet: 'eoa',
  solana: 'eoa',
  passkey: 'passkey',
  email: 'email',
  worldid: 'humanproof_id',
  alien: 'partner_id',
}
const chains: Partial<Record<AuthMethod, string>> = { wallet: 'ethereum', solana: 'solana' }

/** Notes a sign-in; the first one makes the account, and fixes the kind of wallet it has. */
export async function recordSignIn(id: string, method: AuthMethod, at: number): Promise<Account> {
  const time = new Date(at)
  await createAccount(id)
  await Accounts.updateOne(
    { _id: id, wallet_type: null },
    { $set: { wallet_type: walletTypes[method], chain: chains[method] ?? null } },
  )
  const account = await Accounts.findOneAndUpdate(
    { _id: id },
    {
      $set: { last_login: time, last_active_at: time, updated_at: time },
      $min: { first_login: time },
      $inc: { login_count: 1 },
    },
    { returnDocument: 'after' },
  ).lean<Account>()
  if (!account) throw new Error('The account is gone')
  return account
}

export async function recordActivity(id: string, at: number): Promise<void> {
  await Accounts.updateOne({ _id: id }, { $set: { last_active_at: new Date(at) } })
}

export async function recordRefresh(id: string, at: number): Promise<void> {
  const time = new Date(at)
  await Accounts.updateOne({ _id: id }, { $set: { last_login: time, last_active_at: time } })
}

/** Makes the account where there is none; several at once make one. */
export async function createAccount(id: string): Promise<void> {
  if (await Accounts.findOne({ _id: id }, { _id: 1 }).lean()) return
  await Accounts.create({ _id: id }).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
  })
}
