import { withCopiedPictures } from '#server/domains/media/files/copies'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { retryOnStart } from '#server/kernel/retry-on-start'
import { startInBackground } from '#server/kernel/work/every'
import { accounts as contract } from '#shared/api/people/accounts'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { accountByUsername, accountOf, isBot, isUsernameTaken } from './accounts.ts'
import { listAdmins, listUsers } from './lists.ts'
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
import { ownProfileOf, publicPageOf } from './public-pages.ts'
import { changeRole, ensureAdmins, suspendAccount, unsuspendAccount } from './roles.ts'
import { roleSettings } from './settings.ts'
import { updateUser } from './user-updates.ts'

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
      const account = await accountOf(signedIn(context).account)
      if (!account) throw new AppError('USER_NOT_FOUND')
      return { user: ownProfileOf(account) }
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
