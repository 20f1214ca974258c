import { Schema } from 'mongoose'
import { optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { visibilities } from '#shared/api/agents/agent-records'
import type { apiMethods } from '#shared/api/agents/agent-tools'
import type { AgentEvent } from '#shared/api/agents/events-of-agents'
import type { PaymentNetwork } from '#shared/api/payments/payment-networks'

type Visibility = (typeof visibilities)[number]

/** A stored tool of an agent. */
export interface StoredEntry {
  name: string
  url: string
  description: string | null
  instructions: string | null
  /** The sealed key and headers, if any. */
  sealed: string | null
  has_api_key: boolean
  header_names: string[]
}

export interface StoredToolServer extends StoredEntry {
  id: string
}

export interface StoredApi extends StoredEntry {
  method: (typeof apiMethods)[number]
  /** Absent in tools of older versions. */
  allow_changes?: boolean
  api_type: 'graphql' | 'openapi' | 'rest'
  schema_text: string | null
}

/** The tools of an agent; absent in older ones. */
export interface StoredTools {
  mcp_servers?: StoredToolServer[]
  api_tools?: StoredApi[]
}

export interface StoredAgent extends StoredTools {
  _id: string
  owner_address: string
  name: string
  personality: string
  system_instructions: string
  /** Absent in older agents, as the two below it. */
  greeting?: string
  temperature?: number | null
  /** The chosen model; null or absent for that of the server. */
  model?: string | null
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
  /** The number of whole answers, counted from the runs. */
  message_count: number
  tags: string[]
  suggested_questions: string[] | null
  x402_enabled: boolean
  x402_price_cents: number | null
  x402_network: PaymentNetwork | null
  x402_wallet_address: string | null
  x402_pricing_mode: string
  /** Its search words, from name, tags and personality. */
  words: string[]
  /** The version of `words`; absent in older agents. */
  words_version?: number
  /** The number among the owner's agents; absent without a limit. */
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
    shares: [
      { owner: 'owner_address', becomes: 'erase' },
      {
        owner: 'owner_address',
        becomes: 'hand over',
        rule: 'An official one goes to the longest-standing super admin; without any, it stays without an owner.',
      },
    ],
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
      greeting: { type: String },
      temperature: { type: Number },
      model: { type: String },
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

export interface StoredEvent extends Omit<AgentEvent, 'id' | 'created_at'> {
  _id: string
  /** The name in lower case: no two events of an agent have the same on one day. */
  key: string
  created_at: Date
}

export const Events = defineModel<StoredEvent>(
  'AgentEvents',
  {
    shares: [{ owner: 'agent_id', becomes: 'erase', through: 'Agents' }],
    archive: 'agents',
    stays: ['address', 'key'],
  },
  new Schema<StoredEvent>(
    {
      _id: required,
      agent_id: required,
      key: required,
      knowledge_id: optional,
      name: required,
      description: optional,
      event_type: required,
      event_date: required,
      start_time: optional,
      end_time: optional,
      is_multi_day: flag,
      end_date: optional,
      venue: optional,
      address: optional,
      organizer: optional,
      organizer_logo_url: optional,
      event_url: optional,
      rsvp_url: optional,
      source: required,
      source_url: optional,
      is_featured: flag,
      is_verified: flag,
      tags: { type: [String], default: null },
      created_at: { type: Date, required: true },
    },
    { collection: 'agent_events', versionKey: false },
  ).index({ agent_id: 1, event_date: 1, key: 1 }, { unique: true }),
)

/** Agents that were erased with their owners, and had public pages. */
export const GoneAgents = defineModel<{ _id: string }>(
  'GoneAgents',
  "nobody's",
  new Schema<{ _id: string }>({ _id: required }, { collection: 'gone_agents', versionKey: false }),
)
