import { mayChangeAgent } from '#server/domains/agents/agent-state/access'
import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { KnowledgeChunks, KnowledgeItems, KnowledgeTexts, type StoredItem } from '#server/domains/agents/library/model'
import { defaultReading, itemsAtMost, newItem } from '#server/domains/agents/library/new-item'
import { titleOf } from '#server/domains/agents/library/reading/page'
import type { Connection, Node } from '#server/kernel/context'
import { insertWithinLimit } from '#server/kernel/limited-inserts'
import { nodeState } from '#server/kernel/operate/node-state'
import { type KnowledgeChange, type KnowledgeItem, knowledgeEvents, readingFields } from '#shared/api/agents/knowledge'
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

const lookMilliseconds = 500

interface Watched {
  /** The watching connections, with their accounts. */
  connections: Map<Connection, string>
  /** The last notice of each item. */
  sent: Map<string, KnowledgeChange>
}

/** Agents that are watched at this node. Changes are read from the store, whichever node made them. */
const watchedOn = nodeState(() => ({
  agents: new Map<string, Watched>(),
  looking: null as Promise<void> | null,
  timer: undefined as NodeJS.Timeout | undefined,
}))

export function watchKnowledge(
  node: Node,
  connection: Connection,
  account: string,
  agent: string,
  items: readonly StoredItem[],
): void {
  const state = watchedOn(node)
  const { agents } = state
  const watched = agents.get(agent) ?? {
    connections: new Map(),
    sent: new Map(items.map((item) => [item._id, changeOf(item)])),
  }
  agents.set(agent, watched)
  state.timer ??= setInterval(() => checkWatchedSoon(node), lookMilliseconds).unref()
  if (watched.connections.has(connection)) return
  watched.connections.set(connection, account)
  connection.onClose(() => leave(agents, agent, connection))
}

function leave(agents: Map<string, Watched>, agent: string, connection: Connection): void {
  const watched = agents.get(agent)
  watched?.connections.delete(connection)
  if (watched?.connections.size === 0) agents.delete(agent)
}

/** Checks for changes at once. */
export function checkWatchedSoon(node: Node): void {
  const state = watchedOn(node)
  if (state.agents.size === 0) {
    stopLooking(node)
    return
  }
  state.looking ??= look(node, state.agents)
    .catch((error: unknown) => node.logger.warn({ error }, 'changes of what agents know were not told'))
    .finally(() => {
      state.looking = null
    })
}

/** Without watchers no timer runs. */
export function stopLooking(node: Node): void {
  const state = watchedOn(node)
  clearInterval(state.timer)
  state.timer = undefined
}

async function look(node: Node, agents: Map<string, Watched>): Promise<void> {
  const items = await KnowledgeItems.find({ agent_id: { $in: [...agents.keys()] } }).lean<StoredItem[]>()
  for (const [agent, watched] of agents) {
    const now = new Map(items.filter(({ agent_id }) => agent_id === agent).map((item) => [item._id, changeOf(item)]))
    const removed = [...watched.sent.values()].filter(({ knowledge_id }) => !now.has(knowledge_id)).map(removalOf)
    const changed = [...now].filter(([id, to]) => JSON.stringify(watched.sent.get(id)) !== JSON.stringify(to))
    const changes = [...removed, ...changed.map(([, change]) => change)]
    if (changes.length > 0) await removeOtherWatchers(node, agents, agent, watched)
    watched.sent = now
    for (const change of changes)
      for (const connection of watched.connections.keys()) connection.emit(knowledgeEvents.knowledgeEvent, change)
  }
}

/** Removes watchers who may not change the agent any more. */
async function removeOtherWatchers(
  node: Node,
  agents: Map<string, Watched>,
  id: string,
  watched: Watched,
): Promise<void> {
  const agent = await Agents.findOne({ _id: id }).lean<StoredAgent>()
  if (!agent) return
  for (const [connection, account] of watched.connections)
    if (!(await mayChangeAgent(node, account, agent))) leave(agents, id, connection)
}

const removalOf = (change: KnowledgeChange): KnowledgeChange => ({
  ...change,
  ...{ status: 'removed', pages: 0, chunks: 0, error: null, stale_since: null },
})

const changeOf = (item: StoredItem): KnowledgeChange => ({
  agent_id: item.agent_id,
  knowledge_id: item._id,
  status: item.status,
  pages: item.pages,
  chunks: item.chunk_count,
  error: item.error_message,
  stale_since: item.stale_since?.toISOString() ?? null,
})
