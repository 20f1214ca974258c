import { setTimeout } from 'node:timers/promises'
import { indexingJob, isItemBeingRead } from '#server/domains/agents/library/indexing'
import { KnowledgeItems, type StoredItem } from '#server/domains/agents/library/model'
import type { Node } from '#server/kernel/context'
import type { ReadResult } from '#shared/api/agents/knowledge'
import { checkWatchedSoon } from './watch.ts'

const waitMilliseconds = 25_000
const lookMilliseconds = 100
/** The retry time of a client whose item is still being read. */
export const readingRetrySeconds = 5

/** Queues one reading job for all requests before it begins. Its end counts from `since`. */
export async function requestReading(node: Node, item: StoredItem): Promise<{ item: StoredItem; since: number }> {
  const since = node.now()
  const { _id, claimed_at } = item
  if (!isItemBeingRead(item, since))
    await node.jobs.add(indexingJob, { item: _id }, `read-${_id}-${claimed_at?.getTime() ?? 'never'}`)
  checkWatchedSoon(node)
  return { item, since }
}

/** The item after its reading; null if that takes too long for an answer. */
export async function waitForReading(
  { item: { _id, tried_at }, since }: { item: StoredItem; since: number },
  signal: AbortSignal,
): Promise<StoredItem | null> {
  const begun = performance.now()
  while (performance.now() - begun < waitMilliseconds && !signal.aborted) {
    const now = await KnowledgeItems.findOne({ _id }).lean<StoredItem>()
    if (!now) return null
    const isOver = now.status !== 'processing' && now.tried_at !== null && now.tried_at.getTime() >= since
    if (isOver && now.tried_at?.getTime() !== tried_at?.getTime()) return now
    await setTimeout(lookMilliseconds)
  }
  return null
}

/** Reads several items, and returns the result of each. */
export async function readItems(node: Node, items: readonly StoredItem[], signal: AbortSignal) {
  const asked = await Promise.all(items.map((item) => requestReading(node, item)))
  return Promise.all(asked.map(async (one) => resultOf(one.item, await waitForReading(one, signal))))
}

function resultOf({ url }: StoredItem, read: StoredItem | null): ReadResult {
  if (read?.status === 'indexed') return { url, success: true, chunks: read.chunk_count }
  if (read) return { url, success: false, error: read.error_message ?? 'It could not be read' }
  return { url, success: false, error: 'It is still being read', retryAfter: readingRetrySeconds }
}
