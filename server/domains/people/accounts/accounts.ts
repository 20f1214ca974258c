import { installationSetting } from '#server/domains/platform/installation/settings'
import { isDuplicate } from '#server/ports/database/port'
import type { AuthMethod } from '#shared/api/identity'
import { AppError } from '#shared/errors'
import { type Account, Accounts } from './model.ts'
import { displayNamed, looksIn } from './names.ts'

export const accountOf = (id: string): Promise<Account | null> => Accounts.findOne({ _id: id }).lean<Account>()

export const accountByUsername = (username: string): Promise<Account | null> =>
  Accounts.findOne({ username }).lean<Account>()

export const isUsernameHeld = async (username: string): Promise<boolean> =>
  (await Accounts.exists({ $or: [{ username }, { username_look: { $in: looksIn(username) } }] })) !== null

const invitesAtFirst = 5

/** How many others an account may invite. */
export const invitesAllocated = (account: Pick<Account, 'invite_count'> | null): number =>
  account?.invite_count ?? invitesAtFirst

const walletTypes: Record<AuthMethod, string> = {
  wallet: 'eoa',
  solana: 'eoa',
  passkey: 'passkey',
  email: 'email',
  worldid: 'humanproof_id',
  alien: 'partner_id',
}
const chains: Partial<Record<AuthMethod, string>> = { wallet: 'ethereum', solana: 'solana' }

const closed = 'New accounts are not made here at the moment. Who has one signs in as ever.'

/** FORBIDDEN where new accounts are not made here, and none of these ids is one. Asked before anything is stored of somebody new. */
export async function refuseNewcomer(ids: readonly string[]): Promise<void> {
  if (await Accounts.exists({ _id: { $in: [...ids] } })) return
  if (!(await installationSetting('registration_open'))) throw new AppError('FORBIDDEN', { message: closed })
}

/**
 * Notes a sign-in; the first one makes the account, where new ones are made, and fixes the kind of wallet it has and whether it is to be
 * welcomed.
 */
export async function recordSignIn(id: string, method: AuthMethod, at: number, isWelcomed = false): Promise<Account> {
  const time = new Date(at)
  const wallet = { wallet_type: walletTypes[method], chain: chains[method] ?? null }
  const kind = { ...wallet, ...(isWelcomed && { welcome_due: true }) }
  const known = await accountOf(id)
  if (!known) {
    await refuseNewcomer([id])
    await createAccount({ _id: id, ...kind, ...madeAt(time) })
  } else if (known.wallet_type === null) await Accounts.updateOne({ _id: id, wallet_type: null }, { $set: kind })
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

/** Somebody has been welcomed: no later sign-in does that again. */
export async function endWelcome(id: string): Promise<void> {
  await Accounts.updateOne({ _id: id }, { $unset: { welcome_due: '' } })
}

const botPrefix = 'bot:'
export const isBot = (id: string) => id.startsWith(botPrefix)

const madeAt = (time: Date) => ({ created_at: time, updated_at: time })

/** An account that nobody signs in to; service tokens speak for it. */
export async function createBot(name: string, display_name: string, at: number): Promise<Account> {
  const about = { ...displayNamed(display_name), public_landing_enabled: true }
  const bot = await Accounts.create({ _id: botPrefix + name, ...about, ...madeAt(new Date(at)) })
  return bot.toObject()
}

/** By which Plaza itself tells people something; nobody signs in to it, and nobody answers it. */
export const houseAccount = `${botPrefix}plaza`

/** Makes that account where there is none yet. */
export async function ensureHouse(at: number): Promise<string> {
  await createAccount({ _id: houseAccount, ...displayNamed('Plaza'), ...madeAt(new Date(at)) })
  const found = await accountOf(houseAccount)
  // A partner may once have named somebody so.
  if (found?.wallet_type) throw new AppError('CONFLICT', { message: `Somebody signs in to ${houseAccount}` })
  return houseAccount
}

/** An account that an agent speaks by in rooms; nobody signs in to it. */
export async function createAgentAccount(_id: string, display_name: string, avatar_url: string | null, at: number) {
  const time = new Date(at)
  await Accounts.create({ _id, ...displayNamed(display_name), avatar_url, ...madeAt(time) }).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
  })
}

/** False where the agent has none. */
export async function nameAgentAccount(_id: string, display_name: string, avatar_url: string | null): Promise<boolean> {
  return (await Accounts.updateOne({ _id }, { $set: { ...displayNamed(display_name), avatar_url } })).matchedCount === 1
}

/** Several at once make one. */
async function createAccount(
  account: Pick<Account, '_id' | 'created_at' | 'updated_at'> & Partial<Account>,
): Promise<void> {
  await Accounts.create(account).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
  })
}

export async function recordActivity(id: string, at: number): Promise<void> {
  await Accounts.updateOne({ _id: id }, { $set: { last_active_at: new Date(at) } })
}

/** What proved an admin before is good no more. */
export async function endAdminProofs(id: string, at: number): Promise<void> {
  await Accounts.updateOne({ _id: id }, { $set: { admin_proofs_from: new Date(at) } })
}

export async function recordRefresh(id: string, at: number): Promise<void> {
  const time = new Date(at)
  await Accounts.updateOne({ _id: id }, { $set: { last_login: time, last_active_at: time } })
}
