import { randomUUID } from 'node:crypto'
import mongoose from 'mongoose'

export type { Model, QueryFilter, UpdateQuery } from 'mongoose'

/** A collection, past its model. */
export type Collection<Row extends object> = mongoose.mongo.Collection<Row>

/** The store behind the models: MongoDB, or the embedded one of a single process. */
export interface Database {
  kind: 'mongodb' | 'embedded'
  /** No other process can write to this store. */
  alone: boolean
  /** As shown in the table at start; carries no credentials. */
  name: string
  /** Shared by every node on this store, and by no other store; its first node makes it. */
  installation: string
  /** Milliseconds on the store's clock. */
  now(): number
  /** Milliseconds by which the store's clock is ahead of this machine's, as last measured. */
  clockOffset(): number
  /** Creates the indexes of every registered model and waits for them. */
  buildIndexes(): Promise<void>
  /** Rejects after a second without an answer. */
  ping(): Promise<void>
  /** Has it lately not answered? */
  isAway(): boolean
  /** Is its disk full, as far as this process can see it? */
  isFull(): boolean
  close(): Promise<void>
}

/**
 * What holds for every model on either store. `sanitizeFilter` stays off: it rewrites each operator of our own filters
 * into a comparison with an object. Filters are built from validated scalars only.
 */
export function setUpMongoose(): void {
  mongoose.set({ strictQuery: 'throw', bufferCommands: false, autoIndex: false, autoCreate: false })
}

/** One command a collection, all at once: by mongoose it would be one an index, each after the other. */
export async function buildIndexes(): Promise<void> {
  await Promise.all(
    Object.values(mongoose.models).map(async ({ collection, schema }) => {
      const indexes = schema.indexes().map(([key, options]) => ({ ...options, key }))
      if (indexes.length > 0) await (collection as unknown as mongoose.mongo.Collection).createIndexes(indexes as never)
    }),
  )
}

export const readInstallation = async (): Promise<string> =>
  (await firstKept({ _id: 'installation', id: randomUUID() })).id

/** The session keys of every node on this database: those that its first node offered. */
export const keepSessionKeys = async (offered: string): Promise<string> =>
  (await firstKept({ _id: 'session-keys', keys: offered })).keys

/** The key by which all nodes on this database push to browsers: the one that its first node offered. */
export const keepPushKey = async (offered: string): Promise<string> =>
  (await firstKept({ _id: 'push-key', key: offered })).key

/** Of all that nodes offer under one id, each gets what the first one offered. */
async function firstKept<T extends { _id: string }>(offered: T): Promise<T> {
  const { db } = mongoose.connection
  if (!db) throw new Error('The database is not connected.')
  const kept = db.collection<{ _id: string }>('installation')
  await kept.insertOne(offered).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
  })
  return ((await kept.findOne({ _id: offered._id })) as T | null) ?? offered
}

/** The reason why a start has no database, in a sentence for the operator. */
export class NoDatabase extends Error {
  override readonly name = 'NoDatabase'
}

const awayErrors =
  /^Mongo(Network|NetworkTimeout|ServerSelection|ServerClosed|NotConnected|ClientClosed|ExpiredSession|TopologyClosed|PoolCleared|PoolClosed|WaitQueueTimeout|WriteConcern)/
// The driver passes on what a half-closed socket says, as it is.
// ENOSPC and EIO are of the embedded store, whose disk is full or cannot be written.
const awayCodes = ['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT', 'ENOSPC', 'EIO']
const awayLabels = ['RetryableWriteError', 'RetryableError', 'SystemOverloadedError', 'TransientTransactionError']

/** Says this error that the database is away, rather than that it was asked something wrong? */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (awayErrors.test(error.name)) return true
  if ('code' in error && awayCodes.some((code) => code === error.code)) return true
  // What is written in bulk wraps the error of the connection in one of its own.
  if (error instanceof mongoose.mongo.MongoBulkWriteError && isUnavailable(error.errorResponse)) return true
  return error instanceof mongoose.mongo.MongoError && awayLabels.some((label) => error.hasErrorLabel(label))
}

/** Says this error that the database will not do what it was asked? */
export const isOfDatabase = (error: unknown): boolean => error instanceof mongoose.mongo.MongoError

// On either store.
const duplicateKey = 11_000

/** Whether a row with this key exists. For a bulk, whether all failures are such; its code is of the first alone. */
export function isDuplicate(error: unknown): boolean {
  if (!(error instanceof mongoose.mongo.MongoBulkWriteError))
    return error instanceof Error && 'code' in error && error.code === duplicateKey
  const failures = [error.writeErrors].flat()
  if (error.result.getWriteConcernError()) return false
  return failures.length > 0 ? failures.every(({ code }) => code === duplicateKey) : error.code === duplicateKey
}

/** An upsert, done again where somebody else inserted the same row at the same moment. */
export async function upsert<T>(write: () => PromiseLike<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!isDuplicate(error)) throw error
    return await write()
  }
}

/** An error of the driver's encoder or arguments, or of the embedded store's. Endless values overflow the stack. */
export function isNeverSent(error: unknown): boolean {
  return [mongoose.mongo.BSON.BSONError, mongoose.mongo.MongoInvalidArgumentError, RangeError].some(
    (kind) => error instanceof kind,
  )
}

/** The rows that fit `where`, whose fields are values or lists of them (`$in`); all vectors have length 1. */
export interface NearestQuestion {
  where: Readonly<Record<string, string | { $in: readonly string[] }>>
  vector: Float32Array
  most: number
}

/** A database that searches vectors itself. */
export interface VectorSearch {
  /** The ids of the rows that are nearest, nearest first; null where the database cannot say it, or not yet. */
  nearest(question: NearestQuestion): Promise<string[] | null>
}
