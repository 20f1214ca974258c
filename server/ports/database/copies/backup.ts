import { access, link, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { makeDirectory } from '#server/kernel/make-directory'
import { lockDirectory } from '../embedded/lock.ts'
import { CopyError, checkSame } from '../embedded/sums.ts'
import type { Document } from '../embedded/values.ts'
import { askStore, type EmbeddedStore, openEmbedded } from '../embedded.ts'
import { type Copied, readArchive, sumsOfDocuments, writeArchive } from './archive.ts'
import { fileWriter, keysIn, moveFiles, placeIn, recordingsIn, syncDirectory } from './files.ts'

const batchSize = 1000
const storeFile = 'data.mdb'
const unfinished = 'restoring-'

type Look = (collection: string, document: Document) => void

/**
 * Backs up the store of a directory to one new file, even while a server uses it. The store is read at one moment. Uploads and
 * recordings are read afterwards, so that all files of its documents are there.
 */
export async function backUp(
  directory: string,
  to: string,
  files: string | null = null,
  recordings: string | null = null,
): Promise<Copied> {
  const file = resolve(to)
  if (await exists(file)) throw new CopyError(`${file} is there already.`)
  if (!(await exists(join(directory, storeFile)))) throw new CopyError(`There is no store in ${directory}.`)
  await makeDirectory(dirname(file))
  const beside = await mkdtemp(`${file}.`)
  try {
    const part = join(beside, 'backup')
    await writeArchive(askStore(directory, 'backup'), files, recordings, part).catch(onFullDisk(file))
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
export async function verifyBackup(file: string): Promise<Copied> {
  const entries = readArchive(file)
  for (;;) {
    const { done, value } = await entries.next()
    if (done) return value
  }
}

/**
 * Makes a store out of a backup, where there is none, and puts its files and recordings into folders. A damaged backup is refused before
 * anything is written; the store appears whole or not at all. `look` sees each document.
 */
export async function restore(
  from: string,
  directory: string,
  files = join(directory, 'files'),
  recordings = join(directory, 'media', 'recordings'),
  look: Look = () => undefined,
): Promise<Copied> {
  await verifyBackup(from)
  await makeDirectory(resolve(directory))
  const lock = await lockDirectory(resolve(directory))
  try {
    await refuseFull(directory)
    const beside = await mkdtemp(join(directory, unfinished))
    const written = { files: join(beside, 'files'), recordings: join(beside, 'recordings') }
    const copied = await within(beside, async (store) => {
      const read = await fill(store, (key) => placeIn(written, key), from, look)
      checkSame(read.documents, await sumsOfDocuments(store))
      return read
    }).catch(async (error: unknown) => {
      await rm(beside, { recursive: true, force: true })
      return onFullDisk(directory)(error)
    })
    await moveFiles(written.files, files, await keysIn(written.files))
    await moveFiles(written.recordings, recordings, (await recordingsIn(written.recordings)).names)
    await rename(join(beside, storeFile), join(directory, storeFile))
    await syncDirectory(directory)
    await rm(beside, { recursive: true, force: true })
    return copied
  } finally {
    await lock.release()
  }
}

/** Of what was being written where, as the system does not say it. */
function onFullDisk(path: string): (error: unknown) => never {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    throw new CopyError(`${path} cannot be written: the disk is full (ENOSPC).`)
  }
}

async function fill(store: EmbeddedStore, placeOf: (key: string) => string, file: string, look: Look): Promise<Copied> {
  const database = store.db()
  const files = fileWriter(placeOf)
  const entries = readArchive(file)
  let collection = database.collection('')
  let batch: Document[] = []
  const flush = async () => {
    if (batch.length > 0) await collection.insertMany(batch)
    batch = []
  }
  try {
    for (;;) {
      const { done, value } = await entries.next()
      if (done || !('document' in value) || batch.length === batchSize) await flush()
      if (done) return value
      if ('document' in value) {
        look(collection.collectionName, value.document)
        batch.push(value.document)
      } else if ('file' in value) await files.begin(value.file)
      else if ('bytes' in value) await files.write(value.bytes)
      else {
        collection = await database.createCollection(value.collection)
        for (const { key, ...options } of value.indexes) await collection.createIndex(key, withoutVersion(options))
      }
    }
  } finally {
    await files.end()
  }
}

const withoutVersion = ({ v: _, ...options }: Record<string, unknown>) => options

/** A key, the list of erasures, files, recordings, and the rests of a killed restore are no store. */
async function refuseFull(directory: string): Promise<void> {
  const names = await readdir(directory)
  for (const name of names.filter((each) => each.startsWith(unfinished)))
    await rm(join(directory, name), { recursive: true })
  const [data] = names.filter(
    (name) => !/^(session-keys$|erasures\.jsonl$|files$|media$|tools\.sock$|lock(\.|$)|restoring-)/.test(name),
  )
  if (data !== undefined) throw new CopyError(`${directory} is not empty: there is ${data}.`)
}

async function within<T>(directory: string, work: (store: EmbeddedStore) => Promise<T>): Promise<T> {
  const store = await openEmbedded(directory, { sweeps: false })
  return work(store).finally(() => store.close())
}

/** Throws if the answer is unknown, as in a directory without access. */
const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false
      throw error
    },
  )
