import type { Asking } from './openai-request.ts'
import { newSources } from './openai-sources.ts'
import type { Part, Question, ToolCall } from './port.ts'

/** What one piece of a stream says, whichever interface it comes by. */
export interface Told {
  text?: string | null | undefined
  calls?: readonly CallPiece[] | null | undefined
  /** Lists of pages that the answer rests on. */
  sources?: readonly (readonly unknown[] | null | undefined)[]
  /** Why the answer has ended: `length` and `content_filter` cut it off, any other word means that it is whole. */
  reason?: string | null | undefined
  usage?: { input: number | null | undefined; output: number | null | undefined } | null | undefined
}

interface CallPiece {
  index?: number | null | undefined
  id?: string | null | undefined
  name?: string | null | undefined
  arguments?: string | null | undefined
}

/** No tokenizer makes longer tokens than this on average; who sends more was not bounded by what was asked. */
const charactersPerToken = 16

/**
 * The parts of a streamed answer. A stream that ends without a reason was cut off, although its client does not say so: the
 * client also ends quietly where the signal is aborted.
 */
export async function* readParts(
  pieces: AsyncIterable<unknown>,
  readPiece: (piece: unknown) => Told,
  { maxOutputTokens }: Question,
  asking: Asking,
): AsyncGenerator<Part> {
  const { idleMilliseconds, closingMilliseconds } = asking.patience
  const calls = new Map<number, ToolCall>()
  const whole = wholeCharacters()
  const fresh = newSources()
  let room = maxOutputTokens * charactersPerToken
  let reason: string | null = null
  let usage: Told['usage'] = null
  asking.expect(idleMilliseconds)
  try {
    for await (const piece of pieces) {
      asking.asker.throwIfAborted()
      const read = readPiece(piece)
      const answer: Told = reason === null ? read : {}
      const told = whole(answer.text ?? '')
      for (const call of answer.calls ?? []) gather(calls, call)
      asking.rest()
      if (told !== '') yield { type: 'text', text: told.slice(0, room).toWellFormed() }
      for (const source of fresh(...(read.sources ?? []))) yield { type: 'source', ...source }
      room -= told.length
      reason ??= room < 0 ? 'length' : answer.reason || null
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
    inputTokens: usage?.input ?? null,
    outputTokens: usage?.output ?? null,
  }
}

const longestArguments = 64 * 1024
const mostCalls = 16

/** Pieces of a call belong to the index they name; some servers name none, and begin each call with its id. */
function gather(calls: Map<number, ToolCall>, { index, id, name, arguments: told }: CallPiece): void {
  const isNew = id && ![...calls.values()].some((call) => call.id === id)
  const at = index ?? (isNew ? calls.size : Math.max(0, calls.size - 1))
  const before = calls.get(at) ?? { id: id || `call_${at}`, name: name ?? '', arguments: '' }
  const given = before.arguments + (told ?? '')
  if (given.length > longestArguments) throw new Error('The arguments of a call are too long')
  calls.set(at, { ...before, arguments: given })
  if (calls.size > mostCalls) throw new Error('There are too many calls')
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
