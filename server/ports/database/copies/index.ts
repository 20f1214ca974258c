import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, link, mkdtemp, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import mongoose from 'mongoose'
import { z } from 'zod'
import { type Environment, openEnvironment } from '../embedded/environment.ts'
import { JOURNAL_FILE } from '../embedded/journal.ts'
import { type Lock, lockDirectory } from '../embedded/lock.ts'
import { CopyError, checkSame, createTally, type Sum, type Sums } from '../embedded/sums.ts'
import { decode, documentOf } from '../embedded/values.ts'
import { askStore, type EmbeddedStore, openEmbedded } from '../embedded.ts'
import { documentsOf, inBatches, indexesOf, type Written } from './archive.ts'
import { keysIn, syncDirectory, unlessMissing } from './files.ts'

const storeFile = 'data.mdb'
const unfinished = 'compacting-'
const slotsAtOnce = 1_000
const zeros = Buffer.alloc(1_048_576)

/** The bytes of the store before and after. */
export interface Compacted {
  before: number
  after: number
}

/**
 * Writes the store of a stopped server anew, without what was deleted, and overwrites the former file and journal. Pages of lmdb keep
 * deleted rows, and so would its own copies.
 */
export async function compact(dir: string): Promise<Compacted> {
  const directory = resolve(dir)
  const before = await sizeOf(join(directory, storeFile))
  if (before === null) throw new CopyError(`There is no store in ${directory}.`)
  const journal = await open(join(directory, JOURNAL_FILE), 'r+').catch(unlessMissing)
  try {
    // Puts what the journal of a killed server holds into the store, and removes the journal.
    await (await openEmbedded(directory, { sweeps: false })).close()
    const lock = await lockDirectory(directory)
    try {
      await clearUnfinished(directory)
      if ((await sizeOf(join(directory, JOURNAL_FILE))) !== null)
        throw new CopyError(`The store in ${directory} was used meanwhile: stop the server, and try again.`)
      await writeAnew(lock)
      if (journal) await overwrite(journal)
    } finally {
      await lock.release()
    }
  } finally {
    await journal?.close()
  }
  return { before, after: (await sizeOf(join(directory, storeFile))) ?? 0 }
}

/** The store is at any moment the former or the new one. */
async function writeAnew(lock: Lock): Promise<void> {
  const { directory } = lock
  const beside = await mkdtemp(join(directory, unfinished))
  const [store, next, former] = [join(directory, storeFile), join(beside, storeFile), join(beside, 'former.mdb')]
  try {
    await copyInto(lock, beside)
    await link(store, former)
    await rename(next, store)
    await unlink(join(directory, 'lock.mdb'))
    await syncDirectory(directory)
  } catch (error) {
    await clearUnfinished(directory)
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    throw new CopyError(`${directory} has no room for a second store: the disk is full (ENOSPC).`)
  }
  await clearUnfinished(directory)
}

async function copyInto(lock: Lock, beside: string): Promise<void> {
  const from = await openEnvironment(lock)
  const to = await openEnvironment({ ...lock, directory: beside })
  try {
    let slots: { key: Buffer; value: Buffer }[] = []
    const write = () => {
      to.transactionSync(() => {
        for (const { key, value } of slots) to.putSync(key, value)
      })
      slots = []
    }
    for (const { key, value } of from.getRange({})) {
      slots.push({ key, value })
      if (slots.length === slotsAtOnce) write()
    }
    write()
    if (sumOf(from) !== sumOf(to)) throw new CopyError('The copy is not what was copied: nothing was changed.')
  } finally {
    await Promise.all([from.close(), to.close()])
  }
}

function sumOf(environment: Environment): string {
  const tally = createTally()
  for (const { key, value } of environment.getRange({})) tally.add(Buffer.concat([key, value]))
  return JSON.stringify(tally.sum())
}

/** Also what a killed run has left. A file with a second name is the store itself. */
async function clearUnfinished(directory: string): Promise<void> {
  for (const name of (await readdir(directory)).filter((each) => each.startsWith(unfinished))) {
    for (const left of await readdir(join(directory, name))) {
      const file = await open(join(directory, name, left), 'r+')
      await overwrite(file).finally(() => file.close())
    }
    await rm(join(directory, name), { recursive: true })
  }
}

/** Zeros in the place of all bytes, on the disk, unless the file is still in use under another name. */
async function overwrite(file: FileHandle): Promise<void> {
  const { size, nlink } = await file.stat()
  if (nlink > 1) return
  for (let at = 0; at < size; at += zeros.length) await file.write(zeros, 0, Math.min(zeros.length, size - at), at)
  await file.sync()
}

const sizeOf = async (path: string): Promise<number | null> => (await stat(path).catch(unlessMissing))?.size ?? null

const batchSize = 500
/** Marks an incomplete target, and that its content is from this export. */
const marker = 'plaza_export'

/**
 * Copies the store of a stopped server to an empty MongoDB database, indexes and all. One that broke off is taken up by running
 * it again; a database that holds anything else is refused.
 */
export async function exportTo(directory: string, uri: string): Promise<Sums> {
  const store = await openEmbedded(directory, { sweeps: false })
  const client = new mongoose.mongo.MongoClient(uri, {
    serverSelectionTimeoutMS: 5_000,
    writeConcern: { w: 'majority', journal: true },
  })
  try {
    const database = client.db()
    await claim(database)
    for (const name of store.db().collectionNames()) await copy(store, database, name)
    const sums = await compare(store, database)
    for (const name of store.db().collectionNames()) await buildIndexes(store, database, name)
    await database.dropCollection(marker)
    return sums
  } finally {
    await client.close()
    await store.close()
  }
}

type Target = ReturnType<InstanceType<typeof mongoose.mongo.MongoClient>['db']>

async function claim(database: Target): Promise<void> {
  const names = (await database.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name)
  const [other] = names.filter((name) => !name.startsWith('system.'))
  if (names.includes(marker)) return
  if (other !== undefined)
    throw new CopyError(`The database ${database.databaseName} is not empty: there is a collection ${other}.`)
  await database.collection<{ _id: string }>(marker).insertOne({ _id: 'unfinished' })
}

async function copy(store: EmbeddedStore, database: Target, name: string): Promise<void> {
  const target = database.collection<Written['document']>(name)
  for await (const batch of inBatches(documentsOf(store, name), batchSize)) {
    const writes = batch.map(({ document: { _id, ...replacement } }) => ({
      replaceOne: { filter: { _id }, replacement, upsert: true },
    }))
    await target.bulkWrite(writes, { ordered: false })
  }
}

/** Both sides are read again, so that what is compared is what is there. */
async function compare(store: EmbeddedStore, database: Target): Promise<Sums> {
  const wanted: Record<string, Sum> = {}
  const found: Record<string, Sum> = {}
  for (const name of store.db().collectionNames()) {
    const [here, there] = [createTally(), createTally()]
    for await (const { encoded } of documentsOf(store, name)) here.add(encoded)
    for await (const document of database.collection(name).find({})) there.add(documentOf(document).bytes.toString())
    wanted[name] = here.sum()
    found[name] = there.sum()
  }
  checkSame(wanted, found)
  return found
}

/** Only now, as an index that lets documents expire would take them from the comparison. */
async function buildIndexes(store: EmbeddedStore, database: Target, name: string): Promise<void> {
  for (const { key, v: _, ...options } of await indexesOf(store, name))
    await database.collection(name).createIndex(key, options)
}

/** What a document says of a file that somebody uploaded. */
const Upload = z.object({
  _id: z.string(),
  bytes: z.number(),
  /** Of what was sealed its SHA-256; of everything else its key. */
  content: z.string(),
  stored_at: z.date().optional(),
  taken_at: z.date().optional(),
})
type Upload = z.infer<typeof Upload>

const isHash = /^[\w-]{43}$/
const mostFaults = 10

/** Reads each file that a document names, and throws if one is missing or different. Returns their number. */
export async function verifyFiles(directory: string, folder: string): Promise<string> {
  // What is uploaded or removed meanwhile is no fault, so the documents have the last word.
  const before = await uploadsOf(directory)
  const keys = await keysIn(folder)
  const suspects = new Map<string, string>()
  for (const upload of before.values()) {
    const fault = isThere(upload) ? await faultOf(upload, join(folder, upload._id)) : null
    if (fault) suspects.set(upload._id, fault)
  }
  const after = await uploadsOf(directory)
  const faults = [...suspects].flatMap(([key, fault]) => (isThere(after.get(key)) ? [`${key} ${fault}`] : []))
  const more = faults.length > mostFaults ? ` and ${faults.length - mostFaults} more` : ''
  if (faults.length > 0) throw new CopyError(`Files are damaged: ${faults.slice(0, mostFaults).join('; ')}${more}.`)
  const unnamed = keys.filter((key) => !before.has(key) && !after.has(key)).length
  const unfinished = ((await readdir(join(folder, '.unfinished')).catch(unlessMissing)) ?? []).length
  const named = [...before.values()].filter(isThere).length
  return `files: ${named} that documents name, ${unnamed} that none names, ${unfinished} unfinished`
}

/** Is the file of this document in the storage, and to stay there? */
const isThere = (upload: Upload | undefined): boolean => Boolean(upload?.stored_at && !upload.taken_at)

async function faultOf({ bytes, content }: Upload, path: string): Promise<string | null> {
  const file = await stat(path).catch(unlessMissing)
  if (!file) return 'is missing'
  if (file.size !== bytes) return `has ${file.size} bytes instead of ${bytes}`
  if (!isHash.test(content)) return null
  const hash = createHash('sha256')
  const isRead = await pipeline(createReadStream(path), hash).then(() => true, unlessMissing)
  return !isRead ? 'is missing' : hash.digest('base64url') === content ? null : 'is not what was uploaded'
}

async function uploadsOf(directory: string): Promise<Map<string, Upload>> {
  const found = new Map<string, Upload>()
  let rest = ''
  for await (const text of askStore(directory, 'backup uploads')) {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '' || line.startsWith('#')) continue
      const upload = Upload.parse(decode(Buffer.from(line)))
      found.set(upload._id, upload)
    }
  }
  return found
}

export { CopyError } from '../embedded/sums.ts'
export type { Copied } from './archive.ts'
export { backUp, restore, verifyBackup, verifyStore } from './backup.ts'
export { recordingsIn } from './files.ts'
