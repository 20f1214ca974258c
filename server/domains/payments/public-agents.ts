import { agentOf, closedTo, isPublicFor } from '#server/domains/agent-state/access'
import type { StoredAgent } from '#server/domains/agent-state/model'
import type { Caller } from '#server/kernel/context'

/** An agent that strangers may ask, and the caller where there is one. */
export async function publicAgent({ account }: Caller, id: string): Promise<StoredAgent> {
  const agent = await agentOf(id)
  if (!(await isPublicFor(account, agent))) throw closedTo(account, agent, 'AGENT_NOT_PUBLIC')
  return agent
}
