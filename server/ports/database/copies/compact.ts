import { type FileHandle, link, mkdtemp, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Environment, openEnvironment } from '../embedded/environment.ts'
import { JOURNAL_FILE } from '../embedded/journal-file.ts'
import { type Lock, lockDirectory } from '../embedded/lock.ts'
import { CopyError, createTally } from '../embedded/sums.ts'
import { openEmbedded } from '../embedded.ts'
import { syncDirectory, unlessMissing } from './files.ts'

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
