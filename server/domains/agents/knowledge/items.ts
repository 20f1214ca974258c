import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { KnowledgeChunks, KnowledgeItems, KnowledgeTexts, type StoredItem } from '#server/domains/agents/library/model'
import { defaultReading, itemsAtMost, newItem } from '#server/domains/agents/library/new-item'
import { titleOf } from '#server/domains/agents/library/reading/sources'
import type { Node } from '#server/kernel/context'
import { insertWithinLimit } from '#server/kernel/limited-inserts'
import { readingFields } from '#shared/api/agents/knowledge'
import type { KnowledgeItem } from '#shared/api/agents/knowledge-records'
import { AppError } from '#shared/errors'
import { inCamelCase, inSnakeCase } from '#shared/kit/either-case'

const hourMilliseconds = 3_600_000

export const itemsOf = (agent: string): Promise<StoredItem[]> =>
  KnowledgeItems.find({ agent_id: agent }).sort({ created_at: 1, _id: 1 }).lean<StoredItem[]>()

/** Loads an item of the agent. */
export async function itemOf(agent: string, id: string): Promise<StoredItem> {
  const item = await KnowledgeItems.findOne({ _id: id, agent_id: agent }).lean<StoredItem>()
  if (!item) throw new AppError('KNOWLEDGE_NOT_FOUND')
  return item
}

type Reading = Readonly<Pick<StoredItem, keyof typeof defaultReading>>

/** The given reading options. Refuses options for official agents alone. */
function readingOf(agent: StoredAgent, input: Readonly<Record<string, unknown>>): Partial<Reading> {
  const reading = inSnakeCase(inCamelCase(readingFields, input)) as Partial<Reading>
  const differs = Object.entries(reading).some(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(defaultReading[name as keyof typeof defaultReading]),
  )
  if (differs && agent.visibility !== 'official')
    throw new AppError('FORBIDDEN', { message: 'How a URL is read can be set for official agents only' })
  return reading
}

export async function addItem(
  node: Node,
  agent: StoredAgent,
  { url: given, title, ...input }: { url: string; title?: string | undefined },
  id: string,
): Promise<StoredItem> {
  const url = node.services.web.check(given)
  const reading = { ...defaultReading, ...readingOf(agent, input) }
  return insertItem(node, agent, { id, url, title: title ?? titleOf(url) }, reading)
}

/** Inserts an item. Throws KNOWLEDGE_EXISTS and KNOWLEDGE_LIMIT_REACHED. */
export async function insertItem(
  node: Node,
  agent: StoredAgent,
  named: { id: string; url: URL; title: string; content_type?: StoredItem['content_type'] },
  reading: Reading = defaultReading,
): Promise<StoredItem> {
  const { id } = named
  const most = agent.visibility === 'official' ? itemsAtMost.official : itemsAtMost.usual
  const now = node.now()
  const item = { ...newItem({ ...named, agent: agent._id }, now), ...reading, ...syncOf(reading, now) }
  const refuseKnownUrl = async () => {
    const { agent_id, url } = item
    const isKnown = await KnowledgeItems.exists({ agent_id, url, _id: { $ne: id } })
    if (isKnown) throw new AppError('KNOWLEDGE_EXISTS')
  }
  await refuseKnownUrl()
  const inserted = await insertWithinLimit(KnowledgeItems, item, {
    others: { agent_id: agent._id },
    most,
    refuseDuplicate: refuseKnownUrl,
  })
  if (!inserted)
    throw new AppError('KNOWLEDGE_LIMIT_REACHED', { message: `An agent knows at most ${most} pages and files` })
  await refuseGone(agent, item._id)
  return inserted
}

/** Checked after the insert, as the agent may have been deleted with its knowledge. */
async function refuseGone({ _id }: StoredAgent, item: string): Promise<void> {
  if (await Agents.exists({ _id })) return
  await KnowledgeItems.deleteOne({ _id: item })
  throw new AppError('AGENT_NOT_FOUND')
}

const syncOf = ({ auto_sync, sync_interval_hours }: Reading, now: number) =>
  auto_sync ? { sync_at: new Date(now + sync_interval_hours * hourMilliseconds) } : {}

const readOtherwiseBy = ['scrape_method', 'crawl_depth', 'exclude_patterns', 'infinite_scroll', 'scroll_count']

export async function updateItem(
  node: Node,
  agent: StoredAgent,
  id: string,
  { title, ...input }: { title?: string | undefined },
): Promise<StoredItem> {
  const before = await itemOf(agent._id, id)
  const reading = readingOf(agent, input)
  const { sync_at } = syncOf(
    { ...before, ...reading },
    (before.last_synced_at ?? new Date(node.now())).getTime(),
  ) as Pick<StoredItem, 'sync_at'>
  const isReadOtherwise = readOtherwiseBy.some((name) => name in reading)
  const item = await KnowledgeItems.findOneAndUpdate(
    { _id: id, agent_id: agent._id },
    {
      $set: {
        ...reading,
        ...(title === undefined ? {} : { title }),
        // The earlier hash is of another way of reading.
        ...(isReadOtherwise ? { etag: null, modified: null, hash: null } : {}),
        ...(sync_at ? { sync_at } : {}),
      },
      ...(sync_at ? {} : { $unset: { sync_at: '' } }),
    },
    { returnDocument: 'after' },
  ).lean<StoredItem>()
  if (!item) throw new AppError('KNOWLEDGE_NOT_FOUND')
  return item
}

export async function removeItem(agent: string, id: string): Promise<void> {
  const { deletedCount } = await KnowledgeItems.deleteOne({ _id: id, agent_id: agent })
  if (deletedCount === 0) throw new AppError('KNOWLEDGE_NOT_FOUND')
  await KnowledgeChunks.deleteMany({ knowledge_id: id })
  await KnowledgeTexts.deleteOne({ _id: id })
}

export const renderItem = (item: StoredItem): KnowledgeItem => ({
  id: item._id,
  agent_id: item.agent_id,
  title: item.title,
  url: item.url,
  content_type: item.content_type,
  status: item.status,
  error_message: item.error_message,
  chunk_count: item.chunk_count,
  pages: item.pages,
  scrape_method: item.scrape_method,
  crawl_depth: item.crawl_depth,
  auto_sync: item.auto_sync,
  sync_interval_hours: item.sync_interval_hours,
  last_synced_at: item.last_synced_at?.toISOString() ?? null,
  exclude_patterns: item.exclude_patterns,
  infinite_scroll: item.infinite_scroll,
  scroll_count: item.scroll_count,
  created_at: item.created_at.toISOString(),
  indexed_at: item.indexed_at?.toISOString() ?? null,
  stale_since: item.stale_since?.toISOString() ?? null,
})
