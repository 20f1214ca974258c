import type { Steps } from './commits.ts'
import { sorted } from './cursor.ts'
import { isServerError, serverError } from './errors.ts'
import { type Filter, matches } from './filter.ts'
import {
  checkNames,
  type Definition,
  type Entries,
  type Entry,
  entriesOf,
  entryKey,
  type Index,
  type IndexRecord,
  isSame,
  openIndex,
} from './indexes.ts'
import { emptyArray, type Part, ROW_BYTES, TREE_BYTES, treeKey } from './keys.ts'
import type { Row } from './pending.ts'
import { isExact, joined, merged, plan, type Range, type Scan, type Sort, together } from './plan.ts'
import { Damaged, seal, unseal } from './seal.ts'
import type { Reading, Slot, Storage } from './storage.ts'
import type { CollectionRecord } from './tallies.ts'
import { type Document, decode, encode } from './values.ts'

export interface Found {
  row: number
  document: Document
}
/** A document on its way in: its bytes, and what each index will hold of it. */
export interface Incoming {
  bytes: Buffer
  /** For which indexes this was worked out. */
  generation: number
  added: Added[] | null
}
type Added = Entries & { index: Building }
/** An index, and why it can never be whole, where a document was written meanwhile that it cannot hold. */
type Building = Index & { isBuilding?: true; failure?: Error }
export interface Match {
  filter: Filter
  sort: Sort
  skip: number
  limit: number
  /** Nobody looks at the documents, which may then be empty. */
  isCounted?: true
}

/** Rows that are passed over before others may have their turn. */
const UNPAUSED = 32
const UNREAD: Document = { _id: '' }
const ID_INDEX = { name: '_id_', key: { _id: 1 as const }, unique: true as const }

/** The documents of one collection in the order of their insertion, and their indexes. All writes run within a commit. */
export class Table {
  readonly namespace: string
  readonly #storage: Storage
  #indexes: Index[] = []
  #building: Building[] = []
  #builds: Promise<unknown> = Promise.resolve()
  #tree = 0
  #nextRow = 0
  /** Rises with every change of the indexes. */
  #generation = 0

  constructor(storage: Storage, namespace: string) {
    this.#storage = storage
    this.namespace = namespace
    this.load()
  }

  get indexes(): readonly Index[] {
    return this.#indexes
  }

  /** Takes over what the catalog says; a collection that was never written to has nothing. */
  load(): void {
    const record = this.#storage.catalog.collections[this.namespace]
    this.#indexes = record?.indexes.map(openIndex) ?? []
    const failures = new Map(this.#building.map(({ record: { tree }, failure }) => [tree, failure]))
    this.#building =
      record?.building?.map((each) => {
        const failure = failures.get(each.tree)
        return { ...openIndex(each), isBuilding: true, ...(failure ? { failure } : {}) }
      }) ?? []
    this.#generation++
    this.#tree = record?.tree ?? 0
    const [last] = this.#storage.scan(treeKey(this.#tree), treeKey(this.#tree + 1), true)
    this.#nextRow = record && last ? last.key.readUIntBE(TREE_BYTES, ROW_BYTES) + 1 : 0
  }

  /** Every match, with nothing in between where others may have their turn. */
  *find(
    { filter, sort, skip, limit, isCounted }: Match,
    within: Reading = {},
  ): Generator<Found | undefined, undefined> {
    if (!this.#tree) return
    const scans = plan(filter, sort, this.#indexes)
    const end = limit === 0 ? Number.POSITIVE_INFINITY : skip + limit
    const waiting = this.#waiting(filter, within)
    const isUnsorted = scans.some(({ order }) => order === 'none')
    const [only, ...others] = scans
    const isByEntries = isCounted && only && others.length === 0 && waiting.length === 0 && isExact(only, filter)
    let found = isByEntries ? this.#listed(only, within) : this.#matching(scans, filter, within)
    if (waiting.length > 0) found = together(found, waiting, isUnsorted ? {} : sort)
    if (isUnsorted && Object.keys(sort).length > 0) found = sorted(found, sort, end)
    let passed = 0
    for (const each of found) {
      if (!each) yield
      else if (passed++ >= skip) yield each
      if (passed >= end) return
    }
  }

  /** The first match as it is at this moment, not as it was before a pause. */
  *first(match: Omit<Match, 'skip' | 'limit'>): Steps<Found | null> {
    for (;;) {
      const turn = this.#storage.counters.commits
      const found = yield* firstOf(this.find({ ...match, skip: 0, limit: 1 }))
      if (!found || turn === this.#storage.counters.commits) return found
      const document = this.read(found.row)
      if (document && matches(match.filter, document)) return { row: found.row, document }
    }
  }

  /** Every match of some moment that still is one when it is worked on. */
  *each(filter: Filter, work: (found: Found) => void): Steps<void> {
    const rows: number[] = []
    for (const found of this.find({ filter, sort: {}, skip: 0, limit: 0 })) {
      if (found) rows.push(found.row)
      yield
    }
    for (const row of rows) {
      const document = this.read(row)
      if (document && matches(filter, document)) work({ row, document })
      yield
    }
  }

  /** Works out ahead of its commit what inserting a document writes; nothing holds on to the document itself. */
  prepare(document: Document, bytes = encode(document)): Incoming {
    const generation = this.#generation
    try {
      return { bytes, generation, added: this.#added(document) }
    } catch (error) {
      if (!isServerError(error)) throw error
      return { bytes, generation, added: null }
    }
  }

  insert({ bytes, generation, added: prepared }: Incoming): void {
    this.create()
    const added = prepared && generation === this.#generation ? prepared : this.#added(decode(bytes))
    for (const { index, entries } of added) this.#checkUnique(index, entries)
    const row = rowBytes(this.#nextRow++)
    this.#storage.count(this.#tree, 1, this.#rowKey(row))
    this.#putRow(row, bytes)
    for (const each of added) this.#putEntries(each, row)
  }

  /** Takes documents into the next batch of the journal, if all of them can be inserted. Only while no commit is under way. */
  stage(documents: readonly Incoming[]): boolean {
    if (this.#indexes.length === 0) return false
    const rows: Row[] = []
    for (const incoming of documents) {
      const { bytes, generation, added } = incoming
      if (!added || generation !== this.#generation) return false
      const unique = added.flatMap(({ index, entries }) => (index.record.unique ? entries : []))
      if (unique.some(({ key }) => this.#storage.get(key))) return false
      const keys = unique.map(({ key }) => key.toString('latin1'))
      rows.push({ namespace: this.namespace, bytes, keys, insert: () => this.insert(incoming) })
    }
    return this.#storage.stage(rows)
  }

  /** A document of a journal that an earlier process left. */
  restored(bytes: Buffer): Row {
    return { namespace: this.namespace, bytes, keys: [], insert: () => this.insert(this.prepare(decode(bytes), bytes)) }
  }

  /** Matches that are in no index yet. */
  #waiting(filter: Filter, within: Reading): Found[] {
    const found: Found[] = []
    for (const row of this.#storage.waiting(this.namespace, within)) {
      row.document ??= decode(row.bytes)
      if (matches(filter, row.document)) found.push({ row: -1, document: decode(row.bytes) })
    }
    return found
  }

  #added(document: Document): Added[] {
    return this.#kept.map((index) => ({ index, ...entriesIn(index, document) }))
  }

  /** Replaces a document by one with the same `_id`. */
  replace(row: number, before: Document, after: Document): void {
    const changed = this.#kept.map((index) => {
      const old = entriesIn(index, before).entries
      const { entries, multikey, cut } = entriesIn(index, after)
      return { index, dropped: without(old, entries), entries: without(entries, old), multikey, cut }
    })
    for (const { index, entries } of changed) this.#checkUnique(index, entries)
    const bytes = rowBytes(row)
    const encoded = encode(after)
    this.#putRow(bytes, encoded)
    for (const each of changed) {
      this.#removeEntries(each.index, each.dropped, bytes)
      this.#putEntries(each, bytes)
    }
  }

  delete({ row, document }: Found): void {
    const bytes = rowBytes(row)
    for (const index of this.#kept) this.#removeEntries(index, entriesIn(index, document).entries, bytes)
    this.#storage.remove(this.#rowKey(bytes))
    this.#storage.count(this.#tree, -1, this.#rowKey(bytes))
  }

  /** Adds indexes over what is there, all or none, while others write; those that are there already are no error. */
  addIndexes(given: readonly Definition[]): Promise<string[]> {
    const built = this.#builds.then(() => this.#build(given).catch((error) => this.#abandonBuilds(error)))
    this.#builds = built.catch(() => undefined)
    return built
  }

  /** Readers see what is durable, so that they get an index in a later commit than its last entry. */
  async #build(given: readonly Definition[]): Promise<string[]> {
    const names = await this.#storage.write(() => this.#fillIndexes(given))
    if (this.#building.length > 0) await this.#storage.write(() => this.#publishIndexes())
    return names
  }

  *#fillIndexes(given: readonly Definition[]): Steps<string[]> {
    const wanted: Definition[] = []
    for (const each of given) {
      if ([...this.#indexes.map(({ record }) => record), ...wanted].some((other) => isSame(other, each))) continue
      checkNames(this.#indexes, each)
      wanted.push(each)
    }
    const names = given.map((each) => this.#nameOf(each))
    if (wanted.length === 0) return names
    this.create()
    const { catalog } = this.#storage
    this.#building = wanted.map((each) => ({
      ...openIndex({ ...each, tree: catalog.nextTree++ }),
      isBuilding: true,
    }))
    this.#saveBuilding()
    for (const { row } of this.#rows({ index: null, ranges: [], reverse: false, order: 'listed' }, {})) {
      const document = this.read(row)
      if (document) for (const index of this.#building) this.#addRow(index, row, document)
      yield
    }
    return names
  }

  *#publishIndexes(): Steps<void> {
    for (const { failure } of this.#building) if (failure) throw failure
    const built = this.#building.map(({ record }) => record)
    this.#record().indexes.push(...built)
    this.#indexes.push(...built.map(openIndex))
    this.#building = []
    this.#saveBuilding()
  }

  /** A row that was written since the build began has its entries already. */
  #addRow(index: Building, row: number, document: Document): void {
    const bytes = rowBytes(row)
    const { entries, multikey, cut } = entriesOf(index, document)
    const missing = entries.filter((entry) => {
      const [holder] = this.#storage.slot(entryKey(index, entry, bytes))
      if (holder && rowOf(holder.value) !== row) throw this.#duplicate(index, entry)
      return !holder
    })
    this.#putEntries({ index, entries: missing, multikey, cut }, bytes)
    if (index.failure) throw index.failure
  }

  /** Forgets indexes whose building ended early, in this process or in one before it, and takes their entries away. */
  async #abandonBuilds(error: unknown): Promise<never> {
    await this.#storage.write(() => this.recover()).catch(() => undefined)
    throw error
  }

  *recover(): Steps<void> {
    const { catalog } = this.#storage
    const unfinished = this.#building.map(({ record }) => record.tree)
    if (unfinished.length > 0) {
      catalog.dropped = [...(catalog.dropped ?? []), ...unfinished]
      this.#building = []
      this.#saveBuilding()
    }
    yield* this.#storage.clearDropped()
  }

  /** Deletes what has expired by this time. */
  *expire(now: number): Steps<void> {
    for (const { record, partial } of [...this.#indexes]) {
      const [path] = Object.keys(record.key)
      if (record.expireAfterSeconds === undefined || path === undefined) continue
      const end = new Date(now - record.expireAfterSeconds * 1000)
      const expired: Filter = { op: '$lte', path: path.split('.'), value: end }
      yield* this.each({ op: '$and', filters: partial ? [expired, partial] : [expired] }, (found) => this.delete(found))
    }
  }

  size(): number {
    if (!this.#tree) return 0
    return this.#storage.tallyOf(this.#tree).count + this.#storage.waiting(this.namespace).length
  }

  create(): void {
    const { catalog } = this.#storage
    if (catalog.collections[this.namespace]) return
    this.#tree = catalog.nextTree++
    const record: IndexRecord = { ...ID_INDEX, tree: catalog.nextTree++ }
    catalog.collections[this.namespace] = { tree: this.#tree, indexes: [record] }
    this.#indexes = [openIndex(record)]
    this.#generation++
    this.#storage.saveCatalog()
  }

  *#matching(scans: Scan[], filter: Filter, within: Reading): Generator<Found | undefined, undefined> {
    const seen = scans.length > 1 || scans.some(({ index }) => index?.record.multikey) ? new Set<number>() : undefined
    let passed = 0
    for (const scan of scans) {
      for (const { row, entry } of this.#rows(scan, within)) {
        if (++passed % UNPAUSED === 0) yield
        if (seen?.has(row)) continue
        seen?.add(row)
        const document = this.read(row, within)
        if (!document) this.#checkGone(row, entry, within)
        else if (matches(filter, document)) yield { row, document }
      }
    }
  }

  /** What is in a scan, without its documents. */
  *#listed(scan: Scan, within: Reading): Generator<Found | undefined, undefined> {
    const seen = scan.index?.record.multikey ? new Set<number>() : undefined
    let passed = 0
    for (const { row } of this.#rows(scan, within)) {
      if (++passed % UNPAUSED === 0) yield
      if (seen?.has(row)) continue
      seen?.add(row)
      yield { row, document: UNREAD }
    }
  }

  /** A row may have gone since its entry was read; an entry that stays without its row is damage. */
  #checkGone(row: number, entry: Buffer, within: Reading): void {
    const [left] = this.#storage.slot(entry, within)
    if (left && rowOf(left.value) === row) throw new Damaged(`a row of ${this.namespace} is missing`)
  }

  *#rows(scan: Scan, within: Reading): Generator<{ row: number; entry: Buffer }> {
    const { index, ranges, reverse } = scan
    if (!index) {
      const [low, high] = [treeKey(this.#tree), treeKey(this.#tree + 1)]
      for (const { key } of this.#storage.scan(low, high, false, within)) yield { row: rowOf(key), entry: key }
      return
    }
    const slots = ranges.map((range) => this.#slots(index, range, reverse, within))
    const listed = scan.order === 'merged' ? merged(slots, ranges, reverse) : joined(slots)
    for (const { key, value } of listed) yield { row: rowOf(value), entry: key }
  }

  #slots(index: Index, { low, high, exact }: Range, reverse: boolean, within: Reading): Iterable<Slot> {
    const prefix = treeKey(index.record.tree)
    if (exact) return this.#storage.slot(Buffer.concat([prefix, low]), within)
    return this.#storage.scan(Buffer.concat([prefix, low]), Buffer.concat([prefix, high]), reverse, within)
  }

  read(row: number, within: Reading = {}): Document | undefined {
    const key = this.#rowKey(rowBytes(row))
    const bytes = this.#storage.get(key, within)
    if (!bytes) return undefined
    this.#storage.counters.documentsRead++
    return decode(unseal(key, bytes))
  }

  #putRow(row: Buffer, bytes: Buffer): void {
    const key = this.#rowKey(row)
    this.#storage.put(key, seal(key, bytes))
  }

  /** The indexes that every write keeps up. */
  get #kept(): readonly Building[] {
    return this.#building.length === 0 ? this.#indexes : [...this.#indexes, ...this.#building]
  }

  #nameOf(given: Definition): string {
    return this.#indexes.find(({ record }) => isSame(record, given))?.record.name ?? given.name
  }

  #saveBuilding(): void {
    const record = this.#record()
    record.building = this.#building.map(({ record }) => record)
    if (this.#building.length === 0) delete record.building
    this.#generation++
    this.#storage.saveCatalog()
  }

  #record(): CollectionRecord {
    const record = this.#storage.catalog.collections[this.namespace]
    if (!record) throw new Error(`${this.namespace} has no record`)
    return record
  }

  /** A document that an index cannot hold is an error of its writer, or of the index's creator. */
  #checkUnique(index: Building, entries: readonly Entry[]): void {
    if (!index.record.unique || index.failure) return
    const taken = entries.find(({ key }) => this.#storage.get(key))
    if (!taken) return
    const error = this.#duplicate(index, taken)
    if (!index.isBuilding) throw error
    index.failure = error
  }

  #duplicate({ record }: Index, { parts }: Entry) {
    const keyValue = Object.fromEntries(Object.keys(record.key).map((path, at) => [path, shownPart(parts[at])]))
    const shown = Object.entries(keyValue).map(([path, value]) => `${path}: ${JSON.stringify(value)}`)
    const message = `E11000 duplicate key error collection: ${this.namespace} index: ${record.name} dup key: { ${shown.join(', ')} }`
    return serverError(11000, message, { keyPattern: { ...record.key }, keyValue })
  }

  #putEntries({ index, entries, multikey, cut }: Added, row: Buffer): void {
    const { record } = index
    if (index.failure) return
    for (const entry of entries) {
      const key = entryKey(index, entry, row)
      this.#storage.put(key, row)
      this.#storage.count(record.tree, 1, key, row)
    }
    if ((!multikey || record.multikey) && (!cut || record.cut)) return
    if (multikey) record.multikey = true
    if (cut) record.cut = true
    this.#storage.saveCatalog()
  }

  /** A row that the builder of an index has not come to has no entries in it yet. */
  #removeEntries(index: Building, entries: readonly Entry[], row: Buffer): void {
    for (const entry of entries) {
      const key = entryKey(index, entry, row)
      if (index.isBuilding && !this.#isHeldBy(key, row)) continue
      this.#storage.remove(key)
      this.#storage.count(index.record.tree, -1, key, row)
    }
  }

  /** In a unique index another row may stand under the same key. */
  #isHeldBy(key: Buffer, row: Buffer): boolean {
    const [holder] = this.#storage.slot(key)
    return holder !== undefined && rowOf(holder.value) === rowOf(row)
  }

  #rowKey(row: Buffer): Buffer {
    const key = Buffer.allocUnsafe(TREE_BYTES + ROW_BYTES)
    key.writeUInt16BE(this.#tree)
    row.copy(key, TREE_BYTES)
    return key
  }
}

function* firstOf(found: Iterable<Found | undefined>): Steps<Found | null> {
  for (const each of found) {
    if (each) return each
    yield
  }
  return null
}

/** Of an index that is being built, a document that it cannot hold is the builder's to find. */
function entriesIn(index: Building, document: Document): Entries {
  try {
    return entriesOf(index, document)
  } catch (error) {
    if (!index.isBuilding || !isServerError(error)) throw error
    index.failure ??= error
    return { entries: [], multikey: false, cut: false }
  }
}

function rowBytes(row: number): Buffer {
  const bytes = Buffer.allocUnsafe(ROW_BYTES)
  bytes.writeUIntBE(row, 0, ROW_BYTES)
  return bytes
}

/** A row's number ends both its own key and the value of each of its entries. */
const rowOf = (bytes: Buffer): number => bytes.readUIntBE(bytes.length - ROW_BYTES, ROW_BYTES)

const shownPart = (part: Part): Part | null => (part === undefined || part === emptyArray ? null : part)

const without = (entries: readonly Entry[], others: readonly Entry[]): Entry[] =>
  entries.filter(({ key }) => !others.some((other) => other.key.equals(key)))
