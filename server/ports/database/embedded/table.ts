import { isServerError, serverError } from './errors.ts'
import { type Filter, matches } from './filter.ts'
import { type Entries, type Entry, entriesOf, type Index, type IndexRecord, openIndex, sortKey } from './indexes.ts'
import { emptyArray, type Part, ROW_BYTES, TREE_BYTES, treeKey } from './keys.ts'
import { plan, type Range, type Scan, type Sort } from './plan.ts'
import type { CollectionRecord, Slot, Storage } from './storage.ts'
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
type Added = Entries & { index: Index }
interface Match {
  filter: Filter
  sort: Sort
  skip: number
  limit: number
}

const EXPIRED_AT_ONCE = 1000
const ID_INDEX = { name: '_id_', key: { _id: 1 as const }, unique: true as const }

/** The documents of one collection in the order of their insertion, and their indexes. All writes run within a commit. */
export class Table {
  readonly namespace: string
  readonly #storage: Storage
  #indexes: Index[] = []
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
    this.#generation++
    this.#tree = record?.tree ?? 0
    const [last] = this.#storage.scan(treeKey(this.#tree), treeKey(this.#tree + 1), true)
    this.#nextRow = record && last ? last.key.readUIntBE(TREE_BYTES, ROW_BYTES) + 1 : 0
  }

  *find({ filter, sort, skip, limit }: Match): Generator<Found> {
    if (!this.#tree) return
    const scans = plan(filter, sort, this.#indexes)
    let found = this.#matching(scans, filter)
    if (scans.some(({ order }) => order === 'none') && Object.keys(sort).length > 0) found = sorted(found, sort)
    let passed = 0
    const end = limit === 0 ? Number.POSITIVE_INFINITY : skip + limit
    for (const each of found) {
      if (passed++ >= skip) yield each
      if (passed >= end) return
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
    this.#storage.put(this.#rowKey(row), bytes)
    for (const each of added) this.#putEntries(each, row)
  }

  #added(document: Document): Added[] {
    return this.#indexes.map((index) => {
      const { entries, multikey, cut } = entriesOf(index, document)
      return { index, entries, multikey, cut }
    })
  }

  /** Replaces a document by one with the same `_id`. */
  replace(row: number, before: Document, after: Document): void {
    const changed = this.#indexes.map((index) => {
      const old = entriesOf(index, before).entries
      const { entries, multikey, cut } = entriesOf(index, after)
      return { index, dropped: without(old, entries), entries: without(entries, old), multikey, cut }
    })
    for (const { index, entries } of changed) this.#checkUnique(index, entries)
    const bytes = rowBytes(row)
    this.#storage.put(this.#rowKey(bytes), encode(after))
    for (const each of changed) {
      for (const entry of each.dropped) this.#storage.remove(entryKey(each.index, entry, bytes))
      this.#putEntries(each, bytes)
    }
  }

  delete({ row, document }: Found): void {
    const bytes = rowBytes(row)
    for (const index of this.#indexes) {
      for (const entry of entriesOf(index, document).entries) this.#storage.remove(entryKey(index, entry, bytes))
    }
    this.#storage.remove(this.#rowKey(bytes))
  }

  /** Adds an index over what is there; the same one again is no error. */
  addIndex(given: Omit<IndexRecord, 'tree'>): string {
    const same = this.#indexes.find(({ record }) => isSame(record, given))
    if (same) return same.record.name
    checkNames(this.#indexes, given)
    if (given.unique) this.#checkBuild(openIndex({ ...given, tree: 0 }))
    this.create()
    const index = openIndex({ ...given, tree: this.#storage.catalog.nextTree++ })
    for (const { row, document } of this.#all()) {
      this.#putEntries({ index, ...entriesOf(index, document) }, rowBytes(row))
    }
    this.#record().indexes.push(index.record)
    this.#indexes.push(index)
    this.#generation++
    this.#storage.saveCatalog()
    return given.name
  }

  /** Deletes some of what has expired, and tells whether there may be more. */
  expire(now: number): boolean {
    let deleted = 0
    for (const { record, partial } of this.#indexes) {
      const [path] = Object.keys(record.key)
      if (record.expireAfterSeconds === undefined || path === undefined) continue
      const end = new Date(now - record.expireAfterSeconds * 1000)
      const expired: Filter = { op: '$lte', path: path.split('.'), value: end }
      const filter: Filter = { op: '$and', filters: partial ? [expired, partial] : [expired] }
      const found = [...this.find({ filter, sort: {}, skip: 0, limit: EXPIRED_AT_ONCE })]
      for (const each of found) this.delete(each)
      deleted = Math.max(deleted, found.length)
    }
    return deleted === EXPIRED_AT_ONCE
  }

  size(): number {
    if (!this.#tree) return 0
    let count = 0
    for (const _ of this.#storage.scan(treeKey(this.#tree), treeKey(this.#tree + 1), false)) count++
    return count
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

  *#matching(scans: Scan[], filter: Filter): Generator<Found> {
    const seen = scans.length > 1 || scans.some(({ index }) => index?.record.multikey) ? new Set<number>() : undefined
    for (const scan of scans) {
      for (const row of this.#rows(scan)) {
        if (seen?.has(row)) continue
        seen?.add(row)
        const document = this.#read(row)
        if (document && matches(filter, document)) yield { row, document }
      }
    }
  }

  *#rows(scan: Scan): Generator<number> {
    const { index, ranges, reverse } = scan
    if (!index) {
      for (const { key } of this.#storage.scan(treeKey(this.#tree), treeKey(this.#tree + 1), false)) yield rowOf(key)
      return
    }
    const slots = ranges.map((range) => this.#slots(index, range, reverse))
    const listed = scan.order === 'merged' ? merged(slots, ranges, reverse) : joined(slots)
    for (const slot of listed) yield rowOf(slot.value)
  }

  #slots(index: Index, { low, high, exact }: Range, reverse: boolean): Iterable<Slot> {
    const prefix = treeKey(index.record.tree)
    if (exact) return this.#storage.slot(Buffer.concat([prefix, low]))
    return this.#storage.scan(Buffer.concat([prefix, low]), Buffer.concat([prefix, high]), reverse)
  }

  *#all(): Generator<Found> {
    if (!this.#tree) return
    for (const row of this.#rows({ index: null, ranges: [], reverse: false, order: 'listed' })) {
      const document = this.#read(row)
      if (document) yield { row, document }
    }
  }

  #read(row: number): Document | undefined {
    const bytes = this.#storage.get(this.#rowKey(rowBytes(row)))
    if (!bytes) return undefined
    this.#storage.counters.documentsRead++
    return decode(bytes)
  }

  #record(): CollectionRecord {
    const record = this.#storage.catalog.collections[this.namespace]
    if (!record) throw new Error(`${this.namespace} has no record`)
    return record
  }

  #checkUnique(index: Index, entries: readonly Entry[]): void {
    if (!index.record.unique) return
    const taken = entries.find(({ key }) => this.#storage.get(key))
    if (taken) throw this.#duplicate(index, taken)
  }

  #checkBuild(index: Index): void {
    const keys = new Set<string>()
    for (const { document } of this.#all()) {
      for (const entry of entriesOf(index, document).entries) {
        const key = entry.key.toString('latin1')
        if (keys.has(key)) throw this.#duplicate(index, entry)
        keys.add(key)
      }
    }
  }

  #duplicate({ record }: Index, { parts }: Entry) {
    const keyValue = Object.fromEntries(Object.keys(record.key).map((path, at) => [path, shownPart(parts[at])]))
    const shown = Object.entries(keyValue).map(([path, value]) => `${path}: ${JSON.stringify(value)}`)
    const message = `E11000 duplicate key error collection: ${this.namespace} index: ${record.name} dup key: { ${shown.join(', ')} }`
    return serverError(11000, message, { keyPattern: { ...record.key }, keyValue })
  }

  #putEntries({ index, entries, multikey, cut }: Added, row: Buffer): void {
    const { record } = index
    for (const entry of entries) this.#storage.put(entryKey(index, entry, row), row)
    if ((!multikey || record.multikey) && (!cut || record.cut)) return
    if (multikey) record.multikey = true
    if (cut) record.cut = true
    this.#storage.saveCatalog()
  }

  #rowKey(row: Buffer): Buffer {
    const key = Buffer.allocUnsafe(TREE_BYTES + ROW_BYTES)
    key.writeUInt16BE(this.#tree)
    row.copy(key, TREE_BYTES)
    return key
  }
}

/** A unique index holds one row a key; in any other the row is part of the key. */
function entryKey({ record }: Index, { key }: Entry, row: Buffer): Buffer {
  if (!record.unique) row.copy(key, key.length - ROW_BYTES)
  return key
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

type Definition = Omit<IndexRecord, 'tree'>

/** What tells two indexes on the same key apart. */
const signatureOf = ({ key, unique, partialFilterExpression }: Definition): string =>
  JSON.stringify([Object.entries(key), unique, partialFilterExpression])

const isSame = (one: Definition, other: Definition): boolean =>
  Object.keys(one.key).join() === '_id' && Object.keys(other.key).join() === '_id'
    ? true
    : one.name === other.name &&
      signatureOf(one) === signatureOf(other) &&
      one.expireAfterSeconds === other.expireAfterSeconds

function checkNames(indexes: readonly Index[], given: Definition): void {
  for (const { record } of indexes) {
    const same = signatureOf(record) === signatureOf(given)
    if (same) throw serverError(85, `Index already exists with a different name or options: ${record.name}`)
    if (record.name === given.name)
      throw serverError(86, `An existing index has the same name as the requested index: ${given.name}`)
  }
}

function* joined(slots: Iterable<Slot>[]): Generator<Slot> {
  for (const each of slots) yield* each
}

/** Merges ranges that are each in order, by their keys from each range's offset on. */
function* merged(slots: Iterable<Slot>[], ranges: readonly Range[], reverse: boolean): Generator<Slot> {
  const heads = slots.flatMap((each, at) => {
    const slot = each[Symbol.iterator]()
    const head = slot.next()
    return head.done ? [] : [{ slot, head: head.value, offset: TREE_BYTES + (ranges[at]?.offset ?? 0) }]
  })
  while (heads.length > 0) {
    const next = heads.reduce((best, each) => {
      const order = Buffer.compare(each.head.key.subarray(each.offset), best.head.key.subarray(best.offset))
      return (reverse ? order > 0 : order < 0) ? each : best
    })
    yield next.head
    const head = next.slot.next()
    if (head.done) heads.splice(heads.indexOf(next), 1)
    else next.head = head.value
  }
}

/** As MongoDB sorts: an array counts as its least item upwards and its greatest downwards. */
function* sorted(found: Iterable<Found>, sort: Sort): Generator<Found> {
  const index = openIndex({ tree: 0, name: 'sort', key: sort })
  const keyed = Array.from(found, (each) => ({ each, key: sortKey(index, each.document) }))
  keyed.sort((one, other) => Buffer.compare(one.key, other.key))
  for (const { each } of keyed) yield each
}
