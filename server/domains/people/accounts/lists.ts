import type { Node } from '#server/kernel/context'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { nodeState } from '#server/kernel/operate/node-state'
import type { Counters } from '#shared/api/people/account-records'
import { madeUpName } from '#shared/kit/person-name'
import { canonicalAddress } from '#shared/kit/primitives'
import { invitesAllocated } from './accounts.ts'
import { type Account, Accounts } from './model.ts'
import { searchFormOf } from './names.ts'
import { profileOf } from './profiles.ts'
import { smartAccountIn } from './smart-account.ts'

type Count = (account: string) => Promise<Counters>

const countOn = nodeState((): { count: Count | null } => ({ count: null }))

/** Registers the counting domain at the start of a node. */
export const registerCounters = (node: Node, count: Count): void => void Object.assign(countOn(node), { count })

function countersOf(node: Node, account: string): Promise<Counters> {
  const { count } = countOn(node)
  if (!count) throw new Error('Nobody counts yet')
  return count(account)
}

export async function listAdmins() {
  const found = await Accounts.find({ role: { $in: ['admin', 'super_admin'] } })
    .sort({ _id: 1 })
    .lean<Account[]>()
  return found.map((account) => ({
    wallet_address: account._id,
    name: profileOf(account).name,
    role: account.role,
    is_super_admin: account.role === 'super_admin',
  }))
}

interface Page {
  page: number
  limit: number
  search?: string | undefined
  sortBy: 'last_login' | 'created_at' | 'login_count' | 'username'
  sortOrder: 'asc' | 'desc'
  betaAccessFilter?: keyof typeof byBeta | undefined
}

const byBeta = {
  has_access: { beta_access: true },
  applied: { beta_access: { $ne: true }, beta_access_applied_at: { $exists: true } },
  neither: { beta_access: { $ne: true }, beta_access_applied_at: { $exists: false } },
} as const

/** Counting may be slow, because only an admin waits for it. */
const countedAtOnce = 4

export async function listUsers(node: Node, asked: Page) {
  const { page, limit, search, sortBy, sortOrder, betaAccessFilter: beta } = asked
  const filter = { ...(search?.trim() && (await searchFilter(search.trim()))), ...(beta && byBeta[beta]) }
  const order = sortOrder === 'asc' ? 1 : -1
  const [found, total] = await Promise.all([
    Accounts.find(filter)
      .sort({ [sortBy]: order, _id: order })
      .skip((page - 1) * limit)
      .limit(limit)
      .lean<Account[]>(),
    Accounts.countDocuments(filter),
  ])
  const inTurn = fewAtOnce(countedAtOnce)
  const withCounters = async (account: Account) => ({
    ...userRecord(account),
    ...(await inTurn(() => countersOf(node, account._id))),
  })
  const users = await Promise.all(found.map(withCounters))
  return { users, total, page, limit, totalPages: Math.ceil(total / limit) }
}

const startingWith = (start: string) => ({ $gte: start, $lt: `${start}\u{10ffff}` })

/** An exact address, or the beginning of a username, a display name or a name made for people without one. */
async function searchFilter(search: string) {
  const username = startingWith(search.toLowerCase().replace(/^@/, ''))
  const ids = [canonicalAddress(search), ...(await accountsShownAs(search.toLowerCase()))]
  return {
    $or: [{ _id: { $in: ids } }, { username }, { display_name_sought: startingWith(searchFormOf(search)) }],
  }
}

const lookedThroughAtMost = 2_000

/** Of the newest accounts, those without a name for which one with this beginning is made. */
async function accountsShownAs(start: string): Promise<string[]> {
  const fields = { username: 1, display_name: 1 }
  const newest = await Accounts.find({}, fields).sort({ created_at: -1 }).limit(lookedThroughAtMost).lean()
  const unnamed = newest.filter(({ username, display_name }) => !username && !display_name)
  return unnamed.map(({ _id }) => _id).filter((id) => madeUpName(id).toLowerCase().startsWith(start))
}

const isoTime = (date: Date | null | undefined) => date?.toISOString() ?? null

const userRecord = (account: Account) => ({
  id: account.user_id,
  wallet_address: account._id,
  wallet_type: account.wallet_type,
  chain: account.chain,
  username: account.username ?? null,
  display_name: account.display_name,
  avatar_url: account.avatar_url,
  smart_wallet_address: smartAccountIn(account)?.address ?? null,
  email_verified: account.email_verified ?? false,
  email_updates_opt_in: account.email_updates_opt_in ?? false,
  subscription_tier: 'free' as const,
  subscription_expires_at: null,
  role: account.role,
  is_banned: account.is_banned,
  ban_reason: account.ban_reason,
  notes: account.admin_notes || null,
  beta_access: account.beta_access ?? false,
  beta_access_applied: account.beta_access_applied_at !== undefined,
  beta_access_applied_at: isoTime(account.beta_access_applied_at),
  points: account.points ?? 0,
  invite_count: invitesAllocated(account),
  invites_used: account.invites_used ?? 0,
  invite_code_used: account.invite_code_used ?? null,
  referred_by: account.referred_by ?? null,
  first_login: isoTime(account.first_login),
  last_login: isoTime(account.last_login),
  login_count: account.login_count,
  last_active_at: isoTime(account.last_active_at),
  created_at: account.created_at.toISOString(),
  updated_at: account.updated_at.toISOString(),
})
