import type { StoredAgent } from '#server/domains/agent-state/model'
import type { Node } from '#server/kernel/context'
import { messages } from '#shared/api/messages'
import { accountOfAgent } from '#shared/kit/room-agents'
import { roomOfKey } from '#shared/kit/room-key'

const onlyHasToWait = ['SLOW_MODE']

/** Would the room take this text from the agent, if it were sent now? That it would have to wait does not count. */
export async function passes(node: Node, agent: StoredAgent, key: string, text: string): Promise<boolean> {
  const { verdict } = await node.callAs(accountOfAgent(agent._id), messages.check, { room: roomOfKey(key), text })
  return verdict.ok || onlyHasToWait.includes(verdict.code ?? '')
}
