import { type FrameBody, isTerminal, type RunFrame } from '#shared/api/run-frames'

/** The frames of one run, as far as this node knows them, and who waits for the next. */
export class FrameLog {
  readonly id: string
  readonly frames: FrameBody[] = []
  /** How many of them are stored, where this node works on the run. */
  stored = 0
  readonly #waiting = new Set<() => void>()

  constructor(id: string) {
    this.id = id
  }

  get isOver(): boolean {
    const last = this.frames.at(-1)
    return last !== undefined && isTerminal(last)
  }

  /** Adds frames that begin at an idx, those that are known already left out; false where frames before them are missing. */
  take(from: number, frames: readonly FrameBody[]): boolean {
    if (from > this.frames.length) return false
    const fresh = frames.slice(this.frames.length - from)
    if (fresh.length === 0) return true
    this.frames.push(...fresh)
    this.#wake()
    return true
  }

  /** Takes the frames that are kept of a run that has ended in the place of those that were told. */
  endWith(kept: readonly FrameBody[]): void {
    this.frames.splice(0, this.frames.length, ...kept)
    this.#wake()
  }

  /** Resolves when there is a frame with this idx, when the signal is aborted, or after some time. */
  async reached(idx: number, signal: AbortSignal, milliseconds: number): Promise<void> {
    if (this.frame(idx) || signal.aborted) return
    await new Promise<void>((resolve) => {
      const over = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', over)
        this.#waiting.delete(over)
        resolve()
      }
      const timer = setTimeout(over, milliseconds)
      signal.addEventListener('abort', over)
      this.#waiting.add(over)
    })
  }

  /** The frame with this idx; null where there is none. Behind the end of a run whose node was lost it is that end again: it may have told more. */
  frame(idx: number): RunFrame | null {
    const body = this.frames[idx] ?? this.#endOfLost()
    return body ? ({ run_id: this.id, idx, ...body } as RunFrame) : null
  }

  /** The frames from an idx on, up to the end: so many at the most. */
  framesFrom(from: number, most: number): RunFrame[] {
    const found: RunFrame[] = []
    for (let idx = from; found.length < most; idx++) {
      const frame = this.frame(idx)
      if (frame) found.push(frame)
      if (!frame || isTerminal(frame)) break
    }
    return found
  }

  #endOfLost(): FrameBody | null {
    const last = this.frames.at(-1)
    return last?.t === 'error' && last.message !== undefined ? last : null
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }
}
