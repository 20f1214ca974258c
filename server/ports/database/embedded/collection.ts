import { setImmediate as breathe } from 'node:timers/promises'
import mongoose from 'mongoose'
import { bulkResult, insertedTotal, type Operation, type Outcome, runBulk } from './bulk.ts'
import type { Steps } from './commits.ts'
import { Cursor, type FindOptions, parseProjection } from './cursor.ts'
import { checkOptions, isServerError, refuse } from './errors.ts'
import { type Filter, parseFilter, parsePath } from './filter.ts'
import { parseDirections, parseIndex, shownIndex, valuesAt } from './indexes.ts'
import { encodeKey } from './keys.ts'
import type { Reading, Storage } from './storage.ts'
import type { Found, Incoming, Match, Table } from './table.ts'
import { applyUpdate, parseUpdate, seeded, type Update } from './update.ts'
import { type Document, documentOf, type Fields, type Value } from './values.ts'

type Options = Record<string, unknown>
type Inserting = Operation & { id: string; incoming: Incoming }

const SLICE_MS = 8
const FEW = 32

/** The part of the driver's collection that both stores share; every other method of it is refused by name. */
export class Collection {
  readonly collectionName: string
  readonly namespace: string
  readonly #storage: Storage
  readonly #table: Table

  constructor(storage: Storage, table: Table, collectionName: string) {
    this.#storage = storage
    this.#table = table
    this.collectionName = collectionName
    this.namespace = table.namespace
  }

  find(filter?: unknown, options: Options = {}): Cursor {
    const { sort, skip, limit, projection, ...others } = options
    const given = Object.fromEntries(
      Object.entries({ sort, skip, limit, projection }).filter(([, value]) => value != null),
    )
    return new Cursor(
      (chosen, within) => {
        checkOptions('find', others, [])
        return this.#read(parseFilter(filter), chosen, within)
      },
      given,
      (steps, within) => this.#storage.read(steps, within, fewOf(filter, given.limit)),
    )
  }

  async findOne(filter?: unknown, options: Options = {}): Promise<Document | null> {
    return this.find(filter, { ...options, limit: 1 }).next()
  }

  async countDocuments(filter?: unknown, options: Options = {}): Promise<number> {
    checkOptions('countDocuments', options, ['skip', 'limit'])
    const { skip, limit } = checkPage(options)
    const match: Match = { filter: parseFilter(filter), sort: {}, skip, limit, isCounted: true }
    return this.#reduce(match, 0, (count) => count + 1, fewOf(filter, limit))
  }

  async estimatedDocumentCount(options: Options = {}): Promise<number> {
    checkOptions('estimatedDocumentCount', options, [])
    return this.#table.size()
  }

  async distinct(field: string, filter?: unknown, options: Options = {}): Promise<Value[]> {
    checkOptions('distinct', options, [])
    const path = parsePath(field)
    const values = new Map<string, Value>()
    const match = { filter: parseFilter(filter), sort: {}, skip: 0, limit: 0 }
    await this.#reduce(match, values, (_, { document }) => {
      for (const value of valuesAt(path, document)) {
        const key = encodeKey([value], [1]).toString('latin1')
        if (!values.has(key)) values.set(key, value)
      }
      return values
    })
    return [...values.values()]
  }

  async insertOne(document: unknown, options: Options = {}): Promise<object> {
    checkOptions('insertOne', options, [])
    const operation = this.#insertion(document)
    await this.#storage.write(() => operation.run())
    return { acknowledged: true, insertedId: operation.id }
  }

  async insertMany(documents: unknown, options: Options = {}): Promise<object> {
    if (!Array.isArray(documents)) throw invalid('Argument "docs" must be an array of documents')
    checkOptions('insertMany', options, ['ordered'])
    const operations = await inSlices(documents, (each) => this.#insertion(each))
    const { insertedCount, insertedIds } = await this.#bulk(operations, options, isJournalled(options) && operations)
    return { acknowledged: true, insertedCount, insertedIds }
  }

  async updateOne(filter: unknown, update: unknown, options: Options = {}): Promise<object> {
    return this.#update('updateOne', filter, update, options)
  }

  async updateMany(filter: unknown, update: unknown, options: Options = {}): Promise<object> {
    return this.#update('updateMany', filter, update, options)
  }

  async deleteOne(filter?: unknown, options: Options = {}): Promise<object> {
    return this.#delete('deleteOne', filter, options)
  }

  async deleteMany(filter?: unknown, options: Options = {}): Promise<object> {
    return this.#delete('deleteMany', filter, options)
  }

  async findOneAndUpdate(filter: unknown, update: unknown, options: Options = {}): Promise<unknown> {
    checkOptions('findOneAndUpdate', options, [
      'upsert',
      'returnDocument',
      'sort',
      'projection',
      'includeResultMetadata',
    ])
    const parsed = { filter: parseFilter(filter), update: parseAtomic(update), sort: parseSort(options.sort) }
    const project = parseProjection(options.projection)
    const upsert = options.upsert === true ? this.#upserting(parsed.filter, () => parsed.update) : null
    const { before, after, upserted } = await this.#command(function* (this: Collection) {
      const found = yield* this.#table.first(parsed)
      if (found) return { before: found.document, after: this.#apply(found, parsed.update), upserted: null }
      if (!upsert) return { before: null, after: null, upserted: null }
      const inserted = upsert()
      return { before: null, after: inserted, upserted: inserted._id }
    })
    const shown = options.returnDocument === 'after' ? (after ?? before) : before
    const value = shown && project(shown)
    if (!options.includeResultMetadata) return value
    const lastErrorObject = {
      n: before !== null || upserted !== null ? 1 : 0,
      updatedExisting: before !== null,
      ...(upserted === null ? {} : { upserted }),
    }
    return { lastErrorObject, value, ok: 1 }
  }

  async findOneAndDelete(filter: unknown, options: Options = {}): Promise<unknown> {
    checkOptions('findOneAndDelete', options, ['sort', 'projection', 'includeResultMetadata'])
    const match = { filter: parseFilter(filter), sort: parseSort(options.sort) }
    const project = parseProjection(options.projection)
    const document = await this.#command(function* (this: Collection) {
      const found = yield* this.#table.first(match)
      if (found) this.#table.delete(found)
      return found?.document ?? null
    })
    const value = document && project(document)
    return options.includeResultMetadata ? { lastErrorObject: { n: value ? 1 : 0 }, value, ok: 1 } : value
  }

  async bulkWrite(operations: unknown, options: Options = {}) {
    if (!Array.isArray(operations)) throw invalid('Argument "operations" must be an array of documents')
    checkOptions('bulkWrite', options, ['ordered'])
    return this.#bulk(await inSlices(operations, (each) => this.#operation(each)), options)
  }

  async createIndex(spec: unknown, options: Options = {}): Promise<string> {
    const [name = ''] = await this.#table.addIndexes([parseIndex(spec, options)])
    return name
  }

  async createIndexes(specs: { key: unknown }[], options: Options = {}): Promise<string[]> {
    checkOptions('createIndexes', options, [])
    return this.#table.addIndexes(specs.map(({ key, ...given }) => parseIndex(key, given)))
  }

  async indexes(): Promise<object[]> {
    return this.#table.indexes.map(({ record }) => shownIndex(record))
  }

  listIndexes(): { toArray(): Promise<object[]> } {
    return { toArray: () => this.indexes() }
  }

  *#read(filter: Filter, options: FindOptions, within: Reading): Generator<Document | undefined, undefined> {
    const project = parseProjection(options.projection)
    const match = { filter, sort: parseSort(options.sort), ...checkPage(options) }
    for (const found of this.#table.find(match, within)) yield found && (project(found.document) as Document)
  }

  /** Over all matches at one moment. */
  #reduce<T>(match: Match, start: T, add: (sum: T, found: Found) => T, few = 0): Promise<T> {
    const within: Reading = {}
    const found = this.#table.find(match, within)
    function* steps(): Steps<T> {
      let sum = start
      for (const each of found) {
        if (each) sum = add(sum, each)
        yield
      }
      return sum
    }
    return this.#storage.read(steps(), within, few)
  }

  /** A write whose failure is the whole command's, and so has another shape than that of one write among several. */
  async #command<T>(run: (this: Collection) => Steps<T>): Promise<T> {
    return this.#storage
      .write(() => run.call(this))
      .catch((error: unknown) => {
        if (!isServerError(error)) throw error
        const { index: _, ...response } = error.errorResponse
        throw new mongoose.mongo.MongoServerError({ ok: 0, codeName: CODE_NAMES[Number(error.code)], ...response })
      })
  }

  /** Insertions that may be journalled are given once more. */
  async #bulk(operations: readonly Operation[], options: Options, insertions: readonly Inserting[] | false = false) {
    if (operations.length === 0) throw invalid('Invalid BulkOperation, Batch cannot be empty')
    const ordered = options.ordered !== false
    const run = () => runBulk(operations, ordered)
    const insertion = insertions && {
      value: insertedTotal(insertions.map(({ id }) => id)),
      stage: () => this.#table.stage(insertions.map(({ incoming }) => incoming)),
    }
    return bulkResult(await this.#storage.write(run, insertion || undefined), ordered)
  }

  #operation(given: unknown): Operation {
    if (typeof given !== 'object' || given === null) throw invalid('Operation must be an object with an operation key')
    const [[kind, body] = ['', {}]] = Object.entries(given)
    const { filter, update, document, ...options } = body ?? {}
    if (kind === 'insertOne') return this.#insertion(document ?? body)
    if (kind === 'updateOne' || kind === 'updateMany') return this.#updating(kind, filter, update, options)
    if (kind === 'deleteOne' || kind === 'deleteMany') return this.#deletion(kind, filter, options)
    return refuse(`the operation ${kind} of bulkWrite`)
  }

  async #update(
    method: 'updateOne' | 'updateMany',
    filter: unknown,
    update: unknown,
    options: Options,
  ): Promise<object> {
    const operation = this.#updating(method, filter, update, options)
    const outcome = await this.#storage.write(() => operation.run())
    const { matched, modified, upserted } =
      outcome.kind === 'update' ? outcome : { matched: 0, modified: 0, upserted: null }
    return {
      acknowledged: true,
      modifiedCount: modified,
      upsertedId: upserted,
      upsertedCount: upserted === null ? 0 : 1,
      matchedCount: matched,
    }
  }

  async #delete(method: 'deleteOne' | 'deleteMany', filter: unknown, options: Options): Promise<object> {
    const operation = this.#deletion(method, filter, options)
    const outcome = await this.#storage.write(() => operation.run())
    return { acknowledged: true, deletedCount: outcome.kind === 'delete' ? outcome.deleted : 0 }
  }

  #insertion(given: unknown): Inserting {
    const { document, bytes } = documentOf(given)
    const table = this.#table
    const incoming = table.prepare(document, bytes)
    // biome-ignore lint/correctness/useYield: a step of its own
    function* run(): Steps<Outcome> {
      table.insert(incoming)
      return { kind: 'insert' }
    }
    return { kind: 'insert', id: document._id, given: Object(given), incoming, run }
  }

  #updating(method: 'updateOne' | 'updateMany', given: unknown, update: unknown, options: Options): Operation {
    checkOptions(method, options, ['upsert'])
    const filter = parseFilter(given)
    const steps = deferred(() => parseAtomic(update))
    const upsert = options.upsert === true ? this.#upserting(filter, steps) : null
    const run = function* (this: Collection): Steps<Outcome> {
      const changes = steps()
      let [matched, modified] = [0, 0]
      const work = (found: Found) => {
        matched++
        if (this.#apply(found, changes)) modified++
      }
      yield* this.#work(method === 'updateOne', filter, work)
      const upserted = matched === 0 && upsert ? upsert()._id : null
      return { kind: 'update', matched, modified, upserted }
    }.bind(this)
    return {
      kind: 'update',
      given: { q: given, u: update, multi: method === 'updateMany', ...options },
      run,
    }
  }

  #deletion(method: 'deleteOne' | 'deleteMany', given: unknown, options: Options): Operation {
    checkOptions(method, options, [])
    const filter = parseFilter(given)
    const limit = method === 'deleteOne' ? 1 : 0
    const run = function* (this: Collection): Steps<Outcome> {
      let deleted = 0
      const work = (found: Found) => {
        deleted++
        this.#table.delete(found)
      }
      yield* this.#work(limit === 1, filter, work)
      return { kind: 'delete', deleted }
    }.bind(this)
    return { kind: 'delete', given: { q: given, limit }, run }
  }

  *#work(isOne: boolean, filter: Filter, work: (found: Found) => void): Steps<void> {
    if (!isOne) return yield* this.#table.each(filter, work)
    const found = yield* this.#table.first({ filter, sort: {} })
    if (found) work(found)
  }

  /** The document as changed, or null where the update leaves it as it is. */
  #apply({ row, document }: Found, update: Update): Document | null {
    const after = structuredCopy(document)
    if (!applyUpdate(update, after, false)) return null
    this.#table.replace(row, document, after)
    return after
  }

  /** Builds an upsert's document ahead, from its filter and update alone. Refusals thus come before any write. */
  #upserting(filter: Filter, update: () => Update): () => Document {
    const document = deferred(() => seeded(filter, update()))
    return () => {
      const inserted = document()
      this.#table.insert(this.#table.prepare(inserted))
      return inserted
    }
  }
}

for (const name of Object.getOwnPropertyNames(mongoose.mongo.Collection.prototype)) {
  if (name in Collection.prototype || Object.getOwnPropertyDescriptor(mongoose.mongo.Collection.prototype, name)?.get)
    continue
  Object.defineProperty(Collection.prototype, name, { value: () => refuse(`Collection.${name}`) })
}

const CODE_NAMES: Record<number, string> = {
  2: 'BadValue',
  14: 'TypeMismatch',
  28: 'PathNotViable',
  40: 'ConflictingUpdateOperators',
  54: 'NotSingleValueField',
  66: 'ImmutableField',
  11000: 'DuplicateKey',
}

/** MongoDB's word for a write that is acknowledged once it is in the journal. */
const isJournalled = ({ writeConcern }: Options): boolean =>
  typeof writeConcern === 'object' && writeConcern !== null && 'j' in writeConcern && writeConcern.j === true

const invalid = (message: string) => new mongoose.mongo.MongoInvalidArgumentError(message)

function parseAtomic(update: unknown): Update {
  const first = typeof update === 'object' && update !== null && !Array.isArray(update) ? Object.keys(update)[0] : '$'
  if (!first?.startsWith('$')) throw invalid('Update document requires atomic operators')
  return parseUpdate(update)
}

/** An update that MongoDB refuses fails alone; one that only this store refuses fails at once. */
function deferred<T>(parse: () => T): () => T {
  try {
    const value = parse()
    return () => value
  } catch (error) {
    if (!isServerError(error)) throw error
    return () => {
      throw error
    }
  }
}

/** Prepares each, with pauses in which others have their turn. */
async function inSlices<T>(given: readonly unknown[], prepare: (each: unknown) => T): Promise<T[]> {
  const prepared: T[] = []
  let end = performance.now() + SLICE_MS
  for (const each of given) {
    prepared.push(prepare(each))
    if (performance.now() < end) continue
    await breathe()
    end = performance.now() + SLICE_MS
  }
  return prepared
}

/** The steps of a read without waiting: some for reads of one document or by id, as verdicts do. */
const fewOf = (filter: unknown, limit: unknown): number => (limit === 1 || Object(filter)._id !== undefined ? FEW : 0)

const parseSort = (sort: unknown) => parseDirections(sort, 'a sort')

function checkPage({ skip, limit }: { skip?: unknown; limit?: unknown }): { skip: number; limit: number } {
  const page = { skip: Number(skip ?? 0), limit: Math.abs(Number(limit ?? 0)) }
  if (!Number.isInteger(page.skip) || page.skip < 0 || !Number.isInteger(page.limit))
    return refuse('a skip or limit that is no whole number')
  return page
}

function structuredCopy<T extends Value>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(structuredCopy) as T
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  const fields: Fields = {}
  for (const [name, field] of Object.entries(value)) fields[name] = structuredCopy(field)
  return fields as T
}
