import { roleOf } from '#server/domains/accounts/roles'
import { friendsAmong } from '#server/domains/friends/pairs'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
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

const isForEverybody = ({ visibility }: StoredAgent): boolean => visibility === 'public' || visibility === 'official'

/** Whether people without an account may see and ask the agent. */
export const isPublic = (agent: StoredAgent): boolean => agent.public_access_enabled && isForEverybody(agent)

/** Why the account may not talk to the agent; null where it may. */
export async function refusalOf(account: string, agent: StoredAgent): Promise<AppError | null> {
  const owner = agent.owner_address
  if (owner === account || isForEverybody(agent)) return null
  if (agent.visibility === 'private') return new AppError('AGENT_PRIVATE')
  return (await friendsAmong(account, [owner])).length > 0 ? null : new AppError('AGENT_FRIENDS_ONLY')
}

/** An agent that the account may change: its own, or an official one where it is an admin. */
export async function ownAgent(node: Node, account: string, id: string): Promise<StoredAgent> {
  const agent = await agentOf(id)
  if (!(await mayChange(node, account, agent))) throw new AppError('AGENT_PRIVATE')
  return agent
}

/** An official agent is the house's: who made it and is no admin any more has no say in it. */
export const mayChange = async (node: Node, account: string, agent: StoredAgent): Promise<boolean> =>
  agent.visibility === 'official' ? isAdmin(node, account) : agent.owner_address === account

export const isAdmin = async (node: Node, account: string): Promise<boolean> => (await roleOf(node, account)) !== 'user'
