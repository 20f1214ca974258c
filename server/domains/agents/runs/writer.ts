import { setTimeout as sleep } from 'node:timers/promises'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { isNeverSent } from '#server/ports/database/port'
import type { FrameBody } from '#shared/api/agents/run-frames'
import { type FrameLog, storedFrames, storeFrames } from './frame-store.ts'
import type { StoredFrames } from './model.ts'
import { sendFramesToNodes } from './relay.ts'

/** Sent frames are stored within 250 ms: they gather for this time, and the write takes the rest. */
const gatherMilliseconds = 150
const retryMilliseconds = 200
const atOnce = 500

/** A source of frames. */
interface FrameSource {
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
function storeFramesLater(node: Node, source: FrameSource): void {
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
function storeFramesSoon(node: Node, source: FrameSource): void {
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

/** The pause between two frames of text: a reader gets at most twenty a second. */
const spacingMilliseconds = 50
/** Without the store, text of so much time may be sent unstored. */
const aheadMilliseconds = 2_000
/** Sent before they are stored, as only a reader's text depends on them. */
const sentFirst: readonly FrameBody['t'][] = ['start', 'status', 'chunk']

/**
 * Writes the frames of a run on this node. Text is sent at once, and stored within 250 ms together with other runs. Thus no
 * reader waits for a disk.
 *
 * - A frame gets its final `idx` when it is sent, or when its write begins. Stored frames equal sent frames.
 * - Tools, citations, sources, times and the end are sent once they and all earlier frames are stored. A sent `done` is thus
 *   never lost; only text can be.
 * - The first frame stored at an `idx` is valid. If another node has ended the run, the next write fails, and sending ends.
 * - A reader with more frames than the store gets the stored end next, at any `idx` (`FrameLog.frame`). Its text replaces
 *   theirs. This holds for followers on each node, and for later readers.
 * - While the store is away, text is sent for two more seconds. Later text becomes one frame, and is sent once stored.
 */
export class RunWriter implements FrameSource {
  /** Another node has ended the run, or no store accepts it. */
  readonly lost = new AbortController()
  /** All text so far, sent or not. */
  text = ''
  readonly #node: Node
  readonly #log: FrameLog
  /** Frames that are not sent yet; a final chunk grows. */
  #waiting: FrameBody[] = []
  /** Frames that are being stored, and sent afterwards. */
  #held: FrameBody[] = []
  #chunkAt = Number.NEGATIVE_INFINITY
  /** When the first unstored frame was sent; null if all are stored. */
  #aheadSince: number | null = null
  #storingSince = 0
  #timer: NodeJS.Timeout | null = null

  constructor(node: Node, log: FrameLog) {
    this.#node = node
    this.#log = log
  }

  /** Adds a frame to the run. */
  write(body: FrameBody): void {
    const last = this.#waiting.at(-1)
    if (body.t === 'chunk') this.text = this.text.slice(0, body.off) + body.text
    if (body.t === 'chunk' && last?.t === 'chunk' && body.off === last.off + last.text.length) last.text += body.text
    else this.#waiting.push(body)
    this.#goOn()
  }

  /** Resolves when the end is stored and sent, or the run is lost. */
  async ended(): Promise<void> {
    const { signal } = this.lost
    while (!signal.aborted && !this.#log.isOver) await this.#log.reached(this.#log.frames.length, signal, 1_000)
  }

  next(): StoredFrames | null {
    if (this.lost.signal.aborted) return null
    if (this.#isStoredFirst()) {
      this.#held = this.#waiting
      this.#waiting = []
    }
    const { id, frames, stored } = this.#log
    const fresh = [...frames.slice(stored), ...this.#held]
    if (fresh.length === 0) return null
    this.#storingSince = performance.now()
    return storedFrames(id, stored, fresh, this.#node.id, this.#node.now())
  }

  stored({ to_idx }: StoredFrames): void {
    this.#log.stored = to_idx + 1
    const held = this.#held
    this.#held = []
    if (held.length > 0) this.#send(held)
    this.#aheadSince = this.#log.stored < this.#log.frames.length ? this.#storingSince : null
    this.#goOn()
  }

  lose(): void {
    this.#waiting = []
    this.#held = []
    this.#stopTimer()
    this.lost.abort()
  }

  #isStoredFirst(): boolean {
    const isFarAhead = this.#aheadSince !== null && performance.now() - this.#aheadSince > aheadMilliseconds
    return isFarAhead || this.#waiting.some(({ t }) => !sentFirst.includes(t))
  }

  /** Sends waiting frames, or stores them, as soon as allowed. */
  #goOn(): void {
    if (this.#waiting.length === 0 || this.#held.length > 0) return
    if (this.#isStoredFirst()) {
      this.#stopTimer()
      storeFramesSoon(this.#node, this)
      return
    }
    const isText = this.#waiting.every(({ t }) => t === 'chunk')
    const wait = isText ? this.#chunkAt + spacingMilliseconds - performance.now() : 0
    if (wait > 0) {
      this.#timer ??= setTimeout(() => {
        this.#timer = null
        this.#goOn()
      }, wait)
      return
    }
    this.#stopTimer()
    const frames = this.#waiting
    this.#waiting = []
    this.#send(frames)
    this.#aheadSince ??= performance.now()
    storeFramesLater(this.#node, this)
  }

  #send(frames: readonly FrameBody[]): void {
    const from = this.#log.frames.length
    if (frames.some(({ t }) => t === 'chunk')) this.#chunkAt = performance.now()
    this.#log.take(from, frames)
    sendFramesToNodes(this.#node, this.#log.id, from, frames)
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }
}
