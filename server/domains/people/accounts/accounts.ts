import { createHash } from 'node:crypto'
import { installationSetting } from '#server/domains/platform/installation/index'
import { isDuplicate } from '#server/ports/database/port'
import type { AuthMethod } from '#shared/api/people/identity'
import { AppError } from '#shared/errors'
import { type Account, Accounts, HeldUsernames } from './model.ts'
import { displayNameFields, looksIn, usernameLook } from './names.ts'

const heldMilliseconds = 30 * 24 * 60 * 60 * 1000

const hashOf = (look: string): string => createHash('sha256').update(`username ${look}`).digest('base64url')

/** Has a deleted account had a username that looks so within 30 days? */
export const isHeldBack = async (username: string): Promise<boolean> =>
  (await HeldUsernames.exists({ _id: { $in: looksIn(username).map(hashOf) } })) !== null

/** Keeps a username from others for 30 days. */
export async function holdUsername(username: string, now: number): Promise<void> {
  const expires_at = new Date(now + heldMilliseconds)
  await HeldUsernames.updateOne({ _id: hashOf(usernameLook(username)) }, { $set: { expires_at } }, { upsert: true })
}

/** Notes when the account is to be erased. Throws where an erasure of it has begun. */
export async function planErasure(account: string, erasure_id: string, erased_at: Date): Promise<void> {
  const unbegun = { _id: account, is_erasing: { $exists: false } }
  const { matchedCount } = await Accounts.updateOne(unbegun, { $set: { erased_at, erasure_id } })
  if (matchedCount === 0) throw new AppError('CONFLICT', { message: 'This account is being deleted' })
}

/** Takes back an erasure that has not begun. */
export async function keepAccount(account: string, at: Date): Promise<void> {
  const planned = { _id: account, erased_at: { $exists: true }, is_erasing: { $exists: false } }
  await Accounts.updateOne(planned, { $set: { kept_at: at }, $unset: { erased_at: '', erasure_id: '' } })
}

/** From here on nobody takes the erasure back, and no picture is shown. False where it was taken back, or another was planned since. */
export async function beginErasing(account: string, erasure_id: string): Promise<boolean> {
  const begun = { is_erasing: true, avatar_url: null, custom_avatar_url: null }
  return (await Accounts.updateOne({ _id: account, erasure_id }, { $set: begun })).matchedCount === 1
}

/** Has another erasure take the place of one that has begun. */
export async function endErasing(account: string): Promise<void> {
  await Accounts.updateOne({ _id: account }, { $unset: { is_erasing: '' } })
}

const whatStays = ['_id', 'user_id', 'role_seq', 'is_banned', 'ban_reason', 'banned_by', 'banned_at', 'banned_seq']

/**
 * Removes the row of an account, the last of it. Of a suspended one the suspension stays, so that nobody ends one by an erasure.
 */
export async function removeAccount(account: string, at: Date): Promise<void> {
  const { deletedCount } = await Accounts.deleteOne({ _id: account, is_banned: { $ne: true } })
  if (deletedCount === 1) return
  const others = Object.keys(Accounts.schema.paths).filter((path) => !whatStays.includes(path))
  const defaultOf = (path: string): unknown => Accounts.schema.path(path)?.options.default
  const [defaults, absent] = [
    others.filter((path) => defaultOf(path) !== undefined),
    others.filter((path) => defaultOf(path) === undefined && !['created_at', 'updated_at'].includes(path)),
  ]
  const $set = Object.fromEntries(defaults.map((path) => [path, defaultOf(path)]))
  const $unset = Object.fromEntries(absent.map((path) => [path, '']))
  await Accounts.updateOne({ _id: account }, { $set: { ...$set, created_at: at, updated_at: at }, $unset })
}

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
