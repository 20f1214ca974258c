import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import { eitherCase } from '#shared/kit/either-case'
import {
  CallerAddress,
  clamped,
  count,
  Done,
  Id,
  Link,
  line,
  onceByKey,
  repeatable,
  Time,
  text,
} from '#shared/kit/primitives'
import { ownAgentErrors } from './agent-tools.ts'

/** `file` and `text` were given as they are; their `url` only names them. */
export const contentTypes = ['webpage', 'github', 'docs', 'file', 'text'] as const
export const knowledgeStatuses = ['pending', 'processing', 'indexed', 'failed'] as const
export const scrapeMethods = ['basic', 'advanced'] as const

const status = z.enum(knowledgeStatuses)

/** A URL, file or text that an agent knows. */
export const KnowledgeItem = z.object({
  id: z.string(),
  agent_id: z.string(),
  title: z.string(),
  url: Link,
  content_type: z.enum(contentTypes),
  status,
  /** Why it could not be read the last time. */
  error_message: z.string().nullable(),
  chunk_count: z.number().int(),
  /** How many pages were read; so far, while it is `processing`. */
  pages: z.number().int(),
  scrape_method: z.enum(scrapeMethods),
  crawl_depth: z.number().int(),
  auto_sync: z.boolean(),
  sync_interval_hours: z.number().int(),
  last_synced_at: Time.nullable(),
  exclude_patterns: z.array(z.string()),
  /** Kept, and without effect: pages are read as they are served. */
  infinite_scroll: z.boolean(),
  scroll_count: z.number().int(),
  created_at: Time,
  indexed_at: Time.nullable(),
  /** Since when the chunks, which still serve, are older than what could not be read. */
  stale_since: Time.nullable(),
})
export type KnowledgeItem = z.infer<typeof KnowledgeItem>

export const KnowledgeChange = z.object({
  agent_id: z.string(),
  knowledge_id: z.string(),
  status: z.enum([...knowledgeStatuses, 'removed']),
  pages: z.number().int(),
  chunks: z.number().int(),
  error: z.string().nullable(),
  stale_since: Time.nullable(),
})
export type KnowledgeChange = z.infer<typeof KnowledgeChange>

const megabyte = 1024 * 1024
const givenErrors = [...ownAgentErrors, 'KNOWLEDGE_LIMIT_REACHED'] as const
const itemErrors = [...ownAgentErrors, 'KNOWLEDGE_NOT_FOUND'] as const

/** How an item is read; what differs from the default is for official agents. */
export const readingFields = {
  /** `firecrawl` is another spelling of `advanced`. */
  scrapeMethod: z
    .enum([...scrapeMethods, 'firecrawl'])
    .transform((given) => (given === 'firecrawl' ? 'advanced' : given))
    .optional(),
  crawlDepth: count(1, 5).optional(),
  excludePatterns: z.array(line(1, 200)).max(20).optional(),
  autoSync: z.boolean().optional(),
  syncIntervalHours: count(1, 168).optional(),
  /** With `advanced`: a list is read on over `scrollCount` further pages, as its pages name the next one (`rel="next"`). */
  infiniteScroll: z.boolean().optional(),
  scrollCount: count(1, 30).optional(),
}
const readingInput = eitherCase(readingFields)
/** In a change, numbers that are out of range are clamped. */
const changedReading = eitherCase({
  ...readingFields,
  crawlDepth: clamped(1, 5).optional(),
  syncIntervalHours: clamped(1, 168).optional(),
  scrollCount: clamped(1, 30).optional(),
})

const ofItem = z.object({ id: Id, knowledge_id: Id })
const Result = z.object({
  url: Link,
  success: z.boolean(),
  chunks: z.number().int().optional(),
  error: z.string().optional(),
  /** It is still being read: in so many seconds its item may say how that ended. */
  retryAfter: z.number().int().optional(),
})
export type ReadResult = z.output<typeof Result>

export const knowledge = {
  list: operation({
    summary: 'What an agent knows: the URLs that its owner gave it, oldest first.',
    http: 'GET /api/agents/:id/knowledge',
    socket: '/agents knowledge:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id, userAddress: CallerAddress }),
    output: z.object({ items: z.array(KnowledgeItem), knowledge: z.array(KnowledgeItem) }),
    errors: ownAgentErrors,
    errorBody: 'text',
  }),
  watch: operation({
    summary: 'What an agent knows; each change is told on this connection as `knowledge:event`.',
    socket: '/agents knowledge:watch',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'reads',
    input: z.object({ agent_id: Id }),
    output: z.object({ items: z.array(KnowledgeItem) }),
    errors: ownAgentErrors,
  }),
  get: operation({
    summary: 'One of the URLs that an agent knows.',
    http: 'GET /api/agents/:id/knowledge/:knowledge_id',
    socket: '/agents knowledge:get',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: ofItem,
    output: z.object({ item: KnowledgeItem }),
    errors: itemErrors,
    errorBody: 'text',
  }),
  add: operation({
    summary: 'Give an agent a URL to know: 10 at the most, 50 for an official agent. It is read when it is indexed.',
    http: 'POST /api/agents/:id/knowledge',
    socket: '/agents knowledge:add',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({
      id: Id,
      userAddress: CallerAddress,
      url: text(4_096, 'url is required').min(1, 'url is required').meta({ format: 'uri' }),
      title: line(1, 200).optional(),
      ...readingInput,
      ...repeatable,
    }),
    output: z.object({ item: KnowledgeItem }),
    errors: [...ownAgentErrors, 'KNOWLEDGE_EXISTS', 'KNOWLEDGE_LIMIT_REACHED'],
    errorBody: 'text',
  }),
  addText: operation({
    summary: 'Give an agent a text to know, of 50 to 25,000 characters. It counts as one of its URLs.',
    http: 'POST /api/agents/:id/knowledge/texts',
    socket: '/agents knowledge:add-text',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({
      id: Id,
      userAddress: CallerAddress,
      title: line(1, 200),
      text: text(25_000, 'text is required').min(1, 'text is required'),
      ...repeatable,
    }),
    output: z.object({ item: KnowledgeItem }),
    errors: givenErrors,
    errorBody: 'text',
  }),
  addFile: operation({
    summary:
      'Give an agent a PDF, a Word document (.docx), Markdown, text or CSV of at most 10 MB to know. Its text is stored, up to 500,000 characters.',
    http: 'POST /api/agents/:id/knowledge/files',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({
      id: Id,
      userAddress: CallerAddress,
      file: z.file({ error: 'file is required' }).max(10 * megabyte, { error: 'file: at most 10 MB' }),
      /** The name of the file, which becomes the title. */
      name: line(1, 200),
      ...repeatable,
    }),
    output: z.object({ item: KnowledgeItem }),
    errors: [...givenErrors, 'PAYLOAD_TOO_LARGE', 'UPSTREAM_ERROR', 'TIMEOUT'],
    errorBody: 'text',
  }),
  update: operation({
    summary:
      'Change how a URL is read, for the owner of the agent and for admins. Fields may be written in camelCase or in snake_case; what is left out stays, and a number that is out of range becomes the nearest within it.',
    http: 'PATCH /api/agents/:id/knowledge/:knowledge_id',
    socket: '/agents knowledge:update',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: ofItem.extend({ userAddress: CallerAddress, title: line(1, 200).optional(), ...changedReading }),
    output: z.object({ success: z.literal(true), item: KnowledgeItem }),
    errors: itemErrors,
    errorBody: 'text',
  }),
  remove: operation({
    summary: 'Take a URL, and what was read there, away from an agent.',
    http: 'DELETE /api/agents/:id/knowledge/:knowledge_id',
    aliases: [
      {
        http: 'DELETE /api/agents/:id/knowledge',
        input: z
          .object({ id: Id, itemId: Id, userAddress: CallerAddress })
          .transform(({ itemId, ...rest }) => ({ ...rest, knowledge_id: itemId })),
      },
    ],
    socket: '/agents knowledge:remove',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'withdraws',
    input: ofItem.extend({ userAddress: CallerAddress }),
    output: Done,
    errors: itemErrors,
    errorBody: 'text',
  }),
  index: operation({
    summary:
      'Read a URL now, and wait for it for 25 seconds; then, or where it is being read already, 409 says when to look at its `status`. What was known of it before serves until the new text stands, and stays where it cannot be read.',
    http: 'POST /api/agents/:id/knowledge/index',
    socket: '/agents knowledge:index',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ id: Id, userAddress: CallerAddress, knowledgeId: Id }),
    output: z.object({
      success: z.literal(true),
      chunksIndexed: z.number().int(),
      pagesScraped: z.number().int(),
    }),
    errors: [...itemErrors, 'KNOWLEDGE_INDEXING', 'KNOWLEDGE_FAILED'],
    errorBody: 'text',
  }),
  sync: operation({
    summary: 'Read one URL, or all of an agent, now.',
    http: 'POST /api/cron/sync-knowledge',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z
      .object({ userAddress: CallerAddress, knowledgeId: Id.optional(), agentId: Id.optional() })
      .refine(({ knowledgeId, agentId }) => knowledgeId !== undefined || agentId !== undefined, {
        error: 'knowledgeId or agentId is required',
      }),
    output: z.object({
      success: z.boolean().optional(),
      chunksIndexed: z.number().int().optional(),
      error: z.string().optional(),
      retryAfter: z.number().int().optional(),
      message: z.string().optional(),
      results: z.array(Result).optional(),
    }),
    errors: itemErrors,
    errorBody: 'text',
  }),
  syncDue: operation({
    summary:
      'Read again what is due of official agents; with `Authorization: Bearer <CRON_SECRET>`. It is also done by itself.',
    http: 'GET /api/cron/sync-knowledge',
    access: 'public',
    limit: 'strict',
    cost: 'cheap',
    input: z.object({}),
    output: z.object({
      message: z.string(),
      results: z.object({
        total: z.number().int(),
        successful: z.number().int(),
        failed: z.number().int(),
        details: z.array(Result),
      }),
    }),
    errorBody: 'text',
  }),
}

const knowledgeEvent = event('/agents knowledge:event', {
  summary: 'What an agent knows has changed, for connections that watch it.',
  audience: 'socket',
  payload: KnowledgeChange,
})
export const knowledgeEvents = { knowledgeEvent }
