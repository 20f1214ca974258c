import { blockedAmong } from '#server/domains/moderation/blocks/blocks'
import { hiddenAccountsAmong } from '#server/domains/people/accounts/found'
import { roleOf } from '#server/domains/people/accounts/roles'
import { friendsAmong } from '#server/domains/people/friends/pairs'
import type { Node } from '#server/kernel/context'
import { upsert } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { Agents, GoneAgents, type StoredAgent } from './model.ts'

/** Loads an agent for any caller. Throws AGENT_NOT_FOUND. */
export async function agentOf(id: string): Promise<StoredAgent> {
  const agent = await Agents.findOne({ _id: id }).lean<StoredAgent>()
  if (!agent) throw new AppError('AGENT_NOT_FOUND')
  return agent
}

/** The same at public addresses, which others may have kept. Throws AGENT_GONE for one that was erased with its owner. */
export const agentAtPublicAddress = (id: string): Promise<StoredAgent> =>
  agentOf(id).catch(async (error: unknown) => {
    throw (await isGoneAgent(id)) ? new AppError('AGENT_GONE') : error
  })

export const isGoneAgent = async (id: string): Promise<boolean> => (await GoneAgents.exists({ _id: id })) !== null

/** Has the public address of an agent answer that it is gone, once its owner is erased. */
export async function noteGoneAgent({ _id, ...agent }: Seen & { _id: string }): Promise<void> {
  if (!hasPublicPage(agent)) return
  await upsert(() => GoneAgents.updateOne({ _id }, { $setOnInsert: { _id } }, { upsert: true }))
}

/** Loads an agent that the account may use. Throws for others. */
export async function visibleAgent(account: string, id: string): Promise<StoredAgent> {
  const agent = await agentOf(id)
  const refusal = await agentRefusalOf(account, agent)
  if (refusal) throw refusal
  return agent
}

/** The refusal of a closed agent. A private one is hidden from all but its owner. */
export const closedAgentError = (
  account: string | null,
  { visibility, owner_address }: StoredAgent,
  code: 'AGENT_PRIVATE' | 'AGENT_NOT_PUBLIC',
): AppError =>
  new AppError(visibility === 'private' && !isSameAccount(owner_address, account) ? 'AGENT_NOT_FOUND' : code)

type Seen = Pick<StoredAgent, 'visibility' | 'public_access_enabled'>
const isOfficial = ({ visibility }: Pick<Seen, 'visibility'>): boolean => visibility === 'official'
const isForEverybody = (agent: Pick<Seen, 'visibility'>): boolean => agent.visibility === 'public' || isOfficial(agent)
const hasPublicPage = (agent: Seen): boolean => agent.public_access_enabled && isForEverybody(agent)

/** Whether the agent is public for this account, or for guests. */
export async function isPublicAgentFor(account: string | null, agent: StoredAgent): Promise<boolean> {
  if (!hasPublicPage(agent)) return false
  if (account !== null) return (await agentRefusalOf(account, agent)) === null
  return isOfficial(agent) || (await hiddenAccountsAmong([agent.owner_address], null, 'directories')).size === 0
}

/** Why the account may not use the agent; null if it may. */
export const agentRefusalOf = async (account: string, agent: StoredAgent): Promise<AppError | null> =>
  (await agentRefusalsOf(account, [agent]))[0] ?? null

/** The same for several agents. Blocks of owners close their agents, and so do owners who are not found, except for official ones. */
export async function agentRefusalsOf(account: string, agents: readonly StoredAgent[]): Promise<(AppError | null)[]> {
  const ownersOf = (some: readonly StoredAgent[]) => [
    ...new Set(some.map(({ owner_address }) => owner_address).filter((owner) => !isSameAccount(owner, account))),
  ]
  const [blocked, hidden, friends] = await Promise.all([
    blockedAmong(account, ownersOf(agents)),
    hiddenAccountsAmong(ownersOf(agents.filter((agent) => !isOfficial(agent))), account, 'directories'),
    friendsAmong(account, ownersOf(agents.filter(({ visibility }) => visibility === 'friends'))),
  ])
  return agents.map((agent) => {
    const owner = agent.owner_address
    if (isSameAccount(owner, account)) return null
    const isKeptApart = blocked.has(owner) || (hidden.has(owner) && !isOfficial(agent))
    if (isKeptApart || agent.visibility === 'private') return closedAgentError(account, agent, 'AGENT_PRIVATE')
    return isForEverybody(agent) || friends.includes(owner) ? null : new AppError('AGENT_FRIENDS_ONLY')
  })
}

/** Loads an agent that the account may change: its own, or an official one for admins. */
export async function ownAgent(node: Node, account: string, id: string): Promise<StoredAgent> {
  const agent = await agentOf(id)
  if (!(await mayChangeAgent(node, account, agent))) throw closedAgentError(account, agent, 'AGENT_PRIVATE')
  return agent
}

/** Loads an agent whose knowledge the account may manage: its own, or any for admins. */
export const managedAgent = async (node: Node, account: string, id: string): Promise<StoredAgent> =>
  (await isAdmin(node, account)) ? agentOf(id) : ownAgent(node, account, id)

/** Official agents belong to the admins, not to their creators. */
export const mayChangeAgent = async (node: Node, account: string, agent: StoredAgent): Promise<boolean> =>
  isOfficial(agent) ? isAdmin(node, account) : isSameAccount(agent.owner_address, account)

export const isAdmin = async (node: Node, account: string): Promise<boolean> => (await roleOf(node, account)) !== 'user'

const ownedBy = {
  own: (owner_address: string) => ({ owner_address }),
  all: (owner_address: string) => ({ $or: [{ owner_address }, { visibility: 'official' as const }] }),
  none: (owner_address: string) => ({ owner_address, visibility: { $ne: 'official' as const } }),
}

/** The agents of an account, newest first, with its own, all or no official ones. Others' agents come last. */
export async function agentsOf(account: string, official: keyof typeof ownedBy): Promise<StoredAgent[]> {
  const found = await Agents.find(ownedBy[official](account)).sort({ created_at: -1, _id: -1 }).lean<StoredAgent[]>()
  const isOwn = ({ owner_address }: StoredAgent) => isSameAccount(owner_address, account)
  return [...found.filter(isOwn), ...found.filter((agent) => !isOwn(agent))]
}
