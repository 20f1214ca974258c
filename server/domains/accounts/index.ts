import { implement, signedIn } from '#server/kernel/context'
import { accounts as contract } from '#shared/api/accounts'
import { AppError } from '#shared/errors'
import { canonicalAddress, done } from '#shared/kit/primitives'
import { accountByUsername, accountOf, isBot } from './accounts.ts'
import { listAdmins, listUsers } from './lists.ts'
import { isReserved } from './names.ts'
import { changeProfile, claimUsername, releaseUsername } from './profile-changes.ts'
import { profileOf } from './profiles.ts'
import { changeRole, suspend, unsuspend } from './standing.ts'

export const accounts = implement('accounts', contract, {
  async username({ address }) {
    const account = await accountOf(address)
    return { username: account?.username ?? null, wallet_address: address }
  },

  async claimUsername({ username }, context) {
    const isNew = await claimUsername(signedIn(context).account, username, context.node.now())
    return { ...done, username, isNew }
  },

  async releaseUsername(_input, context) {
    await releaseUsername(signedIn(context).account, context.node.now())
    return done
  },

  async resolveUsername({ username }) {
    const account = await accountByUsername(username)
    if (!account) throw new AppError('USER_NOT_FOUND', { details: { address: null } })
    return { username, address: account._id }
  },

  async checkUsername({ username }) {
    const available = !isReserved(username) && (await accountByUsername(username)) === null
    return { available, username }
  },

  async publicUser({ address }) {
    const account = await accountOf(address)
    if (!account) return { user: null }
    const { username, display_name, avatar_url } = profileOf(account)
    return { user: { username, display_name, ens_name: null, avatar_url, is_bot: isBot(address) } }
  },

  async publicProfile({ address }) {
    const account = (await accountOf(canonicalAddress(address))) ?? (await accountByUsername(usernameIn(address)))
    if (!account) throw new AppError('USER_NOT_FOUND')
    const { id, name, username, avatar_url: avatarUrl } = profileOf(account)
    const user = { address: id, name, username, ensName: null, avatarUrl, bio: null, is_bot: isBot(id) }
    return { user, socials: [], agents: [], scheduling: null }
  },

  async updateProfile(input, context) {
    const profile = await changeProfile(signedIn(context).account, input, context.node.now())
    const { id: address, ...shown } = profile
    return { ...done, user: { address, ...shown } }
  },

  async suspension({ address }) {
    const account = await accountOf(address)
    return { isBanned: account?.is_banned ?? false, banReason: account?.ban_reason ?? null }
  },

  async suspend({ userAddress, ban, reason }, context) {
    const decide = ban ? suspend : unsuspend
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

  users: (input) => listUsers(input),
})

const usernameIn = (text: string) => text.trim().toLowerCase().replace(/^@/, '')
