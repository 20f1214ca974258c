import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { blockedBy, blockersOf } from '#server/domains/moderation/blocks/blocks'
import { hiddenAccounts } from '#server/domains/people/accounts/leaving'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import { friendsOf, otherPersonOf } from '#server/domains/people/friends/pairs'
import { type Action, type Node, signedIn } from '#server/kernel/context'
import type { agentDiscovery as contract } from '#shared/api/agent-discovery'
import { searchFilter } from './search-words.ts'

const friendsAtMost = 1_000
const tagsAtMost = 10

export const discover: Action<typeof contract.discover> = async (input, context) => {
  const { account } = signedIn(context)
  const { filter, tags, search = '', limit, offset } = input
  const words = search.trim() === '' ? [] : searchFilter(search)
  const asked = tags === undefined ? [] : tagsIn(tags)
  const none = { agents: [], total: 0, limit, offset }
  if (words === null || (tags?.trim() && asked.length === 0)) return none
  const [seen, blocked, blockers, hidden] = await Promise.all([
    seenBy(account, filter),
    blockedBy(account),
    blockersOf(account),
    hiddenAccounts(),
  ])
  const query: Record<string, unknown> = {
    ...seen,
    ...(asked.length > 0 && { tags: { $in: asked } }),
    $and: [{ owner_address: { $nin: [account, ...blocked, ...blockers] } }, ofStanding(hidden), ...words],
  }
  const [found, total] = await Promise.all([
    Agents.find(query).sort({ message_count: -1, _id: -1 }).skip(offset).limit(limit).lean<StoredAgent[]>(),
    Agents.countDocuments(query),
  ])
  const agents = await renderWithOwners(context.node, found)
  return {
    agents: agents.map((agent) => ({ ...agent, isFriendsAgent: agent.visibility === 'friends' })),
    total,
    limit,
    offset,
  }
}

/** The agents of a filter that the account may use. */
async function seenBy(account: string, filter: 'all' | 'public' | 'friends' | 'official') {
  if (filter === 'public' || filter === 'official') return { visibility: filter }
  const { pairs } = await friendsOf(account, friendsAtMost)
  const ofFriends = {
    visibility: 'friends',
    owner_address: { $in: pairs.map((pair) => otherPersonOf(pair, account)) },
  } as const
  return filter === 'friends' ? ofFriends : { $or: [{ visibility: { $in: ['public', 'official'] } }, ofFriends] }
}

/** Leaves out agents of suspended or erased owners, but not official ones. */
const ofStanding = (hidden: readonly string[]) => ({
  $or: [{ owner_address: { $nin: hidden } }, { visibility: 'official' }],
})

const tagsIn = (tags: string): string[] =>
  [...new Set(tags.split(',').map((tag) => tag.trim().toLowerCase()))].filter(Boolean).slice(0, tagsAtMost)

/** Agents as their users see them, with the names of their owners. */
export async function renderWithOwners(node: Node, agents: readonly StoredAgent[]) {
  const owners = await profilesOf(
    node,
    agents.map(({ owner_address }) => owner_address),
  )
  return agents.map((agent) => ({
    id: agent._id,
    owner_address: agent.owner_address,
    name: agent.name,
    personality: agent.personality,
    avatar_emoji: agent.avatar_emoji,
    avatar_url: agent.avatar_url,
    visibility: agent.visibility,
    tags: agent.tags,
    message_count: agent.message_count,
    created_at: agent.created_at.toISOString(),
    owner: { username: owners.get(agent.owner_address)?.username ?? null, ensName: null },
  }))
}
