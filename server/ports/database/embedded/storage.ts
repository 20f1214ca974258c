import { setImmediate as breathe } from 'node:timers/promises'
import { Commits, type Steps } from './commits.ts'
import type { Environment } from './environment.ts'
import type { IndexRecord } from './indexes.ts'
import { treeKey } from './keys.ts'
import type { Lock } from './lock.ts'

/** What the file holds, by namespace; kept whole under one key. */
export interface CollectionRecord {
  tree: number
  indexes: IndexRecord[]
  /** Indexes that are not whole yet: kept up by every write, used by no read. */
  building?: IndexRecord[]
}
export interface Catalog {
  /** Of a store that an older version has written to: nothing. */
  format?: typeof FORMAT
  nextTree: number
  collections: Record<string, CollectionRecord>
  /** Trees of indexes that are no more, while something of them is left. */
  dropped?: number[]
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

/** Since 2 the keys of each tree are counted. */
const FORMAT = 2
const CATALOG = Buffer.of(0, 0)
const COUNTS = Buffer.of(1)
const COUNT_BYTES = 6
/** Milliseconds that a read goes on for before others have their turn. */
const READ_MS = 8
const NUL = Buffer.of(0)
const LAST = Buffer.of(0xff, 0xff, 0xff)
const FIRST_PIECE = 16
const LARGEST_PIECE = 1024
const MOST_BYTES = 1_048_576

/** Ordered bytes on disk. Reads see what is durable; writes queue up while a commit is under way and share the next one. */
export class Storage {
  catalog: Catalog = { nextTree: 1, collections: {} }
  readonly counters = { documentsRead: 0, commits: 0 }
  readonly #onRollback: (() => void)[] = []
  readonly #database: Environment
  readonly #held = new Set<Transaction>()
  readonly #commits: Commits
  /** How many keys a tree has, as of the commit that is being made. */
  readonly #counts = new Map<number, number>()
  #closed = false

  constructor(database: Environment, lock: Lock) {
    this.#database = database
    this.catalog = this.#catalogIn({})
    this.#commits = new Commits({
      directory: lock.directory,
      check: lock.check,
      transact: (run) => this.#transact(run),
      undo: () => this.#undo(),
    })
  }

  /** The bytes hold only until the next read. */
  get(key: Buffer, within: Reading = {}): Buffer | undefined {
    this.#checkOpen()
    return this.#database.getBinaryFast(key, within)
  }

  /** The one slot of a key, or none. */
  slot(key: Buffer, within: Reading = {}): Slot[] {
    this.#checkOpen()
    const value = this.#database.get(key, within)
    return value ? [{ key, value }] : []
  }

  /** How many keys a tree has. */
  countOf(tree: number): number {
    const stored = this.#database.get(countKey(tree))
    return stored ? stored.readUIntBE(0, COUNT_BYTES) : 0
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
    const transaction = this.#hold()
    return {
      catalog: this.#catalogIn({ transaction }),
      scan: (low, high) => this.scan(low, high, false, { transaction }),
      release: () => this.#release(transaction),
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

  /** Brings what an older version has written to the form of this one. */
  *takeOver(): Steps<void> {
    if (this.catalog.format === FORMAT) return
    for (const tree of treesOf(this.catalog)) this.count(tree, this.#keysIn(tree) - this.countOf(tree))
    // What a build that failed has left where the next tree would grow.
    for (const { key } of this.scan(treeKey(this.catalog.nextTree), LAST, false)) {
      this.remove(key)
      yield
    }
    this.catalog.format = FORMAT
    this.saveCatalog()
  }

  #keysIn(tree: number): number {
    return this.#database.getKeysCount({ start: treeKey(tree), end: treeKey(tree + 1) })
  }

  /** Takes away what is left of indexes that are no more. */
  *clearDropped(): Steps<void> {
    for (const tree of [...(this.catalog.dropped ?? [])]) {
      for (const { key } of this.scan(treeKey(tree), treeKey(tree + 1), false)) {
        this.remove(key)
        yield
      }
      this.#counts.delete(tree)
      this.remove(countKey(tree))
      this.catalog.dropped = this.catalog.dropped?.filter((each) => each !== tree) ?? []
      this.saveCatalog()
    }
  }

  /** Called when a commit has failed and what is in memory may be ahead of the file. */
  onRollback(listener: () => void): void {
    this.#onRollback.push(listener)
  }

  /** Only within a write, with each key that is put or removed. */
  count(tree: number, change: number): void {
    this.#counts.set(tree, (this.#counts.get(tree) ?? this.countOf(tree)) + change)
  }

  write<T>(run: () => Steps<T>): Promise<T> {
    this.#checkOpen()
    return this.#commits.write(run)
  }

  /** Reads to the end in the state of this moment, with pauses in which others have their turn. */
  async read<T>(steps: Steps<T>, within: Reading = {}): Promise<T> {
    let end = performance.now() + READ_MS
    try {
      for (let step = steps.next(); ; step = steps.next()) {
        if (step.done) return step.value
        if (performance.now() < end) continue
        within.transaction ??= this.#hold()
        await breathe()
        this.#checkOpen()
        end = performance.now() + READ_MS
      }
    } finally {
      if (within.transaction) this.#release(within.transaction)
      delete within.transaction
    }
  }

  async close(): Promise<void> {
    await this.#commits.drained()
    this.#closed = true
    while (this.#held.size > 0) await breathe()
    await this.#database.close()
  }

  #checkOpen(): void {
    if (this.#closed) throw new Error('The embedded store is closed.')
  }

  #transact(run: () => void): Promise<unknown> {
    return this.#database.childTransaction(() => {
      run()
      for (const [tree, count] of this.#counts) this.put(countKey(tree), countBytes(count))
      this.#counts.clear()
      this.counters.commits++
    })
  }

  #undo(): void {
    this.#counts.clear()
    this.catalog = this.#catalogIn({})
    for (const listener of this.#onRollback) listener()
  }

  #hold(): Transaction {
    // biome-ignore lint/correctness/useHookAtTopLevel: a method of lmdb, no hook
    const transaction = this.#database.useReadTransaction()
    this.#held.add(transaction)
    return transaction
  }

  #release(transaction: Transaction): void {
    if (this.#held.delete(transaction)) transaction.done()
  }

  #catalogIn(within: Reading): Catalog {
    const stored = this.#database.get(CATALOG, within)
    return stored ? JSON.parse(Buffer.from(stored).toString()) : { format: FORMAT, nextTree: 1, collections: {} }
  }
}

type Transaction = ReturnType<Environment['useReadTransaction']>
/** In the state of a moment, or in the latest. */
export type Reading = { transaction?: Transaction }

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

const treesOf = ({ collections }: Catalog): number[] =>
  Object.values(collections).flatMap(({ tree, indexes }) => [tree, ...indexes.map((index) => index.tree)])

const countKey = (tree: number): Buffer => Buffer.concat([CATALOG, COUNTS, treeKey(tree)])

function countBytes(count: number): Buffer {
  const bytes = Buffer.allocUnsafe(COUNT_BYTES)
  bytes.writeUIntBE(count, 0, COUNT_BYTES)
  return bytes
}
