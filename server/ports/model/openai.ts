import type OpenAI from 'openai'
import { readParts } from './openai-parts.ts'
import { openAsking, openClient, type Patience, type Provider, refusedParameter, retrying } from './openai-request.ts'
import type { Model, Question } from './port.ts'

interface ModelProvider extends Provider {
  /** What a request has beside the rest where its agent may search the web; null where the server cannot. */
  webSearch: Readonly<Record<string, unknown>> | null
}

/** Frames of about 300 bytes for each of 2,048 tokens are well below. */
const maxBytes = 4 * 1024 * 1024
/** Longer ones cost the reader of lines time that grows with their square. */
const maxLineBytes = 256 * 1024

/** Any server that answers chat completions as OpenAI does. */
export function openaiModel(provider: ModelProvider, patience: Partial<Patience> = {}): Model {
  const client = openClient(provider, maxBytes, maxLineBytes)
  /** Parameters that the server does not take: newer models of some take fewer. */
  const refused = new Set<string>()
  return {
    name: provider.model,
    isScripted: false,
    async *answer(question, signal) {
      signal.throwIfAborted()
      const asking = openAsking(signal, patience)
      const ask = async (): Promise<AsyncIterable<unknown>> => {
        const request = requestOf(question, provider, refused)
        try {
          return await client.chat.completions.create(request, { signal: asking.signal })
        } catch (error) {
          const parameter = refusedParameter(error)
          if (parameter === null || refused.has(parameter) || !dispensable(provider).includes(parameter)) throw error
          refused.add(parameter)
          return ask()
        }
      }
      try {
        yield* readParts(await retrying(asking, ask), question, asking)
      } catch (error) {
        throw asking.meant(error)
      } finally {
        asking.end()
      }
    },
  }
}

const dispensable = ({ webSearch }: ModelProvider) => [
  'max_tokens',
  'temperature',
  'stream_options',
  ...Object.keys(webSearch ?? {}),
]

function requestOf(
  { turns, tools = [], called = [], maxOutputTokens, temperature, webSearch }: Question,
  provider: ModelProvider,
  refused: ReadonlySet<string>,
): OpenAI.ChatCompletionCreateParamsStreaming {
  const optional = {
    ...(webSearch ? provider.webSearch : {}),
    max_tokens: maxOutputTokens,
    temperature,
    stream_options: { include_usage: true },
  }
  return {
    ...Object.fromEntries(Object.entries(optional).filter(([name]) => !refused.has(name))),
    ...(refused.has('max_tokens') ? { max_completion_tokens: maxOutputTokens } : {}),
    model: provider.model,
    messages: [...turns, ...called.flatMap(({ call, result }) => exchangeOf(call, result))],
    stream: true,
    ...(tools.length > 0
      ? {
          tools: tools.map((tool) => ({ type: 'function', function: { ...tool, parameters: { ...tool.parameters } } })),
        }
      : {}),
  }
}

const exchangeOf = (
  { id, name, arguments: given }: { id: string; name: string; arguments: string },
  result: string,
): OpenAI.ChatCompletionMessageParam[] => [
  { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name, arguments: given } }] },
  { role: 'tool', tool_call_id: id, content: result },
]
