import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './files.ts'

const notInGit = new Set(['node_modules', '.git', '.cache', 'data', 'dist', 'coverage', 'secrets', '.DS_Store'])
const known = new Map<string, string | null>()

/** The hash that git gives to a file or folder as it is on the disk now; null where nothing is there. */
export function hashOf(path: string): string | null {
  const earlier = known.get(path)
  if (earlier !== undefined) return earlier
  const hash = readHash(join(root, path))?.hash.toString('hex') ?? null
  known.set(path, hash)
  return hash
}

/** Files may have changed since they were read. */
export const forgetHashes = (): void => known.clear()

/** One hash of these files and folders, given the hash of each, and of a text. */
export function treeOf(paths: readonly string[], hashAt: (path: string) => string | null = hashOf, text = ''): string {
  const lines = [...paths].sort().map((path) => `${hashAt(path) ?? 'none'} ${path}\n`)
  return createHash('sha1').update(lines.join('')).update(text).digest('hex')
}

interface Entry {
  mode: string
  hash: Buffer
}

function readHash(path: string): Entry | null {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat?.isSymbolicLink()) return { mode: '120000', hash: hashObject('blob', Buffer.from(readlinkSync(path))) }
  if (stat?.isFile()) {
    const mode = stat.mode & 0o100 ? '100755' : '100644'
    return { mode, hash: hashObject('blob', readFileSync(path)) }
  }
  return stat?.isDirectory() ? readFolder(path) : null
}

/** Null where the folder holds no file, as git does not know such a one. */
function readFolder(path: string): Entry | null {
  const entries = readdirSync(path)
    .filter((name) => !notInGit.has(name) && !name.endsWith('.log'))
    .flatMap((name) => {
      const entry = readHash(join(path, name))
      return entry ? [{ name, ...entry }] : []
    })
  if (entries.length === 0) return null
  // A folder is sorted as if its name ended in a slash.
  const sorted = entries
    .map(({ name, mode, hash }) => ({ key: Buffer.from(mode === '40000' ? `${name}/` : name), name, mode, hash }))
    .sort((one, other) => Buffer.compare(one.key, other.key))
  const body = sorted.flatMap(({ name, mode, hash }) => [Buffer.from(`${mode} ${name}\0`), hash])
  return { mode: '40000', hash: hashObject('tree', Buffer.concat(body)) }
}

function hashObject(kind: 'blob' | 'tree', body: Buffer): Buffer {
  return createHash('sha1').update(`${kind} ${body.length}\0`).update(body).digest()
}
