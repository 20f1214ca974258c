import type OpenAI from 'openai'
import { boundedFetch } from '#server/kernel/fetch'
import { readEvent } from './openai-events.ts'
import { streamedModel } from './openai-parts.ts'
import { openClient, type Patience, type Provider } from './openai-request.ts'
import type { Model, Question, ToolTurn } from './port.ts'

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
