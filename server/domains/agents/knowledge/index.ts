import { managedAgent, ownAgent } from '#server/domains/agents/agent-state/access'
import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { indexingJob, isItemBeingRead } from '#server/domains/agents/library/indexing'
import { KnowledgeItems, type StoredItem } from '#server/domains/agents/library/model'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { every } from '#server/kernel/work/every'
import { knowledge as contract } from '#shared/api/agents/knowledge'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { addItem, itemOf, itemsOf, removeItem, renderItem, updateItem } from './items.ts'
import { readItems, readingRetrySeconds, requestReading, waitForReading } from './reads.ts'
import { checkWatchedSoon, stopLooking, watchKnowledge } from './watch.ts'

const own = (context: Context, agent: string): Promise<StoredAgent> =>
  ownAgent(context.node, signedIn(context).account, agent)
const managedBy = (context: Context, agent: string): Promise<StoredAgent> =>
  managedAgent(context.node, signedIn(context).account, agent)

export const knowledge = defineDomain(
  contract,
  {
    async list({ id }, context) {
      await own(context, id)
      const items = (await itemsOf(id)).map(renderItem)
      return { items, knowledge: items }
    },

    async watch({ agent_id }, context) {
      await own(context, agent_id)
      const items = await itemsOf(agent_id)
      if (context.connection)
        watchKnowledge(context.node, context.connection, signedIn(context).account, agent_id, items)
      return { items: items.map(renderItem) }
    },

    async get({ id, knowledge_id }, context) {
      await own(context, id)
      return { item: renderItem(await itemOf(id, knowledge_id)) }
    },

    async add({ id, userAddress: _, ...input }, context) {
      const agent = await own(context, id)
      const item = await addItem(context.node, agent, input, context.creationId)
      checkWatchedSoon(context.node)
      return { item: renderItem(item) }
    },

    async update({ id, knowledge_id, userAddress: _, ...input }, context) {
      const agent = await managedBy(context, id)
      return { ...done, item: renderItem(await updateItem(context.node, agent, knowledge_id, input)) }
    },

    async remove({ id, knowledge_id }, context) {
      await own(context, id)
      await removeItem(id, knowledge_id)
      checkWatchedSoon(context.node)
      return done
    },

    async index({ id, knowledgeId }, context) {
      await managedBy(context, id)
      const item = await itemOf(id, knowledgeId)
      if (isItemBeingRead(item, context.node.now())) throw stillRead()
      const asked = await requestReading(context.node, item)
      const read = await waitForReading(asked, context.signal)
      if (!read) {
        await itemOf(id, knowledgeId)
        throw stillRead()
      }
      if (read.status === 'failed')
        throw new AppError('KNOWLEDGE_FAILED', { message: `Failed to index: ${read.error_message}` })
      return { ...done, chunksIndexed: read.chunk_count, pagesScraped: read.pages }
    },

    async sync({ knowledgeId, agentId }, context) {
      const items = await ofCaller(context, knowledgeId, agentId)
      const results = await readItems(context.node, items, context.signal)
      const [first] = results
      if (knowledgeId === undefined || !first) return { message: `${results.length} read`, results }
      return {
        success: first.success,
        chunksIndexed: first.chunks ?? 0,
        ...(first.error ? { error: first.error } : {}),
        ...(first.retryAfter ? { retryAfter: first.retryAfter } : {}),
      }
    },

    async syncDue(_input, context) {
      if (!context.caller.isScheduler) throw new AppError('UNAUTHORIZED')
      const details = await readItems(context.node, await dueItems(context.node), context.signal)
      const successful = details.filter(({ success }) => success).length
      const results = { total: details.length, successful, failed: details.length - successful, details }
      return { message: `${details.length} read`, results }
    },
  },
  { jobs: [indexingJob], start: (node) => [() => stopLooking(node), syncDueItems(node)] },
)

/** The reading continues, and its result is stored in the item. */
const stillRead = () => new AppError('KNOWLEDGE_INDEXING', { retryAfter: readingRetrySeconds })

/** Loads an item, or all items of an agent, for the owner or an admin. */
async function ofCaller(context: Context, item: string | undefined, agent: string | undefined): Promise<StoredItem[]> {
  const found = item === undefined ? null : await KnowledgeItems.findOne({ _id: item }).lean<StoredItem>()
  if (item !== undefined && (!found || (agent !== undefined && found.agent_id !== agent)))
    throw new AppError('KNOWLEDGE_NOT_FOUND')
  const id = found?.agent_id ?? agent ?? ''
  await managedBy(context, id).catch((error: unknown) => {
    const isHidden = found !== null && error instanceof AppError && error.code === 'AGENT_NOT_FOUND'
    throw isHidden ? new AppError('KNOWLEDGE_NOT_FOUND') : error
  })
  return found ? [found] : itemsOf(id)
}

const sweepMilliseconds = 60_000
const sweptAtOnce = 100

/** Due items of official agents. */
async function dueItems(node: Node): Promise<StoredItem[]> {
  const official = await Agents.find({ visibility: 'official' }, { _id: 1 }).lean<Pick<StoredAgent, '_id'>[]>()
  const items = await KnowledgeItems.find({
    sync_at: { $lte: new Date(node.now()) },
    agent_id: { $in: official.map(({ _id }) => _id) },
  })
    .sort({ sync_at: 1 })
    .limit(sweptAtOnce)
    .lean<StoredItem[]>()
  return items.filter((item) => !isItemBeingRead(item, node.now()))
}

/** Reads due items again. */
const syncDueItems = (node: Node): (() => void) =>
  every(
    node,
    sweepMilliseconds,
    async () => {
      for (const item of await dueItems(node)) await requestReading(node, item)
    },
    'what agents know was not brought up to date',
  )
