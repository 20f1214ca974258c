import type { z } from 'zod'
import { withCopiedPictures } from '#server/domains/media/files/copies'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { nodeState } from '#server/kernel/operate/node-state'
import { retryOnStart, startInBackground } from '#server/kernel/work/every'
import type { Platform } from '#shared/api/people/account-records'
import { accounts as contract, type PublicPage } from '#shared/api/people/accounts'
import { AppError } from '#shared/errors'
import { canonicalAddress, done } from '#shared/kit/primitives'
import { accountByUsername, accountOf, isBot, isUsernameTaken } from './accounts.ts'
import { listAdmins, listUsers } from './lists.ts'
import { type Account, Accounts } from './model.ts'
import { isReserved } from './names.ts'
import {
  changeProfile,
  claimUsername,
  releaseUsername,
  shownPictures,
  storeMissingLooks,
  storeMissingSearchForms,
} from './profile-changes.ts'
import { profileMessage, profileOf, statusOf } from './profiles.ts'
import { changeRole, ensureAdmins, suspendAccount, suspensionReasonOf, unsuspendAccount } from './roles.ts'
import { roleSettings } from './settings.ts'

type PublicPageOutput = z.input<typeof PublicPage>

/** Parts of a public page besides the profile. */
interface PageParts {
  /** The public agents, newest first. */
  agents(account: string): Promise<PublicPageOutput['agents']>
  /** The booking page; null if there is none. */
  scheduling(account: string): Promise<PublicPageOutput['scheduling']>
}

const partsOn = nodeState((): Partial<PageParts> => ({}))

/** Registers parts at the start of a node, by their domains. */
export const registerPageParts = (node: Node, parts: Partial<PageParts>): void =>
  void Object.assign(partsOn(node), parts)

async function pagePartsOf(node: Node, account: string): Promise<Pick<PublicPageOutput, keyof PageParts>> {
  const parts = partsOn(node)
  const [agents = [], scheduling = null] = await Promise.all([parts.agents?.(account), parts.scheduling?.(account)])
  return { agents, scheduling }
}

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
async function publicPageOf(node: Node, name: string) {
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
function ownProfileOf(account: Account) {
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

export const accounts = defineDomain(
  contract,
  {
    async username({ address }) {
      const account = await accountOf(address)
      return { username: (!account?.erased_at && account?.username) || null, wallet_address: address }
    },

    async claimUsername({ username }, context) {
      const isNew = await claimUsername(context.node, signedIn(context).account, username)
      return { ...done, username, isNew }
    },

    async releaseUsername(_input, context) {
      await releaseUsername(context.node, signedIn(context).account)
      return done
    },

    async resolveUsername({ username }) {
      const account = await accountByUsername(username)
      if (!account || account.erased_at) throw new AppError('USER_NOT_FOUND', { details: { address: null } })
      return { username, address: account._id }
    },

    async checkUsername({ username }) {
      const available = !isReserved(username) && !(await isUsernameTaken(username))
      return { available, username }
    },

    async publicUser({ address }, context) {
      const account = await accountOf(address)
      context.http?.setHeader(...sharedAMinute)
      if (!account || account.erased_at) return { user: null }
      const { username, display_name, avatar_url } = profileOf(account)
      const named = { username, display_name, ens_name: null, avatar_url }
      return { user: { ...named, is_bot: isBot(address), ...statusOf(account) } }
    },

    async publicProfile({ address }, context) {
      const page = await publicPageOf(context.node, address)
      context.http?.setHeader(...sharedAMinute)
      return page
    },

    async ownProfile(_input, context) {
      const { account: id } = signedIn(context)
      const [account, suspension_reason] = await Promise.all([accountOf(id), suspensionReasonOf(context.node, id)])
      if (!account) throw new AppError('USER_NOT_FOUND')
      return { user: ownProfileOf(account), suspension_reason }
    },

    async updateProfile(input, context) {
      const { account: id } = signedIn(context)
      const before = await accountOf(id)
      const change = await withCopiedPictures(
        context,
        storageFolders.avatar,
        input,
        ['avatar_url', 'custom_avatar_url'],
        before,
      )
      const account = await changeProfile(context.node, id, change)
      return { ...done, user: ownProfileOf(account) }
    },

    async suspension({ address }) {
      const account = await accountOf(address)
      return { isBanned: account?.is_banned ?? false, banReason: account?.ban_reason ?? null }
    },

    async suspend({ userAddress, ban, reason }, context) {
      const decide = ban ? suspendAccount : unsuspendAccount
      await decide(context.node, signedIn(context).account, userAddress, reason || null)
      return { ...done, banned: ban }
    },

    async admins() {
      return { admins: await listAdmins() }
    },

    async grantAdmin({ walletAddress, makeSuperAdmin }, context) {
      const role = makeSuperAdmin ? ('super_admin' as const) : ('admin' as const)
      await changeRole(context.node, signedIn(context).account, walletAddress, role)
      return { ...done, role }
    },

    async revokeAdmin({ address }, context) {
      await changeRole(context.node, signedIn(context).account, address, 'user')
      return done
    },

    users: (input, { node }) => listUsers(node, input),

    async updateUser({ userAddress, updates }, context) {
      await updateUser(context.node, signedIn(context).account, userAddress, updates)
      return done
    },
  },
  {
    settings: roleSettings,
    shows: shownPictures,
    async start(node) {
      const stopFollowing = profileMessage.follow(node)
      const stopLooks = startInBackground(node, storeMissingLooks, 'older usernames were not compared')
      const stopSought = startInBackground(node, storeMissingSearchForms, 'older names are not found')
      await retryOnStart(() => ensureAdmins(node))
      return [stopFollowing, stopLooks, stopSought]
    },
  },
)

/** Equal for all callers, so that shared caches may keep it. */
const sharedAMinute = ['Cache-Control', 'public, max-age=0, s-maxage=60, stale-while-revalidate=300'] as const

interface UserUpdates {
  is_banned?: boolean | undefined
  ban_reason?: string | null | undefined
  notes?: string | null | undefined
  beta_access?: boolean | undefined
}

/** Changes an account's admin fields. Nobody grants beta access to themselves. */
async function updateUser(node: Node, admin: string, target: string, updates: UserUpdates): Promise<void> {
  const { is_banned, ban_reason, notes, beta_access } = updates
  if (!(await accountOf(target))) throw new AppError('USER_NOT_FOUND')
  if (beta_access !== undefined && target === admin)
    throw new AppError('FORBIDDEN', { message: 'Another admin must decide this of you' })
  if (is_banned !== undefined)
    await (is_banned ? suspendAccount : unsuspendAccount)(node, admin, target, ban_reason || null)
  const set = {
    ...(notes === undefined ? {} : { admin_notes: notes ?? '' }),
    ...(beta_access === undefined ? {} : { beta_access }),
  }
  if (Object.keys(set).length > 0) await Accounts.updateOne({ _id: target }, { $set: set })
}
