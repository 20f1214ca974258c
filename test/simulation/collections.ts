import mongoose from 'mongoose'
import { bulkResult, WriteError } from '#server/ports/database/embedded/bulk'
import { serverError } from '#server/ports/database/embedded/errors'
import { matches, parseFilter } from '#server/ports/database/embedded/filter'
import { applyUpdate, parseUpdate } from '#server/ports/database/embedded/update'
import type { Document } from '#server/ports/database/embedded/values'
import { setUpMongoose } from '#server/ports/database/port'
import type { World } from './world.ts'

interface Write {
  filter: Record<string, unknown>
  update: unknown
  upsert?: boolean
}

/** The probabilities that an answer is lost and that a bulk write is only partly carried out; both are 0 once the faults have ended. */
export interface Mishaps {
  lost: number
  torn: number
}

/** A map of documents by id, or a view with the same methods. */
export interface Table {
  get(id: string): Document | undefined
  set(id: string, document: Document): unknown
  has(id: string): boolean
  values(): Iterable<Document>
  /** The documents of one room, if they can be selected directly. */
  in?(room: string): readonly Document[]
}
export type Tables = ReadonlyMap<string, Table>

type OnWrite = (collection: string, before: Document | undefined, after: Document) => void

/**
 * The collections behind the models, as a database with several nodes behaves: each write takes time, an upsert reads first and
 * inserts later, an unordered bulk write runs one by one in any order, and answers are lost.
 */
export class Collections {
  readonly #world: World
  readonly #mishaps: Mishaps
  readonly #tables = new Map<string, Table>()
  readonly #onWrite: OnWrite
  /** The snapshot that a read sees which begins now, if it differs from the current state. */
  seen: () => Tables | undefined = () => undefined
  /** If false, a record written later replaces a newer one. */
  isNewerOnly = true
  isHealed = false
  races = 0

  constructor(world: World, mishaps: Mishaps, onWrite: OnWrite) {
    this.#world = world
    this.#mishaps = mishaps
    this.#onWrite = onWrite
  }

  /** From now on the models are stored here. */
  connect(): void {
    setUpMongoose()
    const { connection } = mongoose
    const db = { collection: (name: string) => this.collection(name) }
    Object.assign(connection, { client: {}, db, name: 'simulated', readyState: 1 })
    if ('onOpen' in connection && typeof connection.onOpen === 'function') connection.onOpen()
  }

  /** A collection that is kept elsewhere. */
  adopt(collection: string, table: Table): void {
    this.#tables.set(collection, table)
  }

  /** Every collection as it is now. */
  copy(): Map<string, Table> {
    const maps = [...this.#tables].flatMap(([name, table]) => (table instanceof Map ? [[name, table] as const] : []))
    return new Map(maps.map(([name, table]) => [name, new Map(table) as Table]))
  }

  put(collection: string, document: Document): void {
    this.#table(collection).set(document._id, structuredClone(document))
  }

  collection(name: string) {
    return {
      find: (filter: object, options: { sort?: object } = {}) => this.#cursor(name, filter, options.sort),
      findOne: async (filter: object) => (await this.#found(name, filter))[0] ?? null,
      updateOne: async (filter: Write['filter'], update: unknown, { upsert = false } = {}) => {
        const modifiedCount = await this.#update(name, { filter, update, upsert })
        this.#maybeLost()
        return { acknowledged: true, modifiedCount, matchedCount: modifiedCount, upsertedCount: 0, upsertedId: null }
      },
      updateMany: async (filter: Write['filter'], update: unknown) => {
        for (const { _id } of await this.#found(name, filter))
          await this.#update(name, { filter: { ...filter, _id }, update })
        return { acknowledged: true, modifiedCount: 0, matchedCount: 0, upsertedCount: 0, upsertedId: null }
      },
      bulkWrite: (writes: readonly { updateOne: Write }[]) => this.#bulk(name, writes),
    }
  }

  #table(name: string): Table {
    const table = this.#tables.get(name) ?? new Map<string, Document>()
    this.#tables.set(name, table)
    return table
  }

  #cursor(name: string, filter: object, given: object = {}) {
    let sort = given
    let most = Number.POSITIVE_INFINITY
    const cursor = {
      sort(by: object) {
        sort = by
        return cursor
      },
      limit(count: number) {
        most = count
        return cursor
      },
      toArray: async () => {
        const [[field, direction] = ['_id', 1]] = Object.entries(sort)
        const found = await this.#found(name, filter)
        return found.sort((one, other) => (Number(one[field]) - Number(other[field])) * direction).slice(0, most)
      },
    }
    return cursor
  }

  async #found(name: string, filter: object): Promise<Document[]> {
    const table = this.seen()?.get(name) ?? this.#table(name)
    await this.#travel()
    return structuredClone(matching(table, filter))
  }

  async #bulk(name: string, writes: readonly { updateOne: Write }[]) {
    const total = { ok: 1, writeErrors: [] as WriteError[], writeConcernErrors: [], insertedIds: [], upserted: [] }
    const counts = { nInserted: 0, nUpserted: 0, nMatched: 0, nModified: 0, nRemoved: 0 }
    const isTorn = !this.isHealed && this.#world.chance(this.#mishaps.torn)
    const order = [...writes.entries()].sort(() => this.#world.random() - 0.5)
    for (const [index, { updateOne }] of order) {
      if (isTorn && this.#world.chance(0.5)) throw new mongoose.mongo.MongoNetworkError('The connection was cut.')
      try {
        await this.#update(name, updateOne)
      } catch (error) {
        total.writeErrors.push(new WriteError(index, error, updateOne))
      }
    }
    this.#maybeLost()
    return bulkResult({ ...total, ...counts }, false)
  }

  async #update(name: string, { filter, update, upsert = false }: Write): Promise<number> {
    await this.#travel()
    const steps = parseUpdate(update)
    const { applied_seq, banned_seq, ...others } = filter
    const [before] = matching(this.#table(name), this.isNewerOnly ? filter : others)
    if (before) {
      const after = structuredClone(before)
      applyUpdate(steps, after, false)
      this.#set(name, before, after)
      return 1
    }
    if (!upsert) return 0
    const _id = String(filter._id)
    // The upsert of another node may run in between.
    await this.#travel()
    if (this.#table(name).has(_id)) {
      this.races++
      throw serverError(11_000, `E11000 duplicate key: ${_id}`)
    }
    const after: Document = { _id }
    applyUpdate(steps, after, true)
    this.#set(name, undefined, after)
    return 1
  }

  #set(name: string, before: Document | undefined, after: Document): void {
    this.#table(name).set(after._id, after)
    this.#onWrite(name, before, after)
  }

  #travel(): Promise<void> {
    return this.#world.sleep(this.#world.between(0.1, 3))
  }

  #maybeLost(): void {
    if (!this.isHealed && this.#world.chance(this.#mishaps.lost))
      throw new mongoose.mongo.MongoNetworkError('The answer was lost.')
  }
}

function matching(table: Table, filter: object): Document[] {
  const parsed = parseFilter(filter)
  return [...candidates(table, filter)].filter((each) => matches(parsed, each))
}

/** The ids that a filter names; without any, all ids. */
function candidates(table: Table, filter: { _id?: unknown; room?: unknown }): Iterable<Document> {
  const { _id, room } = filter
  const ids = typeof _id === 'string' ? [_id] : (_id as { $in?: string[] } | undefined)?.$in
  if (ids) return ids.flatMap((id) => table.get(id) ?? [])
  return (typeof room === 'string' && table.in?.(room)) || table.values()
}
