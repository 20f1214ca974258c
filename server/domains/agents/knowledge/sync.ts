import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { isBeingRead } from '#server/domains/agents/library/indexing'
import { KnowledgeItems, type StoredItem } from '#server/domains/agents/library/model'
import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/every'
import { askToRead } from './reads.ts'

const sweepMilliseconds = 60_000
const sweptAtOnce = 100

/** Items of official agents whose time has come. */
export async function dueItems(node: Node): Promise<StoredItem[]> {
  const official = await Agents.find({ visibility: 'official' }, { _id: 1 }).lean<Pick<StoredAgent, '_id'>[]>()
  const items = await KnowledgeItems.find({
    sync_at: { $lte: new Date(node.now()) },
    agent_id: { $in: official.map(({ _id }) => _id) },
  })
    .sort({ sync_at: 1 })
    .limit(sweptAtOnce)
    .lean<StoredItem[]>()
  return items.filter((item) => !isBeingRead(item, node.now()))
}

/** Reads items again when they are due. */
export const syncByItself = (node: Node): (() => void) =>
  every(
    node,
    sweepMilliseconds,
    async () => {
      for (const item of await dueItems(node)) await askToRead(node, item)
    },
    'what agents know was not brought up to date',
  )
