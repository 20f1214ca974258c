import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { AppError } from '#shared/errors'
import { KnowledgeChunks, KnowledgeItems, type StoredChunk, type StoredItem } from './model.ts'
import { textChunks } from './reading/chunks.ts'
import { rawUrlOf, readPage, UnusablePage } from './reading/page.ts'
import { type ExactIndex, exactIndex, type FoundChunk, type SearchRow, vectorBytes } from './search/exact.ts'

const passagesAtMost = 8
const pendingAtMost = 3
/** A page that is read for one question may take so long. */
const pageMilliseconds = 5_000
const chunksOfPage = 200

/** A passage of knowledge that fits a question. */
interface Retrieved {
  knowledge_id: string
  title: string
  url: string
  /** Its number in the item. */
  chunk: number
  text: string
}

/** Passages for a question, best first. Without any, up to three unindexed URLs are read for it; `fetching` is called before. */
export async function retrieveKnowledge(
  node: Node,
  agent: string,
  question: string,
  signal: AbortSignal,
  { fetching = () => {}, count = () => {} }: { fetching?: () => void; count?: (tokens: number) => void } = {},
): Promise<Retrieved[]> {
  if ((await KnowledgeItems.exists({ agent_id: agent })) === null) return []
  const asked = { text: question, vector: await vectorOf(node, question, signal, count) }
  const found = await searchChunks(node, agent, asked, passagesAtMost)
  if (found.length > 0) return found.map(retrieved)
  const pending = await KnowledgeItems.find({ agent_id: agent, status: 'pending' })
    .sort({ created_at: 1, _id: 1 })
    .limit(pendingAtMost)
    .lean<StoredItem[]>()
  if (pending.length === 0) return []
  fetching()
  const rows = (await Promise.all(pending.map((item) => rowsOf(node, item, signal)))).flat()
  const vectors = await node.services.embedder.embed(
    rows.map(({ text }) => text),
    signal,
    count,
  )
  const { name } = node.services.embedder
  const index = await exactIndex(
    rows.map((row, at) => ({ ...row, vector: vectorBytes(vectors[at] ?? new Float32Array()), embedder: name })),
    node.services.embedder,
  )
  const fits = index.find(asked, passagesAtMost)
  return (fits.length > 0 ? fits : rows.slice(0, pendingAtMost)).map(retrieved)
}

/** Without vectors, passages are found by words. */
async function vectorOf(
  { services: { embedder }, logger }: Node,
  question: string,
  signal: AbortSignal,
  count: (tokens: number) => void,
) {
  try {
    return (await embedder.embed([question], signal, count))[0] ?? new Float32Array(embedder.dimensions)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    logger.warn({ error }, 'a question has no vector')
    return new Float32Array(embedder.dimensions)
  }
}

const retrieved = ({ knowledge_id, title, url, n, text }: SearchRow): Retrieved => ({
  knowledge_id,
  title,
  url,
  chunk: n,
  text,
})

/** Empty if the page cannot be read. */
async function rowsOf(node: Node, item: StoredItem, signal: AbortSignal): Promise<SearchRow[]> {
  const late = AbortSignal.timeout(pageMilliseconds)
  try {
    const turn = { of: item.agent_id, signal: AbortSignal.any([signal, late]) }
    const page = await readPage(node.services, rawUrlOf(new URL(item.url)) ?? item.url, 'basic', null, turn)
    const title = page?.title ?? item.title
    return textChunks(page?.text ?? '')
      .slice(0, chunksOfPage)
      .map((text, n) => ({
        _id: `${item._id} ${n}`,
        knowledge_id: item._id,
        n,
        url: page?.url ?? item.url,
        title,
        text,
      }))
  } catch (error) {
    // Kept in a variable, as Node 20 drops a timeout signal that only a combined signal holds.
    if (late.aborted || error instanceof UnusablePage || error instanceof AppError) return []
    throw error
  }
}

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
