import { z } from 'zod'
import { Link, Time } from '#shared/kit/primitives'

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
