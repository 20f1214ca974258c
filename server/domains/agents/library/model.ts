import { Schema } from 'mongoose'
import { later, optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { contentTypes, knowledgeStatuses, scrapeMethods } from '#shared/api/agents/knowledge'

/** A URL in the knowledge of an agent. */
export interface StoredItem {
  _id: string
  agent_id: string
  url: string
  title: string
  content_type: (typeof contentTypes)[number]
  status: (typeof knowledgeStatuses)[number]
  error_message: string | null
  scrape_method: (typeof scrapeMethods)[number]
  crawl_depth: number
  exclude_patterns: string[]
  auto_sync: boolean
  sync_interval_hours: number
  infinite_scroll: boolean
  scroll_count: number
  /** The number among the agent's items. */
  place?: number
  /** The generation of chunks for answers; null before the first. */
  generation: string | null
  chunk_count: number
  /** The number of pages that were read so far. */
  pages: number
  /** The generation that is being read, whose chunks are not shown yet. */
  building: string | null
  /** The job that is reading it. */
  job: string | null
  /** When its reading began. */
  claimed_at: Date | null
  /** Since when the source could not be read, and the chunks are stale. */
  stale_since: Date | null
  etag: string | null
  modified: string | null
  hash: string | null
  /** The embedder of its chunks. */
  embedder: string | null
  created_at: Date
  indexed_at: Date | null
  last_synced_at: Date | null
  /** The time of the last reading, successful or not. */
  tried_at: Date | null
  /** When it is read again; absent without automatic reading. */
  sync_at?: Date
}

export interface StoredChunk {
  _id: string
  agent_id: string
  knowledge_id: string
  generation: string
  /** Its number within the item. */
  n: number
  url: string
  title: string
  text: string
  /** Float32, little-endian, by `embedder`. */
  vector: Buffer
  embedder: string
}

const count = { type: Number, required: true } as const
const flag = { type: Boolean, required: true } as const

export const KnowledgeItems = defineModel<StoredItem>(
  'KnowledgeItems',
  { shares: [{ owner: 'agent_id', becomes: 'erase', through: 'Agents' }], archive: 'knowledge', stays: ['hash'] },
  new Schema<StoredItem>(
    {
      _id: required,
      agent_id: required,
      url: required,
      title: required,
      content_type: required,
      status: required,
      error_message: optional,
      scrape_method: required,
      crawl_depth: count,
      exclude_patterns: { type: [String], default: [] },
      auto_sync: flag,
      sync_interval_hours: count,
      infinite_scroll: flag,
      scroll_count: count,
      place: count,
      generation: optional,
      chunk_count: count,
      pages: count,
      building: optional,
      job: optional,
      claimed_at: later,
      stale_since: later,
      etag: optional,
      modified: optional,
      hash: optional,
      embedder: optional,
      created_at: { type: Date, required: true },
      indexed_at: later,
      last_synced_at: later,
      tried_at: later,
      sync_at: { type: Date },
    },
    { collection: 'knowledge_items', versionKey: false, minimize: false },
  )
    .index({ agent_id: 1, url: 1 }, { unique: true })
    .index({ agent_id: 1, place: 1 }, { unique: true })
    .index({ sync_at: 1 }, { partialFilterExpression: { sync_at: { $exists: true } } }),
)

export const KnowledgeChunks = defineModel<StoredChunk>(
  'KnowledgeChunks',
  {
    shares: [{ owner: 'agent_id', becomes: 'erase', through: 'Agents' }],
    archive: { never: 'It is a copy of pages that the archive names.' },
    secret: ['vector'],
  },
  new Schema<StoredChunk>(
    {
      _id: required,
      agent_id: required,
      knowledge_id: required,
      generation: required,
      n: count,
      url: required,
      title: { type: String, default: '' },
      text: required,
      vector: { type: Buffer, required: true },
      embedder: required,
    },
    { collection: 'knowledge_chunks', versionKey: false, minimize: false },
  )
    .index({ agent_id: 1, generation: 1, n: 1 })
    .index({ knowledge_id: 1, generation: 1 }),
)

/** The text of a file, or a given one. */
export interface StoredText {
  /** The item. */
  _id: string
  agent_id: string
  text: string
}

export const KnowledgeTexts = defineModel<StoredText>(
  'KnowledgeTexts',
  { shares: [{ owner: 'agent_id', becomes: 'erase', through: 'Agents' }], archive: 'knowledge' },
  new Schema<StoredText>(
    { _id: required, agent_id: required, text: required },
    { collection: 'knowledge_texts', versionKey: false },
  ).index({ agent_id: 1 }),
)

/** Removes the knowledge of a deleted agent. */
export async function removeKnowledgeOf(agent: string): Promise<void> {
  await KnowledgeItems.deleteMany({ agent_id: agent })
  await KnowledgeChunks.deleteMany({ agent_id: agent })
  await KnowledgeTexts.deleteMany({ agent_id: agent })
}
