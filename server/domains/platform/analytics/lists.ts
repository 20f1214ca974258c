import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { type Account, Accounts } from '#server/domains/people/accounts/model'
import { smartAccountIn } from '#server/domains/people/accounts/smart-account'
import { type AnalyticsSummary, type WalletType, walletTypes } from '#shared/api/platform/analytics'
import { accountsOfType, withoutTypes } from './count.ts'

const firstAtMost = 10
const officialAtMost = 100

/** Top lists, and breakdowns of accounts and agents. */
export async function analyticsLists(summary: AnalyticsSummary, exclude: readonly WalletType[]) {
  const [byPoints, byMessages, officialAgentsList, walletTypeBreakdown, recentSmartWalletUsers] = await Promise.all([
    mostPoints(exclude),
    agentsOf(['public', 'official'], firstAtMost),
    agentsOf(['official'], officialAtMost),
    breakdown(exclude),
    newestWithSmart(exclude),
  ])
  const { publicAgents, friendsAgents, privateAgents, officialAgents } = summary
  return {
    topUsers: { byPoints },
    topAgents: { byMessages },
    agentVisibilityBreakdown: [
      { visibility: 'public' as const, count: publicAgents },
      { visibility: 'friends' as const, count: friendsAgents },
      { visibility: 'private' as const, count: privateAgents },
      { visibility: 'official' as const, count: officialAgents },
    ],
    officialAgentsList,
    walletTypeBreakdown,
    recentSmartWalletUsers,
  }
}

async function mostPoints(exclude: readonly WalletType[]) {
  const found = await Accounts.find({ is_banned: false, points: { $gt: 0 }, ...withoutTypes(exclude) })
    .sort({ points: -1, _id: 1 })
    .limit(firstAtMost)
    .lean<Account[]>()
  return found.map(({ _id: address, username = null, points }) => ({ address, username, points }))
}

async function agentsOf(visibilities: StoredAgent['visibility'][], most: number) {
  const found = await Agents.find({ visibility: { $in: visibilities } })
    .sort({ message_count: -1, _id: 1 })
    .limit(most)
    .lean<StoredAgent[]>()
  return found.map(({ _id: id, name, message_count: messageCount }) => ({ id, name, messageCount }))
}

const breakdown = (exclude: readonly WalletType[]) =>
  Promise.all(
    walletTypes
      .filter((type) => !exclude.includes(type))
      .map(async (type) => ({ type, count: await Accounts.countDocuments(accountsOfType(type)) })),
  )

async function newestWithSmart(exclude: readonly WalletType[]) {
  const found = await Accounts.find({ smart_wallet_address: { $exists: true }, ...withoutTypes(exclude) })
    .sort({ created_at: -1 })
    .limit(firstAtMost)
    .lean<Account[]>()
  return found.map((account) => ({
    address: account._id,
    username: account.username ?? null,
    smartWalletAddress: smartAccountIn(account)?.address ?? '',
    created_at: account.created_at.toISOString(),
  }))
}
