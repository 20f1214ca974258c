import { AppError } from '#shared/errors'
import { keyOf } from './ring.ts'
import type { Act, Clock, Outcome } from './types.ts'

const PATIENCE = 3_000

interface Settling<T> {
  resolve(outcome: Outcome<T>): void
  reject(error: unknown): void
}

/** An act on its way to an answer. */
export class Waiting<T> {
  readonly act: Act<T>
  readonly cid: string
  readonly key: string
  /** A read that began after this tick shows what this act must not miss. */
  readonly arrived: number
  isSettled = false
  readonly #promise: Settling<T>
  readonly #deadlines: Deadlines

  constructor(act: Act<T>, own: { cid: string; arrived: number; deadlines: Deadlines }, promise: Settling<T>) {
    this.act = act
    this.cid = own.cid
    this.key = keyOf(act.sender, own.cid)
    this.arrived = own.arrived
    this.#promise = promise
    this.#deadlines = own.deadlines
    own.deadlines.add(this)
  }

  answer(outcome: Outcome<T>): void {
    this.isSettled = true
    this.#deadlines.remove(this)
    this.#promise.resolve(outcome)
  }

  refuse(error: unknown): void {
    this.isSettled = true
    this.#deadlines.remove(this)
    this.#promise.reject(error)
  }
}

export interface Deadlines {
  /** How many are still without an answer. */
  waiting(): number
  add(waiting: Expiring): void
  remove(waiting: Expiring): void
}
interface Expiring {
  refuse(error: unknown): void
}

/** Refuses whatever has no answer after 3 s; one sleep at a time, as all are equally patient. */
export function createDeadlines(clock: Clock): Deadlines {
  const deadlines = new Map<Expiring, number>()
  let isWatching = false

  // An iterator kept over a sleep would keep everything deleted meanwhile.
  async function watch(): Promise<void> {
    isWatching = true
    for (let [first] = deadlines; first; [first] = deadlines) {
      const [waiting, deadline] = first
      const left = deadline - clock.now()
      if (left > 0) await clock.sleep(left)
      else if (deadlines.delete(waiting)) waiting.refuse(new AppError('SERVICE_UNAVAILABLE'))
    }
    isWatching = false
  }

  return {
    waiting: () => deadlines.size,
    add(waiting) {
      deadlines.set(waiting, clock.now() + PATIENCE)
      if (!isWatching) void watch()
    },
    remove: (waiting) => void deadlines.delete(waiting),
  }
}
