import { z } from 'zod'
import type { Told } from './openai-parts.ts'
import { sourceFields } from './openai-sources.ts'

const text = z.string().nullish()
const count = z.int().min(0).nullish().catch(null)
const Call = z.object({
  index: z.int().min(0).max(15).nullish(),
  id: text,
  function: z.object({ name: text, arguments: text }).nullish(),
})
const Choice = z.object({
  index: z.number().nullish(),
  delta: z
    .object({ content: text, refusal: text, tool_calls: z.array(Call).nullish(), ...sourceFields.ofChoice })
    .nullish(),
  finish_reason: text,
})
const Chunk = z.object({
  choices: z.array(Choice).nullish(),
  ...sourceFields.ofChunk,
  usage: z.object({ prompt_tokens: count, completion_tokens: count }).nullish().catch(null),
})

/** What a chunk of chat completions says. */
export function readChunk(chunk: unknown): Told {
  const read = Chunk.parse(chunk)
  // Some servers give more answers than the one that was asked for.
  const choice: z.output<typeof Choice> | undefined = read.choices?.find(({ index }) => !index)
  const { delta } = choice ?? {}
  return {
    text: delta?.content ?? delta?.refusal,
    calls: delta?.tool_calls?.map(({ function: told, ...call }) => ({ ...call, ...told })),
    sources: [delta?.annotations, read.search_results, read.citations],
    reason: choice?.finish_reason,
    usage: read.usage && { input: read.usage.prompt_tokens, output: read.usage.completion_tokens },
  }
}
