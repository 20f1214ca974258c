import OpenAI from 'openai'
import { z } from 'zod'
import { boundedFetch } from '#server/kernel/fetch'
import { type StreamPiece, sourceFields, streamedModel } from './openai-parts.ts'
import { BrokenOff, openClient, type Patience, type Provider } from './openai-request.ts'
import type { Model, Question, ToolTurn } from './port.ts'

/**
 * Adapts bodies to a client that reads streams of events. An answer in one piece of JSON becomes one event. The end `[DONE]`,
 * which the client swallows, becomes another.
 */
const asEvents =
  (asks: typeof fetch): typeof fetch =>
  async (url, request) => {
    const response = await asks(url, request)
    if (!response.ok || response.body === null) return response
    const events = response.body
      .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
      .pipeThrough(eventsOf())
      .pipeThrough(new TextEncoderStream())
    return new Response(events, response)
  }

function eventsOf(): TransformStream<string, string> {
  let held = ''
  let isJson: boolean | null = null
  const event = (line: string): string => {
    if (isJson) return `data: ${line}\n`
    return /^data: ?\[DONE\]/.test(line) ? `data: {"is_done":true}\n\n${line}\n` : `${line}\n`
  }
  return new TransformStream({
    transform(text, controller) {
      held += text
      if (isJson === null && held.trim() !== '') isJson = held.trimStart().startsWith('{')
      const lines = held.split('\n')
      held = lines.pop() ?? ''
      if (lines.length > 0) controller.enqueue(lines.map(event).join(''))
    },
    flush(controller) {
      controller.enqueue(`${event(held)}\n`)
    },
  })
}

/*
 * Chunks of servers with OpenAI's interface: OpenAI, Mistral, Ollama, vLLM, llama.cpp, DeepSeek, Gemini, Anthropic. A test has
 * a stream of each (`test/ports/model-dialects.test.ts`). Unknown fields are ignored.
 */

const TextPart = z
  .object({ type: z.enum(['text', 'output_text']).nullish(), text: z.string() })
  .transform((part) => part.text)
const Words = z.union([z.string(), TextPart])
const textOf = (part: unknown): string => Words.safeParse(part).data ?? ''
/** A text, a part, or a list of parts: Mistral puts its thoughts and references among the texts. */
const Content = z.union([Words, z.array(z.unknown()).transform((parts) => parts.map(textOf).join(''))])

/** JSON as text, or the very object. */
const Arguments = z.union([z.string(), z.record(z.string(), z.unknown()).transform((given) => JSON.stringify(given))])
const text = z.string().nullish()
const count = z.int().min(0).nullish().catch(null)
const Call = z.object({
  index: z.coerce.number().int().min(0).max(15).nullish(),
  id: text,
  function: z.object({ name: text, arguments: Arguments.nullish() }).nullish(),
})
const Calls = z.union([z.array(Call), Call.transform((call) => [call])])
const Delta = z.object({
  content: Content.nullish(),
  refusal: text,
  tool_calls: Calls.nullish(),
  /** The one call, before there could be several. */
  function_call: Call.shape.function,
  ...sourceFields.ofChoice,
})
const Choice = z.object({
  index: z.number().nullish(),
  delta: Delta.nullish(),
  /** The whole answer at once, of servers that do not stream with tools. */
  message: Delta.nullish(),
  /** As completions without a chat have it. */
  text,
  finish_reason: text,
})
const Chunk = z.object({
  is_done: z.boolean().nullish().catch(null),
  choices: z.array(Choice).nullish(),
  ...sourceFields.ofChunk,
  usage: z.object({ prompt_tokens: count, completion_tokens: count }).nullish().catch(null),
})
/** vLLM says by a chunk of its own that it failed. */
const Failure = z.object({ object: z.literal('error'), message: text, code: z.number().nullish().catch(null) })

/** What servers say of an end. Any other word means that the answer is whole. */
const ends: readonly (readonly [says: RegExp, means: 'length' | 'content_filter' | 'none'])[] = [
  [/^(length|limit|max_tokens|max_(output|completion)_tokens|model_length)$/, 'length'],
  [/^(content_filter|safety|recitation|prohibited_content|blocklist|sensitive|refusal)\b/, 'content_filter'],
  [
    /^(error|abort(ed)?|cancell?ed|insufficient_system_resource|network_error|malformed_function_call|timeout)$/,
    'none',
  ],
]

/** What a chunk of chat completions says. Throws `BrokenOff` where it says that the answer ended before its end. */
function readChunk(chunk: unknown): StreamPiece {
  const failure = Failure.safeParse(chunk).data
  if (failure) throw new OpenAI.APIError(failure.code ?? undefined, failure, failure.message ?? 'error', undefined)
  const read = Chunk.parse(chunk)
  // Some servers give more answers than the one that was asked for.
  const choice: z.output<typeof Choice> | undefined = read.choices?.find(({ index }) => !index)
  const said = choice?.delta ?? choice?.message
  const calls = said?.tool_calls ?? (said?.function_call ? [{ function: said.function_call }] : [])
  return {
    text: said?.content ?? said?.refusal ?? choice?.text,
    calls: calls.map(({ function: told, ...call }) => ({ ...call, ...told })),
    isDone: read.is_done === true,
    sources: [said?.annotations, read.search_results, read.citations],
    reason: reasonOf(choice?.finish_reason),
    usage: read.usage && { input: read.usage.prompt_tokens, output: read.usage.completion_tokens },
  }
}

function reasonOf(said: string | null | undefined): string | null {
  if (!said) return said ?? null
  const means = ends.find(([says]) => says.test(said.toLowerCase()))?.[1] ?? 'stop'
  if (means === 'none') throw new BrokenOff('The answer ended before its end')
  return means
}

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
