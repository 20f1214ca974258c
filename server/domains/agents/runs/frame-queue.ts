import { setTimeout as sleep } from 'node:timers/promises'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { isNeverSent } from '#server/ports/database/port'
import { storeFrames } from './frame-store.ts'
import type { StoredFrames } from './model.ts'

/** Sent frames are stored within 250 ms: they gather for this time, and the write takes the rest. */
const gatherMilliseconds = 150
const retryMilliseconds = 200
const atOnce = 500

/** A source of frames. */
export interface FrameSource {
  /** The frames to store now, if any. It is not called again until they are stored or lost. */
  next(): StoredFrames | null
  stored(piece: StoredFrames): void
  /** Another node has taken the position, or no store accepts them. */
  lose(): void
}

const queueOf = nodeState(() => ({
  gathering: new Set<FrameSource>(),
  timer: null as NodeJS.Timeout | null,
  waiting: new Set<FrameSource>(),
  isStoring: false,
}))

/** Stores the frames of a source, with those of others. */
export function storeFramesLater(node: Node, source: FrameSource): void {
  const queue = queueOf(node)
  queue.gathering.add(source)
  queue.timer ??= setTimeout(() => {
    queue.timer = null
    for (const one of queue.gathering) queue.waiting.add(one)
    queue.gathering.clear()
    void storeAll(node, queue)
  }, gatherMilliseconds)
}

/** Stores the frames of a source without waiting. */
export function storeFramesSoon(node: Node, source: FrameSource): void {
  const queue = queueOf(node)
  queue.gathering.delete(source)
  queue.waiting.add(source)
  void storeAll(node, queue)
}

/** Writes all waiting frames, one write at a time. */
async function storeAll(node: Node, queue: ReturnType<typeof queueOf>): Promise<void> {
  if (queue.isStoring) return
  queue.isStoring = true
  await Promise.resolve()
  while (queue.waiting.size > 0) {
    const turn = [...queue.waiting].slice(0, atOnce)
    for (const source of turn) queue.waiting.delete(source)
    await store(node, turn)
  }
  queue.isStoring = false
}

async function store(node: Node, turn: readonly FrameSource[]): Promise<void> {
  const pieces = turn.flatMap((source) => {
    const piece = source.next()
    return piece ? [{ source, piece }] : []
  })
  if (pieces.length === 0) return
  const lost = await untilStored(
    node,
    pieces.map(({ piece }) => piece),
  )
  for (const { source, piece } of pieces) {
    if (lost.has(piece.run_id)) source.lose()
    else source.stored(piece)
  }
}

/** Retries until the store answers. Returns the lost runs. */
async function untilStored(node: Node, pieces: readonly StoredFrames[]): Promise<Set<string>> {
  for (;;) {
    try {
      return await storeFrames(pieces)
    } catch (error) {
      // One of them is unacceptable; the others must not be lost with it.
      if (isNeverSent(error))
        return pieces.length > 1 ? eachAlone(node, pieces) : new Set(pieces.map(({ run_id }) => run_id))
      node.logger.warn({ error }, 'frames of answers were not stored; they are tried again')
      await sleep(retryMilliseconds)
    }
  }
}

async function eachAlone(node: Node, pieces: readonly StoredFrames[]): Promise<Set<string>> {
  const lost = new Set<string>()
  for (const piece of pieces) for (const run of await untilStored(node, [piece])) lost.add(run)
  return lost
}
