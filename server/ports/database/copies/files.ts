import { createHash } from 'node:crypto'
import { type FileHandle, open, readdir, rename } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { makeDirectory } from '#server/kernel/make-directory'
import { isKey } from '../../storage/port.ts'
import { CopyError, createTally, type Sum } from '../embedded/sums.ts'

/** Bytes of a file in a line of a backup. */
const pieceBytes = 49_152

/** The files of a folder as lines of a backup. A file is whole there and never changes; one that is removed meanwhile is left out. */
export async function* fileLines(folder: string | null): AsyncGenerator<string> {
  const tally = folder === null ? null : createTally()
  for (const key of folder === null ? [] : await keysIn(folder)) {
    const opened = await open(join(folder ?? '', key)).catch(unlessMissing)
    if (!opened) continue
    yield heading({ file: key })
    const hash = createHash('sha256')
    for await (const piece of opened.createReadStream({ highWaterMark: pieceBytes })) {
      hash.update(piece)
      yield `${(piece as Buffer).toString('base64')}\n`
    }
    tally?.add(entryOf(key, hash.digest('hex')))
  }
  yield heading({ files: tally?.sum() ?? null })
}

const heading = (value: object): string => `#${JSON.stringify(value)}\n`
const entryOf = (key: string, sha256: string) => `${key} ${sha256}`

/** Counts the files of an archive as they are read. */
export function tallyFiles() {
  const tally = createTally()
  let current: { key: string; hash: ReturnType<typeof createHash> } | null = null
  const end = () => {
    if (current) tally.add(entryOf(current.key, current.hash.digest('hex')))
    current = null
  }
  return {
    begin(key: string): void {
      end()
      if (!isKey(key)) throw new CopyError(`The backup has a file that is none of ours: ${JSON.stringify(key)}.`)
      current = { key, hash: createHash('sha256') }
    },
    add: (bytes: Buffer) => void current?.hash.update(bytes),
    sum(): Sum {
      end()
      return tally.sum()
    },
  }
}

/** Writes the files of an archive below a folder, durably. */
export function fileWriter(folder: string) {
  let current: FileHandle | null = null
  const end = async () => {
    const ended = current
    current = null
    if (ended) await ended.sync().finally(() => ended.close())
  }
  return {
    async begin(key: string): Promise<void> {
      await end()
      await makeDirectory(dirname(join(folder, key)))
      current = await open(join(folder, key), 'wx', 0o600)
    },
    write: async (bytes: Buffer): Promise<void> => current?.writeFile(bytes),
    end,
  }
}

/** Moves all files of a folder below another. It can be repeated: what is there under the same key is the same. */
export async function moveFiles(from: string, to: string): Promise<void> {
  const folders = new Set<string>()
  for (const key of await keysIn(from)) {
    const target = join(to, key)
    await makeDirectory(dirname(target))
    await rename(join(from, key), target)
    for (let at = dirname(target); at.length >= to.length; at = dirname(at)) folders.add(at)
  }
  for (const folder of folders) await syncDirectory(folder)
}

/** What is being written lies under names that are no keys. */
export async function keysIn(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true }).catch(unlessMissing)) ?? []
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).split(sep).join('/'))
    .filter(isKey)
}

export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}

export function unlessMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}
