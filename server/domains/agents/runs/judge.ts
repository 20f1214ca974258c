import { refusalOf } from '#server/domains/agents/agent-state/access'
import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { isSuspended } from '#server/domains/people/accounts/roles'
import type { Node } from '#server/kernel/context'
import { isSameAccount } from '#shared/kit/accounts'
import { cancelled } from './ending.ts'
import { isInRoom } from './history.ts'
import type { StoredRun } from './model.ts'

/**
 * The agent as it is at this moment, for a question that is stored. Throws the end of the run where it may not be answered any more. Who asks
 * was judged before it was stored; all that refuses it looks for runs once it stands itself, so that one of the two sees the other.
 */
export async function agentNow(node: Node, run: StoredRun): Promise<StoredAgent> {
  const agent = await Agents.findOne({ _id: run.agent_id }).lean<StoredAgent>()
  if (!agent || (await isRefused(node, run, agent))) throw cancelled(agent?.owner_address ?? run.account)
  return agent
}

/** Whether who asked may ask the agent no more. What was paid for without an account is answered whatever becomes of the agent. */
export async function isRefused(node: Node, { account, place }: StoredRun, agent: StoredAgent): Promise<boolean> {
  if (isSameAccount(account, place)) return false
  const isOfficial = agent.visibility === 'official'
  if (isInRoom(place) && !isOfficial) return true
  // The log says so before the records of accounts do.
  if ((await isSuspended(node, account)) || (!isOfficial && (await isSuspended(node, agent.owner_address)))) return true
  return (await refusalOf(account, agent)) !== null
}
