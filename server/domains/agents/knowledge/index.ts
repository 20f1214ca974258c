import { lookedAfter, ownAgent } from '#server/domains/agents/agent-state/access'
import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import { indexing, isBeingRead } from '#server/domains/agents/library/indexing'
import { KnowledgeItems, type StoredItem } from '#server/domains/agents/library/model'
import { type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { knowledge as contract } from '#shared/api/knowledge'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { addItem, itemOf, itemsOf, removeItem, shown, updateItem } from './items.ts'
import { askToRead, lookAgainSeconds, readAll, whenRead } from './reads.ts'
import { dueItems, syncByItself } from './sync.ts'
import { tellWatchers, tick, watch } from './watch.ts'

const own = (context: Context, agent: string): Promise<StoredAgent> =>
  ownAgent(context.node, signedIn(context).account, agent)
const lookedAfterBy = (context: Context, agent: string): Promise<StoredAgent> =>
  lookedAfter(context.node, signedIn(context).account, agent)

export const knowledge = defineDomain(
  contract,
  {
    async list({ id }, context) {
      await own(context, id)
      const items = (await itemsOf(id)).map(shown)
      return { items, knowledge: items }
    },

    async watch({ agent_id }, context) {
      await own(context, agent_id)
      const items = await itemsOf(agent_id)
      if (context.connection) watch(context.node, context.connection, signedIn(context).account, agent_id, items)
      return { items: items.map(shown) }
    },

    async get({ id, knowledge_id }, context) {
      await own(context, id)
      return { item: shown(await itemOf(id, knowledge_id)) }
    },

    async add({ id, userAddress: _, ...input }, context) {
      const agent = await own(context, id)
      const item = await addItem(context.node, agent, input, context.creationId)
      tick(context.node)
      return { item: shown(item) }
    },

    async update({ id, knowledge_id, userAddress: _, ...input }, context) {
      const agent = await lookedAfterBy(context, id)
      return { ...done, item: shown(await updateItem(context.node, agent, knowledge_id, input)) }
    },

    async remove({ id, knowledge_id }, context) {
      await own(context, id)
      await removeItem(id, knowledge_id)
      tick(context.node)
      return done
    },

    async index({ id, knowledgeId }, context) {
      await lookedAfterBy(context, id)
      const item = await itemOf(id, knowledgeId)
      if (isBeingRead(item, context.node.now())) throw stillRead()
      const asked = await askToRead(context.node, item)
      const read = await whenRead(asked, context.signal)
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
      const results = await readAll(context.node, items, context.signal)
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
      const details = await readAll(context.node, await dueItems(context.node), context.signal)
      const successful = details.filter(({ success }) => success).length
      const results = { total: details.length, successful, failed: details.length - successful, details }
      return { message: `${details.length} read`, results }
    },
  },
  { jobs: [indexing], start: (node) => [tellWatchers(node), syncByItself(node)] },
)

/** It goes on, and how it ends stands in the item. */
const stillRead = () => new AppError('KNOWLEDGE_INDEXING', { retryAfter: lookAgainSeconds })

/** One item, or all of an agent, for its owner or an admin. */
async function ofCaller(context: Context, item: string | undefined, agent: string | undefined): Promise<StoredItem[]> {
  const found = item === undefined ? null : await KnowledgeItems.findOne({ _id: item }).lean<StoredItem>()
  if (item !== undefined && (!found || (agent !== undefined && found.agent_id !== agent)))
    throw new AppError('KNOWLEDGE_NOT_FOUND')
  const id = found?.agent_id ?? agent ?? ''
  await lookedAfterBy(context, id).catch((error: unknown) => {
    const isHidden = found !== null && error instanceof AppError && error.code === 'AGENT_NOT_FOUND'
    throw isHidden ? new AppError('KNOWLEDGE_NOT_FOUND') : error
  })
  return found ? [found] : itemsOf(id)
}
