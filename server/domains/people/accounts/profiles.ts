import { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { definePeerMessage } from '#server/kernel/peer-message'
import type { SignedInUser } from '#shared/api/people/identity'
import { chosenName, deletedName, isDeleted, shortened } from '#shared/kit/person-name'
import { invitesAllocated } from './accounts.ts'
import { type Account, Accounts } from './model.ts'
import { deceptionByStatus } from './names.ts'

export interface Profile {
  id: string
  name: string
  username: string | null
  display_name: string | null
  avatar_url: string | null
}

type ProfileFields = Pick<
  Account,
  '_id' | 'username' | 'display_name' | 'avatar_url' | 'custom_avatar_url' | 'use_custom_avatar' | 'is_erasing'
>
const profileFields = {
  ...{ username: 1, display_name: 1, avatar_url: 1, custom_avatar_url: 1, use_custom_avatar: 1 },
  is_erasing: 1,
}

interface KnownProfile {
  profile: Profile
  /** Lists show a deleted user. An email about a cancelled call still names the account. */
  isErasing: boolean
}

const keptMilliseconds = 30_000
const keptAtMost = 10_000
const cacheOf = nodeState(() => ({ kept: new Map<string, KnownProfile & { until: number }>(), changes: 0 }))

/** The profiles of these accounts; an unknown id is shown by its address. */
export async function profilesOf(node: Node, ids: readonly string[]): Promise<Map<string, Profile>> {
  const found = await knownProfilesOf(node, ids)
  return new Map(ids.map((id) => [id, found.get(id)?.profile ?? profileOf({ _id: id })]))
}

/** The names of people who have had an account. One that is gone, or is being erased, is a deleted user. */
export async function namesOfPeople(node: Node, ids: readonly string[]): Promise<Map<string, string>> {
  const found = await knownProfilesOf(node, ids)
  const nameOf = (known?: KnownProfile) => (known && !known.isErasing ? known.profile.name : deletedName)
  return new Map(ids.map((id) => [id, nameOf(found.get(id))]))
}

async function knownProfilesOf(node: Node, ids: readonly string[]): Promise<Map<string, KnownProfile>> {
  const now = performance.now()
  const { kept } = cacheOf(node)
  const wanted = [...new Set(ids)]
  const missing = wanted.filter((id) => (kept.get(id)?.until ?? 0) <= now)
  const loaded = missing.length > 0 ? await loadProfiles(node, missing, now) : new Map<string, KnownProfile>()
  return new Map(
    wanted.flatMap((id) => {
      const known = loaded.get(id) ?? kept.get(id)
      return known ? [[id, known]] : []
    }),
  )
}

/** A profile that has changed. Without the message, the cache expires. */
export const profileMessage = definePeerMessage('profile:changed', z.string(), (node, id) => {
  const cache = cacheOf(node)
  cache.changes++
  cache.kept.delete(id)
})

/** Called after each change of a profile. */
export const forgetProfile = profileMessage.publish

async function loadProfiles(node: Node, ids: readonly string[], now: number): Promise<Map<string, KnownProfile>> {
  const cache = cacheOf(node)
  const { kept, changes } = cache
  const found = await Accounts.find({ _id: { $in: [...ids] } }, profileFields).lean<ProfileFields[]>()
  const knownOf = (account: ProfileFields) => ({
    profile: profileOf(account),
    isErasing: account.is_erasing === true,
  })
  const profiles = new Map(found.map((account) => [account._id, knownOf(account)]))
  if (changes !== cache.changes) return profiles
  for (const [id, known] of profiles) {
    kept.delete(id)
    kept.set(id, { ...known, until: now + keptMilliseconds })
  }
  for (const id of kept.keys()) {
    if (kept.size <= keptAtMost) break
    kept.delete(id)
  }
  return profiles
}

export function profileOf(account: Pick<Account, '_id'> & Partial<ProfileFields>): Profile {
  const { _id: id, username = null, display_name = null } = account
  const custom = account.use_custom_avatar ? account.custom_avatar_url : null
  const avatar_url = custom ?? account.avatar_url ?? null
  const unnamed = isDeleted(id) ? deletedName : shortened(id)
  return { id, name: chosenName({ display_name, username }) ?? unnamed, username, display_name, avatar_url }
}

/** The status of an account; null while it is suspended, or if older text would be refused now. */
export function statusOf({ is_banned, status_emoji = null, status_text = null }: Account) {
  const shown = (text: string | null) => (is_banned || text === null || deceptionByStatus(text) !== null ? null : text)
  return { status_emoji: shown(status_emoji), status_text: shown(status_text) }
}

/** The account as shown to its owner. */
export const ownerView = (account: Account): z.input<typeof SignedInUser> => ({
  id: account.user_id,
  wallet_address: account._id,
  wallet_type: account.wallet_type,
  chain: account.chain,
  username: account.username ?? null,
  ens_name: null,
  display_name: account.display_name,
  avatar_url: profileOf(account).avatar_url,
  email: account.email ?? null,
  email_verified: account.email_verified ?? false,
  email_updates_opt_in: account.email_updates_opt_in ?? false,
  beta_access: account.beta_access ?? false,
  subscription_tier: 'free',
  subscription_expires_at: null,
  points: account.points ?? 0,
  invite_count: invitesAllocated(account),
  is_banned: account.is_banned,
  role: account.role,
})
