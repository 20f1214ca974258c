import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises'
import { Commits, type Insertion, type Steps } from './commits.ts'
import type { Environment } from './environment.ts'
import { isServerError } from './errors.ts'
import { type Batch, JOURNAL, type Mark, markIn } from './journal.ts'
import { treeKey } from './keys.ts'
import type { Lock } from './lock.ts'
import { Pending, type Row } from './pending.ts'
import { Damaged, isSealed, seal } from './seal.ts'
import {
  CATALOG,
  type Catalog,
  COUNTED,
  catalogBytes,
  catalogIn,
  checkFormat,
  checksumOf,
  FORMAT,
  type Tally,
  tallyBytes,
  tallyIn,
  tallyKey,
  treesOf,
} from './tallies.ts'
import { Turns } from './turns.ts'

export interface Slot {
  key: Buffer
  value: Buffer
}

/** What is durable at one moment. Others write meanwhile and nobody waits, but the file grows; so it must be released. */
export interface Moment {
  readonly catalog: Catalog
  scan(low: Buffer, high: Buffer): Generator<Slot>
  slot(key: Buffer): Slot | undefined
  tallyOf(tree: number): Tally
  /** What is in no tree yet. */
  waiting(namespace: string): readonly Row[]
  release(): void
}

/** Milliseconds that reads go on for before others have their turn. */
const READ_MS = 8
/** Keys that are compared before anything is answered: some tenths of a second. */
const MOST_AT_ONCE = 200_000
const REST_MS = 20
/** Milliseconds after which what was journalled is put into its collection, where no other write has done so. */
const FLUSH_MS = 250
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
  readonly #pending: Pending
  readonly #turns = new Turns(READ_MS)
  #flush: NodeJS.Timeout | undefined
  /** As they are after the commit that is being made, and those among them that it changes. */
  readonly #tallies = new Map<number, Tally>()
  readonly #counted = new Set<number>()
  #isCatalogChanged = false
  readonly #onDamage: (error: Damaged) => void
  #damage: Damaged | null = null
  #closed = false
  #isClosing = false

  /** A server must end when damage is found; for a tool, a failed read is enough. */
  constructor(database: Environment, lock: Lock, onDamage: (error: Damaged) => void = () => undefined) {
    this.#database = database
    this.#onDamage = onDamage
    this.#pending = new Pending(lock.directory)
    this.#commits = new Commits({
      directory: lock.directory,
      check: lock.check,
      transact: (run) => this.#transact(run),
      append: () => this.#append(),
      undo: () => this.#undo(),
    })
  }

  /** Before anything else: throws where what is there is damaged, or not for this version. */
  async open(): Promise<{ journalled: Batch[]; isTakenOver: boolean }> {
    this.catalog = this.#catalogIn({})
    checkFormat(this.catalog)
    const isTakenOver = this.catalog.format !== FORMAT
    const journalled = await this.#pending.read(this.#markIn({}))
    await this.write(() => this.#takeOver())
    await this.#check()
    return { journalled, isTakenOver }
  }

  /** Puts what was left in the journal into its collections; after that there is none, until one is needed. */
  async recover(batches: readonly { number: number; rows: Row[] }[]): Promise<void> {
    this.#pending.restore(this.#markIn({}), batches)
    await this.#endJournal()
    await this.#pending.remove()
    this.#pending.begin()
  }

  /** What of a collection is in no tree yet, as seen by this reading. */
  waiting(namespace: string, within: Reading = {}): Row[] {
    this.#checkOpen()
    return this.#pending.holds(namespace) ? this.#waiting(within).filter((row) => row.namespace === namespace) : []
  }

  #waiting(within: Reading): Row[] {
    return this.#pending.after(this.#markIn(within)?.applied ?? 0)
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

  /** How many keys a tree has, and the sum of their checksums. */
  tallyOf(tree: number, within: Reading = {}): Tally {
    this.#checkOpen()
    const stored = this.#database.get(tallyKey(tree), within)
    return stored ? tallyIn(stored) : { count: 0, sum: 0 }
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
    const waiting = this.#waiting({ transaction })
    return {
      catalog: this.#catalogIn({ transaction }),
      scan: (low, high) => this.scan(low, high, false, { transaction }),
      slot: (key) => this.slot(key, { transaction })[0],
      tallyOf: (tree) => this.tallyOf(tree, { transaction }),
      waiting: (namespace) => waiting.filter((row) => row.namespace === namespace),
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

  /** Only within a write. The catalog is put at its end, as a start on an empty store changes it some hundred times. */
  saveCatalog(): void {
    this.#isCatalogChanged = true
  }

  /** Upgrades the data of an older version; an interrupted upgrade is continued. */
  *#takeOver(): Steps<void> {
    const { format = 0 } = this.catalog
    if (format === FORMAT) return
    if (format < COUNTED) yield* this.#countAndSeal()
    this.catalog.format = FORMAT
    this.saveCatalog()
  }

  *#countAndSeal(): Steps<void> {
    for (const { tree } of Object.values(this.catalog.collections)) {
      for (const { key, value } of this.scan(treeKey(tree), treeKey(tree + 1), false)) {
        if (!isSealed(value)) this.put(key, seal(key, value))
        yield
      }
    }
    for (const { tree, isIndex } of treesOf(this.catalog)) {
      this.#tallies.set(tree, { count: 0, sum: 0 })
      this.#counted.add(tree)
      for (const { key, value } of this.scan(treeKey(tree), treeKey(tree + 1), false)) {
        this.count(tree, 1, key, isIndex ? value : undefined)
        yield
      }
    }
    // What a build that failed has left where the next tree would grow.
    for (const { key } of this.scan(treeKey(this.catalog.nextTree), LAST, false)) {
      this.remove(key)
      yield
    }
  }

  /**
   * Throws `Damaged` if a tree has lost or gained keys. A small store is compared at once, a large one while it works. Then all
   * later requests fail.
   */
  async #check(): Promise<void> {
    let all = 0
    for (const { name, tree } of treesOf(this.catalog)) {
      const [wanted, found] = [this.tallyOf(tree).count, this.#keysIn(tree)]
      if (wanted !== found) throw new Damaged(`${name} should have ${wanted} keys and has ${found}`)
      all += found
    }
    const compared = this.#compareKeys(all > MOST_AT_ONCE ? REST_MS : 0)
    if (all <= MOST_AT_ONCE) await compared
    else compared.catch((error: unknown) => this.#tellDamage(error))
  }

  async #compareKeys(rest: number): Promise<void> {
    const moment = this.moment()
    try {
      let end = performance.now() + READ_MS
      for (const { name, tree, isIndex } of treesOf(moment.catalog)) {
        let sum = 0
        for (const { key, value } of moment.scan(treeKey(tree), treeKey(tree + 1))) {
          sum = (sum + checksumOf(key, isIndex ? value : undefined)) >>> 0
          if (!moment.slot(key)) throw new Damaged(`${name} has keys that cannot be found`)
          if (performance.now() < end) continue
          await sleep(rest)
          if (this.#isClosing) return
          end = performance.now() + READ_MS
        }
        if (sum !== moment.tallyOf(tree).sum) throw new Damaged(`${name} has other keys than were put into it`)
      }
    } finally {
      moment.release()
    }
  }

  #tellDamage(error: unknown): void {
    if (!(error instanceof Damaged)) return
    this.#damage = error
    this.#onDamage(error)
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
      this.#tallies.delete(tree)
      this.#counted.delete(tree)
      this.remove(tallyKey(tree))
      this.catalog.dropped = this.catalog.dropped?.filter((each) => each !== tree) ?? []
      this.saveCatalog()
    }
  }

  /** Called when a commit has failed and what is in memory may be ahead of the file. */
  onRollback(listener: () => void): void {
    this.#onRollback.push(listener)
  }

  /** Counts each key that a write puts (1) or removes (-1), with its value in an index. */
  count(tree: number, change: 1 | -1, key: Buffer, value?: Buffer): void {
    const tally = this.#tallies.get(tree) ?? this.tallyOf(tree)
    this.#tallies.set(tree, tally)
    this.#counted.add(tree)
    tally.count += change
    tally.sum = (tally.sum + change * checksumOf(key, value)) >>> 0
  }

  write<T>(run: () => Steps<T>, insertion?: Insertion<T>): Promise<T> {
    this.#checkOpen()
    return this.#commits.write(run, insertion)
  }

  /** Takes rows into the next batch of the journal, if they can be journalled. */
  stage(rows: readonly Row[]): boolean {
    return this.#pending.stage(rows)
  }

  /** Reads the state of its begin to the end, and pauses for others. The first few steps do not wait. */
  async read<T>(steps: Steps<T>, within: Reading = {}, few = 0): Promise<T> {
    try {
      if (few === 0 && !this.#turns.hasRoom()) await this.#turns.next()
      for (let taken = 1; ; taken++) {
        const step = steps.next()
        if (step.done) return step.value
        if (taken < few || this.#turns.hasTime()) continue
        within.transaction ??= this.#hold()
        await this.#turns.next()
      }
    } finally {
      if (within.transaction) this.#release(within.transaction)
      delete within.transaction
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#flush)
    await this.#commits.drained()
    await this.#endJournal().catch(() => undefined)
    await this.#commits.drained()
    this.#closed = true
    await this.#pending.close()
    while (this.#held.size > 0) await breathe()
    await this.#database.close()
  }

  #checkOpen(): void {
    if (this.#damage) throw this.#damage
    if (this.#closed) throw new Error('The embedded store is closed.')
  }

  async #transact(run: () => void): Promise<void> {
    await this.#pending.prepare()
    await this.#database.childTransaction(() => {
      const mark = this.#drain()
      if (mark) this.put(JOURNAL, mark)
      run()
      for (const [tree, tally] of this.#tallies)
        if (this.#counted.delete(tree)) this.put(tallyKey(tree), tallyBytes(tally))
      if (this.#isCatalogChanged) this.put(CATALOG, catalogBytes(this.catalog))
      this.#isCatalogChanged = false
      this.counters.commits++
    })
    this.#pending.drained()
    clearTimeout(this.#flush)
    this.#flush = undefined
  }

  #drain(): Buffer | null {
    try {
      return this.#pending.drain(this.#markIn({})?.applied ?? 0)
    } catch (error) {
      if (!isServerError(error)) throw error
      throw new Damaged(`its journal holds what it cannot take: ${error.message}`)
    }
  }

  async #append(): Promise<void> {
    await this.#pending.append()
    this.#flushLater()
  }

  #flushLater(): void {
    if (!this.#isClosing) this.#flush ??= setTimeout(() => this.#flushed(), FLUSH_MS).unref()
  }

  /** What cannot be put into its collection now stays in the journal. */
  #flushed(): void {
    this.#flush = undefined
    this.#commits.write(nothing).catch(() => this.#flushLater())
  }

  async #endJournal(): Promise<void> {
    if (!this.#pending.end()) return
    await this.#commits.write(nothing)
    await this.#pending.remove()
  }

  #undo(): void {
    this.#tallies.clear()
    this.#counted.clear()
    this.#isCatalogChanged = false
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

  #markIn(within: Reading): Mark | null {
    const stored = this.#database.get(JOURNAL, within)
    return stored ? markIn(stored) : null
  }

  #catalogIn(within: Reading): Catalog {
    const stored = this.#database.get(CATALOG, within)
    if (stored) return catalogIn(stored)
    const { entryCount } = this.#database.getStats() as { entryCount: number }
    if (entryCount > 0) throw new Damaged('the list of its collections is missing')
    return { format: FORMAT, nextTree: 1, collections: {} }
  }
}

type Transaction = ReturnType<Environment['useReadTransaction']>
/** In the state of a moment, or in the latest. */
export type Reading = { transaction?: Transaction }

function* nothing(): Steps<void> {}

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
