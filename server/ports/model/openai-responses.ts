import type OpenAI from 'openai'
import { boundedFetch } from '#server/kernel/fetch'
import { readEvent } from './openai-events.ts'
import { readParts } from './openai-parts.ts'
import { openAsking, openClient, type Patience, type Provider, retrying, withoutRefused } from './openai-request.ts'
import type { Model, Question, ToolTurn } from './port.ts'

/** The whole answer, with the tools that were offered, is told three times beside its pieces. */
const maxBytes = 8 * 1024 * 1024
const maxLineBytes = 1024 * 1024
const dispensable = ['max_output_tokens', 'temperature', 'store']
const search = 'tools'

/** Any server that answers by the Responses interface as OpenAI does. An agent that may search the web is grounded by its search. */
export function openaiResponses(provider: Provider, patience: Partial<Patience> = {}): Model {
  const client = openClient(provider, boundedFetch(maxBytes, maxLineBytes))
  /** Parameters that the server does not take. */
  const refused = new Set<string>()
  return {
    name: provider.model,
    isScripted: false,
    searchesWeb: true,
    async *answer(question, signal) {
      signal.throwIfAborted()
      const asking = openAsking(signal, patience)
      const ask = (): Promise<AsyncIterable<unknown>> =>
        client.responses.create(requestOf(question, provider, refused), { signal: asking.signal })
      // Where there are no other tools, it is the search that a server has refused.
      const left = question.webSearch && !question.tools?.length ? [...dispensable, search] : dispensable
      try {
        const events = await retrying(asking, () => withoutRefused(refused, left, ask))
        yield* readParts(events, readEvent, question, asking)
      } catch (error) {
        throw asking.meant(error)
      } finally {
        asking.end()
      }
    },
  }
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
