import { createHash } from 'node:crypto'
import { type FileHandle, open, readdir, readFile, rename, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { makeDirectory } from '#server/kernel/make-directory'
import { isArchive, isKey } from '../../storage/port.ts'
import { CopyError, createTally, type Sum } from '../embedded/sums.ts'

/** Bytes of a file in a line of a backup. */
const pieceBytes = 49_152

/** In a backup recordings are files of a bucket that no upload has. */
const recorded = 'recordings/'
const isRecording = (key: string): boolean => key.startsWith(recorded)

/** Where the file of a key lies. */
export const placeIn = ({ files, recordings }: { files: string; recordings: string }, key: string): string =>
  isRecording(key) ? join(recordings, key.slice(recorded.length)) : join(files, key)

/**
 * Uploads and recordings as lines of a backup; null if they are stored elsewhere, or not wanted. Files are complete and never
 * change. Files removed meanwhile are left out, and so are archives of accounts.
 */
export async function* fileLines(files: string | null, recordings: string | null = null): AsyncGenerator<string> {
  const tally = files === null && recordings === null ? null : createTally()
  const uploaded = files === null ? [] : (await keysIn(files)).filter((key) => !isArchive(key))
  const kept = recordings === null ? [] : (await recordingsIn(recordings)).names.map((name) => `${recorded}${name}`)
  for (const key of [...uploaded, ...kept]) {
    const opened = await open(placeIn({ files: files ?? '', recordings: recordings ?? '' }, key)).catch(unlessMissing)
    if (!opened) continue
    try {
      yield heading({ file: key })
      const hash = createHash('sha256')
      for await (const piece of opened.createReadStream({ highWaterMark: pieceBytes, autoClose: false })) {
        hash.update(piece)
        yield `${(piece as Buffer).toString('base64')}\n`
      }
      tally?.add(entryOf(key, hash.digest('hex')))
    } finally {
      await opened.close()
    }
  }
  yield heading({ files: tally?.sum() ?? null })
}

const heading = (value: object): string => `#${JSON.stringify(value)}\n`
const entryOf = (key: string, sha256: string) => `${key} ${sha256}`

/** Counts the files of an archive as they are read. */
export function tallyFiles() {
  const tally = createTally()
  let current: { key: string; hash: ReturnType<typeof createHash> } | null = null
  let recordings = 0
  const end = () => {
    if (current) tally.add(entryOf(current.key, current.hash.digest('hex')))
    current = null
  }
  return {
    begin(key: string): void {
      end()
      if (!isKey(key)) throw new CopyError(`The backup has a file that is none of ours: ${JSON.stringify(key)}.`)
      current = { key, hash: createHash('sha256') }
      if (isRecording(key) && key.endsWith(made)) recordings++
    },
    recordings: () => recordings,
    add: (bytes: Buffer) => void current?.hash.update(bytes),
    sum(): Sum {
      end()
      return tally.sum()
    },
  }
}

/** Writes the files of an archive to their places, durably. */
export function fileWriter(placeOf: (key: string) => string) {
  let current: FileHandle | null = null
  const end = async () => {
    const ended = current
    current = null
    if (ended) await ended.sync().finally(() => ended.close())
  }
  return {
    async begin(key: string): Promise<void> {
      await end()
      await makeDirectory(dirname(placeOf(key)))
      current = await open(placeOf(key), 'wx', 0o600)
    },
    write: async (bytes: Buffer): Promise<void> => current?.writeFile(bytes),
    end,
  }
}

/** Moves files of a folder below another. It can be repeated: what is there under the same name is the same. */
export async function moveFiles(from: string, to: string, names: readonly string[]): Promise<void> {
  const folders = new Set<string>()
  for (const name of names) {
    const target = join(to, name)
    await makeDirectory(dirname(target))
    await rename(join(from, name), target)
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

/** Of the names of a recording: what it is made into, and the row that says so. */
const [made, row] = ['.mp4', '.json']

/** The recordings of a folder that are made: the names of their files, how many there are, and their bytes. */
export async function recordingsIn(folder: string): Promise<{ names: string[]; count: number; bytes: number }> {
  const there = new Set((await readdir(folder).catch(unlessMissing)) ?? [])
  const names: string[] = []
  let bytes = 0
  for (const file of there) {
    const about = file.replace(/\.mp4$/, row)
    if (!file.endsWith(made) || !there.has(about) || !isKey(`${recorded}${file}`)) continue
    if (!/"phase":"(ready|failed)"/.test((await readFile(join(folder, about), 'utf8').catch(unlessMissing)) ?? ''))
      continue
    bytes += (await stat(join(folder, file)).catch(unlessMissing))?.size ?? 0
    names.push(file, about)
  }
  return { names, count: names.length / 2, bytes }
}

export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}

export function unlessMissing(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
  throw error
}
