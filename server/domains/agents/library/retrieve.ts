import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { KnowledgeItems, type StoredItem } from './model.ts'
import { textChunks } from './reading/chunks.ts'
import { rawUrlOf, readPage, UnusablePage } from './reading/page.ts'
import { exactIndex, type SearchRow, vectorBytes } from './search/exact.ts'
import { searchChunks } from './search/index.ts'

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
