import type OpenAI from 'openai'
import { boundedFetch } from '#server/kernel/fetch'
import { asEvents } from './openai-bodies.ts'
import { readChunk } from './openai-chunks.ts'
import { streamedModel } from './openai-parts.ts'
import { openClient, type Patience, type Provider } from './openai-request.ts'
import type { Model, Question, ToolTurn } from './port.ts'

/** Frames of about 300 bytes for each of 2,048 tokens are well below. */
const maxBytes = 4 * 1024 * 1024
/** Longer ones cost the reader of lines time that grows with their square. */
const maxLineBytes = 256 * 1024
const dispensable = ['max_tokens', 'temperature', 'stream_options']

/** Any server that answers chat completions as OpenAI does. */
export function openaiModel(provider: Provider, patience: Partial<Patience> = {}): Model {
  const client = openClient(provider, asEvents(boundedFetch(maxBytes, maxLineBytes)))
  return streamedModel(provider, patience, {
    dispensable: () => dispensable,
    read: readChunk,
    ask: (question, refused, signal) =>
      client.chat.completions.create(requestOf(question, provider, refused), { signal }),
  })
}

function requestOf(
  { turns, tools = [], called = [], maxOutputTokens, temperature }: Question,
  { model }: Provider,
  refused: ReadonlySet<string>,
): OpenAI.ChatCompletionCreateParamsStreaming {
  const optional = { max_tokens: maxOutputTokens, temperature, stream_options: { include_usage: true } }
  return {
    ...Object.fromEntries(Object.entries(optional).filter(([name]) => !refused.has(name))),
    ...(refused.has('max_tokens') ? { max_completion_tokens: maxOutputTokens } : {}),
    model,
    messages: [...turns, ...called.flatMap(exchangeOf)],
    stream: true,
    ...(tools.length > 0
      ? {
          tools: tools.map((tool) => ({ type: 'function', function: { ...tool, parameters: { ...tool.parameters } } })),
        }
      : {}),
  }
}

const exchangeOf = ({
  call: { id, name, arguments: given },
  result,
}: ToolTurn): OpenAI.ChatCompletionMessageParam[] => [
  { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name, arguments: given } }] },
  { role: 'tool', tool_call_id: id, content: result },
]
