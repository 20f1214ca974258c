import type { FrameBody, RunFrame } from '#shared/api/run-frames'
import { isTerminal } from '#shared/api/run-frames'

/** The stored frames of one run, as far as this node knows them, and who waits for the next. */
export class FrameLog {
  readonly id: string
  readonly frames: FrameBody[] = []
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
    for (const wake of [...this.#waiting]) wake()
    return true
  }

  /** Resolves when there is a frame with this idx, when the signal is aborted, or after some time. */
  async reached(idx: number, signal: AbortSignal, milliseconds: number): Promise<void> {
    if (idx < this.frames.length || signal.aborted) return
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

  frame(idx: number): RunFrame {
    return { run_id: this.id, idx, ...this.frames[idx] } as RunFrame
  }
}
