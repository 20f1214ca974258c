import { constants } from 'node:fs'
import { type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { emptyJournal, JOURNAL_BYTES } from './journal.ts'
import { Damaged } from './seal.ts'

export const JOURNAL_FILE = 'journal'
const UNFINISHED = 'journal.new'

/** With this flag a finished write is on the disk; elsewhere the file is synced after it. */
const SYNCED = process.platform === 'linux' ? constants.O_DSYNC : 0

/** The journal of a directory as a file that is open. */
export interface JournalFile {
  /** Resolves once the bytes are on the disk. */
  write(bytes: Buffer, at: number): Promise<void>
  close(): Promise<void>
}

/** Replaces any journal: the new one appears complete or not at all. Other processes keep their open one. */
export async function createJournal(directory: string, id: Buffer): Promise<JournalFile> {
  const beside = join(directory, UNFINISHED)
  await unlink(beside).catch(() => undefined)
  const handle = await open(beside, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | SYNCED, 0o600)
  try {
    await writeAt(handle, emptyJournal(id), 0)
    await handle.sync()
    await rename(beside, join(directory, JOURNAL_FILE))
    await syncDirectory(directory)
  } catch (error) {
    await handle.close()
    await unlink(beside).catch(() => undefined)
    throw error
  }
  return { write: (bytes, at) => writeAt(handle, bytes, at), close: () => handle.close() }
}

async function writeAt(handle: FileHandle, bytes: Buffer, at: number): Promise<void> {
  const { bytesWritten } = await handle.write(bytes, 0, bytes.length, at)
  if (bytesWritten < bytes.length) throw new Error('The journal was not written to its end.')
  if (!SYNCED) await handle.datasync()
}

/** Null without a journal. Too long files and non-files are not read, as a pipe never ends. */
export async function readJournal(directory: string): Promise<Buffer | null> {
  const handle = await open(join(directory, JOURNAL_FILE), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    },
  )
  if (!handle) return null
  try {
    const found = await handle.stat()
    if (!found.isFile() || found.size > JOURNAL_BYTES) throw new Damaged('its journal is not what was written')
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** Also what is left of one that was being made. */
export async function removeJournal(directory: string): Promise<void> {
  for (const name of [JOURNAL_FILE, UNFINISHED])
    await unlink(join(directory, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}
