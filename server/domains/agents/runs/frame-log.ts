import { type FrameBody, isTerminal, type RunFrame } from '#shared/api/agents/run-frames'

/** The frames of a run that this node knows, and the readers who wait for more. */
export class FrameLog {
  readonly id: string
  readonly frames: FrameBody[] = []
  /** The number of stored frames, for runs of this node. */
  stored = 0
  readonly #waiting = new Set<() => void>()

  constructor(id: string) {
    this.id = id
  }

  get isOver(): boolean {
    const last = this.frames.at(-1)
    return last !== undefined && isTerminal(last)
  }

  /** Adds new frames from an idx; false if earlier ones are missing. */
  take(from: number, frames: readonly FrameBody[]): boolean {
    if (from > this.frames.length) return false
    const fresh = frames.slice(this.frames.length - from)
    if (fresh.length === 0) return true
    this.frames.push(...fresh)
    this.#wake()
    return true
  }

  /** Replaces the frames by the stored ones of an ended run. */
  endWith(kept: readonly FrameBody[]): void {
    this.frames.splice(0, this.frames.length, ...kept)
    this.#wake()
  }

  /** Resolves when the frame exists, at an abort, or after some time. */
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

  /** The frame at an idx, or null. Past the end of a lost run it is that end, as its node may have sent more. */
  frame(idx: number): RunFrame | null {
    const body = this.frames[idx] ?? this.#endOfLost()
    return body ? ({ run_id: this.id, idx, ...body } as RunFrame) : null
  }

  /** The frames from an idx on, up to a limit. */
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
