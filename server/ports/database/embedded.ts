import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import mongoose from 'mongoose'
import { Collection } from './embedded/collection.ts'
import { serverError } from './embedded/errors.ts'
import { lockDirectory } from './embedded/lock.ts'
import { Storage } from './embedded/storage.ts'
import { Table } from './embedded/table.ts'
import { buildIndexes, type Database, readInstallation, setUpMongoose } from './port.ts'

const SWEEP_INTERVAL_MS = 60_000
const DEFAULT_NAME = 'plaza'

export type EmbeddedStore = Awaited<ReturnType<typeof openEmbedded>>

/** A store of one process in a directory, in the shape of the driver's client. What is acknowledged is on the disk. */
export async function openEmbedded(dir: string, { sweeps = true } = {}) {
  const directory = resolve(dir)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const unlock = await lockDirectory(directory)
  const storage = await openStorage(directory).catch(async (error: unknown) => {
    await unlock()
    throw error
  })
  const tables = new Map<string, Table>()
  const tableOf = (namespace: string): Table => {
    const table = tables.get(namespace) ?? new Table(storage, namespace)
    tables.set(namespace, table)
    return table
  }
  storage.onRollback(() => {
    for (const table of tables.values()) table.load()
  })
  const sweep = async (): Promise<void> => {
    for (const namespace of Object.keys(storage.catalog.collections)) {
      while (await storage.write(() => tableOf(namespace).expire(Date.now()))) await new Promise(setImmediate)
    }
  }
  const sweeper = sweeps ? setInterval(() => void sweep().catch(() => undefined), SWEEP_INTERVAL_MS).unref() : undefined
  let closing: Promise<void> | undefined
  return {
    counters: storage.counters,
    db: (name = DEFAULT_NAME) => openNamespace(storage, name, tableOf),
    /** Deletes what the TTL indexes say has expired; done by itself once a minute. */
    sweep,
    close: (): Promise<void> => {
      clearInterval(sweeper)
      closing ??= storage.close().finally(unlock)
      return closing
    },
  }
}

export async function connectEmbedded(directory: string): Promise<Database> {
  setUpMongoose()
  const store = await openEmbedded(directory)
  const { connection } = mongoose
  const createClient = async () => {
    Object.assign(connection, { client: store, db: store.db(), name: DEFAULT_NAME, _connectionString: directory })
    opened(connection)
  }
  Object.assign(connection, { createClient })
  await mongoose.connect(`embedded:${directory}`)
  const installation = await readInstallation()
  return {
    kind: 'embedded',
    alone: true,
    name: `embedded store in ${directory}`,
    installation,
    now: () => Date.now(),
    clockOffset: () => 0,
    buildIndexes,
    isAway: () => false,
    ping: async () => {
      await store.db().collection('ping').findOne({ _id: '' })
    },
    close: async () => {
      await mongoose.disconnect()
      Reflect.deleteProperty(connection, 'createClient')
    },
  }
}

/** What mongoose's own driver calls once it is connected; its types leave it out. */
function opened(connection: object): void {
  if ('onOpen' in connection && typeof connection.onOpen === 'function') connection.onOpen()
}

function openNamespace(storage: Storage, databaseName: string, tableOf: (namespace: string) => Table) {
  const collections = new Map<string, Collection>()
  const collection = (name: string): Collection => {
    const opened = collections.get(name) ?? new Collection(storage, tableOf(`${databaseName}.${name}`), name)
    collections.set(name, opened)
    return opened
  }
  const createCollection = async (name: string): Promise<Collection> => {
    const table = tableOf(`${databaseName}.${name}`)
    await storage.write(() => {
      if (table.indexes.length > 0) throw serverError(48, `Collection ${table.namespace} already exists.`)
      table.create()
    })
    return collection(name)
  }
  const collectionNames = (): string[] => {
    const prefix = `${databaseName}.`
    const names = Object.keys(storage.catalog.collections).filter((name) => name.startsWith(prefix))
    return names.map((name) => name.slice(prefix.length))
  }
  return { databaseName, collection, collectionNames, createCollection }
}

async function openStorage(directory: string): Promise<Storage> {
  const lmdb = await import('lmdb').catch((cause: unknown) => {
    throw new Error(
      'The embedded store needs the optional package of lmdb for this platform: install without --omit=optional, or set MONGODB_URI.',
      { cause },
    )
  })
  const options = {
    path: directory,
    noSubdir: false,
    keyEncoding: 'binary',
    encoding: 'binary',
    eventTurnBatching: false,
    overlappingSync: false,
  } as const
  return new Storage(lmdb.open<Buffer, Buffer>(options))
}
