import { Socket } from 'node:net'
import { resolve } from 'node:path'
import mongoose from 'mongoose'
import { repeatWork } from '#server/kernel/beat'
import { makeDirectory } from '#server/kernel/make-directory'
import { backupLines, verifyLines } from './embedded/backup-lines.ts'
import { Collection } from './embedded/collection.ts'
import { fullDisk, isFull } from './embedded/commits.ts'
import { inWords, openEnvironment } from './embedded/environment.ts'
import { serverError } from './embedded/errors.ts'
import { type Lock, lockDirectory } from './embedded/lock.ts'
import { ask, openDoor, reach } from './embedded/socket.ts'
import { Storage } from './embedded/storage.ts'
import { Table } from './embedded/table.ts'
import { buildIndexes, type Database, readInstallation, setUpMongoose } from './port.ts'

const SWEEP_INTERVAL_MS = 60_000
const DEFAULT_NAME = 'plaza'

export type EmbeddedStore = Awaited<ReturnType<typeof openEmbedded>>

/** A store of one process in a directory, in the shape of the driver's client. What is acknowledged is on the disk. */
export async function openEmbedded(dir: string, { sweeps = true } = {}) {
  const directory = resolve(dir)
  await makeDirectory(directory)
  return openLocked(await lockDirectory(directory).catch(onFullDisk), sweeps)
}

function onFullDisk(error: unknown): never {
  throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? fullDisk('The store cannot be opened', error) : error
}

/** The store of a locked directory, for a server or a tool. The lock is released when it closes or fails to open. */
async function openLocked(lock: Lock, serves: boolean) {
  const opening = openStorage(lock, serves ? endProcess : undefined)
  const { storage, tableOf, isTakenOver } = await opening.catch(async (error: unknown) => {
    await lock.release()
    throw isFull(lock.directory) ? fullDisk('The store cannot be opened', error) : inWords(error, lock.directory)
  })
  const tell = (question: string) => told(storage, question)
  const door = await openDoor(lock.directory, tell)
  const sweep = async (): Promise<void> => {
    const namespaces = Object.keys(storage.catalog.collections)
    const swept = namespaces.map((namespace) => storage.write(() => tableOf(namespace).expire(Date.now())))
    const failures = (await Promise.allSettled(swept)).flatMap((each) =>
      each.status === 'rejected' ? [each.reason] : [],
    )
    if (failures.length > 0) throw new AggregateError(failures, 'Not everything that has expired could be deleted.')
  }
  const unfinished = Object.entries(storage.catalog.collections).filter(([, { building }]) => building)
  for (const [namespace] of unfinished) void storage.write(() => tableOf(namespace).recover()).catch(() => undefined)
  if (storage.catalog.dropped?.length) void storage.write(() => storage.clearDropped()).catch(() => undefined)
  const stopSweeping = serves ? repeatWork(SWEEP_INTERVAL_MS, () => void sweep().catch(() => undefined)) : () => {}
  let closing: Promise<void> | undefined
  return {
    counters: storage.counters,
    /** Why tools cannot ask this process; null where they can. */
    closedToTools: door.trouble,
    /** Has an older version written what is there? */
    isTakenOver,
    tell,
    db: (name = DEFAULT_NAME) => openNamespace(storage, name, tableOf),
    /** Deletes what the TTL indexes say has expired; done by itself once a minute. */
    sweep,
    close: (): Promise<void> => {
      stopSweeping()
      closing ??= door
        .close()
        .then(() => storage.close())
        .finally(lock.release)
      return closing
    },
  }
}

/** Asks the process that holds the store of a directory; without one, this process opens it meanwhile. */
export async function* askStore(dir: string, question: string): AsyncGenerator<string> {
  const directory = resolve(dir)
  const held = await lockDirectory(directory, () => reach(directory))
  if (held instanceof Socket) {
    yield* ask(held, question)
    return
  }
  const store = await openLocked(held, false)
  try {
    yield* store.tell(question)
  } finally {
    await store.close()
  }
}

export async function connectEmbedded(directory: string): Promise<Database> {
  setUpMongoose()
  const { connection } = mongoose
  // A second store would take the connection, and nothing could close the first one any more.
  if (connection.readyState !== mongoose.STATES.disconnected) throw new Error('This process has a store open already.')
  const store = await openEmbedded(directory)
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
    name: [
      `embedded store in ${directory}`,
      ...(store.isTakenOver ? ['taken over from an older version'] : []),
      ...(store.closedToTools ? [`closed to tools: ${store.closedToTools}`] : []),
    ].join(', '),
    installation,
    now: () => Date.now(),
    clockOffset: () => 0,
    buildIndexes,
    isAway: () => false,
    isFull: () => isFull(directory),
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
    // biome-ignore lint/correctness/useYield: a step of its own
    await storage.write(function* () {
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

/** What tools may ask. */
async function* told(storage: Storage, question: string): AsyncGenerator<string> {
  if (question === 'backup') yield* backupLines(storage, `${DEFAULT_NAME}.`)
  else if (question === 'backup uploads') yield* backupLines(storage, `${DEFAULT_NAME}.`, 'uploads')
  else if (question === 'verify') yield* verifyLines(storage)
  else throw new Error(`The process that holds the directory does not know the question ${question}.`)
}

function endProcess(error: Error): void {
  setImmediate(() => {
    throw error
  })
}

async function openStorage(lock: Lock, onDamage?: (error: Error) => void) {
  const storage = new Storage(await openEnvironment(lock), lock, onDamage)
  const tables = new Map<string, Table>()
  const tableOf = (namespace: string): Table => {
    const table = tables.get(namespace) ?? new Table(storage, namespace)
    tables.set(namespace, table)
    return table
  }
  storage.onRollback(() => {
    for (const table of tables.values()) table.load()
  })
  try {
    const { journalled, isTakenOver } = await storage.open()
    const left = journalled.map(({ number, rows }) => ({
      number,
      rows: rows.map(({ namespace, bytes }) => tableOf(namespace).restored(bytes)),
    }))
    await storage.recover(left)
    return { storage, tableOf, isTakenOver }
  } catch (error) {
    await storage.close()
    throw error
  }
}
