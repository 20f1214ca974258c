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

/** How likely an answer is lost, and how likely a bulk is only half carried out; nothing goes wrong once it is healed. */
export interface Mishaps {
  lost: number
  torn: number
}

type OnWrite = (collection: string, before: Document | undefined, after: Document) => void

/**
 * The collections behind the models as a database of several nodes has them: each write takes its time, an upsert looks first and
 * inserts later, a bulk without order is carried out one by one in any order, and answers get lost.
 */
export class Collections {
  readonly #world: World
  readonly #mishaps: Mishaps
  readonly #tables = new Map<string, Map<string, Document>>()
  readonly #onWrite: OnWrite
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

  #table(name: string): Map<string, Document> {
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
    await this.#travel()
    return structuredClone(this.#matching(name, filter))
  }

  #matching(name: string, filter: object): Document[] {
    const { _id } = filter as { _id?: unknown }
    const table = this.#table(name)
    const one = typeof _id === 'string' ? table.get(_id) : undefined
    const parsed = parseFilter(filter)
    return (typeof _id === 'string' ? (one ? [one] : []) : [...table.values()]).filter((each) => matches(parsed, each))
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
    const [before] = this.#matching(name, filter)
    if (before) {
      const after = structuredClone(before)
      applyUpdate(steps, after, false)
      this.#set(name, before, after)
      return 1
    }
    if (!upsert) return 0
    const _id = String(filter._id)
    // Another's upsert may come between.
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
