import { createReadStream, createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { z } from 'zod'
import { CopyError, createTally, type Sum, type Sums } from '../embedded/sums.ts'
import { decode } from '../embedded/values.ts'
import { IndexDefinition, type Written } from './documents.ts'
import { fileLines, tallyFiles } from './files.ts'

const Summed = z.object({ count: z.number(), checksum: z.string() })
// A backup is lines of text, compressed: `#` begins a heading. Below that of a collection a line is a document as the store writes it, below
// that of a file a piece of it in base64. Files, and the heading that ends them, came with format 2.
const Heading = z.union([
  z.object({ plaza: z.literal('backup'), format: z.literal([1, 2]), at: z.string() }),
  z.object({ collection: z.string(), indexes: z.array(IndexDefinition) }),
  z.object({ sums: z.record(z.string(), Summed) }),
  z.object({ file: z.string() }),
  z.object({ files: Summed.nullable() }),
])

/** What stands in an archive, in its order. */
export type Entry = { collection: string; indexes: IndexDefinition[] } | Written | { file: string } | { bytes: Buffer }

/** What was copied: by collection, and the files; null where they are kept elsewhere. */
export interface Copied {
  documents: Sums
  files: Sum | null
}

/** Writes what a store tells and then the files of a folder, durably. The archive must not exist. */
export async function writeArchive(
  documents: AsyncIterable<string>,
  files: string | null,
  archive: string,
): Promise<void> {
  async function* lines() {
    yield* documents
    yield* fileLines(files)
  }
  await pipeline(Readable.from(lines()), createGzip(), createWriteStream(archive, { flags: 'wx', mode: 0o600 }))
  const handle = await open(archive, 'r+')
  await handle.sync().finally(() => handle.close())
}

/** What an archive holds, to its end; then throws where that is not all, or not what was written. */
export async function* readArchive(file: string): AsyncGenerator<Entry, Copied> {
  const found: Record<string, ReturnType<typeof createTally>> = {}
  const files = tallyFiles()
  let tally: ReturnType<typeof createTally> | null = null
  const told: { format?: number; sums?: Sums; files?: Sum | null } = {}
  for await (const line of linesIn(file)) {
    const read = line.startsWith('#') ? Heading.parse(JSON.parse(line.slice(1))) : null
    if (read !== null && 'plaza' in read) told.format = read.format
    if (told.format === undefined) break
    if (read === null && tally) {
      tally.add(line)
      yield { document: decode(Buffer.from(line)), encoded: line }
    } else if (read === null) {
      const bytes = Buffer.from(line, 'base64')
      files.add(bytes)
      yield { bytes }
    } else if ('collection' in read) {
      tally = createTally()
      found[read.collection] = tally
      yield read
    } else if ('file' in read) {
      tally = null
      files.begin(read.file)
      yield read
    } else if ('sums' in read) told.sums = read.sums
    else if ('files' in read) told.files = read.files
  }
  if (told.format === undefined) throw new CopyError(`${file} is no backup of Plaza.`)
  const documents = Object.fromEntries(Object.entries(found).map(([name, each]) => [name, each.sum()]))
  const areFilesWhole = told.files ? isSame(told.files, files.sum()) : told.format === 1 || told.files === null
  if (!isSame(told.sums, documents) || !areFilesWhole)
    throw new CopyError(`${file} is damaged: it does not hold what it says.`)
  return { documents, files: told.files ?? null }
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Ends early where the file cannot be read further: what is missing is found missing. */
async function* linesIn(file: string): AsyncGenerator<string> {
  const unpacked = createGunzip()
  const source = createReadStream(file)
  const broken: unknown[] = []
  const reading = pipeline(source, unpacked).catch((error: unknown) => void broken.push(error))
  try {
    yield* createInterface({ input: unpacked, crlfDelay: Number.POSITIVE_INFINITY })
  } catch (error) {
    broken.push(error)
  } finally {
    source.destroy()
    await reading
  }
  const [error] = broken
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
    throw new CopyError(`There is no file ${file}.`)
}
