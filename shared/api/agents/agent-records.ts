import { z } from 'zod'
import { highestPriceCents, paymentNetworks } from '#shared/api/payments/payment-networks'
import { operation } from '#shared/kit/contract'
import { cut } from '#shared/kit/cut'
import { eitherCase } from '#shared/kit/either-case'
import {
  CallerAddress,
  count,
  Done,
  EmojiOfName,
  Id,
  Link,
  line,
  nameLine,
  onceByKey,
  PayeeAddress,
  pageSize,
  repeatable,
  Time,
  text,
} from '#shared/kit/primitives'
import { shownTools, toolFields, visibleAgentErrors } from './agent-tools.ts'

export const visibilities = ['private', 'friends', 'public', 'official'] as const

const tagsAtMost = 5
const longestTag = 20

const Tags = z
  .array(nameLine(0, 200))
  .max(100)
  .transform((tags) => {
    const shortened = tags.map((tag) => cut(tag.trim().toLowerCase(), longestTag).trim())
    return [...new Set(shortened.filter(Boolean))].slice(0, tagsAtMost)
  })

const HttpsUrl = z.url({ protocol: /^https$/, error: 'Invalid https URL' }).max(2048)

/** What an owner may set, in the names of the documents; snake_case is read as well. */
export const agentFields = {
  name: nameLine(1, 100, 'Name is required').optional(),
  personality: text(1000)
    .refine((value) => value.trim() !== '', { error: 'Personality is required' })
    .optional(),
  systemInstructions: text(4000).optional(),
  model: z.string().max(100).optional(),
  avatarEmoji: EmojiOfName.optional(),
  avatarUrl: HttpsUrl.nullable().optional(),
  visibility: z.enum(visibilities).optional(),
  webSearchEnabled: z.boolean().optional(),
  useKnowledgeBase: z.boolean().optional(),
  mcpEnabled: z.boolean().optional(),
  apiEnabled: z.boolean().optional(),
  schedulingEnabled: z.boolean().optional(),
  eventsAccess: z.boolean().optional(),
  publicAccessEnabled: z.boolean().optional(),
  tags: Tags.optional(),
  /** What it says before the first question. */
  greeting: text(500).optional(),
  /** From 0, always alike, to 2; null leaves it to the server. */
  temperature: z.number().min(0).max(2).nullable().optional(),
  suggestedQuestions: z.array(line(1, 100)).max(4).nullable().optional(),
  x402Enabled: z.boolean().optional(),
  x402PriceCents: count(1, highestPriceCents).optional(),
  x402Network: z.enum(paymentNetworks).optional(),
  x402WalletAddress: PayeeAddress.nullable().optional(),
  x402PricingMode: line(1, 20).optional(),
  ...toolFields,
}
export const agentInput = eitherCase(agentFields)

/** What everybody may see of an agent whom they may see at all. */
const AgentCard = z.object({
  id: z.string(),
  owner_address: z.string(),
  name: z.string(),
  personality: z.string(),
  greeting: z.string(),
  model: z.string(),
  /** No model is configured here: a script answers in its place. */
  scripted: z.boolean(),
  /** Whether the model of this server can search the web. */
  searches_web: z.boolean(),
  avatar_emoji: z.string(),
  avatar_url: Link.nullable(),
  visibility: z.enum(visibilities),
  web_search_enabled: z.boolean(),
  use_knowledge_base: z.boolean(),
  scheduling_enabled: z.boolean(),
  events_access: z.boolean(),
  public_access_enabled: z.boolean(),
  message_count: z.number().int(),
  tags: z.array(z.string()),
  suggested_questions: z.array(z.string()).nullable(),
  x402_enabled: z.boolean(),
  x402_price_cents: z.number().int().nullable(),
  x402_network: z.enum(paymentNetworks).nullable(),
  created_at: Time,
  updated_at: Time,
})

/** An agent in its owner's list, which is shorter than the agent alone. */
export const ListedAgent = AgentCard.pick({
  id: true,
  owner_address: true,
  name: true,
  personality: true,
  model: true,
  avatar_emoji: true,
  avatar_url: true,
  visibility: true,
  message_count: true,
  tags: true,
  created_at: true,
  updated_at: true,
}).extend({ system_instructions: z.string() })

/** All of it, which its owner alone may read, with what follows from its receipts. */
export const OwnAgent = AgentCard.extend({
  is_own: z.literal(true),
  system_instructions: z.string(),
  temperature: z.number().nullable(),
  /** The suggested questions that its owner has set; null for generated ones. */
  own_questions: z.array(z.string()).nullable(),
  /** How many of its answers were rated so. */
  ratings: z.object({ up: z.number().int(), down: z.number().int() }),
  /** The models of this server that it may have. */
  models: z.array(z.string()),
  mcp_enabled: z.boolean(),
  api_enabled: z.boolean(),
  ...shownTools,
  x402_wallet_address: z.string().nullable(),
  x402_pricing_mode: z.string(),
  x402_total_earnings_cents: z.number().int(),
  x402_message_count_paid: z.number().int(),
})

/** `is_own`: the caller may change it, and sees all of it. */
export const Agent = z.discriminatedUnion('is_own', [OwnAgent, AgentCard.extend({ is_own: z.literal(false) })])
export type Agent = z.infer<typeof Agent>
export type AgentCard = z.infer<typeof AgentCard>
export type ListedAgent = z.infer<typeof ListedAgent>
export type OwnAgent = z.infer<typeof OwnAgent>

/** An agent by the names of the public door. */
export const AgentInfo = z.object({
  id: z.string(),
  name: z.string(),
  personality: z.string(),
  emoji: z.string(),
  tags: z.array(z.string()),
  features: z.object({ webSearch: z.boolean(), knowledgeBase: z.boolean() }),
  stats: z.object({ totalMessages: z.number().int() }),
  createdAt: Time,
})
export type AgentInfo = z.infer<typeof AgentInfo>

export const Pricing = z.object({
  pricePerMessage: z.string(),
  priceCents: z.number().int(),
  network: z.enum(paymentNetworks),
  currency: z.literal('USDC'),
  payTo: z.string(),
  /** False where nothing carries out payments of this network: paid chat answers 503. */
  payable: z.boolean(),
  /** Payments are checked and settled nowhere. */
  simulated: z.boolean(),
})

export const Endpoints = z.object({ info: Link, chat: Link })

export const ShownPricing = Pricing.partial().extend({ enabled: z.boolean() })

const Owner = z.object({ username: z.string().nullable(), ensName: z.string().nullable() })

const Found = z.object({
  id: z.string(),
  owner_address: z.string(),
  name: z.string(),
  personality: z.string(),
  avatar_emoji: z.string(),
  avatar_url: Link.nullable(),
  visibility: z.enum(visibilities),
  tags: z.array(z.string()),
  message_count: z.number().int(),
  created_at: Time,
  owner: Owner,
})

/** Of `agents`: to find those of others, and to keep the best of them. */
export const agentDiscovery = {
  discover: operation({
    summary:
      'The agents of others that the caller may talk to, those who answered most first. `tags` names tags of which one is enough; `search` holds beginnings of words of the name, the personality and the tags, all of which must be there.',
    http: 'GET /api/agents/discover',
    socket: '/agents agent:discover',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      userAddress: CallerAddress,
      filter: z.enum(['all', 'public', 'friends', 'official']).default('all'),
      tags: text(200).optional(),
      search: text(100).optional(),
      limit: pageSize(100, 20),
      offset: count(0, 10_000).default(0),
    }),
    output: z.object({
      agents: z.array(Found.extend({ isFriendsAgent: z.boolean() })),
      total: z.number().int(),
      limit: z.number().int(),
      offset: z.number().int(),
    }),
    errorBody: 'text',
  }),
  favorites: operation({
    summary: 'The favorites of the caller that they may still talk to, newest first.',
    http: 'GET /api/agents/favorites',
    socket: '/agents favorite:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ userAddress: CallerAddress }),
    output: z.object({
      /** `name` is that of the agent, for clients that read a favorite as an agent. */
      favorites: z.array(z.object({ id: z.string(), created_at: Time, name: z.string(), agent: Found })),
      total: z.number().int(),
    }),
    errorBody: 'text',
  }),
  addFavorite: operation({
    summary:
      'Keep an agent of somebody else among the favorites of the caller; one that is there already is refused (409).',
    http: 'POST /api/agents/favorites',
    socket: '/agents favorite:add',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({ userAddress: CallerAddress, agentId: Id, ...repeatable }),
    output: z.object({
      success: z.literal(true),
      favorite: z.object({ id: z.string(), user_address: z.string(), agent_id: z.string(), created_at: Time }),
    }),
    errors: visibleAgentErrors,
    errorBody: 'text',
  }),
  removeFavorite: operation({
    summary: 'Take an agent out of the favorites of the caller.',
    http: 'DELETE /api/agents/favorites',
    socket: '/agents favorite:remove',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ userAddress: CallerAddress, agentId: Id }),
    output: Done,
    errorBody: 'text',
  }),
}
