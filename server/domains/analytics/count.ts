import { Accounts, Passkeys } from '#server/domains/accounts/model'
import { Agents } from '#server/domains/agents/model'
import { Runs } from '#server/domains/agents/runs/model'
import { KnowledgeItems } from '#server/domains/library/model'
import { Rooms } from '#server/domains/room-state/model'
import { Streams } from '#server/domains/streams/model'
import type { AnalyticsBucket, AnalyticsSummary } from '#shared/api/analytics'
import { foundedBy, type RoomType } from '#shared/kit/room-kinds'

const [channel, group] = [foundedBy('createChannel'), foundedBy('createGroup')]

/** The least id that is made at this moment or later: ids begin with the milliseconds of their time, so that they are a range of each collection. */
const idAt = (at: number): string => {
  const time = at.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

const madeBetween = (from: number, until: number) => ({ _id: { $gte: idAt(from), $lt: idAt(until) } })
const foundedBetween = (type: RoomType, from: number, until: number) => ({
  _id: { $gte: `${type}:${idAt(from)}`, $lt: `${type}:${idAt(until)}` },
})
const between = (from: number, until: number) => ({ created_at: { $gte: new Date(from), $lt: new Date(until) } })

export async function summaryOf(from: number, until: number): Promise<AnalyticsSummary> {
  const agentsOf = (visibility: 'public' | 'friends' | 'private' | 'official') => Agents.countDocuments({ visibility })
  const counts = {
    totalUsers: Accounts.countDocuments({}),
    newUsersCount: Accounts.countDocuments(between(from, until)),
    activeUsers: Accounts.countDocuments({ last_login: { $gte: new Date(from) } }),
    totalPasskeys: Passkeys.countDocuments({}),
    totalAgents: Agents.countDocuments({}),
    newAgentsCount: Agents.countDocuments(madeBetween(from, until)),
    publicAgents: agentsOf('public'),
    friendsAgents: agentsOf('friends'),
    privateAgents: agentsOf('private'),
    officialAgents: agentsOf('official'),
    totalAgentMessages: Runs.countDocuments({}),
    agentMessagesInPeriod: Runs.countDocuments(madeBetween(from, until)),
    knowledgeItemsCount: KnowledgeItems.countDocuments({}),
    groupsCreated: Rooms.countDocuments(foundedBetween(group, from, until)),
    channelsCreated: Rooms.countDocuments(foundedBetween(channel, from, until)),
    streamsCreated: Streams.countDocuments(madeBetween(from, until)),
  } satisfies Record<keyof AnalyticsSummary, Promise<number>>
  const entries = Object.entries(counts).map(async ([name, count]) => [name, await count] as const)
  return Object.fromEntries(await Promise.all(entries)) as AnalyticsSummary
}

export async function bucketOf(from: number, until: number): Promise<Omit<AnalyticsBucket, 'date' | 'label'>> {
  const [newUsers, groups, agents, agentChats] = await Promise.all([
    Accounts.countDocuments(between(from, until)),
    Rooms.countDocuments(foundedBetween(group, from, until)),
    Agents.countDocuments(madeBetween(from, until)),
    Runs.countDocuments(madeBetween(from, until)),
  ])
  return { newUsers, groups, agents, agentChats }
}
