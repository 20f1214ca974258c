import type { Node } from '#server/kernel/context'
import type { Platform } from '#shared/api/people/account-records'
import { AppError } from '#shared/errors'
import { canonicalAddress } from '#shared/kit/primitives'
import { accountByUsername, accountOf, isBot } from './accounts.ts'
import type { Account } from './model.ts'
import { pagePartsOf } from './page-parts.ts'
import { profileOf, statusOf } from './profiles.ts'

const pages: Readonly<Record<Platform, string>> = {
  x: 'https://x.com/',
  farcaster: 'https://farcaster.xyz/',
  instagram: 'https://www.instagram.com/',
  tiktok: 'https://www.tiktok.com/@',
  youtube: 'https://www.youtube.com/@',
  linkedin: 'https://www.linkedin.com/in/',
  github: 'https://github.com/',
  discord: 'https://discord.com/users/',
}

/** A public page, by address or username. A suspended account offers neither agents nor calls. */
export async function publicPageOf(node: Node, name: string) {
  const account = (await accountOf(canonicalAddress(name))) ?? (await accountByUsername(usernameIn(name)))
  if (!account || account.erased_at) throw new AppError('USER_NOT_FOUND')
  if (!account.public_landing_enabled) throw new AppError('USER_NOT_FOUND', { message: 'This user has no public page' })
  const { id, name: shownName, username, avatar_url: avatarUrl } = profileOf(account)
  const bio = account.bio ?? null
  const user = { address: id, name: shownName, username, ensName: null, avatarUrl, bio, is_bot: isBot(id) }
  return {
    user: { ...user, ...statusOf(account) },
    socials: (account.socials ?? []).map((social) => ({ ...social, url: pages[social.platform] + social.handle })),
    ...(account.is_banned ? { agents: [], scheduling: null } : await pagePartsOf(node, id)),
  }
}

/** The profile with the fields that only its owner may see and change. */
export function ownProfileOf(account: Account) {
  const { id: address, ...shown } = profileOf(account)
  return {
    address,
    wallet_address: address,
    ...shown,
    displayName: shown.display_name,
    bio: account.bio ?? null,
    socials: account.socials ?? [],
    custom_avatar_url: account.custom_avatar_url ?? null,
    use_custom_avatar: account.use_custom_avatar ?? false,
    public_landing_enabled: account.public_landing_enabled ?? false,
    findable_by_phone: account.findable_by_phone ?? false,
    email_updates_opt_in: account.email_updates_opt_in ?? false,
    ...statusOf(account),
    do_not_disturb: account.do_not_disturb ?? false,
    calls_from: account.calls_from ?? 'friends',
    messages_from: account.messages_from ?? 'everyone',
    invites_from: account.invites_from ?? 'everyone',
  }
}

const usernameIn = (text: string) => text.trim().toLowerCase().replace(/^@/, '')
