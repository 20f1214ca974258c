import { setTimeout } from 'node:timers/promises'
import { managedAgent, ownAgent } from '#server/domains/agents/agent-state/access'
import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { indexingJob, isItemBeingRead } from '#server/domains/agents/library/indexing'
import { KnowledgeItems, KnowledgeTexts, type StoredItem } from '#server/domains/agents/library/model'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { every } from '#server/kernel/work/every'
import type { ReadAs } from '#server/ports/reader/port'
import { knowledge as contract, type ReadResult } from '#shared/api/agents/knowledge'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import {
  addItem,
  checkWatchedSoon,
  insertItem,
  itemOf,
  itemsOf,
  removeItem,
  renderItem,
  stopLooking,
  updateItem,
  watchKnowledge,
} from './items.ts'

/** The most characters of one text. */
const mostCharacters = 500_000
const fewestCharacters = 50
const filesInHour = 30
const hourSeconds = 3_600

interface GivenText {
  kind: 'file' | 'text'
  title: string
  text: string
}

/** Adds a text to the knowledge of an agent. */
async function addText(node: Node, agent: StoredAgent, { kind, title, text }: GivenText, id: string) {
  const kept = text.toWellFormed().trim()
  if (kept.length <= fewestCharacters)
    throw new AppError('VALIDATION_ERROR', { message: `At least ${fewestCharacters} characters of text are needed` })
  if (kept.length > mostCharacters)
    throw new AppError('PAYLOAD_TOO_LARGE', { message: `At most ${mostCharacters} characters of text can be kept` })
  await KnowledgeTexts.updateOne({ _id: id }, { $set: { agent_id: agent._id, text: kept } }, { upsert: true })
  const item = { id, url: urlOfText(id), title, content_type: kind }
  return insertItem(node, agent, item).catch(async (error: unknown) => {
    await KnowledgeTexts.deleteOne({ _id: id })
    throw error
  })
}

/** The name of a text. It leads nowhere. */
const urlOfText = (id: string) => new URL(`urn:plaza:knowledge:${id}`)

interface GivenFile {
  account: string
  name: string
  file: File
  signal: AbortSignal
}

/** The text of a file. Throws UNSUPPORTED_MEDIA_TYPE, and the refusals of the reader. */
async function textOfFile(node: Node, { account, name, file, signal }: GivenFile): Promise<string> {
  if (!(await node.limits.guard('knowledge-files', account, filesInHour, hourSeconds)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
  const bytes = new Uint8Array(await file.arrayBuffer())
  const { text } = await node.services.reader.read(kindOf(bytes, name), bytes, undefined, { of: account, signal })
  return text
}

const startOf = (bytes: Uint8Array) => Buffer.from(bytes.subarray(0, 5)).toString('latin1')
const lookedAtBytes = 8_192

function kindOf(bytes: Uint8Array, name: string): ReadAs {
  const start = startOf(bytes)
  if (start === '%PDF-') return 'pdf'
  if (start.startsWith('PK\u0003\u0004')) return 'docx'
  if (bytes.subarray(0, lookedAtBytes).includes(0))
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', {
      message: 'Only PDF, Word (.docx), Markdown, text and CSV can be read',
    })
  if (/\.(md|mdx|markdown)$/i.test(name)) return 'markdown'
  return /\.html?$/i.test(name) ? 'page' : 'text'
}

const waitMilliseconds = 25_000
const lookMilliseconds = 100
/** The retry time of a client whose item is still being read. */
const readingRetrySeconds = 5

/** Queues one reading job for all requests before it begins. Its end counts from `since`. */
async function requestReading(node: Node, item: StoredItem): Promise<{ item: StoredItem; since: number }> {
  const since = node.now()
  const { _id, claimed_at } = item
  if (!isItemBeingRead(item, since))
    await node.jobs.add(indexingJob, { item: _id }, `read-${_id}-${claimed_at?.getTime() ?? 'never'}`)
  checkWatchedSoon(node)
  return { item, since }
}

/** The item after its reading; null if that takes too long for an answer. */
async function waitForReading(
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
async function readItems(node: Node, items: readonly StoredItem[], signal: AbortSignal) {
  const asked = await Promise.all(items.map((item) => requestReading(node, item)))
  return Promise.all(asked.map(async (one) => resultOf(one.item, await waitForReading(one, signal))))
}

function resultOf({ url }: StoredItem, read: StoredItem | null): ReadResult {
  if (read?.status === 'indexed') return { url, success: true, chunks: read.chunk_count }
  if (read) return { url, success: false, error: read.error_message ?? 'It could not be read' }
  return { url, success: false, error: 'It is still being read', retryAfter: readingRetrySeconds }
}

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

    async addText({ id, title, text }, context) {
      const agent = await own(context, id)
      const item = await addText(context.node, agent, { kind: 'text', title, text }, context.creationId)
      checkWatchedSoon(context.node)
      return { item: renderItem(item) }
    },

    async addFile({ id, name, file }, context) {
      const { account } = signedIn(context)
      const { node, signal } = context
      const agent = await own(context, id)
      const text = await textOfFile(node, { account, name, file, signal })
      const item = await addText(node, agent, { kind: 'file', title: name, text }, context.creationId)
      checkWatchedSoon(node)
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
