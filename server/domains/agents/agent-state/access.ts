import { blockedAmong } from '#server/domains/moderation/blocks/blocks'
import { suspendedAccountsAmong } from '#server/domains/people/accounts/facts'
import { roleOf } from '#server/domains/people/accounts/roles'
import { friendsAmong } from '#server/domains/people/friends/pairs'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { Agents, type StoredAgent } from './model.ts'

/** An agent, whoever asks. Throws where there is none. */
export async function agentOf(id: string): Promise<StoredAgent> {
  const agent = await Agents.findOne({ _id: id }).lean<StoredAgent>()
  if (!agent) throw new AppError('AGENT_NOT_FOUND')
  return agent
}

/** An agent that the account may talk to. Throws where there is none, or where it is not for them. */
export async function visibleAgent(account: string, id: string): Promise<StoredAgent> {
  const agent = await agentOf(id)
  const refusal = await refusalOf(account, agent)
  if (refusal) throw refusal
  return agent
}

/** Why an agent is closed to somebody. That a private one is there is told to its owner alone. */
export const closedTo = (
  account: string | null,
  { visibility, owner_address }: StoredAgent,
  code: 'AGENT_PRIVATE' | 'AGENT_NOT_PUBLIC',
): AppError =>
  new AppError(visibility === 'private' && !isSameAccount(owner_address, account) ? 'AGENT_NOT_FOUND' : code)

const isOfficial = ({ visibility }: StoredAgent): boolean => visibility === 'official'
const isForEverybody = (agent: StoredAgent): boolean => agent.visibility === 'public' || isOfficial(agent)

/** Whether the agent may be seen and asked where no account is needed: by somebody without one, or by this account. */
export async function isPublicFor(account: string | null, agent: StoredAgent): Promise<boolean> {
  if (!agent.public_access_enabled || !isForEverybody(agent)) return false
  if (account !== null) return (await refusalOf(account, agent)) === null
  return isOfficial(agent) || (await suspendedAccountsAmong([agent.owner_address])).size === 0
}

/** Why the account may not talk to the agent; null where it may. */
export const refusalOf = async (account: string, agent: StoredAgent): Promise<AppError | null> =>
  (await refusalsOf(account, [agent]))[0] ?? null

/**
 * The same of several agents. Who has blocked the owner, or was blocked by them, reaches none of their agents; those of who is suspended reach
 * nobody, but official ones are the house's.
 */
export async function refusalsOf(account: string, agents: readonly StoredAgent[]): Promise<(AppError | null)[]> {
  const ownersOf = (some: readonly StoredAgent[]) => [
    ...new Set(some.map(({ owner_address }) => owner_address).filter((owner) => !isSameAccount(owner, account))),
  ]
  const [blocked, suspended, friends] = await Promise.all([
    blockedAmong(account, ownersOf(agents)),
    suspendedAccountsAmong(ownersOf(agents.filter((agent) => !isOfficial(agent)))),
    friendsAmong(account, ownersOf(agents.filter(({ visibility }) => visibility === 'friends'))),
  ])
  return agents.map((agent) => {
    const owner = agent.owner_address
    if (isSameAccount(owner, account)) return null
    const isKeptApart = blocked.has(owner) || (suspended.has(owner) && !isOfficial(agent))
    if (isKeptApart || agent.visibility === 'private') return closedTo(account, agent, 'AGENT_PRIVATE')
    return isForEverybody(agent) || friends.includes(owner) ? null : new AppError('AGENT_FRIENDS_ONLY')
  })
}

/** An agent that the account may change: its own, or an official one where it is an admin. */
export async function ownAgent(node: Node, account: string, id: string): Promise<StoredAgent> {
  const agent = await agentOf(id)
  if (!(await mayChange(node, account, agent))) throw closedTo(account, agent, 'AGENT_PRIVATE')
  return agent
}

/** An agent whose knowledge the account may look after: its own, or any where it is an admin. */
export const lookedAfter = async (node: Node, account: string, id: string): Promise<StoredAgent> =>
  (await isAdmin(node, account)) ? agentOf(id) : ownAgent(node, account, id)

/** An official agent is the house's: who made it and is no admin any more has no say in it. */
export const mayChange = async (node: Node, account: string, agent: StoredAgent): Promise<boolean> =>
  isOfficial(agent) ? isAdmin(node, account) : isSameAccount(agent.owner_address, account)

export const isAdmin = async (node: Node, account: string): Promise<boolean> => (await roleOf(node, account)) !== 'user'

const ownedBy = {
  own: (owner_address: string) => ({ owner_address }),
  all: (owner_address: string) => ({ $or: [{ owner_address }, { visibility: 'official' as const }] }),
  none: (owner_address: string) => ({ owner_address, visibility: { $ne: 'official' as const } }),
}

/**
 * The agents of an account, newest first, with the official ones that it may change: those that it has made, all, or none. Those that others
 * have made come last.
 */
export async function agentsOf(account: string, official: keyof typeof ownedBy): Promise<StoredAgent[]> {
  const found = await Agents.find(ownedBy[official](account)).sort({ created_at: -1, _id: -1 }).lean<StoredAgent[]>()
  const isOwn = ({ owner_address }: StoredAgent) => isSameAccount(owner_address, account)
  return [...found.filter(isOwn), ...found.filter((agent) => !isOwn(agent))]
}
