import { createHash } from 'node:crypto'
import { AppError } from '#shared/errors'
import { Accounts, HeldUsernames } from './model.ts'
import { looksIn, usernameLook } from './names.ts'

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
