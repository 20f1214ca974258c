import { Agents } from '#server/domains/agents/agent-state/model'
import { KnowledgeItems } from '#server/domains/agents/library/model'
import { Runs } from '#server/domains/agents/runs/model'
import { Calls } from '#server/domains/meetings/calls/model'
import { Bookings } from '#server/domains/meetings/scheduling/model'
import { plazaAccount } from '#server/domains/people/accounts/accounts'
import { Accounts, Passkeys } from '#server/domains/people/accounts/model'
import { Pairs } from '#server/domains/people/friends/model'
import { InviteUses } from '#server/domains/people/invites/model'
import { Members, Rooms } from '#server/domains/rooms/room-state/model'
import { Streams } from '#server/domains/streams/streams/model'
import { RoomHeads } from '#server/log/model'
import type { Counters } from '#shared/api/people/account-records'
import type { AnalyticsBucket, AnalyticsSummary, WalletType } from '#shared/api/platform/analytics'
import { foundedBy, type RoomType } from '#shared/kit/room-kinds'
import { type PointGift, pointsBetween } from './points.ts'
import { idBetween } from './spans.ts'

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
export const accountsOfType = (type: WalletType) => ({ wallet_type: storedType(type) })
export const withoutTypes = (exclude: readonly WalletType[]): object =>
  exclude.length > 0 ? { wallet_type: { $nin: exclude.map(storedType) } } : {}

export async function analyticsSummary(
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

export async function analyticsBucket(
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
export async function totalMessages(): Promise<number | undefined> {
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
export async function accountCountersOf(account: string): Promise<Counters> {
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
