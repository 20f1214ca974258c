import type { Node } from '#server/kernel/context'
import type { FrameBody } from '#shared/api/run-frames'
import type { FrameLog } from './frame-log.ts'
import { type FrameSource, storeFramesLater, storeFramesSoon } from './frame-queue.ts'
import { storedFrames } from './frame-store.ts'
import type { StoredFrames } from './model.ts'
import { sendFramesToNodes } from './relay.ts'

/** The pause between two frames of text: a reader gets at most twenty a second. */
const spacingMilliseconds = 50
/** Without the store, text of so much time may be sent unstored. */
const aheadMilliseconds = 2_000
/** Sent before they are stored, as only a reader's text depends on them. */
const sentFirst: readonly FrameBody['t'][] = ['start', 'status', 'chunk']

/**
 * The frames of a run that this node works on. Text is told when it is made and stored together with that of all other runs, at most 250 ms
 * later, so that no reader waits for a disk. What follows from that:
 *
 * - A frame gets its `idx` when it is told or begins to be stored, whichever is first, and is not changed afterwards: what is stored are the
 *   frames that were told, with the same numbers.
 * - Tools, citations, sources, times and the end are told once they are stored, and all before them. So an answer that was told as `done` is
 *   never lost, nor is what was done for it; and all that a reader may have been told in vain is text.
 * - Who stores a frame first at an idx has it. Where another node has ended the run, at the first idx that was not stored, this one is told so
 *   by its next write, and nothing more is told of it. Who was told more than is stored gets the stored end as their next frame, whatever
 *   its idx is (`FrameLog.frame`); it has the text that is kept, which takes the place of what they have. That holds for who reads along on
 *   any node, and for who resumes later.
 * - While the store is away, text is told for two seconds more. From then on it gathers as one frame, and is told once it is stored.
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
