import { constants } from 'node:fs'
import { type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { Damaged, isSealed, seal, unseal } from './seal.ts'

/**
 * The file `journal`: batches of acknowledged documents that are not in the collections yet. It has a fixed length, in sectors
 * of 512 bytes.
 *
 * - The first sector is the head: `PLAZAJ01`, the id of the store's journals (16 bytes), and a CRC-32 of both.
 * - Each batch begins at a sector. The first four bytes of each sector are a stamp, the low bits of the batch's number.
 * - The other bytes begin with `BATC`, the batch's number (6), the length of its content (4), and its CRC-32 (4).
 * - Then comes the CRC-32 of these 18 bytes and of the id (4).
 * - Each document is the length of its namespace (2), the namespace, its length (4), and its row.
 * - Numbers rise by one, over all journals of a store.
 *
 * The store has the number of the last batch in its collections under one key (`JOURNAL`). Once all are there, the next batch
 * is written after the head again. Batches with lower numbers are left over from an earlier round.
 */
export interface Mark {
  id: Buffer
  /** The last batch that is in the collections, or void. */
  applied: number
  /** Must the file be there? */
  isOpen: boolean
}
/** A document, and of which collection. */
export interface JournalRow {
  namespace: string
  bytes: Buffer
}
export interface Batch {
  number: number
  rows: JournalRow[]
}

export const JOURNAL = Buffer.of(0, 0, 2)
export const SECTOR = 512
export const JOURNAL_BYTES = 1_048_576
const STAMP = 4
const CONTENT = SECTOR - STAMP
export const ID_BYTES = 16
const NUMBER_BYTES = 6
const MAGIC = Buffer.from('PLAZAJ01')
const BATCH = Buffer.from('BATC').readUInt32BE()
const NUMBER_AT = 4
const LENGTH_AT = NUMBER_AT + NUMBER_BYTES
const SUM_AT = LENGTH_AT + 4
const HEAD_SUM_AT = SUM_AT + 4
const HEAD = HEAD_SUM_AT + 4

export function markBytes({ id, applied, isOpen }: Mark): Buffer {
  const bytes = Buffer.alloc(ID_BYTES + NUMBER_BYTES + 1)
  id.copy(bytes)
  bytes.writeUIntBE(applied, ID_BYTES, NUMBER_BYTES)
  bytes[ID_BYTES + NUMBER_BYTES] = isOpen ? 1 : 0
  return seal(JOURNAL, bytes)
}

export function markIn(stored: Buffer): Mark {
  if (!isSealed(stored)) throw new Damaged('the place of its journal is not what was written')
  const bytes = Buffer.from(unseal(JOURNAL, stored))
  return {
    id: bytes.subarray(0, ID_BYTES),
    applied: bytes.readUIntBE(ID_BYTES, NUMBER_BYTES),
    isOpen: bytes[ID_BYTES + NUMBER_BYTES] === 1,
  }
}

/** The bytes that a batch of such documents takes up at most. */
export const sizeOf = ({ namespace, bytes }: JournalRow): number => namespace.length * 3 + bytes.length + 6

/** How long a batch of so many bytes is in the file. */
export const lengthOf = (bytes: number): number => Math.ceil((HEAD + bytes) / CONTENT) * SECTOR

/** A batch as it is written: whole sectors. */
export function batchBytes(id: Buffer, { number, rows }: Batch): Buffer {
  const parts = rows.flatMap(({ namespace, bytes }) => {
    const name = Buffer.from(namespace)
    const head = Buffer.allocUnsafe(2 + name.length + 4)
    head.writeUInt16BE(name.length)
    name.copy(head, 2)
    head.writeUInt32BE(bytes.length, 2 + name.length)
    return [head, bytes]
  })
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const head = Buffer.alloc(HEAD)
  const all = Buffer.concat([head, ...parts], HEAD + length)
  all.writeUInt32BE(BATCH)
  all.writeUIntBE(number, NUMBER_AT, NUMBER_BYTES)
  all.writeUInt32BE(length, LENGTH_AT)
  all.writeUInt32BE(crc32(all.subarray(HEAD)), SUM_AT)
  all.writeUInt32BE(headSum(all, id), HEAD_SUM_AT)
  const written = Buffer.alloc(lengthOf(length))
  for (let at = 0; at * SECTOR < written.length; at++) {
    written.writeUInt32BE(number % 2 ** 32, at * SECTOR)
    all.copy(written, at * SECTOR + STAMP, at * CONTENT, (at + 1) * CONTENT)
  }
  return written
}

const headSum = (head: Buffer, id: Buffer): number => crc32(id, crc32(head.subarray(0, HEAD_SUM_AT)))

interface Found {
  number: number
  /** Its content, or null where it is another than was written. */
  content: Buffer | null
  sectors: number
}

/** What begins at a sector, where its head is whole. */
function foundAt(file: Buffer, id: Buffer, at: number): Found | null {
  const head = file.subarray(at + STAMP, at + STAMP + HEAD)
  if (head.length < HEAD || head.readUInt32BE() !== BATCH) return null
  if (head.readUInt32BE(HEAD_SUM_AT) !== headSum(head, id)) return null
  const length = head.readUInt32BE(LENGTH_AT)
  if (at + lengthOf(length) > file.length) return null
  const sectors = lengthOf(length) / SECTOR
  const pieces = Array.from({ length: sectors }, (_, sector) =>
    file.subarray(at + sector * SECTOR + STAMP, at + (sector + 1) * SECTOR),
  )
  const content = Buffer.concat(pieces).subarray(HEAD, HEAD + length)
  const isWhole = content.length === length && crc32(content) === head.readUInt32BE(SUM_AT)
  return { number: head.readUIntBE(NUMBER_AT, NUMBER_BYTES), content: isWhole ? content : null, sectors }
}

function rowsIn(content: Buffer): JournalRow[] {
  const rows: JournalRow[] = []
  for (let at = 0; at < content.length; ) {
    const from = at + 2 + content.readUInt16BE(at)
    const end = from + 4 + content.readUInt32BE(from)
    rows.push({ namespace: content.toString('utf8', at + 2, from), bytes: content.subarray(from + 4, end) })
    at = end
  }
  return rows
}

/**
 * The batches of a journal that are not in the collections. An incomplete last batch was never acknowledged, and is left out.
 * Throws `Damaged` if an acknowledged one is changed or missing.
 */
export function batchesIn(file: Buffer, { id, applied }: Mark): Batch[] {
  if (!file.subarray(0, SECTOR).equals(headOf(id))) throw new Damaged('its journal is another than its own')
  if (file.length !== JOURNAL_BYTES) throw new Damaged('its journal is not what was written')
  const batches: Batch[] = []
  let at = SECTOR
  let last = 0
  for (let found = foundAt(file, id, at); found?.content && (last === 0 || found.number === last + 1); ) {
    last = found.number
    batches.push({ number: last, rows: rowsIn(found.content) })
    at += found.sectors * SECTOR
    found = foundAt(file, id, at)
  }
  const first = batches[0]?.number ?? applied + 1
  const known = Math.max(last, applied)
  if (first > applied + 1 || isSpoilt(file, id, at, known + 1) || isFollowed(file, id, at + SECTOR, known))
    throw new Damaged('its journal is not what was written')
  return batches.filter(({ number }) => number > applied)
}

/** Whether a journal that is unknown to the store, or done, has acknowledged documents. */
export function isUnknown(file: Buffer, mark: Mark | null): boolean {
  const id = file.subarray(MAGIC.length, MAGIC.length + ID_BYTES)
  const known = mark?.id.equals(id) ? mark.applied : 0
  return isFollowed(file, id, SECTOR, known)
}

/** Whether a complete batch of this number was changed later, as sectors are written whole or not at all. */
function isSpoilt(file: Buffer, id: Buffer, at: number, number: number): boolean {
  const isStamped = (sector: number) => {
    const stamp = at + sector * SECTOR
    return stamp + SECTOR <= file.length && file.readUInt32BE(stamp) === number % 2 ** 32
  }
  const found = foundAt(file, id, at)
  if (found?.number !== number) return isStamped(0)
  return Array.from({ length: found.sectors }).every((_, sector) => isStamped(sector))
}

/** Does a later batch stand further on? It was begun only when those before it were on the disk. */
function isFollowed(file: Buffer, id: Buffer, from: number, known: number): boolean {
  for (let at = from; at < file.length; at += SECTOR) {
    const found = foundAt(file, id, at)
    if (found && found.number > known) return true
  }
  return false
}

/** A journal without a batch. */
const emptyJournal = (id: Buffer): Buffer => Buffer.concat([headOf(id), Buffer.alloc(JOURNAL_BYTES - SECTOR)])

function headOf(id: Buffer): Buffer {
  const head = Buffer.alloc(SECTOR)
  MAGIC.copy(head)
  id.copy(head, MAGIC.length)
  const length = MAGIC.length + ID_BYTES
  head.writeUInt32BE(crc32(head.subarray(0, length)), length)
  return head
}

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
