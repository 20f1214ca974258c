import { randomBytes } from 'node:crypto'
import {
  type Batch,
  batchBytes,
  batchesIn,
  createJournal,
  ID_BYTES,
  isUnknown,
  JOURNAL_BYTES,
  type JournalFile,
  type JournalRow,
  lengthOf,
  type Mark,
  markBytes,
  readJournal,
  removeJournal,
  SECTOR,
  sizeOf,
} from './journal.ts'
import { Damaged } from './seal.ts'
import type { Document } from './values.ts'

/** A document that is inserted: what the journal holds of it, and how it comes into its collection. */
export interface Row extends JournalRow {
  /** What its unique indexes will hold, so that no other row gets it. */
  keys: readonly string[]
  /** Only within a write. */
  insert(): void
  /** What filters are matched with, once one was. */
  document?: Document
}
interface Rows {
  number: number
  rows: readonly Row[]
}

/** The limit of pending rows, and so the most that one commit stores before other work. */
const MOST_ROWS = 256
/** A batch or a write that is larger is committed as it is. */
const MOST_BYTES = JOURNAL_BYTES / 4

/** What is durable in the journal alone. Nothing here writes while a commit is under way. */
export class Pending {
  readonly #directory: string
  readonly #create: typeof createJournal
  #mark: Mark = { id: Buffer.alloc(0), applied: 0, isOpen: false }
  /** What the store remembers once the commit that is under way is durable. */
  #next = this.#mark
  #file: JournalFile | null = null
  /** Whether the store has recorded that there is a journal; before that nothing is written to it. */
  #isOpen = false
  #isWanted = false
  #isBroken = false
  #isEnding = false
  /** The last number that a batch has got. */
  #last = 0
  #at = SECTOR
  #batches: Rows[] = []
  #staged: Row[] = []
  #stagedBytes = 0
  #count = 0
  readonly #taken = new Set<string>()
  readonly #namespaces = new Set<string>()

  constructor(directory: string, create = createJournal) {
    this.#directory = directory
    this.#create = create
  }

  /** May there be rows of a collection? */
  holds(namespace: string): boolean {
    return this.#namespaces.has(namespace)
  }

  /** The batches that a process before this one left; throws `Damaged` where the journal is not what it wrote. */
  async read(mark: Mark | null): Promise<Batch[]> {
    const file = await readJournal(this.#directory)
    if (mark?.isOpen) {
      if (!file) throw new Damaged('its journal is missing')
      return batchesIn(file, mark)
    }
    if (file && isUnknown(file, mark)) throw new Damaged('there is a journal that it does not know')
    return []
  }

  /** Begins where a process before this one ended; what it left is put into the collections by the next commit. */
  restore(mark: Mark | null, batches: readonly Rows[]): void {
    this.#mark = mark ?? { id: randomBytes(ID_BYTES), applied: 0, isOpen: false }
    this.#batches = [...batches]
    this.#last = batches.at(-1)?.number ?? this.#mark.applied
    this.#count = batches.reduce((count, { rows }) => count + rows.length, 0)
  }

  /** Takes rows into the next batch, if they can be journalled. */
  stage(rows: readonly Row[]): boolean {
    const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 0)
    if (bytes > MOST_BYTES || rows.length > MOST_ROWS) return false
    this.#isWanted ||= !this.#file
    const batch = this.#stagedBytes + bytes
    if (!this.#isOpen || this.#isBroken || this.#at + lengthOf(batch) > JOURNAL_BYTES) return false
    if (this.#count + rows.length > MOST_ROWS || batch > MOST_BYTES) return false
    const keys = rows.flatMap((row) => row.keys)
    if (keys.some((key) => this.#taken.has(key)) || new Set(keys).size < keys.length) return false
    for (const key of keys) this.#taken.add(key)
    for (const { namespace } of rows) this.#namespaces.add(namespace)
    this.#staged.push(...rows)
    this.#stagedBytes = batch
    this.#count += rows.length
    return true
  }

  /** Makes what was staged durable; where that fails the journal is done with, and nothing of the batch comes back. */
  async append(): Promise<void> {
    const [rows, at, number] = [this.#staged, this.#at, ++this.#last]
    this.#staged = []
    this.#stagedBytes = 0
    try {
      const bytes = batchBytes(this.#mark.id, { number, rows })
      await this.#file?.write(bytes, at)
      this.#at += bytes.length
    } catch (error) {
      this.#isBroken = true
      await this.#file?.write(Buffer.alloc(SECTOR), at).catch(() => undefined)
      throw error
    }
    this.#batches.push({ number, rows })
  }

  /** Before a commit: makes a journal where one was asked for. Without one every write is committed. */
  async prepare(): Promise<void> {
    if (!this.#isWanted || this.#isEnding) return
    this.#isWanted = false
    this.#file = await this.#create(this.#directory, this.#mark.id).catch(() => null)
  }

  /**
   * Within each commit, before anything else: puts what is in later batches than this one into its collection. What the store is to
   * remember of that, if anything.
   */
  drain(applied: number): Buffer | null {
    for (const row of this.after(applied)) row.insert()
    const isOpen = !this.#isEnding && (this.#mark.isOpen || this.#file !== null)
    this.#next = { id: this.#mark.id, applied: this.#last, isOpen }
    return this.#last === this.#mark.applied && isOpen === this.#mark.isOpen ? null : markBytes(this.#next)
  }

  /** Once that commit is durable. */
  drained(): void {
    this.#mark = this.#next
    this.#batches = []
    this.#count = 0
    this.#taken.clear()
    this.#namespaces.clear()
    this.#at = SECTOR
    if (this.#isBroken || !this.#mark.isOpen) {
      void this.#file?.close().catch(() => undefined)
      this.#file = null
      this.#isBroken = false
    }
    this.#isOpen = this.#file !== null
  }

  /** The next commit is the last one that there is a journal at, and none is made until `begin`. False where there is none. */
  end(): boolean {
    this.#isEnding = true
    return this.#mark.isOpen || this.#file !== null
  }

  /** From now on there may be a journal. */
  begin(): void {
    this.#isEnding = false
  }

  /** What could not be put into its collections stays in the file. */
  async close(): Promise<void> {
    await this.#file?.close().catch(() => undefined)
    this.#file = null
  }

  /** Once nothing in it is needed any more. */
  remove(): Promise<void> {
    return removeJournal(this.#directory)
  }

  /** The rows of batches after this one. */
  after(number: number): Row[] {
    return this.#batches.flatMap((batch) => (batch.number > number ? batch.rows : []))
  }
}
