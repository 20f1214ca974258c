import mongoose from 'mongoose'
import type { Environment } from './environment.ts'
import type { IndexRecord } from './indexes.ts'
import { type Lock, LockLost } from './lock.ts'

/** What the file holds, by namespace; kept whole under one key. */
export interface CollectionRecord {
  tree: number
  indexes: IndexRecord[]
}
export interface Catalog {
  nextTree: number
  collections: Record<string, CollectionRecord>
}

export interface Slot {
  key: Buffer
  value: Buffer
}

/** What is durable at one moment. Others write meanwhile and nobody waits, but the file grows; so it must be released. */
export interface Moment {
  readonly catalog: Catalog
  scan(low: Buffer, high: Buffer): Generator<Slot>
  release(): void
}

interface Job {
  run: () => unknown
  outcome: { value: unknown } | { error: unknown } | undefined
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

const CATALOG = Buffer.of(0, 0)
const NUL = Buffer.of(0)
const FIRST_PIECE = 16
const LARGEST_PIECE = 1024
const MOST_BYTES = 1_048_576

/** Ordered bytes on disk. Reads see what is durable; writes queue up while a commit is under way and share the next one. */
export class Storage {
  catalog: Catalog = { nextTree: 1, collections: {} }
  readonly counters = { documentsRead: 0, commits: 0 }
  readonly #onRollback: (() => void)[] = []
  readonly #database: Environment
  readonly #lock: Lock
  readonly #held = new Set<Transaction>()
  #queue: Job[] = []
  #closed = false
  #committing: Promise<void> | null = null

  constructor(database: Environment, lock: Lock) {
    this.#database = database
    this.#lock = lock
    this.#readCatalog()
  }

  /** The bytes hold only until the next read. */
  get(key: Buffer): Buffer | undefined {
    this.#checkOpen()
    return this.#database.getBinaryFast(key)
  }

  /** The one slot of a key, or none. */
  slot(key: Buffer): Slot[] {
    this.#checkOpen()
    const value = this.#database.getBinary(key)
    return value ? [{ key, value }] : []
  }

  /** Keys in low <= key < high, or backwards; read piece by piece, so that nothing is held while the reader pauses. */
  *scan(low: Buffer, high: Buffer, reverse: boolean, within: Reading = {}): Generator<Slot> {
    let [start, end, limit] = [low, high, FIRST_PIECE]
    while (Buffer.compare(start, end) < 0) {
      const range = reverse
        ? { start: end, end: start, limit, reverse, exclusiveStart: true, inclusiveEnd: true }
        : { start, end, limit }
      this.#checkOpen()
      const { piece, isLast } = pieceOf(this.#database.getRange({ ...range, ...within }), limit)
      yield* piece
      const last = piece.at(-1)
      if (!last || isLast) return
      if (reverse) end = last.key
      else start = Buffer.concat([last.key, NUL])
      limit = Math.min(limit * 4, LARGEST_PIECE)
    }
  }

  moment(): Moment {
    this.#checkOpen()
    // biome-ignore lint/correctness/useHookAtTopLevel: a method of lmdb, no hook
    const transaction = this.#database.useReadTransaction()
    this.#held.add(transaction)
    return {
      catalog: this.#catalogIn({ transaction }),
      scan: (low, high) => this.scan(low, high, false, { transaction }),
      release: () => {
        if (this.#held.delete(transaction)) transaction.done()
      },
    }
  }

  /** Only within a write. */
  put(key: Buffer, value: Buffer): void {
    this.#database.putSync(key, value)
  }

  /** Only within a write. */
  remove(key: Buffer): void {
    this.#database.removeSync(key)
  }

  /** Only within a write. */
  saveCatalog(): void {
    this.put(CATALOG, Buffer.from(JSON.stringify(this.catalog)))
  }

  /** Called when a commit has failed and what is in memory may be ahead of the file. */
  onRollback(listener: () => void): void {
    this.#onRollback.push(listener)
  }

  /** Runs the job in the next commit and resolves once it is on the disk. A job that throws must not have written. */
  write<T>(run: () => T): Promise<T> {
    this.#checkOpen()
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run, outcome: undefined, resolve, reject })
      this.#committing ??= this.#commit().finally(() => {
        this.#committing = null
      })
    })
  }

  async close(): Promise<void> {
    while (this.#committing) await this.#committing
    this.#closed = true
    if (this.#held.size > 0) throw new Error('The embedded store was closed while it was read.')
    await this.#database.close()
  }

  #checkOpen(): void {
    if (this.#closed) throw new Error('The embedded store is closed.')
  }

  async #commit(): Promise<void> {
    while (this.#queue.length > 0) {
      let jobs: Job[] = []
      try {
        this.#lock.check()
        await this.#database.childTransaction(() => {
          jobs = this.#queue
          this.#queue = []
          for (const job of jobs) perform(job)
        })
        this.#lock.check()
        this.counters.commits++
        for (const job of jobs) settle(job)
      } catch (error) {
        await this.#rollBack(jobs, error)
      }
    }
  }

  async #rollBack(jobs: Job[], error: unknown): Promise<void> {
    if (error instanceof LockLost) {
      for (const job of [...jobs, ...this.#queue.splice(0)]) job.reject(error)
      return
    }
    const reason = await reasonOf(error)
    this.#readCatalog()
    for (const listener of this.#onRollback) listener()
    for (const job of jobs) job.reject(new Error('The write was not stored', { cause: reason }))
  }

  #readCatalog(): void {
    this.catalog = this.#catalogIn({})
  }

  #catalogIn(within: Reading): Catalog {
    const stored = this.#database.get(CATALOG, within)
    return stored ? JSON.parse(Buffer.from(stored).toString()) : { nextTree: 1, collections: {} }
  }
}

type Transaction = ReturnType<Environment['useReadTransaction']>
/** In the state of a moment, or in the latest. */
type Reading = { transaction?: Transaction }

/** Many small slots at once, or few large ones. */
function pieceOf(slots: Iterable<Slot>, limit: number): { piece: Slot[]; isLast: boolean } {
  const piece: Slot[] = []
  let bytes = 0
  for (const slot of slots) {
    piece.push(slot)
    bytes += slot.value.length
    if (bytes > MOST_BYTES) return { piece, isLast: false }
  }
  return { piece, isLast: piece.length < limit }
}

/** An error of the caller's is his answer; any other takes back the whole commit. */
function perform(job: Job): void {
  try {
    job.outcome = { value: job.run() }
  } catch (error) {
    if (!(error instanceof mongoose.mongo.MongoError)) throw error
    job.outcome = { error }
  }
}

function settle({ outcome, resolve, reject }: Job): void {
  if (outcome && 'value' in outcome) resolve(outcome.value as never)
  else reject(outcome?.error)
}

/** A full disk shows in a promise that is rejected beside the error; left alone it would end the process. */
async function reasonOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error
  return Promise.race([
    Promise.resolve(error.commitError).catch((reason: unknown) => reason),
    new Promise((resolve) => setTimeout(resolve, 100, error)),
  ])
}
