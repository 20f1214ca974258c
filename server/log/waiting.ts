import { AppError } from '#shared/errors'
import { keyOf } from './ring.ts'
import type { Act, Clock, Outcome } from './types.ts'

const answerMilliseconds = 3_000

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
  /** The seq at which it may come to stand by an insert whose answer was lost. */
  mayStandAt = 0
  isSettled = false
  readonly #promise: Settling<T>

  constructor(act: Act<T>, own: { cid: string; arrived: number; deadlines: Deadlines }, promise: Settling<T>) {
    this.act = act
    this.cid = own.cid
    this.key = keyOf(act.sender, own.cid)
    this.arrived = own.arrived
    this.#promise = promise
    own.deadlines.add(this)
  }

  answer(outcome: Outcome<T>): void {
    this.isSettled = true
    this.#promise.resolve(outcome)
  }

  refuse(error: unknown): void {
    this.isSettled = true
    this.#promise.reject(error)
  }
}

export interface Deadlines {
  add(waiting: Expiring): void
  /** Is any still without an answer? */
  areWaiting(): boolean
}

interface Expiring {
  isSettled: boolean
  refuse(error: unknown): void
}

/** Refuses acts unanswered after 3 s (times the deadline factor). One timer serves the whole queue, as all acts have the same deadline. */
export function createDeadlines(clock: Clock, deadlineFactor: number): Deadlines {
  // All but the first few are settled in the order they came, so a queue costs less than a set.
  let queue: { waiting: Expiring; deadline: number }[] = []
  let settled = 0
  let isWatching = false

  function dropSettled(): void {
    // What is settled is let go at once, so that it is not kept until the queue is cut.
    while (queue[settled]?.waiting.isSettled) queue[settled++] = nobody
    if (settled < 1_024 && settled < queue.length) return
    queue = queue.slice(settled)
    settled = 0
  }

  async function watch(): Promise<void> {
    isWatching = true
    for (let first = queue[settled]; first; first = queue[settled]) {
      const left = first.deadline - clock.elapsed()
      if (left > 0) await clock.sleep(Math.ceil(left))
      else expire(first.waiting)
      dropSettled()
    }
    isWatching = false
  }

  return {
    add(waiting) {
      dropSettled()
      queue.push({ waiting, deadline: clock.elapsed() + answerMilliseconds * deadlineFactor })
      if (!isWatching) void watch()
    },
    areWaiting: () => queue.some(({ waiting }) => !waiting.isSettled),
  }
}

const nobody = { waiting: { isSettled: true, refuse() {} }, deadline: 0 }

function expire(waiting: Expiring): void {
  if (!waiting.isSettled) waiting.refuse(new AppError('SERVICE_UNAVAILABLE'))
  waiting.isSettled = true
}
