import type { StoredItem } from './model.ts'
import { contentTypeOf } from './reading/page.ts'

export const itemsAtMost = { usual: 10, official: 50 }

/** Default reading options. */
export const defaultReading = {
  scrape_method: 'basic',
  crawl_depth: 1,
  exclude_patterns: [] as string[],
  auto_sync: false,
  sync_interval_hours: 24,
  infinite_scroll: false,
  scroll_count: 5,
} as const

interface Named {
  id: string
  agent: string
  url: URL
  title: string
  content_type?: StoredItem['content_type']
}

/** A new item. */
export const newItem = (
  { id, agent, url, title, content_type = contentTypeOf(url) }: Named,
  now: number,
): StoredItem => ({
  _id: id,
  agent_id: agent,
  url: url.href,
  title,
  content_type,
  status: 'pending',
  error_message: null,
  ...defaultReading,
  generation: null,
  chunk_count: 0,
  pages: 0,
  building: null,
  ...{ job: null, claimed_at: null },
  stale_since: null,
  ...{ etag: null, modified: null, hash: null, embedder: null },
  created_at: new Date(now),
  ...{ indexed_at: null, last_synced_at: null, tried_at: null },
})
