import { refuseOthersFile } from '#server/domains/media/files/copies'
import { removePicture } from '#server/domains/media/files/removal'
import type { Node } from '#server/kernel/context'
import { isDuplicate } from '#server/ports/database/port'
import type { ContactsFrom } from '#shared/api/people/account-records'
import { AppError } from '#shared/errors'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { isHeldBack } from './accounts.ts'
import { type Account, Accounts } from './model.ts'
import {
  deceptionBy,
  deceptionByStatus,
  disguiseOf,
  displayNameFields,
  isReserved,
  looksIn,
  usernameLook,
} from './names.ts'
import { forgetProfile } from './profiles.ts'

/** Takes a username; true if the account had none. A reserved name gets the answer of a taken one. */
export async function claimUsername(node: Node, id: string, username: string): Promise<boolean> {
  await refuseUsername(id, username)
  const change = { $set: { ...usernameFields(username), updated_at: new Date(node.now()) } }
  const before = await Accounts.findOneAndUpdate({ _id: id }, change).lean<Account>().catch(usernameTaken)
  if (!before) throw new AppError('USER_NOT_FOUND')
  forgetProfile(node, id)
  return before.username === undefined
}

export async function releaseUsername(node: Node, id: string): Promise<void> {
  await Accounts.updateOne({ _id: id }, { $unset: usernameUnset, $set: { updated_at: new Date(node.now()) } })
  forgetProfile(node, id)
}

const usernameFields = (username: string) => ({ username, username_look: usernameLook(username) })
const usernameUnset = { username: '', username_look: '' }

const usernameTaken = (error: unknown): never => {
  throw isDuplicate(error) ? new AppError('USERNAME_TAKEN') : error
}

// Of two with the same look, the other one has it.
const ignoreDuplicate = (error: unknown): void => {
  if (!isDuplicate(error)) throw error
}

/** Stores the looks of usernames from older versions; of equal looks, one is stored. */
export async function storeMissingLooks(): Promise<void> {
  let last = ''
  for (;;) {
    const without = { _id: { $gt: last }, username: { $exists: true }, username_look: { $exists: false } }
    const found = await Accounts.find(without, { username: 1 }).sort({ _id: 1 }).limit(100).lean<Account[]>()
    for (const { _id, username } of found)
      if (username)
        await Accounts.updateOne({ _id, username }, { $set: usernameFields(username) }).catch(ignoreDuplicate)
    last = found.at(-1)?._id ?? ''
    if (last === '') return
  }
}

/** Stores the search forms of display names from older versions. */
export async function storeMissingSearchForms(): Promise<void> {
  let last = ''
  for (;;) {
    const without = { _id: { $gt: last }, display_name: { $ne: null }, display_name_sought: { $exists: false } }
    const found = await Accounts.find(without, { display_name: 1 }).sort({ _id: 1 }).limit(100).lean<Account[]>()
    for (const { _id, display_name } of found)
      await Accounts.updateOne({ _id, display_name }, { $set: displayNameFields(display_name) })
    last = found.at(-1)?._id ?? ''
    if (last === '') return
  }
}

/** Does the name look like another account's username? Display names older than the username stay. */
async function isNameOfAnother(id: string, name: string): Promise<boolean> {
  const taken = { _id: { $ne: id }, username_look: { $in: looksIn(name) } }
  return (await Accounts.exists(taken)) !== null
}

const staffAtMost = 500

/** Does the name look like an admin's display name? Other people may share names. */
async function isNameOfStaff(id: string, name: string): Promise<boolean> {
  const staff = { _id: { $ne: id }, role: { $in: ['admin' as const, 'super_admin' as const] } }
  const found = await Accounts.find(staff, { display_name: 1 }).limit(staffAtMost).lean<Account[]>()
  const looks = new Set(looksIn(name))
  return found.some(({ display_name }) => display_name !== null && looksIn(display_name).some((one) => looks.has(one)))
}

async function refuseUsername(id: string, username: string): Promise<void> {
  if (isReserved(username) || (await isNameOfAnother(id, username)) || (await isHeldBack(username)))
    throw new AppError('USERNAME_TAKEN')
}

async function refuseName(path: string, id: string, name: string, fault: string | null): Promise<void> {
  const why = fault ?? ((await isNameOfAnother(id, name)) ? 'It looks like the username of somebody else' : null)
  if (why === null) return
  throw new AppError('VALIDATION_ERROR', { message: `This display name is not allowed. ${why}`, details: { path } })
}

/** Refuses a deceptive display name, or one that looks like another user or an admin. */
export async function refuseDisplayName(path: string, id: string, name: string): Promise<void> {
  const passesForStaff = (await isNameOfStaff(id, name)) ? 'It looks like the name of one who runs this site' : null
  await refuseName(path, id, name, deceptionBy(name) ?? passesForStaff)
}

/** A bot's name, given by an admin, may represent the service, but not resemble another user. */
export const refuseBotName = (name: string): Promise<void> => refuseName('name', '', name, disguiseOf(name))

function refuseStatus(path: string, text: string | null | undefined): void {
  const fault = text ? deceptionByStatus(text) : null
  if (fault === null) return
  throw new AppError('VALIDATION_ERROR', { message: `This status is not allowed. ${fault}`, details: { path } })
}

interface ProfileChange {
  username?: string | null | undefined
  display_name?: string | null | undefined
  avatar_url?: string | null | undefined
  custom_avatar_url?: string | null | undefined
  use_custom_avatar?: boolean | undefined
  bio?: string | null | undefined
  socials?: Account['socials'] | undefined
  public_landing_enabled?: boolean | undefined
  findable_by_phone?: boolean | undefined
  email_updates_opt_in?: boolean | undefined
  status_emoji?: string | null | undefined
  status_text?: string | null | undefined
  do_not_disturb?: boolean | undefined
  calls_from?: ContactsFrom | undefined
  messages_from?: ContactsFrom | undefined
  invites_from?: ContactsFrom | undefined
}

/** Changes the given fields; null clears one. */
export async function changeProfile(node: Node, id: string, change: ProfileChange): Promise<Account> {
  const name = change.display_name?.normalize('NFC')
  if (name !== undefined) await refuseDisplayName('display_name', id, name)
  for (const path of ['status_emoji', 'status_text'] as const) refuseStatus(path, change[path])
  const { username } = change
  if (username) await refuseUsername(id, username)
  const given = {
    ...(username && usernameFields(username)),
    ...(change.display_name !== undefined && displayNameFields(name ?? null)),
    avatar_url: change.avatar_url,
    custom_avatar_url: change.custom_avatar_url,
    use_custom_avatar: change.use_custom_avatar,
    bio: change.bio && (change.bio.trim() || null),
    socials: change.socials,
    public_landing_enabled: change.public_landing_enabled,
    findable_by_phone: change.findable_by_phone,
    email_updates_opt_in: change.email_updates_opt_in,
    status_emoji: change.status_emoji,
    status_text: change.status_text === undefined ? undefined : change.status_text?.normalize('NFC') || null,
    do_not_disturb: change.do_not_disturb,
    calls_from: change.calls_from,
    messages_from: change.messages_from,
    invites_from: change.invites_from,
  }
  const fields = withoutUndefined(given)
  const changesPicture = fields.avatar_url !== undefined || fields.custom_avatar_url !== undefined
  const before = changesPicture ? await Accounts.findOne({ _id: id }, pictures).lean<Account>() : null
  for (const field of ['avatar_url', 'custom_avatar_url'] as const)
    if (fields[field] !== before?.[field]) await refuseOthersFile(node, id, fields[field], field)
  const account = await Accounts.findOneAndUpdate(
    { _id: id },
    { $set: { ...fields, updated_at: new Date(node.now()) }, ...(username === null && { $unset: usernameUnset }) },
    { returnDocument: 'after' },
  )
    .lean<Account>()
    .catch(usernameTaken)
  if (!account) throw new AppError('USER_NOT_FOUND')
  forgetProfile(node, id)
  await removePicture(node, before?.avatar_url)
  await removePicture(node, before?.custom_avatar_url)
  return account
}

const pictures = { avatar_url: 1, custom_avatar_url: 1 }

/** The URLs among these that profiles show. */
export async function shownPictures(urls: readonly string[]) {
  const among = { $in: [...urls] }
  const found = await Accounts.find({ $or: [{ avatar_url: among }, { custom_avatar_url: among }] }, pictures).lean()
  return found.flatMap(({ avatar_url, custom_avatar_url }) => [avatar_url, custom_avatar_url])
}
