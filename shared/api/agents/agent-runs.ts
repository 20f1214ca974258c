import { z } from 'zod'
import { event, operation, stream } from '#shared/kit/contract'
import {
  afterCursor,
  CallerAddress,
  ClientId,
  count,
  Done,
  Id,
  line,
  maybe,
  nextCursor,
  pageSize,
  Time,
  text,
} from '#shared/kit/primitives'
import { visibleAgentErrors } from './agent-tools.ts'
import { ChatLine, Citation, CutShort, RunFrame, RunTool, Scheduling, WebSource } from './run-frames.ts'

/** The name of a conversation with an agent. Questions without one are of `main`. */
const ConversationId = line(1, 100)

const Conversation = z.object({
  id: z.string(),
  title: z.string(),
  created_at: Time,
  /** The time of its last question. */
  asked_at: Time,
})
export type Conversation = z.infer<typeof Conversation>

/** Of `agents`: what the caller has talked about with one. The first question with a new `sessionId` begins a conversation. */
export const agentConversations = {
  conversations: operation({
    summary: 'The conversations of the caller with an agent, last asked first; with `search` those that it titles.',
    http: 'GET /api/agents/:id/conversations',
    socket: '/agents conversation:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      id: Id,
      userAddress: CallerAddress,
      search: maybe(line(1, 100)),
      limit: pageSize(100, 50),
      ...afterCursor,
    }),
    output: z.object({ conversations: z.array(Conversation), ...nextCursor }),
    errors: visibleAgentErrors,
    errorBody: 'text',
  }),
  renameConversation: operation({
    summary: 'Name a conversation. Until then its title is the first question.',
    http: 'PATCH /api/agents/:id/conversations/:sessionId',
    socket: '/agents conversation:rename',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id, userAddress: CallerAddress, sessionId: ConversationId, title: line(1, 100) }),
    output: z.object({ conversation: Conversation }),
    errors: ['NOT_FOUND'],
    errorBody: 'text',
  }),
}

export const runStates = ['running', 'done', 'failed', 'cancelled'] as const
const RunState = z.enum(runStates)
const ratings = ['up', 'down'] as const
const Rating = z.enum(ratings).nullable()

/** What an agent is asked. */
export const QuestionText = text(10_000, 'Message is required').refine((value) => value.trim() !== '', {
  error: 'Message is required',
})
const askErrors = [...visibleAgentErrors, 'DAILY_TOKENS_REACHED', 'RUN_NOT_FOUND', 'TOO_MANY_QUESTIONS'] as const

/** The conversation of a question, whose messages the answer knows. */
const ofConversation = { sessionId: maybe(ConversationId) }
/** The question. The same `client_run_id` gets the same answer. */
const question = {
  message: QuestionText,
  client_run_id: ClientId.optional(),
  ...ofConversation,
  /** A `run_id` of the conversation. It is deleted with all behind it, once this question is accepted. */
  replaces: maybe(Id),
}

export const ChatMessage = z.object({
  id: z.string(),
  role: z.enum(['user', 'assistant']),
  content: z.string(),
  created_at: Time,
  run_id: z.string(),
  /** The outcome of an answer; for a question always `done`. */
  state: RunState,
  error_code: z.string().nullable(),
  citations: z.array(Citation),
  /** The pages that it rests on, where the model has searched the web. */
  sources: z.array(WebSource),
  /** The tools that were called for an answer, in order. */
  tools: z.array(RunTool),
  /** The free times that were shown with an answer. */
  scheduling: Scheduling.nullable(),
  /** Absent where it is whole. */
  cut_short: CutShort.optional(),
  /** How its asker likes an answer. */
  rating: Rating,
  /** How long an answer took, in milliseconds; absent where it was not finished, and of questions. */
  ms: z.number().int().optional(),
})
export type ChatMessage = z.infer<typeof ChatMessage>

const [Chunk, LastLine, Failed] = ChatLine.options
const SessionLine = z.discriminatedUnion('type', [Chunk, LastLine.extend({ sessionId: z.string() }), Failed])

/** Of `agents`: to ask one, and to follow, stop and read its answers. */
export const agentRuns = {
  run: operation({
    summary: 'Ask an agent. The answer is told on this connection as `run:frame`, and goes on without it.',
    socket: '/agents agent:run',
    access: 'user',
    limit: 'ai',
    cost: 'cheap',
    idempotency: { key: 'client_run_id', kept: 'log' },
    input: z.object({ agent_id: Id, ...question }),
    output: z.object({ run_id: z.string(), user_message_id: z.string(), head_idx: z.number().int() }),
    errors: askErrors,
  }),
  chat: operation({
    summary: 'Ask an agent, and wait for the whole answer.',
    http: 'POST /api/agents/:id/chat',
    access: 'user',
    limit: 'ai',
    cost: 'cheap',
    idempotency: { key: 'client_run_id', kept: 'log' },
    input: z.object({ id: Id, userAddress: CallerAddress, ...question, stream: z.boolean().optional() }),
    output: z.object({
      success: z.literal(true),
      /** The session that was named, or one that begins with this question. */
      sessionId: z.string(),
      message: z.string(),
      agentName: z.string(),
      agentEmoji: z.string(),
      scheduling: Scheduling.nullable(),
      run_id: z.string(),
      message_id: z.string(),
      /** Absent where the answer is whole. */
      cut_short: CutShort.optional(),
      /** Absent where there are none. */
      sources: z.array(WebSource).optional(),
    }),
    errors: [...askErrors, 'UPSTREAM_ERROR', 'TIMEOUT', 'RUN_LOST'],
    statuses: { UPSTREAM_ERROR: [500], TIMEOUT: [500] },
    errorBody: 'text',
  }),
  chatStream: stream({
    summary: 'Ask an agent, and read the answer line by line: `chunk` and, last, `done` or `error`.',
    http: 'POST /api/agents/:id/chat?stream=true',
    lines: 'only',
    access: 'user',
    limit: 'ai',
    cost: 'cheap',
    idempotency: { key: 'client_run_id', kept: 'log' },
    input: z.object({ id: Id, userAddress: CallerAddress, ...question, stream: z.boolean().optional() }),
    output: SessionLine,
    errors: askErrors,
    errorBody: 'text',
  }),
  frames: stream({
    summary: 'The frames of an answer after `after_idx`, and then each as it comes, up to the last.',
    http: 'GET /api/agents/runs/:id/frames',
    lines: 'only',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id, after_idx: count(-1, 1_000_000).default(-1) }),
    output: RunFrame,
    errors: ['RUN_NOT_FOUND'],
  }),
  resume: operation({
    summary: 'The frames of an answer after `after_idx`; those that follow are told on this connection.',
    socket: '/agents run:resume',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'reads',
    input: z.object({ run_id: Id, after_idx: count(-1, 1_000_000).default(-1) }),
    output: z.object({
      state: RunState,
      frames: z.array(RunFrame),
      head_idx: z.number().int(),
      /** False if the frames do not fit into the answer; the rest is sent on this connection. */
      complete: z.boolean(),
    }),
    errors: ['RUN_NOT_FOUND'],
  }),
  cancel: operation({
    summary: 'Stop an answer. What was written of it stays.',
    http: 'POST /api/agents/runs/:run_id/cancel',
    socket: '/agents run:cancel',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    whileSuspended: 'withdraws',
    input: z.object({ run_id: Id }),
    output: z.object({ state: RunState }),
    errors: ['RUN_NOT_FOUND'],
  }),
  rate: operation({
    summary: 'Say whether an answer was good; null takes that back. The owner of the agent sees how many were.',
    http: 'POST /api/agents/runs/:run_id/rating',
    socket: '/agents run:rate',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ run_id: Id, rating: Rating }),
    output: z.object({ rating: Rating }),
    errors: ['RUN_NOT_FOUND'],
  }),
  active: operation({
    summary: 'The answers to this account that are still being written, oldest first: at most 50.',
    http: 'GET /api/agents/runs',
    socket: '/agents run:active',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ agent_id: Id.optional() }),
    output: z.object({
      /** There are more than are listed. */
      has_more: z.boolean(),
      runs: z.array(
        z.object({
          run_id: z.string(),
          agent_id: z.string(),
          client_run_id: z.string(),
          /** Its conversation. */
          sessionId: z.string(),
          /** The first of the questions that it replaces. */
          replaces: z.string().optional(),
          message: z.string(),
          user_message_id: z.string(),
          message_id: z.string(),
          head_idx: z.number().int(),
          created_at: Time,
        }),
      ),
    }),
  }),
  history: operation({
    summary:
      'What was said between the caller and an agent, in one conversation or all, oldest first: the newest `limit` messages, or those before one.',
    http: 'GET /api/agents/:id/chat',
    socket: '/agents agent:history',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      id: Id,
      userAddress: CallerAddress,
      ...ofConversation,
      limit: pageSize(200, 50),
      before: Id.optional(),
    }),
    output: z.object({ chats: z.array(ChatMessage) }),
    errors: visibleAgentErrors,
    errorBody: 'text',
  }),
  forget: operation({
    summary:
      'Delete a conversation of the caller with an agent, or all of them. An answer that is being written is stopped.',
    http: 'DELETE /api/agents/:id/chat',
    socket: '/agents agent:forget',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'withdraws',
    input: z.object({ id: Id, userAddress: CallerAddress, ...ofConversation }),
    output: Done,
    errors: ['AGENT_NOT_FOUND'],
    errorBody: 'text',
  }),
}

export const runFrame = event('/agents run:frame', {
  summary: 'The next frame of an answer that this connection asked for or resumed.',
  audience: 'socket',
  payload: RunFrame,
})

export const runBegun = event('/agents run:begun', {
  summary: 'The account has asked an agent, on this or another device; `run:resume` tells the answer.',
  audience: 'account',
  payload: z.object({
    run_id: z.string(),
    agent_id: z.string(),
    client_run_id: z.string(),
    /** Its conversation; absent from nodes of the version before. */
    sessionId: z.string().optional(),
    /** The first of the questions that it replaces. */
    replaces: z.string().optional(),
  }),
})
