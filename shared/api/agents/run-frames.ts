import { z } from 'zod'
import { Link } from '#shared/kit/primitives'

/** What an answer is being worked on with. */
const phases = ['queued', 'retrieval', 'fetch', 'tools', 'calendar', 'generating'] as const

export const Scheduling = z.object({
  ownerAddress: z.string(),
  slots: z.array(z.object({ start: z.string(), end: z.string() })),
  slotsByDate: z.record(z.string(), z.array(z.string())),
  freeEnabled: z.boolean(),
  paidEnabled: z.boolean(),
  freeDuration: z.number().int(),
  paidDuration: z.number().int(),
  priceCents: z.number().int(),
  timezone: z.string(),
})
export type Scheduling = z.infer<typeof Scheduling>

/** Why an answer ends before its end: at the greatest length, or by the filter of the model. */
export const CutShort = z.enum(['length', 'filtered'])
export type CutShort = z.infer<typeof CutShort>

/** Why a model did not answer, or not to the end, where more is known than that it broke off. */
const ModelFailure = z.enum([
  /** Too many ask it at once. */
  'MODEL_BUSY',
  /** It cannot be reached, or fails by itself. */
  'MODEL_UNAVAILABLE',
  /** The provider refuses this server's configuration: the key, the model's name, or the balance. */
  'MODEL_REFUSED',
  /** Its provider does not want this very question answered. */
  'QUESTION_REFUSED',
  /** The question and its context are longer than the model accepts. */
  'CONTEXT_TOO_LONG',
  /** It ended without a word. */
  'MODEL_SILENT',
])
export type ModelFailure = z.infer<typeof ModelFailure>
export const isModelFailure = (code: string): code is ModelFailure => ModelFailure.safeParse(code).success

/** How answers fail: the `code` of their last frame, and `error_code` in the history. Newer versions may tell of more. */
export const RunFailure = z.enum([
  ...ModelFailure.options,
  /** The model broke off. */
  'UPSTREAM_ERROR',
  'TIMEOUT',
  'RUN_LOST',
  'DAILY_TOKENS_REACHED',
  'SERVICE_UNAVAILABLE',
  'DATABASE_ERROR',
  'INTERNAL_ERROR',
])
export type RunFailure = z.infer<typeof RunFailure>

const Usage = z.object({
  input_tokens: z.number().int().nullable(),
  output_tokens: z.number().int().nullable(),
  ms: z.number().int(),
})

/** The passage of the knowledge that an answer refers to as `[n]`. */
export const Citation = z.object({
  n: z.number().int(),
  knowledge_id: z.string(),
  title: z.string(),
  url: Link,
  /** The number of the chunk within its item. */
  chunk: z.number().int(),
})
export type Citation = z.infer<typeof Citation>

/** A page that the answer rests on, where the model has searched the web. */
export const WebSource = z.object({ url: Link, title: z.string() })
export type WebSource = z.infer<typeof WebSource>

/** A call of a tool; `ms` is null while it runs. */
export const RunTool = z.object({
  server: z.string(),
  name: z.string(),
  state: z.enum(['running', 'done', 'failed']),
  ms: z.number().int().nullable(),
})
export type RunTool = z.infer<typeof RunTool>

const frame = <T extends string, Shape extends z.ZodRawShape>(t: T, shape: Shape) =>
  z.object({
    run_id: z.string(),
    /** 0, 1, 2, … without a gap. If the answer's node died, readers with more frames than the store get the end next. */
    idx: z.number().int(),
    t: z.literal(t),
    ...shape,
  })

/** One step of an answer. The last one is `done`, `error` or `cancelled`, and there is exactly one of these. */
export const RunFrame = z.discriminatedUnion('t', [
  frame('start', {
    agent: z.object({ id: z.string(), name: z.string(), avatar_emoji: z.string() }),
    model: z.string(),
    /** The model is a script, as no other is configured. */
    scripted: z.boolean(),
    message_id: z.string(),
  }),
  frame('status', { phase: z.enum(phases), detail: z.string().nullable() }),
  frame('tool', RunTool.shape),
  frame('citation', Citation.shape),
  frame('source', WebSource.shape),
  /** `off` counts UTF-16 code units of the answer before this text, so that repeats change nothing. Text after it is replaced. */
  frame('chunk', { off: z.number().int(), text: z.string() }),
  frame('scheduling', { scheduling: Scheduling }),
  frame('done', {
    message: z.string(),
    message_id: z.string(),
    usage: Usage,
    scheduling: Scheduling.nullable(),
    /** Absent where the answer is whole. */
    cut_short: CutShort.optional(),
  }),
  frame('error', {
    /** A `RunFailure`, or one of a newer version. */
    code: z.string(),
    text: z.string(),
    partial_message_id: z.string().nullable(),
    /** The stored text of an answer whose node died. It replaces the sent text, which may be longer. Otherwise absent. */
    message: z.string().optional(),
  }),
  frame('cancelled', { by: z.string(), partial_message_id: z.string().nullable() }),
])
export type RunFrame = z.infer<typeof RunFrame>
/** A frame before it has its place in a run. */
export type FrameBody = RunFrame extends infer F ? (F extends unknown ? Omit<F, 'run_id' | 'idx'> : never) : never

const terminal = ['done', 'error', 'cancelled'] as const
export const isTerminal = ({ t }: { t: RunFrame['t'] }): boolean => (terminal as readonly string[]).includes(t)

/** What the documents have of a streaming answer: one of these a line. */
export const ChatLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('chunk'), text: z.string() }),
  z.object({
    type: z.literal('done'),
    message: z.string(),
    scheduling: Scheduling.nullable(),
    /** Absent where the answer is whole. */
    cut_short: CutShort.optional(),
    /** Absent where there are none. */
    sources: z.array(WebSource).optional(),
  }),
  z.object({
    type: z.literal('error'),
    error: z.string(),
    /** A `RunFailure`, or one of a newer version; absent where the answer was stopped. */
    code: z.string().optional(),
  }),
])
export type ChatLine = z.infer<typeof ChatLine>
