import { Agents } from '#server/domains/agents/agent-state/model'
import { KnowledgeItems } from '#server/domains/agents/library/model'
import { Runs } from '#server/domains/agents/runs/model'
import { Calls } from '#server/domains/meetings/calls/model'
import { Bookings } from '#server/domains/meetings/scheduling/model'
import { plazaAccount } from '#server/domains/people/accounts/accounts'
import { Accounts, Passkeys } from '#server/domains/people/accounts/model'
import { Pairs } from '#server/domains/people/friends/model'
import { InviteUses } from '#server/domains/people/invites/model'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { Streams } from '#server/domains/streams/streams/model'
import type { AnalyticsBucket, AnalyticsSummary, WalletType } from '#shared/api/analytics'
import { foundedBy, type RoomType } from '#shared/kit/room-kinds'
import { idBetween } from './id-times.ts'
import { type Gift, pointsBetween } from './points.ts'

const [channel, group] = [foundedBy('createChannel'), foundedBy('createGroup')]

const foundedBetween = (type: RoomType, from: number, until: number) => ({
  _id: idBetween(from, until, `${type}:`),
})
/** Nobody has asked where Plaza made itself a friend. */
const byPeople = { from_address: { $ne: plazaAccount } }
const within = (from: number, until: number) => ({ $gte: new Date(from), $lt: new Date(until) })
const between = (from: number, until: number) => ({ created_at: within(from, until) })
/** Of times that are kept as text. */
const textWithin = (from: number, until: number) => ({
  $gte: new Date(from).toISOString(),
  $lt: new Date(until).toISOString(),
})

const storedType = (type: WalletType) => (type === 'none' ? null : type)

/** The accounts of one kind, and those of all kinds but some. */
export const ofType = (type: WalletType) => ({ wallet_type: storedType(type) })
export const without = (exclude: readonly WalletType[]): object =>
  exclude.length > 0 ? { wallet_type: { $nin: exclude.map(storedType) } } : {}

export async function summaryOf(
  from: number,
  until: number,
  exclude: readonly WalletType[],
  gifts: readonly Gift[],
): Promise<AnalyticsSummary> {
  const accounts = (which: object) => Accounts.countDocuments({ ...which, ...without(exclude) })
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

export async function bucketOf(
  from: number,
  until: number,
  exclude: readonly WalletType[],
  gifts: readonly Gift[],
): Promise<Omit<AnalyticsBucket, 'date' | 'label'>> {
  const [newUsers, points, invites, friendRequests, groups, agents, agentChats] = await Promise.all([
    Accounts.countDocuments({ ...between(from, until), ...without(exclude) }),
    pointsBetween(gifts, from, until),
    InviteUses.countDocuments({ used_at: within(from, until) }),
    Pairs.countDocuments({ ...byPeople, asked_at: textWithin(from, until) }),
    Rooms.countDocuments(foundedBetween(group, from, until)),
    Agents.countDocuments({ _id: idBetween(from, until) }),
    Runs.countDocuments({ _id: idBetween(from, until) }),
  ])
  return { newUsers, points, invites, friendRequests, groups, agents, agentChats }
}
