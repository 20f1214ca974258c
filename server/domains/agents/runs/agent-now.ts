import { agentRefusalOf } from '#server/domains/agents/agent-state/access'
import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { isSuspended } from '#server/domains/people/accounts/roles'
import type { Node } from '#server/kernel/context'
import { isSameAccount } from '#shared/kit/accounts'
import { cancelledRun } from './answer-lines.ts'
import { isRoomPlace } from './history.ts'
import type { StoredRun } from './model.ts'

/** The current agent of a stored question. Throws the end of the run if the asker was refused meanwhile. */
export async function agentNow(node: Node, run: StoredRun): Promise<StoredAgent> {
  const agent = await Agents.findOne({ _id: run.agent_id }).lean<StoredAgent>()
  if (!agent || (await isRefusedRun(node, run, agent))) throw cancelledRun(agent?.owner_address ?? run.account)
  return agent
}

/** Whether the asker may not use the agent any more. Paid questions without an account are always answered. */
export async function isRefusedRun(node: Node, { account, place }: StoredRun, agent: StoredAgent): Promise<boolean> {
  if (isSameAccount(account, place)) return false
  const isOfficial = agent.visibility === 'official'
  if (isRoomPlace(place) && !isOfficial) return true
  // The log knows it before the records of accounts.
  if ((await isSuspended(node, account)) || (!isOfficial && (await isSuspended(node, agent.owner_address)))) return true
  return (await agentRefusalOf(account, agent)) !== null
}
