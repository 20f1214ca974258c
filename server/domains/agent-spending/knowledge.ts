import { Agents, type StoredAgent } from '#server/domains/agent-state/model'
import { spending } from '#server/domains/library/spent'
import type { Node } from '#server/kernel/context'
import { spend } from './allowance.ts'

/** Counts the vectors of what an agent knows among the tokens of its owner. */
export function countKnowledge(node: Node): () => void {
  const count = async (agent: string, tokens: number) => {
    const found = await Agents.findOne({ _id: agent }).select({ owner_address: 1 }).lean<StoredAgent>()
    if (found) await spend(node, found.owner_address, tokens)
  }
  spending(node).count = (agent, tokens) =>
    void count(agent, tokens).catch((error: unknown) =>
      node.logger.warn({ error }, 'the tokens of what an agent knows were not counted'),
    )
  return () => {
    spending(node).count = () => undefined
  }
}
