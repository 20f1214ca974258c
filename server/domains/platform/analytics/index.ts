import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { KnowledgeItems } from '#server/domains/agents/library/model'
import { Runs } from '#server/domains/agents/runs/model'
import { Calls } from '#server/domains/meetings/calls/model'
import { Bookings } from '#server/domains/meetings/scheduling/model'
import { plazaAccount } from '#server/domains/people/accounts/accounts'
import { registerCounters } from '#server/domains/people/accounts/lists'
import { type Account, Accounts, Passkeys } from '#server/domains/people/accounts/model'
import { smartAccountIn } from '#server/domains/people/accounts/smart-account'
import { Pairs } from '#server/domains/people/friends/model'
import { InviteUses } from '#server/domains/people/invites/model'
import { PointEntries } from '#server/domains/people/points/model'
import { Members, Rooms } from '#server/domains/rooms/room-state/model'
import { Streams } from '#server/domains/streams/streams/model'
import type { Node } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { nodeState } from '#server/kernel/operate/node-state'
import { RoomHeads } from '#server/log/model'
import type { Counters } from '#shared/api/people/account-records'
import {
  type AnalyticsBucket,
  type AnalyticsSummary,
  analytics as contract,
  type Period,
  type WalletType,
  walletTypes,
} from '#shared/api/platform/analytics'
import type { OutputOf } from '#shared/kit/contract'
import { foundedBy, type RoomType } from '#shared/kit/room-kinds'
import { idBetween, spanOfPeriod } from './spans.ts'

const [channel, group] = [foundedBy('createChannel'), foundedBy('createGroup')]

const foundedBetween = (type: RoomType, from: number, until: number) => ({
  _id: idBetween(from, until, `${type}:`),
})
/** Friendships with the Plaza account are automatic, and not counted. */
const byPeople = { from_address: { $ne: plazaAccount } }
const within = (from: number, until: number) => ({ $gte: new Date(from), $lt: new Date(until) })
const between = (from: number, until: number) => ({ created_at: within(from, until) })
/** The same for times that are stored as text. */
const textWithin = (from: number, until: number) => ({
  $gte: new Date(from).toISOString(),
  $lt: new Date(until).toISOString(),
})

const storedType = (type: WalletType) => (type === 'none' ? null : type)

/** Filters accounts by type: of one type, and without some. */
const accountsOfType = (type: WalletType) => ({ wallet_type: storedType(type) })
const withoutTypes = (exclude: readonly WalletType[]): object =>
  exclude.length > 0 ? { wallet_type: { $nin: exclude.map(storedType) } } : {}

async function analyticsSummary(
  from: number,
  until: number,
  exclude: readonly WalletType[],
  gifts: readonly PointGift[],
): Promise<AnalyticsSummary> {
  const accounts = (which: object) => Accounts.countDocuments({ ...which, ...withoutTypes(exclude) })
  const agentsOf = (visibility: 'public' | 'friends' | 'private' | 'official') => Agents.countDocuments({ visibility })
  const counts = {
    totalUsers: accounts({}),
    newUsersCount: accounts(between(from, until)),
    activeUsers: accounts({ last_login: { $gte: new Date(from) } }),
    totalPasskeys: Passkeys.countDocuments({}),
    totalAgents: Agents.countDocuments({}),
    newAgentsCount: Agents.countDocuments({ _id: idBetween(from, until) }),
    publicAgents: agentsOf('public'),
    friendsAgents: agentsOf('friends'),
    privateAgents: agentsOf('private'),
    officialAgents: agentsOf('official'),
    totalAgentMessages: Runs.countDocuments({}),
    agentMessagesInPeriod: Runs.countDocuments({ _id: idBetween(from, until) }),
    knowledgeItemsCount: KnowledgeItems.countDocuments({}),
    indexedKnowledgeItems: KnowledgeItems.countDocuments({ status: 'indexed' }),
    publicProfilesCount: accounts({ public_landing_enabled: true }),
    usersWithSmartWallet: accounts({ smart_wallet_address: { $exists: true } }),
    betaApplicantsCount: accounts({ beta_access_applied_at: { $exists: true } }),
    betaApprovedCount: accounts({ beta_access: true }),
    betaPendingCount: accounts({ beta_access_applied_at: { $exists: true }, beta_access: { $ne: true } }),
    totalCalls: Calls.countDocuments({}),
    totalPoints: pointsBetween(gifts, 0, until),
    pointsInPeriod: pointsBetween(gifts, from, until),
    acceptedFriendships: Pairs.countDocuments({ ...byPeople, state: 'friends' }),
    friendRequestsCount: Pairs.countDocuments({ ...byPeople, asked_at: textWithin(from, until) }),
    invitesUsed: InviteUses.countDocuments({ used_at: within(from, until) }),
    schedulesCreated: Bookings.countDocuments(between(from, until)),
    streamsStarted: Streams.countDocuments({ started_at: within(from, until) }),
    streamsEnded: Streams.countDocuments({ ended_at: within(from, until) }),
    groupsCreated: Rooms.countDocuments(foundedBetween(group, from, until)),
    channelsCreated: Rooms.countDocuments(foundedBetween(channel, from, until)),
    streamsCreated: Streams.countDocuments({ _id: idBetween(from, until) }),
  } satisfies Record<keyof AnalyticsSummary, Promise<number>>
  const entries = Object.entries(counts).map(async ([name, count]) => [name, await count] as const)
  return Object.fromEntries(await Promise.all(entries)) as AnalyticsSummary
}

async function analyticsBucket(
  from: number,
  until: number,
  exclude: readonly WalletType[],
  gifts: readonly PointGift[],
): Promise<Omit<AnalyticsBucket, 'date' | 'label'>> {
  const [newUsers, points, invites, friendRequests, groups, agents, agentChats] = await Promise.all([
    Accounts.countDocuments({ ...between(from, until), ...withoutTypes(exclude) }),
    pointsBetween(gifts, from, until),
    InviteUses.countDocuments({ used_at: within(from, until) }),
    Pairs.countDocuments({ ...byPeople, asked_at: textWithin(from, until) }),
    Rooms.countDocuments(foundedBetween(group, from, until)),
    Agents.countDocuments({ _id: idBetween(from, until) }),
    Runs.countDocuments({ _id: idBetween(from, until) }),
  ])
  return { newUsers, points, invites, friendRequests, groups, agents, agentChats }
}

const headsAtOnce = 1_000
const headsAtMost = 100_000

/** The number of messages in all rooms; undefined above a limit of rooms. */
async function totalMessages(): Promise<number | undefined> {
  let total = 0
  let last = ''
  for (let asked = 0; asked < headsAtMost; asked += headsAtOnce) {
    const heads = await RoomHeads.find({ _id: { $gt: last } }, { total: 1 })
      .sort({ _id: 1 })
      .limit(headsAtOnce)
      .lean()
    for (const head of heads) total += head.total
    last = heads.at(-1)?._id ?? ''
    if (heads.length < headsAtOnce) return total
  }
  return undefined
}

/** The counters of an account; each count is one index range. */
async function accountCountersOf(account: string): Promise<Counters> {
  const friends = (side: 'from_address' | 'to_address') => Pairs.countDocuments({ [side]: account, state: 'friends' })
  const roomsOf = (type: RoomType) =>
    Members.countDocuments({ user_address: account, is_active: true, room: { $gte: `${type}:`, $lt: `${type};` } })
  const streams = (which: object) => Streams.countDocuments({ user_address: account, ...which })
  const [asked, answered, groups_count, channels_joined, calls, called, ...ofStreams] = await Promise.all([
    friends('from_address'),
    friends('to_address'),
    roomsOf(group),
    roomsOf(channel),
    Calls.countDocuments({ caller_address: account }),
    Calls.countDocuments({ callee_address: account }),
    streams({}),
    streams({ started_at: { $ne: null } }),
    streams({ ended_at: { $ne: null } }),
  ])
  const [streams_created, streams_started, streams_ended] = ofStreams
  return {
    ...{ friends_count: asked + answered, groups_count, channels_joined, total_calls: calls + called },
    ...{ streams_created, streams_started, streams_ended },
  }
}

const firstAtMost = 10
const officialAtMost = 100

/** Top lists, and breakdowns of accounts and agents. */
async function analyticsLists(summary: AnalyticsSummary, exclude: readonly WalletType[]) {
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

type AnalyticsAnswer = OutputOf<typeof contract.read>

const keptMilliseconds = 60_000
const cachedOn = nodeState(() => new Map<string, { until: number; answer: Promise<AnalyticsAnswer> }>())

export const analytics = defineDomain(
  contract,
  { read: ({ period, exclude }, { node }) => cachedAnalytics(node, period, exclude) },
  {
    start(node) {
      registerCounters(node, accountCountersOf)
      return []
    },
  },
)

/** Analytics are computed once a minute; a failed computation is repeated. */
function cachedAnalytics(node: Node, period: Period, exclude: readonly WalletType[]): Promise<AnalyticsAnswer> {
  const all = cachedOn(node)
  const now = node.now()
  for (const [name, { until }] of all) if (until <= now) all.delete(name)
  const name = [period, ...exclude].join()
  const known = all.get(name)
  if (known) return known.answer
  const answer = computeAnalytics(period, exclude, now)
  all.set(name, { until: now + keptMilliseconds, answer })
  answer.catch(() => all.delete(name))
  return answer
}

async function computeAnalytics(period: Period, exclude: readonly WalletType[], now: number): Promise<AnalyticsAnswer> {
  const { start, buckets, labelOf } = spanOfPeriod(period, now)
  const gifts = await pointGifts()
  const timeSeries = []
  for (const [at, from] of buckets.entries())
    timeSeries.push({
      date: new Date(from).toISOString(),
      label: labelOf(from),
      ...(await analyticsBucket(from, buckets[at + 1] ?? now, exclude, gifts)),
    })
  const summary = await analyticsSummary(start, now, exclude, gifts)
  return {
    summary: { ...summary, totalMessages: await totalMessages() },
    timeSeries,
    ...(await analyticsLists(summary, exclude)),
    pointsBreakdown: await pointsByReason(gifts, now),
    period,
    startDate: new Date(start).toISOString(),
    endDate: new Date(now).toISOString(),
  }
}

/** A kind of gift. There are few, so a sum is made of their counts. */
interface PointGift {
  reason: string
  points: number
}

/** All kinds of gifts that were ever given. */
async function pointGifts(): Promise<PointGift[]> {
  const reasons = await PointEntries.distinct('reason')
  const gifts = reasons.map(async (reason) =>
    (await PointEntries.distinct('points', { reason })).map((points) => ({ reason, points })),
  )
  return (await Promise.all(gifts)).flat()
}

/** The sum of points in a span of time. */
async function pointsBetween(gifts: readonly PointGift[], from: number, until: number): Promise<number> {
  const _id = idBetween(from, until)
  const sums = gifts.map(async (gift) => gift.points * (await PointEntries.countDocuments({ ...gift, _id })))
  return (await Promise.all(sums)).reduce((all, sum) => all + sum, 0)
}

/** Points by reason, largest first. */
async function pointsByReason(gifts: readonly PointGift[], until: number) {
  const reasons = [...new Set(gifts.map(({ reason }) => reason))]
  const sums = reasons.map(async (reason) => {
    const ofReason = gifts.filter((gift) => gift.reason === reason)
    return { reason, points: await pointsBetween(ofReason, 0, until) }
  })
  return (await Promise.all(sums)).sort((one, other) => other.points - one.points)
}
