import { z } from 'zod'
import type { Asking } from './openai-request.ts'
import { newSources, sourceFields } from './openai-sources.ts'
import type { Part, Question, ToolCall } from './port.ts'

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

/** No tokenizer makes longer tokens than this on average; who sends more was not bounded by what was asked. */
const charactersPerToken = 16

/**
 * The parts of a streamed answer. A stream that ends without a reason was cut off, although its client does not say so: the
 * client also ends quietly where the signal is aborted.
 */
export async function* readParts(
  chunks: AsyncIterable<unknown>,
  { maxOutputTokens }: Question,
  asking: Asking,
): AsyncGenerator<Part> {
  const { idleMilliseconds, closingMilliseconds } = asking.patience
  const calls = new Map<number, ToolCall>()
  const whole = wholeCharacters()
  const fresh = newSources()
  let room = maxOutputTokens * charactersPerToken
  let reason: string | null = null
  let usage: z.output<typeof Chunk>['usage'] = null
  asking.expect(idleMilliseconds)
  try {
    for await (const chunk of chunks) {
      asking.asker.throwIfAborted()
      const read = Chunk.parse(chunk)
      // Some servers give more answers than the one that was asked for.
      const first: z.output<typeof Choice> | undefined = read.choices?.find(({ index }) => !index)
      const choice: typeof first = reason === null ? first : undefined
      const told = whole(choice?.delta?.content ?? choice?.delta?.refusal ?? '')
      for (const call of choice?.delta?.tool_calls ?? []) gather(calls, call)
      asking.rest()
      if (told !== '') yield { type: 'text', text: told.slice(0, room).toWellFormed() }
      for (const source of fresh(first?.delta?.annotations, read.search_results, read.citations))
        yield { type: 'source', ...source }
      room -= told.length
      reason ??= room < 0 ? 'length' : choice?.finish_reason || null
      usage = read.usage ?? usage
      if (room < 0) break
      asking.expect(reason === null ? idleMilliseconds : closingMilliseconds)
    }
  } catch (error) {
    // The reason was the last that mattered.
    if (reason === null) throw error
  }
  asking.asker.throwIfAborted()
  if (reason === null) throw new Error('The answer ended without a reason')
  const isWhole = reason !== 'length' && reason !== 'content_filter'
  if (isWhole) for (const call of calls.values()) yield { type: 'call', call }
  yield {
    type: 'end',
    reason: reason === 'length' ? reason : reason === 'content_filter' ? 'filtered' : calls.size > 0 ? 'calls' : 'stop',
    inputTokens: usage?.prompt_tokens ?? null,
    outputTokens: usage?.completion_tokens ?? null,
  }
}

const longestArguments = 64 * 1024

/** Pieces of a call belong to the index they name; some servers name none, and begin each call with its id. */
function gather(calls: Map<number, ToolCall>, { index, id, function: told }: z.output<typeof Call>): void {
  const isNew = id && ![...calls.values()].some((call) => call.id === id)
  const at = index ?? (isNew ? calls.size : Math.max(0, calls.size - 1))
  const before = calls.get(at) ?? { id: id || `call_${at}`, name: told?.name ?? '', arguments: '' }
  const given = before.arguments + (told?.arguments ?? '')
  if (given.length > longestArguments) throw new Error('The arguments of a call are too long')
  calls.set(at, { ...before, arguments: given })
}

/** Keeps the first half of a character back until the other half is there. */
function wholeCharacters(): (text: string) => string {
  let half = ''
  return (text) => {
    const given = half + text
    half = /[\ud800-\udbff]$/.exec(given)?.[0] ?? ''
    return given.slice(0, given.length - half.length)
  }
}
