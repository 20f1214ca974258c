import { z } from 'zod'
import {
  type ModelRequest,
  openAsking,
  type Patience,
  type Provider,
  retrying,
  withoutRefused,
} from './openai-request.ts'
import type { Model, Part, Question, ToolCall } from './port.ts'
import { withoutThoughts } from './thoughts.ts'

/** What a server says beside the text, which is no reason to refuse the text. */
const list = z.array(z.unknown()).nullish().catch(null)

/** Where chunks name the pages that an answer rests on: chat completions in `annotations`, other servers at the top. */
export const sourceFields = {
  ofChoice: { annotations: list },
  ofChunk: { search_results: list, citations: list },
}

const Page = z.object({ url: z.string(), title: z.string().nullish() })
const Annotation = z
  .object({ type: z.literal('url_citation'), url_citation: Page })
  .transform((one) => one.url_citation)
const Bare = z.string().transform((url) => ({ url, title: null }))
const Source = z.union([Annotation, Page, Bare])

const mostSources = 20

/** Gives of each list the pages that were not named before, up to the most. */
function newSources(): (...lists: (readonly unknown[] | null | undefined)[]) => { url: string; title: string }[] {
  const known = new Set<string>()
  return (...lists) =>
    lists.flatMap((told) =>
      (told ?? []).flatMap((one) => {
        const page = Source.safeParse(one).data
        if (!page || known.has(page.url) || known.size >= mostSources) return []
        known.add(page.url)
        return [{ url: page.url, title: page.title ?? '' }]
      }),
    )
}

/** What one piece of a stream says, whichever interface it comes by. */
export interface StreamPiece {
  text?: string | null | undefined
  calls?: readonly CallPiece[] | null | undefined
  /** Lists of pages that the answer rests on. */
  sources?: readonly (readonly unknown[] | null | undefined)[]
  /** Why the answer has ended: `length` and `content_filter` cut it off, any other word means that it is whole. An empty one means so where it is done. */
  reason?: string | null | undefined
  /** The server has said that nothing follows. */
  isDone?: boolean
  usage?: { input: number | null | undefined; output: number | null | undefined } | null | undefined
}

interface CallPiece {
  index?: number | null | undefined
  id?: string | null | undefined
  name?: string | null | undefined
  arguments?: string | null | undefined
}

interface Interface {
  read(piece: unknown): StreamPiece
  /** What a server may refuse, and is asked without then: newer models of some take fewer parameters. */
  dispensable(question: Question): readonly string[]
  ask(question: Question, refused: ReadonlySet<string>, signal: AbortSignal): Promise<AsyncIterable<unknown>>
}

/** A model that a provider streams the answers of. */
export function streamedModel(provider: Provider, patience: Partial<Patience>, by: Interface): Model {
  const refused = new Set<string>()
  return {
    name: provider.model,
    isScripted: false,
    async *answer(question, signal) {
      signal.throwIfAborted()
      const asking = openAsking(signal, patience)
      const ask = () => by.ask(question, refused, asking.signal)
      try {
        const pieces = await retrying(asking, () => withoutRefused(refused, by.dispensable(question), ask))
        yield* readParts(pieces, by.read, question, asking)
      } catch (error) {
        throw asking.meant(error)
      } finally {
        asking.end()
      }
    },
  }
}

/** The longest average token of any tokenizer; a server that sends more ignores the request's limit. */
const charactersPerToken = 16

/**
 * The parts of a streamed answer, without the model's thoughts and without calls of tools as text. A stream that ends without
 * a reason was cut off. The client does not report that, as it ends quietly on an abort too.
 */
async function* readParts(
  pieces: AsyncIterable<unknown>,
  readPiece: (piece: unknown) => StreamPiece,
  { maxOutputTokens }: Question,
  asking: ModelRequest,
): AsyncGenerator<Part> {
  const { idleMilliseconds, closingMilliseconds } = asking.patience
  const calls = newCalls()
  const whole = wholeCharacters()
  const answered = withoutThoughts()
  const fresh = newSources()
  let room = maxOutputTokens * charactersPerToken
  let reason: string | null = null
  let isUnnamed = false
  let usage: StreamPiece['usage'] = null
  asking.expect(idleMilliseconds)
  try {
    for await (const piece of pieces) {
      asking.asker.throwIfAborted()
      const read = readPiece(piece)
      const answer: StreamPiece = reason === null ? read : {}
      const told = whole(answer.text ?? '')
      for (const call of answer.calls ?? []) calls.gather(call)
      asking.rest()
      const { unsaid, said } = answered(told.slice(0, Math.max(0, room)))
      if (unsaid > 0) yield { type: 'unsaid', length: unsaid }
      if (said !== '') yield { type: 'text', text: said.toWellFormed() }
      for (const source of fresh(...(read.sources ?? []))) yield { type: 'source', ...source }
      room -= told.length
      isUnnamed ||= answer.reason === ''
      reason ??= room < 0 ? 'length' : answer.reason || (isUnnamed && answer.isDone ? 'stop' : null)
      usage = read.usage ?? usage
      if (room < 0) break
      asking.expect(reason === null ? idleMilliseconds : closingMilliseconds)
    }
  } catch (error) {
    // The reason was the last that mattered.
    if (reason === null) throw error
  }
  asking.asker.throwIfAborted()
  const left = answered.rest()
  if (reason === null) throw new Error('The answer ended without a reason')
  if (left !== '') yield { type: 'text', text: left.toWellFormed() }
  const isWhole = reason !== 'length' && reason !== 'content_filter'
  if (isWhole) for (const call of calls.all()) yield { type: 'call', call }
  yield {
    type: 'end',
    reason:
      reason === 'length'
        ? reason
        : reason === 'content_filter'
          ? 'filtered'
          : calls.all().length > 0
            ? 'calls'
            : 'stop',
    inputTokens: usage?.input ?? null,
    outputTokens: usage?.output ?? null,
    ...(answered.calls() > 0 && { callsInText: answered.calls() }),
  }
}

const longestArguments = 64 * 1024
const mostCalls = 16

/**
 * Pieces of a call belong to the index they name. Some servers give no index, or one for all, and begin each call with its id
 * and name. Some send the name after the id, in pieces, or again with each piece.
 */
function newCalls() {
  const calls: ToolCall[] = []
  /** Where the last call of each index is. */
  const placeOf = new Map<number, number>()

  function place({ index, id, name }: CallPiece): number {
    const known = id ? calls.findIndex((call) => call.id === id) : -1
    if (known >= 0) return known
    const last = index == null ? calls.length - 1 : (placeOf.get(index) ?? -1)
    const before = calls[last]
    const begins = index == null ? Boolean(id || (name && before?.name)) : Boolean(id && name)
    return before === undefined || begins ? calls.length : last
  }

  return {
    all: (): readonly ToolCall[] => calls,
    gather(piece: CallPiece): void {
      const at = place(piece)
      const before = calls[at] ?? { id: piece.id || `call_${at}`, name: '', arguments: '' }
      const given = before.arguments + (piece.arguments ?? '')
      if (given.length > longestArguments) throw new Error('The arguments of a call are too long')
      if (at >= mostCalls) throw new Error('There are too many calls')
      calls[at] = { ...before, name: grownName(before, piece.name ?? ''), arguments: given }
      if (piece.index != null) placeOf.set(piece.index, at)
    },
  }
}

/** The name of a call after one more piece. A repeated name is not a piece of it, and none follows the arguments. */
const grownName = (before: ToolCall, piece: string): string =>
  piece === before.name || before.arguments !== '' ? before.name || piece : before.name + piece

/** Keeps the first half of a character back until the other half is there. */
function wholeCharacters(): (text: string) => string {
  let half = ''
  return (text) => {
    const given = half + text
    half = /[\ud800-\udbff]$/.exec(given)?.[0] ?? ''
    return given.slice(0, given.length - half.length)
  }
}
