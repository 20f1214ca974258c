import { type MessageFact, messageFactOf, sealingOf } from '#server/domains/rooms/room-state/facts'
import { presentMessagesBetween } from '#server/domains/rooms/room-state/redaction'
import {
  blockOf,
  blockSize,
  blocksWith,
  containsWords,
  fileBlock,
  filedBlocks,
  nextBlock,
  searchWords,
  segmentSize,
  termOf,
} from '#server/domains/rooms/room-state/search-index'
import type { Action, Context, Node } from '#server/kernel/context'
import { createTurnstile } from '#server/kernel/limits/turnstile'
import { nodeState } from '#server/kernel/operate/node-state'
import { GLOBAL, type RoomKey } from '#server/log/types'
import type { messages as contract } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { messageCountAt, readableRoom } from './history.ts'
import { messagesOf } from './pages.ts'

// Indexing takes at most a twentieth of the time, so that it slows nothing down.
const restFactor = 19
const longestRestMilliseconds = 1_000

interface IndexingState {
  /** Rooms with full blocks to index, each with blocks to index again. */
  due: Map<RoomKey, Set<number>>
  isAtWork: boolean
  isStopped: boolean
}

const indexingOf = nodeState((): IndexingState => ({ due: new Map(), isAtWork: false, isStopped: false }))

/** Indexes messages for the search: each full block, one at a time. */
export function followSearch(node: Node): () => void {
  const filing = indexingOf(node)
  node.log.onRows((room, rows, isOurs) => {
    const isFull = rows.some(({ n }) => n !== null && n % blockSize === 0)
    if (isFull && isOurs && room !== GLOBAL) scheduleIndexing(node, room)
  })
  return () => {
    filing.isStopped = true
  }
}

/** Indexes a room's full blocks, and again a block with deleted words. */
function scheduleIndexing(node: Node, room: RoomKey, block?: number): void {
  const filing = indexingOf(node)
  if (filing.isStopped) return
  const again = filing.due.get(room) ?? new Set()
  if (block !== undefined) again.add(block)
  filing.due.set(room, again)
  if (!filing.isAtWork) void indexDueRooms(node, filing)
}

/** One block of each room in turn, so that a long log delays no other. */
async function indexDueRooms(node: Node, filing: IndexingState): Promise<void> {
  filing.isAtWork = true
  for (const [room, again] of filing.due) {
    filing.due.delete(room)
    if (filing.isStopped) break
    const began = performance.now()
    await indexNext(node, room, again).catch((error: unknown) =>
      node.logger.warn({ error, room }, 'messages were not filed for the search; they are with the next ones'),
    )
    const rest = Math.min(restFactor * (performance.now() - began), longestRestMilliseconds)
    await new Promise((resolve) => setTimeout(resolve, rest).unref())
  }
  filing.isAtWork = false
}

async function indexNext(node: Node, room: RoomKey, again: Set<number>): Promise<void> {
  if ((await node.log.ask(room, sealingOf)) !== null) return
  const next = again.values().next().value ?? (await nextBlock(room))
  if ((next + 1) * blockSize > (await node.log.head(room)).total) return
  await fileBlock(room, next)
  again.delete(next)
  const { due } = indexingOf(node)
  due.set(room, new Set([...again, ...(due.get(room) ?? [])]))
}

const budgetMilliseconds = 50
/** A busy machine may take longer than the budget, so each call reads at least one block. */
const readAtLeast = blockSize
const readAtMost = 2_000
const segmentsAtMost = 8
/** The reading of a few segments costs as much as this many messages. */
const readForALookUp = 32
const sliceMilliseconds = 10

/** Slices of searches run one at a time, with other work in between. */
const turnOn = nodeState(createTurnstile)

/** An inclusive range of ordinals that may match, empty if `to` is below `from`. It omits nothing above `from`. */
interface OrdinalRange {
  from: number
  to: number
}

/** Messages with all words, newest first. A costly call ends early with its place, so that no search delays others. */
export const search: Action<typeof contract.search> = async ({ room, query, limit, before_seq }, context) => {
  const { node } = context
  const turn = turnOn(node)
  const { key, isInsider, sealed, ...head } = await readableRoom(context, room)
  if (sealed !== null) {
    const what = sealed === 'epoch' ? 'Direct messages' : 'Messages of rooms with a shared key'
    throw new AppError('VALIDATION_ERROR', { message: `${what} are ciphertext and cannot be searched here` })
  }
  const words = searchWords(query)
  if (words.length === 0)
    throw new AppError('VALIDATION_ERROR', { message: 'Search for a word: letters, digits or an emoji' })
  const start = before_seq === undefined ? head.total : await messageCountAt(node, key, before_seq - 1, head)
  const found: MessageFact[] = []
  let rest = start
  let left = budgetMilliseconds
  let read = 0
  const isEnough = () => found.length === limit || (left <= 0 && read >= readAtLeast) || read >= readAtMost
  for await (const { from, to } of rest > 0 ? candidateRanges(node, key, words, start) : []) {
    if (!(await isPaid(context, from > to ? readForALookUp : to - from + 1, read > 0))) break
    await turn()
    const facts = from > to ? [] : (await presentMessagesBetween(key, from, to)).map(messageFactOf)
    rest = from - 1
    let began = performance.now()
    let counted = began
    for (const fact of facts.reverse()) {
      read += 1
      if (!fact.body.deleted && containsWords(fact.body.text, words)) found.push(fact)
      const now = performance.now()
      left -= now - counted
      counted = now
      if (isEnough()) {
        rest = fact.n - 1
        break
      }
      if (now - began < sliceMilliseconds) continue
      await turn()
      began = counted = performance.now()
    }
    if (isEnough()) break
  }
  return {
    messages: await messagesOf(key, found, isInsider),
    has_more: rest > 0,
    next_before_seq: rest > 0 ? await seqAfter(key, rest) : null,
    searched: start - rest,
  }
}

/** A call that has read something ends early if its budget is spent. */
async function isPaid(context: Context, messages: number, hasRead: boolean): Promise<boolean> {
  try {
    await context.charge(messages)
    return true
  } catch (error) {
    if (hasRead && error instanceof AppError && error.code === 'RATE_LIMIT_EXCEEDED') return false
    throw error
  }
}

/** Unindexed messages first, then indexed blocks that may contain every word. */
async function* candidateRanges(
  node: Node,
  room: RoomKey,
  words: readonly string[],
  start: number,
): AsyncGenerator<OrdinalRange> {
  const filed = (await filedBlocks(room)) * blockSize
  if (start - filed >= blockSize) scheduleIndexing(node, room)
  let to = start
  for (; to > filed; to = Math.max(filed, to - blockSize)) yield { from: Math.max(filed, to - blockSize) + 1, to }
  const terms = [...words].sort((one, other) => other.length - one.length).map(termOf)
  let next = to > 0 ? Math.floor(blockOf(to) / segmentSize) : -1
  for (let count = 1; next >= 0; ) {
    const segments = Array.from({ length: Math.min(count, next + 1) }, (_, at) => next - at)
    next -= segments.length
    const blocks = await blocksWith(room, segments, terms)
    for (const { block, is_ready } of blocks) {
      const from = block * blockSize + 1
      if (from > to) continue
      if (!is_ready) scheduleIndexing(node, room, block)
      yield { from, to: Math.min(to, from + blockSize - 1) }
    }
    const lowest = (next + 1) * segmentSize * blockSize + 1
    yield { from: lowest, to: lowest - 1 }
    count = blocks.length > 0 ? 1 : Math.min(2 * count, segmentsAtMost)
  }
}

/** The seq after the nth message. */
async function seqAfter(room: RoomKey, n: number): Promise<number | null> {
  const [row] = await presentMessagesBetween(room, n, n)
  return row ? row.seq + 1 : null
}
