import OpenAI from 'openai'
import { z } from 'zod'
import { boundedFetch } from '#server/kernel/fetch'
import { type StreamPiece, streamedModel } from './openai-parts.ts'
import { openClient, type Patience, type Provider } from './openai-request.ts'
import type { Model, Question, ToolTurn } from './port.ts'

const count = z.int().min(0).nullish().catch(null)
const Ended = z.object({
  response: z.object({
    incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
    usage: z.object({ input_tokens: count, output_tokens: count }).nullish().catch(null),
  }),
})
const Delta = z.object({ delta: z.string() })
const Annotated = z.object({ annotation: z.unknown() })
const ItemDone = z.object({
  output_index: z.int().min(0),
  item: z.union([
    z.object({ type: z.literal('function_call'), call_id: z.string(), name: z.string(), arguments: z.string() }),
    z.object({ type: z.string().refine((type) => type !== 'function_call') }),
  ]),
})
const why = z.string().nullish().catch(null)
const Broken = z.object({
  code: why,
  response: z
    .object({ error: z.object({ code: why }).nullish() })
    .nullish()
    .catch(null),
})
const Event = z.object({ type: z.string() })

/** The relevant content of each event of the Responses interface; reasoning, searches and parts only show progress. */
const readers: Readonly<Record<string, (event: unknown) => StreamPiece>> = {
  'response.output_text.delta': (event) => ({ text: Delta.parse(event).delta }),
  'response.refusal.delta': (event) => ({ text: Delta.parse(event).delta }),
  'response.output_text.annotation.added': (event) => ({ sources: [[Annotated.parse(event).annotation]] }),
  'response.output_item.done'(event) {
    const { output_index: index, item } = ItemDone.parse(event)
    return 'call_id' in item ? { calls: [{ index, id: item.call_id, name: item.name, arguments: item.arguments }] } : {}
  },
  'response.completed': (event) => ({ reason: 'stop', usage: usageOf(event) }),
  'response.incomplete'(event) {
    const why = Ended.parse(event).response.incomplete_details?.reason
    // Other reasons mean nothing to readers: the answer broke off.
    if (why !== 'max_output_tokens' && why !== 'content_filter') throw new Error('The answer is not complete')
    return { reason: why === 'content_filter' ? why : 'length', usage: usageOf(event) }
  },
  'response.failed': broken,
  error: broken,
}

function readEvent(event: unknown): StreamPiece {
  const { type } = Event.parse(event)
  return (Object.hasOwn(readers, type) && readers[type]?.(event)) || {}
}

function usageOf(event: unknown): StreamPiece['usage'] {
  const { usage } = Ended.parse(event).response
  return usage && { input: usage.input_tokens, output: usage.output_tokens }
}

function broken(event: unknown): never {
  const { code, response } = Broken.parse(event)
  throw new OpenAI.APIError(undefined, { code: response?.error?.code ?? code }, 'The answer failed', undefined)
}

/** The whole answer is sent three times beside its pieces, with the offered tools. */
const maxBytes = 8 * 1024 * 1024
const maxLineBytes = 1024 * 1024
const dispensable = ['max_output_tokens', 'temperature', 'store']
const search = 'tools'

/** Any server that answers by the Responses interface as OpenAI does. An agent that may search the web is grounded by its search. */
export function openaiResponses(provider: Provider, patience: Partial<Patience> = {}): Model {
  const client = openClient(provider, boundedFetch(maxBytes, maxLineBytes))
  const model = streamedModel(provider, patience, {
    // Where there are no other tools, it is the search that a server has refused.
    dispensable: ({ webSearch, tools }) => (webSearch && !tools?.length ? [...dispensable, search] : dispensable),
    read: readEvent,
    ask: (question, refused, signal) => client.responses.create(requestOf(question, provider, refused), { signal }),
  })
  return { ...model, searchesWeb: true }
}

function requestOf(
  { turns, tools = [], called = [], maxOutputTokens, temperature, webSearch }: Question,
  { model }: Provider,
  refused: ReadonlySet<string>,
): OpenAI.Responses.ResponseCreateParamsStreaming {
  // What people say is kept by this server alone.
  const optional = { max_output_tokens: maxOutputTokens, temperature, store: false }
  const offered: OpenAI.Responses.Tool[] = [
    ...tools.map((tool) => ({
      type: 'function' as const,
      ...tool,
      parameters: { ...tool.parameters },
      strict: false,
    })),
    ...(webSearch && !refused.has(search) ? [{ type: 'web_search' as const }] : []),
  ]
  return {
    ...Object.fromEntries(Object.entries(optional).filter(([name]) => !refused.has(name))),
    model,
    input: [...turns, ...called.flatMap(exchangeOf)],
    stream: true,
    ...(offered.length > 0 ? { tools: offered } : {}),
  }
}

const exchangeOf = ({
  call: { id, name, arguments: given },
  result,
}: ToolTurn): OpenAI.Responses.ResponseInputItem[] => [
  { type: 'function_call', call_id: id, name, arguments: given },
  { type: 'function_call_output', call_id: id, output: result },
]
