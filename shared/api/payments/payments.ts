import { z } from 'zod'
import { AgentInfo, Endpoints, Pricing, ShownPricing, visibilities } from '#shared/api/agents/agent-records'
import { QuestionText } from '#shared/api/agents/agent-runs'
import { ownAgentErrors } from '#shared/api/agents/agent-tools'
import { ChatLine, CutShort, WebSource } from '#shared/api/agents/run-frames'
import { operation, stream } from '#shared/kit/contract'
import { CallerAddress, Id, Link, pageSize, Time } from '#shared/kit/primitives'
import { paymentNetworks } from './payment-networks.ts'

export const paymentStates = ['verifying', 'settled', 'rejected', 'unknown'] as const

const Session = z
  .uuid('sessionId must be a UUID')
  .overwrite((value) => value.toLowerCase())
  .optional()

const Network = z.enum(paymentNetworks)
const Stage = z.enum(paymentStates)

const Paid = z.object({
  id: z.string(),
  state: Stage,
  network: Network,
  /** In the smallest unit of the token, of which a cent has 10,000. */
  amount: z.string(),
  /** Null until it is settled, and where nothing was carried out on a chain. */
  transaction: z.string().nullable(),
  /** It was checked and settled nowhere. */
  simulated: z.boolean(),
  /** So many more answers are begun for it at most, where they fail. */
  answers_left: z.number().int(),
  created_at: Time,
  settled_at: Time.nullable(),
})

const Receipt = Paid.extend({
  payer: z.string(),
  cents: z.number().int(),
  run_id: z.string().nullable(),
  message_id: z.string().nullable(),
})
export type Receipt = z.infer<typeof Receipt>

const Earnings = z.object({
  totalMessages: z.number().int(),
  paidMessages: z.number().int(),
  /** In cents. */
  totalEarnings: z.number().int(),
  /** The part of it that was settled nowhere. */
  simulatedEarnings: z.number().int(),
})

const reached = ['AGENT_NOT_FOUND', 'AGENT_GONE', 'AGENT_NOT_PUBLIC'] as const
/** Why what is paid for by x402 is not given. */
export const paymentRefusals = [
  'PAYMENT_REQUIRED',
  'PAYMENT_PENDING',
  'INVALID_PAYMENT',
  'WRONG_NETWORK',
  'INSUFFICIENT_PAYMENT',
  'PAYMENT_EXPIRED',
  'X402_PAYMENT_FAILED',
  'UPSTREAM_ERROR',
  'TIMEOUT',
] as const
/** 409 where the payment was sent for something else before. */
export const paymentStatuses = { INVALID_PAYMENT: [402, 409] } as const
const refused = [...paymentRefusals, 'X402_NOT_ENABLED'] as const

/** One question to a public agent. A proof is valid for one answer: the same question gets it again, others get 409. */
const question = z.object({
  id: Id,
  message: QuestionText,
  sessionId: Session,
  stream: z.boolean().optional(),
  /** An x402 payment: the envelope of version 1 or 2, or its fields alone, as JSON or base64. */
  payment: z.string().max(16_384).optional(),
})
const asked = {
  access: 'public',
  anyOrigin: true,
  limit: 'paid',
  cost: 'cheap',
  repeat: 'harmless',
  headers: { 'x-payment': 'payment', 'payment-signature': 'payment' },
  input: question,
  errors: [...reached, ...refused, 'DAILY_TOKENS_REACHED'],
  statuses: paymentStatuses,
  errorBody: 'text',
} as const

const Answered = z.object({
  success: z.literal(true),
  sessionId: z.string(),
  message: z.string(),
  agent: z.object({ id: z.string(), name: z.string(), emoji: z.string() }),
  payment: Paid,
  /** Absent where the answer is whole. */
  cut_short: CutShort.optional(),
  /** Absent where there are none. */
  sources: z.array(WebSource).optional(),
})

const [Chunk, Done, Failed] = ChatLine.options
/** The lines of any streaming answer, the last with the session and the payment. */
const paidFor = { sessionId: z.string(), payment: Paid }
const PublicLine = z.discriminatedUnion('type', [Chunk, Done.extend(paidFor), Failed.extend(paidFor)])

export const payments = {
  agent: operation({
    summary: 'A public or official agent, as everybody may see it.',
    http: 'GET /api/public/agents/:id',
    socket: '/agents public:agent',
    access: 'public',
    anyOrigin: true,
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id }),
    output: z.object({
      id: z.string(),
      owner_address: z.string(),
      name: z.string(),
      personality: z.string(),
      greeting: z.string(),
      avatar_emoji: z.string(),
      avatar_url: Link.nullable(),
      visibility: z.enum(visibilities),
      tags: z.array(z.string()),
      suggested_questions: z.array(z.string()).nullable(),
      public_access_enabled: z.boolean(),
      has_events: z.boolean(),
      events_count: z.number().int(),
      x402_enabled: z.boolean(),
      x402_price_cents: z.number().int().nullable(),
      x402_network: Network.nullable(),
      /** Payments are checked and settled nowhere. */
      x402_simulated: z.boolean(),
      /** The model is a script, as no other is configured. */
      scripted: z.boolean(),
    }),
    errors: reached,
    errorBody: 'text',
  }),
  info: operation({
    summary: 'What a public agent is, what an answer costs, and where to ask.',
    http: 'GET /api/public/agents/:id/chat',
    socket: '/agents public:info',
    access: 'public',
    anyOrigin: true,
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id }),
    output: z.object({
      agent: AgentInfo,
      pricing: ShownPricing,
      endpoints: Endpoints,
    }),
    errors: ['AGENT_NOT_FOUND', 'AGENT_GONE'],
    errorBody: 'text',
  }),
  chat: operation({
    ...asked,
    summary: 'Ask a public agent for one answer, which is paid for by x402. Without a payment, 402 says what it costs.',
    http: 'POST /api/public/agents/:id/chat',
    socket: '/agents public:chat',
    output: Answered,
    errors: [...asked.errors, 'RUN_LOST'],
    // The first is that of an answer that failed, the second that of a facilitator.
    statuses: { ...paymentStatuses, UPSTREAM_ERROR: [500, 502], TIMEOUT: [500, 504] },
  }),
  chatStream: stream({
    ...asked,
    summary: 'Ask a public agent, and read the answer line by line. What is refused is refused before the first line.',
    http: 'POST /api/public/agents/:id/chat?stream=true',
    socket: '/agents public:chat-stream',
    lines: 'only',
    /** With `follow`, an answer under way for this payment is sent from its beginning; without, it is 409. */
    input: question.extend({ follow: z.boolean().optional() }),
    output: PublicLine,
  }),
  history: operation({
    summary: 'What was said in a session of a public agent, oldest first: at most the newest 50 messages.',
    http: 'GET /api/public/agents/:id/history',
    socket: '/agents public:history',
    access: 'public',
    anyOrigin: true,
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id, sessionId: Session.unwrap() }),
    output: z.object({
      messages: z.array(
        z.object({
          role: z.enum(['user', 'assistant']),
          content: z.string(),
          cut_short: CutShort.optional(),
          sources: z.array(WebSource).optional(),
        }),
      ),
      sessionId: z.string(),
    }),
    errors: [...reached, 'CHAT_HISTORY_NOT_FOUND'],
    errorBody: 'text',
  }),
  payment: operation({
    summary: 'How far a payment is. Once it is settled, the same payment with the same question is answered.',
    http: 'GET /api/public/payments/:id',
    socket: '/agents public:payment',
    access: 'public',
    anyOrigin: true,
    limit: 'paid',
    cost: 'cheap',
    input: z.object({ id: Id }),
    output: Paid.extend({
      /** Of a payment for a call `call:` and the host. */
      agent_id: z.string(),
      code: z.string().nullable(),
      usable_until: Time.nullable().meta({
        description: 'Until when whoever was given it can have it carried out; null once its outcome is known.',
      }),
      is_over: z.boolean().meta({
        description:
          'Its outcome is not known, and nothing comes of it any more: it was charged before or never will be, and another payment may be made.',
      }),
    }),
    errors: ['PAYMENT_NOT_FOUND'],
    errorBody: 'text',
  }),
  embed: operation({
    summary: 'How an agent of the caller is asked from elsewhere: addresses, price, code, and what it has earned.',
    http: 'GET /api/agents/:id/embed',
    socket: '/agents agent:embed',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id, userAddress: CallerAddress }),
    output: z.object({
      agent: z.object({ id: z.string(), name: z.string(), emoji: z.string() }),
      endpoints: Endpoints,
      pricing: Pricing,
      /** A page, a program for Node and a command line. */
      code: z.object({ embed: z.string(), sdk: z.string(), curl: z.string() }),
      stats: Earnings,
    }),
    errors: [...ownAgentErrors, 'X402_NOT_ENABLED'],
    errorBody: 'text',
  }),
  receipts: operation({
    summary: 'What was paid for the answers of an agent of the caller, newest first.',
    http: 'GET /api/agents/:id/payments',
    socket: '/agents agent:payments',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id, userAddress: CallerAddress, limit: pageSize(100, 20), before: Id.optional() }),
    output: z.object({ receipts: z.array(Receipt), stats: Earnings }),
    errors: ownAgentErrors,
    errorBody: 'text',
  }),
}
