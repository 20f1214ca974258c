import { setImmediate as atItsEnd } from 'node:timers'

/**
 * Reads share some milliseconds of each turn of the loop. Later and longer reads wait for a later turn, in order. However
 * many there are, writes get the loop in between.
 */
export class Turns {
  readonly #milliseconds: number
  readonly #waiting: (() => void)[] = []
  /** When the time of this turn is over; null while nothing was read in it. */
  #end: number | null = null

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  /** May a read begin now? */
  hasRoom(): boolean {
    return this.#waiting.length === 0 && this.hasTime()
  }

  /** May a read that has begun go on? */
  hasTime(): boolean {
    this.#end ??= this.#begin()
    return performance.now() < this.#end
  }

  /** Resolves in a turn that has time. */
  next(): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }

  #begin(): number {
    atItsEnd(() => {
      this.#end = null
      if (this.#waiting.length === 0) return
      this.#end = this.#begin()
      this.#resume()
    })
    return performance.now() + this.#milliseconds
  }

  /** One after the other, each with whatever is done with what it has read. */
  #resume(): void {
    this.#waiting.shift()?.()
    queueMicrotask(() =>
      process.nextTick(() => {
        if (this.#end !== null && performance.now() < this.#end) this.#resume()
      }),
    )
  }
}
