import { setTimeout as sleep } from 'node:timers/promises'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import { isNeverSent } from '#server/ports/database/port'
import { storeFrames } from './frame-store.ts'
import type { StoredFrames } from './model.ts'

/** What was told is stored at most 250 ms later: so long frames of all runs gather for one write, and the rest is for the write. */
const gatherMilliseconds = 150
const retryMilliseconds = 200
const atOnce = 500

/** What has frames to be stored. */
export interface FrameSource {
  /** What is to be stored now; null where there is nothing. Until that is stored or lost it is not asked again. */
  next(): StoredFrames | null
  stored(piece: StoredFrames): void
  /** Another node has the place of its frames, or no store can take them. */
  lose(): void
}

const queueOf = nodeState(() => ({
  gathering: new Set<FrameSource>(),
  timer: null as NodeJS.Timeout | null,
  waiting: new Set<FrameSource>(),
  isStoring: false,
}))

/** Stores what a source has, together with what others have by then. */
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

/** Stores what a source has without waiting for others. */
export function storeFramesSoon(node: Node, source: FrameSource): void {
  const queue = queueOf(node)
  queue.gathering.delete(source)
  queue.waiting.add(source)
  void storeAll(node, queue)
}

/** Makes one write at a time, of all that waits. */
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

/** Tries until the store answers, so that no frame is lost while it is away. Returns the runs that are lost. */
async function untilStored(node: Node, pieces: readonly StoredFrames[]): Promise<Set<string>> {
  for (;;) {
    try {
      return await storeFrames(pieces)
    } catch (error) {
      // One among them will never be taken: the others are not to be lost with it.
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
