import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { KnowledgeChunks, KnowledgeItems, type StoredChunk, type StoredItem } from '../model.ts'
import { type ExactIndex, exactIndex, type FoundChunk } from './exact.ts'

const mostBytes = 256 * 1024 * 1024

interface Kept {
  /** The generations in it. */
  of: string
  index: Promise<ExactIndex>
  bytes: number
}

/** Indexes by agent, the most recently used last. */
const keptOn = nodeState(() => new Map<string, Kept>())

/** The best chunks of an agent for a question, best first. Other agents' chunks are never read. */
export async function searchChunks(
  node: Node,
  agent: string,
  question: { text: string; vector: Float32Array },
  most: number,
): Promise<FoundChunk[]> {
  for (let look = 0; ; look++) {
    const items = await KnowledgeItems.find(
      { agent_id: agent, generation: { $ne: null } },
      { generation: 1, chunk_count: 1, embedder: 1 },
    ).lean<StoredItem[]>()
    if (items.length === 0) return []
    const near = await nearest(node, agent, items, question)
    if (near) return (await exactIndex(near, node.services.embedder)).find(question, most)
    const index = await indexOf(node, agent, items.flatMap(({ generation }) => generation ?? []).sort())
    const all = items.reduce((sum, { chunk_count }) => sum + chunk_count, 0)
    // Fewer: an item changed between the two reads.
    if (index.size >= all || look > 0) return index.find(question, most)
  }
}

/** The nearest chunks that are compared by words too. */
const mostNear = 200

/** The nearest chunks by the database; null if it cannot tell, or all are compared. */
async function nearest(
  { services: { vectors, embedder } }: Node,
  agent: string,
  items: readonly StoredItem[],
  { vector }: { vector: Float32Array },
): Promise<StoredChunk[] | null> {
  const all = items.reduce((sum, { chunk_count }) => sum + chunk_count, 0)
  if (!vectors || all <= mostNear || vector.every((part) => part === 0)) return null
  if (items.some((item) => item.embedder !== embedder.name)) return null
  const generation = { $in: items.flatMap((item) => item.generation ?? []).sort() }
  const where = { agent_id: agent, generation, embedder: embedder.name }
  const ids = await vectors.nearest({ where, vector, most: mostNear })
  if (!ids || ids.length < mostNear) return null
  const { agent_id } = where
  const chunks = await KnowledgeChunks.find({ _id: { $in: ids }, agent_id, generation }).lean<StoredChunk[]>()
  // Fewer: an item changed meanwhile.
  return chunks.length < mostNear ? null : chunks
}

async function indexOf(node: Node, agent: string, generations: readonly string[]): Promise<ExactIndex> {
  const kept = keptOn(node)
  const of = `${node.services.embedder.name} ${generations.join(' ')}`
  const known = kept.get(agent)
  kept.delete(agent)
  if (known?.of === of) {
    kept.set(agent, known)
    return known.index
  }
  const made: Kept = { of, index: build(node, agent, generations), bytes: 0 }
  kept.set(agent, made)
  try {
    const index = await made.index
    made.bytes = index.bytes
    forgetOldestIndexes(kept, agent)
    return index
  } catch (error) {
    if (kept.get(agent) === made) kept.delete(agent)
    throw error
  }
}

/** Items one after another, so that other work goes on. */
async function build(node: Node, agent: string, generations: readonly string[]): Promise<ExactIndex> {
  const chunks: StoredChunk[] = []
  for (const generation of generations)
    chunks.push(...(await KnowledgeChunks.find({ agent_id: agent, generation }).sort({ n: 1 }).lean<StoredChunk[]>()))
  return exactIndex(chunks, node.services.embedder)
}

/** Drops the least recently used indexes beyond a size; the latest always stays. */
export function forgetOldestIndexes(kept: Map<string, Pick<Kept, 'bytes'>>, latest: string, most = mostBytes): void {
  let bytes = [...kept.values()].reduce((sum, one) => sum + one.bytes, 0)
  for (const [agent, one] of kept) {
    if (bytes <= most) return
    if (agent === latest) continue
    kept.delete(agent)
    bytes -= one.bytes
  }
}
