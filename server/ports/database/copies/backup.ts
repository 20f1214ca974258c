import { access, link, mkdir, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { lockDirectory } from '../embedded/lock.ts'
import { CopyError, checkSame, type Sums } from '../embedded/sums.ts'
import type { Document } from '../embedded/values.ts'
import { askStore, type EmbeddedStore, openEmbedded } from '../embedded.ts'
import { readArchive, writeArchive } from './archive.ts'
import { sumsOf } from './documents.ts'

const batchSize = 1000
const storeFile = 'data.mdb'
const unfinished = 'restoring-'

/** Backs up the store in a directory to one new file: its state at one moment, also while a server works on it. */
export async function backUp(directory: string, to: string): Promise<Sums> {
  const file = resolve(to)
  if (await exists(file)) throw new CopyError(`${file} is there already.`)
  if (!(await exists(join(directory, storeFile)))) throw new CopyError(`There is no store in ${directory}.`)
  await mkdir(dirname(file), { recursive: true })
  const beside = await mkdtemp(`${file}.`)
  try {
    const part = join(beside, 'backup')
    await writeArchive(askStore(directory, 'backup'), part)
    const written = await verifyBackup(part)
    await link(part, file)
    await syncDirectory(dirname(file))
    return written
  } finally {
    await rm(beside, { recursive: true, force: true })
  }
}

/** Reads the store of a directory to its end, and throws where it is damaged; a line a collection. */
export async function* verifyStore(directory: string): AsyncGenerator<string> {
  if (!(await exists(join(directory, storeFile)))) throw new CopyError(`There is no store in ${directory}.`)
  for await (const line of askStore(directory, 'verify')) if (line.trim() !== '') yield line.trimEnd()
}

/** Reads a backup to its end and throws where it is damaged. */
export async function verifyBackup(file: string): Promise<Sums> {
  const entries = readArchive(file)
  for (;;) {
    const { done, value } = await entries.next()
    if (done) return value
  }
}

/** Makes a store out of a backup, where there is none. It appears whole or not at all. */
export async function restore(from: string, directory: string): Promise<Sums> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const lock = await lockDirectory(resolve(directory))
  try {
    await refuseFull(directory)
    const beside = await mkdtemp(join(directory, unfinished))
    const sums = await within(beside, async (store) => {
      const read = await fill(store, from)
      checkSame(read, await sumsOf(store))
      return read
    }).catch(async (error: unknown) => {
      await rm(beside, { recursive: true, force: true })
      throw error
    })
    await rename(join(beside, storeFile), join(directory, storeFile))
    await syncDirectory(directory)
    await rm(beside, { recursive: true, force: true })
    return sums
  } finally {
    await lock.release()
  }
}

async function fill(store: EmbeddedStore, file: string): Promise<Sums> {
  const database = store.db()
  const entries = readArchive(file)
  let collection = database.collection('')
  let batch: Document[] = []
  const flush = async () => {
    if (batch.length > 0) await collection.insertMany(batch)
    batch = []
  }
  for (;;) {
    const { done, value } = await entries.next()
    if (done || 'collection' in value || batch.length === batchSize) await flush()
    if (done) return value
    if ('document' in value) batch.push(value.document)
    else {
      collection = await database.createCollection(value.collection)
      for (const { key, ...options } of value.indexes) await collection.createIndex(key, withoutVersion(options))
    }
  }
}

const withoutVersion = ({ v: _, ...options }: Record<string, unknown>) => options

/** A key that was made before, and the rests of a restore that was killed, are no data. */
async function refuseFull(directory: string): Promise<void> {
  const names = await readdir(directory)
  for (const name of names.filter((each) => each.startsWith(unfinished)))
    await rm(join(directory, name), { recursive: true })
  const [data] = names.filter((name) => !/^(session-keys$|tools\.sock$|lock(\.|$)|restoring-)/.test(name))
  if (data !== undefined) throw new CopyError(`${directory} is not empty: there is ${data}.`)
}

async function within<T>(directory: string, work: (store: EmbeddedStore) => Promise<T>): Promise<T> {
  const store = await openEmbedded(directory, { sweeps: false })
  return work(store).finally(() => store.close())
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}
