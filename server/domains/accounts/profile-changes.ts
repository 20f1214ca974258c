import { isDuplicate } from '#server/log/store'
import { AppError } from '#shared/errors'
import { type Account, Accounts } from './model.ts'
import { isDeceptive, isReserved } from './names.ts'
import { forgetProfile } from './profiles.ts'

/** Takes a name for an account; true where it had none before. A reserved name is answered as a taken one. */
export async function claimUsername(id: string, username: string, at: number): Promise<boolean> {
  if (isReserved(username)) throw new AppError('USERNAME_TAKEN')
  const before = await Accounts.findOneAndUpdate({ _id: id }, { $set: { username, updated_at: new Date(at) } })
    .lean<Account>()
    .catch((error: unknown) => {
      throw isDuplicate(error) ? new AppError('USERNAME_TAKEN') : error
    })
  if (!before) throw new AppError('USER_NOT_FOUND')
  forgetProfile(id)
  return before.username === undefined
}

export async function releaseUsername(id: string, at: number): Promise<void> {
  await Accounts.updateOne({ _id: id }, { $unset: { username: '' }, $set: { updated_at: new Date(at) } })
  forgetProfile(id)
}

interface ProfileChange {
  display_name?: string | null | undefined
  avatar_url?: string | null | undefined
  custom_avatar_url?: string | null | undefined
  use_custom_avatar?: boolean | undefined
  bio?: string | null | undefined
  socials?: Account['socials'] | undefined
  public_landing_enabled?: boolean | undefined
  findable_by_phone?: boolean | undefined
}

/** Changes the fields that are given; null clears one. */
export async function changeProfile(id: string, change: ProfileChange, at: number): Promise<Account> {
  const name = change.display_name?.normalize('NFC')
  if (name !== undefined && isDeceptive(name))
    throw new AppError('VALIDATION_ERROR', {
      message: 'This display name is not allowed',
      details: { path: 'display_name' },
    })
  const given = {
    display_name: name ?? change.display_name,
    avatar_url: change.avatar_url,
    custom_avatar_url: change.custom_avatar_url,
    use_custom_avatar: change.use_custom_avatar,
    bio: change.bio && (change.bio.trim() || null),
    socials: change.socials,
    public_landing_enabled: change.public_landing_enabled,
    findable_by_phone: change.findable_by_phone,
  }
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const account = await Accounts.findOneAndUpdate(
    { _id: id },
    { $set: { ...fields, updated_at: new Date(at) } },
    { returnDocument: 'after' },
  ).lean<Account>()
  if (!account) throw new AppError('USER_NOT_FOUND')
  forgetProfile(id)
  return account
}
