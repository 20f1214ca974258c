import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { blockedBy, blockersOf } from '#server/domains/moderation/blocks/blocks'
import { hiddenAccountsAmong } from '#server/domains/people/accounts/found'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import { friendsOf, otherPersonOf } from '#server/domains/people/friends/pairs'
import { type Action, type Node, signedIn } from '#server/kernel/context'
import type { agentDiscovery as contract } from '#shared/api/agents/agent-records'
import { searchFilter } from './owned.ts'

const friendsAtMost = 1_000
const tagsAtMost = 10

export const discover: Action<typeof contract.discover> = async (input, context) => {
  const { account } = signedIn(context)
  const { filter, tags, search = '', limit, offset } = input
  const words = search.trim() === '' ? [] : searchFilter(search)
  const asked = tags === undefined ? [] : tagsIn(tags)
  const none = { agents: [], total: 0, limit, offset }
  if (words === null || (tags?.trim() && asked.length === 0)) return none
  const [seen, blocked, blockers] = await Promise.all([
    seenBy(account, filter),
    blockedBy(account),
    blockersOf(account),
  ])
  const query: Record<string, unknown> = {
    ...seen,
    ...(asked.length > 0 && { tags: { $in: asked } }),
    $and: [{ owner_address: { $nin: [account, ...blocked, ...blockers] } }, ...words],
  }
  const [{ ids, hiddenCount }, count] = await Promise.all([
    pageOfFound(query, offset, limit),
    Agents.countDocuments(query),
  ])
  const found = await Agents.find({ _id: { $in: ids } })
    .sort(byMessages)
    .lean<StoredAgent[]>()
  const total = count - hiddenCount
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

const byMessages = { message_count: -1, _id: -1 } as const
const lookedAtOnce = 100
const hiddenAtMost = 1_000

/**
 * A page of the agents whose owners are found, and how many others were met on the way. Official agents do not
 * depend on their makers. Behind a thousand hidden agents a page is cut short.
 */
async function pageOfFound(query: Record<string, unknown>, offset: number, limit: number) {
  const wanted = offset + limit
  const ids: string[] = []
  let looked = 0
  let hiddenCount = 0
  while (ids.length < wanted && hiddenCount < hiddenAtMost) {
    const asked = Math.max(wanted - ids.length, lookedAtOnce)
    const next = Agents.find(query, { owner_address: 1, visibility: 1 }).sort(byMessages).skip(looked).limit(asked)
    const rows = await next.lean<Pick<StoredAgent, '_id' | 'owner_address' | 'visibility'>[]>()
    const owners = rows.filter(({ visibility }) => visibility !== 'official').map(({ owner_address }) => owner_address)
    const hidden = await hiddenAccountsAmong(owners, null, 'directories')
    const shown = rows.filter(
      ({ visibility, owner_address }) => visibility === 'official' || !hidden.has(owner_address),
    )
    ids.push(...shown.map(({ _id }) => _id))
    hiddenCount += rows.length - shown.length
    looked += rows.length
    if (rows.length < asked) break
  }
  return { ids: ids.slice(offset, wanted), hiddenCount }
}

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
