import { lstat, open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { getSystemErrorName } from 'node:util'
import type { RootDatabase } from 'lmdb'
import { fullDisk, isFull } from './commits.ts'
import type { Lock } from './lock.ts'
import { Damaged } from './seal.ts'

/** lmdb's own types leave out what it takes beside a key. */
export type Environment = RootDatabase<Buffer, Buffer> & {
  getBinaryFast(key: Buffer, within: object): Buffer | undefined
}

/**
 * The only place that opens lmdb; it requires a lock. Opening writes, even for a reader, and would make another process lose
 * its last commit.
 */
export async function openEnvironment({ directory }: Lock): Promise<Environment> {
  const lmdb = await import('lmdb').catch((cause: unknown) => {
    throw new Error(
      'The embedded store needs the optional package of lmdb for this platform: install without --omit=optional, or set MONGODB_URI.',
      { cause },
    )
  })
  // A store that is begun on a full disk is torn, and lmdb prints each of its attempts.
  if (!(await checkStoreFiles(directory)) && isFull(directory)) throw fullDisk('There can be no store')
  hush()
  return lmdb.open<Buffer, Buffer>({
    path: directory,
    noSubdir: false,
    keyEncoding: 'binary',
    encoding: 'binary',
    eventTurnBatching: false,
    overlappingSync: false,
  })
}

let isHushed = false

/** lmdb prints with its trace what it throws as well, and knows no option against it. */
function hush(): void {
  if (isHushed) return
  isHushed = true
  const print = console.error
  console.error = (...said: unknown[]) => {
    if (!said.some(isOfLmdb)) print(...said)
  }
}

const isOfLmdb = (said: unknown): boolean => said instanceof Error && /[\\/]lmdb[\\/]/.test(said.stack ?? '')

/** What a server makes in a directory once a store in it has been written to. */
const keptBeside = ['session-keys', 'files']

/** What lmdb opens without looking, and ends the process where it is something else, or may not be written. False where there is no store yet. */
async function checkStoreFiles(directory: string): Promise<boolean> {
  await sizeOf(join(directory, 'lock.mdb'))
  const path = join(directory, 'data.mdb')
  const size = await sizeOf(path)
  if (size === 0) await refuseEmptied(directory, path)
  if (!size) return false
  const handle = await open(path)
  try {
    const read = async (at: number, bytes: number) =>
      (await handle.read(Buffer.alloc(bytes), 0, bytes, at)).buffer.subarray(0, Math.max(0, size - at))
    const first = metaOf(await read(0, metaBytes))
    const second = first && metaOf(await read(first.pageBytes, metaBytes))
    if (!first || !second) throw new Damaged(`${path} is no store`)
    const newest = first.transaction > second.transaction ? first : second
    const pages = Math.floor(size / newest.pageBytes)
    if (newest.used > pages) throw new Damaged(`${path} ends too early`)
    for (const page of newest.roots)
      if (page >= pages || !isRoot(page, await read(Number(page) * newest.pageBytes, headerBytes)))
        throw new Damaged(`${path} ends too early, or its pages are not what was written`)
    return true
  } finally {
    await handle.close()
  }
}

/** What lmdb says by number: of the system (positive), or of its own. */
export function inWords(error: unknown, directory: string): unknown {
  const code = codeOf(error)
  if (typeof code !== 'number' || !(error instanceof Error)) return error
  if (code < 0) return new Damaged(`lmdb says of ${directory}: ${error.message}`)
  const path = join(directory, 'data.mdb')
  return Object.assign(error, { code: getSystemErrorName(-code), syscall: 'open', path })
}

/** A start that was cut off leaves an empty file, and nothing beside it. */
async function refuseEmptied(directory: string, path: string): Promise<void> {
  const names = new Set(await readdir(directory))
  const [kept] = keptBeside.filter((name) => names.has(name))
  if (kept !== undefined) throw new Damaged(`${path} is empty, and ${kept} beside it is of a store that was not`)
}

/** Null where there is no such file. Throws where it cannot be both read and written. */
async function sizeOf(path: string): Promise<number | null> {
  const found = await stat(path).catch(async (error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
    if (await lstat(path).catch(() => null)) throw new Damaged(`${path} leads nowhere`)
    return null
  })
  if (!found) return null
  if (!found.isFile()) throw new Damaged(`${path} is no file`)
  const handle = await open(path, 'r+')
  await handle.close()
  return found.size
}

// The header of a page, and of the two that locate all others (`MDB_page` and `MDB_meta` of lmdb).
const headerBytes = 24
const metaBytes = headerBytes + 152
const metaMagic = 0xbeefc0de
const metaVersion = 2
const flagsAt = 18
const isBranchOrLeaf = 0x03
const noPage = 0xffff_ffff_ffff_ffffn

interface Meta {
  pageBytes: number
  transaction: bigint
  roots: readonly bigint[]
  /** How many pages there are at least: these two, and those of both trees. */
  used: bigint
}

function metaOf(bytes: Buffer): Meta | null {
  if (bytes.length < metaBytes) return null
  const meta = bytes.subarray(headerBytes)
  const pageBytes = meta.readUInt32LE(24)
  const isKnown = meta.readUInt32LE(0) === metaMagic && (meta.readUInt32LE(4) & 0xffff) === metaVersion
  if (!isKnown || pageBytes < 512 || pageBytes > 65_536) return null
  const roots = [meta.readBigUInt64LE(64), meta.readBigUInt64LE(112)].filter((page) => page !== noPage)
  const used = [32, 40, 48, 80, 88, 96].reduce((sum, at) => sum + meta.readBigUInt64LE(at), 2n)
  return { pageBytes, transaction: meta.readBigUInt64LE(128), roots, used }
}

const isRoot = (page: bigint, header: Buffer): boolean =>
  header.length === headerBytes &&
  header.readBigUInt64LE(0) === page &&
  (header.readUInt16LE(flagsAt) & isBranchOrLeaf) !== 0

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code
