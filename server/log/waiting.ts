import { AppError } from '#shared/errors'
import type { Act, Clock, Outcome, Row } from './types.ts'

/** The last rows of a room, without a gap, with an index by idempotency key. */
export class RowRing {
  #rows: Row[] = []
  #seqOf = new Map<string, number>()

  /** The seq before the oldest row in memory. */
  get floor(): number {
    const first = this.#rows[0]
    return first ? first.seq - 1 : 0
  }

  get length(): number {
    return this.#rows.length
  }

  push(row: Row): void {
    this.#rows.push(row)
    this.#seqOf.set(actKeyOf(row.sender, row.cid), row.seq)
  }

  at(seq: number): Row | undefined {
    return this.#rows[seq - this.floor - 1]
  }

  find(key: string): Row | undefined {
    const seq = this.#seqOf.get(key)
    return seq === undefined ? undefined : this.at(seq)
  }

  after(seq: number, limit = Number.POSITIVE_INFINITY): Row[] {
    const start = Math.max(0, seq - this.floor)
    return this.#rows.slice(start, start + limit)
  }

  /** Changes all rows that it can, then throws the first failure. */
  rewrite(event: Row, change: (row: Row) => Row): void {
    const failures: unknown[] = []
    for (const [index, row] of this.#rows.entries()) {
      if (row.seq >= event.seq || row.applied_seq >= event.seq) continue
      try {
        const after = change(row)
        if (after !== row) this.#rows[index] = { ...after, applied_seq: event.seq }
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  /** Puts other rows in the place of those that an erasure has changed in the store. */
  replace(change: (row: Row) => Row): void {
    this.#rows = this.#rows.map(change)
    this.#seqOf = new Map(this.#rows.map((row) => [actKeyOf(row.sender, row.cid), row.seq]))
  }

  /** Removes the rows up to this seq. */
  trim(seq: number): void {
    for (const row of this.#rows.splice(0, seq - this.floor)) this.#seqOf.delete(actKeyOf(row.sender, row.cid))
  }
}

function actKeyOf(sender: string, cid: string): string {
  return `${sender}\n${cid}`
}

const answerMilliseconds = 3_000

interface Settling<T> {
  resolve(outcome: Outcome<T>): void
  reject(error: unknown): void
}

/** An act that waits for its answer. */
export class WaitingAct<T> {
  readonly act: Act<T>
  readonly cid: string
  readonly key: string
  /** A refusal needs a read that began after this tick. */
  readonly arrived: number
  /** The seq at which an insert without an answer may have stored it. */
  mayBeStoredAt = 0
  isSettled = false
  readonly #promise: Settling<T>

  constructor(act: Act<T>, own: { cid: string; arrived: number; deadlines: Deadlines }, promise: Settling<T>) {
    this.act = act
    this.cid = own.cid
    this.key = actKeyOf(act.sender, own.cid)
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
  areWaiting(): boolean
}

interface Expiring {
  isSettled: boolean
  refuse(error: unknown): void
}

/**
 * Refuses acts after 3 s (times the deadline factor). One timer serves the queue, as all acts have the same deadline.
 */
export function createDeadlines(clock: Clock, deadlineFactor: number): Deadlines {
  // Acts settle in nearly the order in which they came, so a queue costs less than a set.
  let queue: { waiting: Expiring; deadline: number }[] = []
  let settled = 0
  let isWatching = false

  function dropSettled(): void {
    // Settled acts are released at once, so that the queue keeps none of them in memory.
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
