import { agentRefusalOf } from '#server/domains/agents/agent-state/access'
import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { isSuspended } from '#server/domains/people/accounts/roles'
import type { Node } from '#server/kernel/context'
import { isSameAccount } from '#shared/kit/accounts'
import { cancelledRun } from './answer-lines.ts'
import { isRoomPlace } from './history.ts'
import type { StoredRun } from './model.ts'

/**
 * The agent as it is at this moment, for a question that is stored. Throws the end of the run where it may not be answered any more. Who asks
 * was judged before it was stored; all that refuses it looks for runs once it stands itself, so that one of the two sees the other.
 */
export async function agentNow(node: Node, run: StoredRun): Promise<StoredAgent> {
  const agent = await Agents.findOne({ _id: run.agent_id }).lean<StoredAgent>()
  if (!agent || (await isRefusedRun(node, run, agent))) throw cancelledRun(agent?.owner_address ?? run.account)
  return agent
}

/** Whether who asked may ask the agent no more. What was paid for without an account is answered whatever becomes of the agent. */
export async function isRefusedRun(node: Node, { account, place }: StoredRun, agent: StoredAgent): Promise<boolean> {
  if (isSameAccount(account, place)) return false
  const isOfficial = agent.visibility === 'official'
  if (isRoomPlace(place) && !isOfficial) return true
  // The log says so before the records of accounts do.
  if ((await isSuspended(node, account)) || (!isOfficial && (await isSuspended(node, agent.owner_address)))) return true
  return (await agentRefusalOf(account, agent)) !== null
}
