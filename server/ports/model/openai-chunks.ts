import OpenAI from 'openai'
import { z } from 'zod'
import { BrokenOff } from './openai-failures.ts'
import type { StreamPiece } from './openai-parts.ts'
import { sourceFields } from './openai-sources.ts'

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
export function readChunk(chunk: unknown): StreamPiece {
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
