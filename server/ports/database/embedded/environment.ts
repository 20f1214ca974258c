import type { RootDatabase } from 'lmdb'
import { fullDisk, isFull } from './commits.ts'
import { checkStoreFiles } from './directory.ts'
import type { Lock } from './lock.ts'

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
