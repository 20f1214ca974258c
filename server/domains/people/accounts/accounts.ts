import { installationSetting } from '#server/domains/platform/installation/stored-settings'
import { isDuplicate } from '#server/ports/database/port'
import type { AuthMethod } from '#shared/api/people/identity'
import { AppError } from '#shared/errors'
import { isHeldBack } from './leaving.ts'
import { type Account, Accounts } from './model.ts'
import { displayNameFields, looksIn } from './names.ts'

export const accountOf = (id: string): Promise<Account | null> => Accounts.findOne({ _id: id }).lean<Account>()

export const accountByUsername = (username: string): Promise<Account | null> =>
  Accounts.findOne({ username }).lean<Account>()

export const isUsernameTaken = async (username: string): Promise<boolean> =>
  (await Accounts.exists({ $or: [{ username }, { username_look: { $in: looksIn(username) } }] })) !== null ||
  (await isHeldBack(username))

const invitesAtFirst = 5

/** The number of people whom an account may invite. */
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

const closedText = 'New accounts are not made here at the moment. Who has one signs in as ever.'

/**
 * FORBIDDEN if registration is closed and none of these accounts exists. It runs before anything about a newcomer is
 * stored.
 */
export async function refuseNewcomer(ids: readonly string[]): Promise<void> {
  if (!(await Accounts.exists({ _id: { $in: [...ids] } }))) await refuseWhileClosed()
}

/** FORBIDDEN if registration is closed. For one who is known to have no account. */
export async function refuseWhileClosed(): Promise<void> {
  if (!(await installationSetting('registration_open'))) throw new AppError('FORBIDDEN', { message: closedText })
}

/** Of an account that is being erased: its sign-in comes too late, or too early for a new account. */
const beingErased = () =>
  new AppError('CONFLICT', { message: 'This account is being deleted. Try again in some minutes to make a new one.' })

/**
 * Records a sign-in, which takes back a planned erasure. The first one creates the account if registration is open.
 * It also sets the kind of wallet, and whether a welcome is due.
 */
export async function recordSignIn(id: string, method: AuthMethod, at: number, isWelcomed = false): Promise<Account> {
  const time = new Date(at)
  const wallet = { wallet_type: walletTypes[method], chain: chains[method] ?? null }
  const kind = { ...wallet, ...(isWelcomed && { welcome_due: true }) }
  const known = await accountOf(id)
  const seen = { last_login: time, last_active_at: time }
  if (!known) {
    await refuseWhileClosed()
    const first = { ...seen, first_login: time, login_count: 1 }
    const created = await createAccount({ _id: id, ...kind, ...first, ...creationTimes(time) })
    if (created) return created
  } else if (known.wallet_type === null) await Accounts.updateOne({ _id: id, wallet_type: null }, { $set: kind })
  const account = await Accounts.findOneAndUpdate(
    { _id: id, is_erasing: { $exists: false } },
    {
      $set: { ...seen, updated_at: time, ...(known?.erased_at && { kept_at: time }) },
      $unset: { erased_at: '', erasure_id: '' },
      $min: { first_login: time },
      $inc: { login_count: 1 },
    },
    { returnDocument: 'after' },
  ).lean<Account>()
  if (!account) throw beingErased()
  return account
}

/** Marks the welcome as sent: no later sign-in repeats it. */
export async function endWelcome(id: string): Promise<void> {
  await Accounts.updateOne({ _id: id }, { $unset: { welcome_due: '' } })
}

const botPrefix = 'bot:'
export const isBot = (id: string) => id.startsWith(botPrefix)

const creationTimes = (time: Date) => ({ created_at: time, updated_at: time })

/** An account without a sign-in; service tokens act for it. */
export async function createBot(name: string, display_name: string, at: number): Promise<Account> {
  const about = { ...displayNameFields(display_name), public_landing_enabled: true }
  const bot = await Accounts.create({ _id: botPrefix + name, ...about, ...creationTimes(new Date(at)) })
  return bot.toObject()
}

/** The account of Plaza itself, which writes to people. It has no sign-in, and reads no answers. */
export const plazaAccount = `${botPrefix}plaza`

/** Creates Plaza's account if it does not exist. */
export async function ensurePlazaAccount(at: number): Promise<string> {
  await createAccount({ _id: plazaAccount, ...displayNameFields('Plaza'), ...creationTimes(new Date(at)) })
  const found = await accountOf(plazaAccount)
  // A partner may once have created an account of this id.
  if (found?.wallet_type) throw new AppError('CONFLICT', { message: `Somebody signs in to ${plazaAccount}` })
  return plazaAccount
}

/** The account of an agent in rooms, without a sign-in. */
export async function createAgentAccount(_id: string, display_name: string, avatar_url: string | null, at: number) {
  const time = new Date(at)
  await Accounts.create({ _id, ...displayNameFields(display_name), avatar_url, ...creationTimes(time) }).catch(
    (error: unknown) => {
      if (!isDuplicate(error)) throw error
    },
  )
}

/** False if the agent has no account. */
export async function nameAgentAccount(_id: string, display_name: string, avatar_url: string | null): Promise<boolean> {
  return (
    (await Accounts.updateOne({ _id }, { $set: { ...displayNameFields(display_name), avatar_url } })).matchedCount === 1
  )
}

/** Simultaneous calls create one account; null for those that did not. */
async function createAccount(
  account: Pick<Account, '_id' | 'created_at' | 'updated_at'> & Partial<Account>,
): Promise<Account | null> {
  try {
    return (await Accounts.create(account)).toObject()
  } catch (error) {
    if (!isDuplicate(error)) throw error
    return null
  }
}

export async function recordActivity(id: string, at: number): Promise<void> {
  await Accounts.updateOne({ _id: id }, { $set: { last_active_at: new Date(at) } })
}

/** Expires earlier admin proofs. */
export async function endAdminProofs(id: string, at: number): Promise<void> {
  await Accounts.updateOne({ _id: id }, { $set: { admin_proofs_from: new Date(at) } })
}

export async function recordRefresh(id: string, at: number): Promise<void> {
  const time = new Date(at)
  await Accounts.updateOne({ _id: id }, { $set: { last_login: time, last_active_at: time } })
}
