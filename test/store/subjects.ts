import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { openEmbedded } from '#server/ports/database/embedded'

export interface Stored {
  _id: string
  [field: string]: unknown
}
interface Cursor {
  sort(sort: object): Cursor
  skip(count: number): Cursor
  limit(count: number): Cursor
  toArray(): Promise<Stored[]>
  next(): Promise<Stored | null>
  close(): Promise<void>
  [Symbol.asyncIterator](): AsyncIterator<Stored>
}

/** The driver's collection as these tests use it, with loose types, so that unsupported calls compile. */
export interface Driver {
  find(filter: object, options?: object): Cursor
  findOne(filter: object, options?: object): Promise<Stored | null>
  countDocuments(filter: object): Promise<number>
  distinct(field: string): Promise<unknown[]>
  insertOne(document: object): Promise<unknown>
  insertMany(documents: object[], options?: object): Promise<unknown>
  updateOne(filter: object, update: object, options?: object): Promise<unknown>
  updateMany(filter: object, update: object, options?: object): Promise<unknown>
  findOneAndUpdate(filter: object, update: object, options?: object): Promise<Stored | null>
  findOneAndDelete(filter: object, options?: object): Promise<Stored | null>
  deleteOne(filter: object): Promise<unknown>
  deleteMany(filter: object): Promise<unknown>
  bulkWrite(operations: object[], options?: object): Promise<unknown>
  createIndex(key: object, options?: object): Promise<string>
  createIndexes(indexes: object[]): Promise<string[]>
  replaceOne(filter: object, document: object): Promise<unknown>
  aggregate(pipeline: object[]): unknown
  watch(): unknown
}

/** A store under test, with a separate collection for each name. */
export interface Subject {
  collection(name: string): Driver
  close(): Promise<void>
}

/** Every insertMany of such a subject may be acknowledged by the journal alone. */
export async function embeddedSubject({ isJournalled = false } = {}): Promise<Subject> {
  const directory = await mkdtemp(join(tmpdir(), 'plaza-store-'))
  const store = await openEmbedded(directory)
  return {
    collection: (name) => {
      const collection = store.db('conformance').collection(name) as unknown as Driver
      return isJournalled ? journalled(collection) : collection
    },
    close: async () => {
      await store.close()
      await rm(directory, { recursive: true })
    },
  }
}

export function journalled(collection: Driver): Driver {
  return new Proxy(collection, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (name === 'insertMany')
        return (documents: object[], options: object) =>
          target.insertMany(documents, { ...options, writeConcern: { j: true } })
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

export async function mongoSubject(uri: string): Promise<Subject> {
  const client = await new mongoose.mongo.MongoClient(uri).connect()
  const database = client.db(`conformance_${process.pid}_${Date.now()}`)
  return {
    collection: (name) => database.collection(name) as unknown as Driver,
    close: async () => {
      await database.dropDatabase()
      await client.close()
    },
  }
}

/** The subjects of this run: the embedded store always, MongoDB where MONGODB_URI names one. */
export function subjects(): [string, () => Promise<Subject>][] {
  const uri = process.env.MONGODB_URI
  return [
    ['embedded', () => embeddedSubject()],
    ['embedded, journalled', () => embeddedSubject({ isJournalled: true })],
    ...(uri ? [['MongoDB', () => mongoSubject(uri)] as [string, () => Promise<Subject>]] : []),
  ]
}

/** The result or the error of an operation, in a comparable form. */
export async function answer(run: () => Promise<unknown>): Promise<unknown> {
  try {
    return plain(await run())
  } catch (error) {
    if (!(error instanceof mongoose.mongo.MongoServerError)) throw error
    const { code, keyPattern, keyValue, writeErrors, result } = error
    const failures = Array.isArray(writeErrors) ? writeErrors.map((each) => [each.index, each.code]) : undefined
    return plain({ failed: code, keyPattern, keyValue, failures, result })
  }
}

function plain(value: unknown): unknown {
  return value === undefined
    ? undefined
    : JSON.parse(JSON.stringify(value, (_, each) => (each === undefined ? null : each)))
}
