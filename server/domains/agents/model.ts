import { Schema } from 'mongoose'
import { optional, required } from '#server/kernel/fields'
import { defineModel } from '#server/kernel/model'
import type { paymentNetworks, visibilities } from '#shared/api/agent-records'
import type { StoredTools } from './tools/stored.ts'

type Visibility = (typeof visibilities)[number]

export interface StoredAgent extends StoredTools {
  _id: string
  owner_address: string
  name: string
  personality: string
  system_instructions: string
  avatar_emoji: string
  avatar_url: string | null
  visibility: Visibility
  web_search_enabled: boolean
  use_knowledge_base: boolean
  mcp_enabled: boolean
  api_enabled: boolean
  scheduling_enabled: boolean
  events_access: boolean
  public_access_enabled: boolean
  /** How many answers were given in full; follows from the runs. */
  message_count: number
  tags: string[]
  suggested_questions: string[] | null
  x402_enabled: boolean
  x402_price_cents: number | null
  x402_network: (typeof paymentNetworks)[number] | null
  x402_wallet_address: string | null
  x402_pricing_mode: string
  /** What a search finds it by; follows from its name, tags and personality. */
  words: string[]
  /** The version of skeletons of which `words` are; absent in agents that an older version stored. */
  words_version?: number
  /** Which of the places of its owner it takes; absent where no number of agents is set. */
  place?: number
  created_at: Date
  updated_at: Date
}

const flag = { type: Boolean, required: true } as const
const count = { type: Number, default: null } as const
const entry = {
  name: required,
  url: required,
  description: optional,
  instructions: optional,
  sealed: optional,
  has_api_key: flag,
  header_names: { type: [String], default: [] },
}
const listOf = (shape: object) => [new Schema({ ...entry, ...shape }, { _id: false })]

export const Agents = defineModel<StoredAgent>(
  'Agents',
  {
    shares: [{ owner: 'owner_address', becomes: 'erase' }],
    archive: 'agents',
    secret: ['mcp_servers.sealed', 'api_tools.sealed'],
    stays: ['x402_wallet_address', 'mcp_servers.has_api_key', 'api_tools.has_api_key'],
  },
  new Schema<StoredAgent>(
    {
      _id: required,
      owner_address: required,
      name: required,
      personality: { type: String, default: '' },
      system_instructions: required,
      avatar_emoji: required,
      avatar_url: optional,
      visibility: required,
      web_search_enabled: flag,
      use_knowledge_base: flag,
      mcp_enabled: flag,
      api_enabled: flag,
      mcp_servers: listOf({ id: required }),
      api_tools: listOf({
        method: required,
        allow_changes: { type: Boolean },
        api_type: required,
        schema_text: optional,
      }),
      scheduling_enabled: flag,
      events_access: flag,
      public_access_enabled: flag,
      message_count: { type: Number, default: 0 },
      tags: { type: [String], default: [] },
      suggested_questions: { type: [String], default: null },
      x402_enabled: flag,
      x402_price_cents: count,
      x402_network: optional,
      x402_wallet_address: optional,
      x402_pricing_mode: required,
      words: { type: [String], default: [] },
      words_version: { type: Number },
      place: { type: Number },
      created_at: { type: Date, required: true },
      updated_at: { type: Date, required: true },
    },
    { collection: 'agents', versionKey: false, minimize: false },
  )
    .index({ owner_address: 1, name: 1 }, { unique: true })
    .index({ owner_address: 1, place: 1 }, { unique: true, partialFilterExpression: { place: { $exists: true } } })
    .index({ owner_address: 1, created_at: -1 })
    .index({ visibility: 1, message_count: -1 })
    .index({ avatar_url: 1 }),
)
