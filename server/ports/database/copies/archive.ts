import { createHash } from 'node:crypto'
import { constants, createReadStream, createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { z } from 'zod'
import { CopyError, createTally, type Sum, type Sums } from '../embedded/sums.ts'
import { type Document, decode, encode } from '../embedded/values.ts'
import type { EmbeddedStore } from '../embedded.ts'
import { fileLines, tallyFiles } from './files.ts'

const IndexDefinition = z.looseObject({
  name: z.string(),
  key: z.record(z.string(), z.union([z.literal(1), z.literal(-1)])),
})
type IndexDefinition = z.infer<typeof IndexDefinition>

/** A document, and as the store writes it. */
export interface Written {
  document: Document
  encoded: string
}

/** The documents of a collection in the order of their insertion. */
export async function* documentsOf(store: EmbeddedStore, name: string): AsyncGenerator<Written> {
  const cursor = store.db().collection(name).find({})
  for (let document = await cursor.next(); document; document = await cursor.next())
    yield { document, encoded: encode(document).toString() }
}

/** Its indexes, except the one of every collection. */
export async function indexesOf(store: EmbeddedStore, name: string): Promise<IndexDefinition[]> {
  const indexes = z.array(IndexDefinition).parse(await store.db().collection(name).indexes())
  return indexes.filter((index) => index.name !== '_id_')
}

/** What a store holds now. */
export async function sumsOfDocuments(store: EmbeddedStore): Promise<Sums> {
  const sums: Record<string, Sum> = {}
  for (const name of store.db().collectionNames()) {
    const tally = createTally()
    for await (const { encoded } of documentsOf(store, name)) tally.add(encoded)
    sums[name] = tally.sum()
  }
  return sums
}

/** Whatever comes, in groups of at most so many. */
export async function* inBatches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

const Summed = z.object({ count: z.number(), checksum: z.string() })
// A backup is compressed lines of text: `#` begins a heading. Below a collection, each line is a document as the store writes it.
// Below a file, each line is a piece in base64. Format 2 added files and the heading after them, format 3 that of the whole.
const Heading = z.union([
  z.object({ plaza: z.literal('backup'), format: z.number(), at: z.string() }),
  z.object({ collection: z.string(), indexes: z.array(IndexDefinition) }),
  z.object({ sums: z.record(z.string(), Summed) }),
  z.object({ file: z.string() }),
  z.object({ files: Summed.nullable() }),
  z.object({ whole: z.object({ lines: z.number(), sha256: z.string() }) }),
])
type Heading = z.output<typeof Heading>
/** Of each format, the heading that ends it. */
const lastOf = new Map([
  [1, 'sums'],
  [2, 'files'],
  [3, 'whole'],
])

/** The entries of an archive, in order. */
type Entry = { collection: string; indexes: IndexDefinition[] } | Written | { file: string } | { bytes: Buffer }

/** What was copied: by collection, and the files; null where they are kept elsewhere. Recordings are among the files. */
export interface Copied {
  documents: Sums
  files: Sum | null
  recordings?: number
}

/** Writes what a store tells and then the files of folders, durably. The archive must not exist. */
export async function writeArchive(
  documents: AsyncIterable<string>,
  files: string | null,
  recordings: string | null,
  archive: string,
): Promise<void> {
  async function* lines() {
    const whole = tallyLines()
    for await (const text of documents) yield whole.add(text)
    for await (const text of fileLines(files, recordings)) yield whole.add(text)
    yield `#${JSON.stringify({ whole: whole.sum() })}\n`
  }
  await pipeline(Readable.from(lines()), createGzip(), createWriteStream(archive, { flags: 'wx', mode: 0o600 }))
  const handle = await open(archive, 'r+')
  await handle.sync().finally(() => handle.close())
}

/** Reads an archive to its end. Throws one sentence if it is incomplete or damaged. */
export async function* readArchive(file: string): AsyncGenerator<Entry, Copied> {
  let at = 0
  try {
    const entries = entriesOf(linesIn(file), () => at++)
    for (;;) {
      const { done, value } = await entries.next()
      if (done) return value
      yield value
    }
  } catch (error) {
    if (error instanceof Unreadable) throw new CopyError(`${file || 'A file without a name'} ${error.message}.`)
    if (error instanceof NoBackup) throw new CopyError(`${file} is no backup of Plaza.`)
    if (error instanceof Fault) throw new CopyError(`${file} is damaged at line ${at}: ${error.message}.`)
    throw error
  }
}

/** A file that cannot be read at all. */
class Unreadable extends Error {}
/** What is wrong with the line that was read last. */
class Fault extends Error {}
class NoBackup extends Error {}

async function* entriesOf(lines: AsyncIterable<string>, next: () => void): AsyncGenerator<Entry, Copied> {
  const found = new Map<string, ReturnType<typeof createTally>>()
  const [files, whole] = [tallyFiles(), tallyLines()]
  const told: { last?: string | undefined; sums?: Sums; files?: Sum | null; isEnded?: boolean } = {}
  let tally: ReturnType<typeof createTally> | null = null
  next()
  for await (const line of lines) {
    if (told.isEnded) throw new Fault('more follows where it has ended')
    const heading = line.startsWith('#') ? headingOf(line) : null
    if (told.last === undefined) {
      if (!heading || !('plaza' in heading)) throw new NoBackup()
      told.last = lastOf.get(heading.format)
      if (!told.last) throw new Fault(`this version does not know format ${heading.format}`)
    } else if (!heading) {
      if (tally) {
        tally.add(line)
        yield written(line)
      } else {
        const bytes = Buffer.from(line, 'base64')
        files.add(bytes)
        yield { bytes }
      }
    } else if ('plaza' in heading) throw new Fault('another backup begins')
    else if ('collection' in heading) {
      if (found.has(heading.collection)) throw new Fault(`the collection ${heading.collection} comes twice`)
      tally = createTally()
      found.set(heading.collection, tally)
      yield heading
    } else if ('file' in heading) {
      tally = null
      files.begin(heading.file)
      yield heading
    } else if ('sums' in heading) told.sums = checked(heading.sums, sumsOf(found), 'documents')
    else if ('files' in heading) told.files = heading.files && checked(heading.files, files.sum(), 'files')
    else checked(heading.whole, whole.sum(), 'lines')
    if (heading) told.isEnded = told.last in heading
    whole.add(`${line}\n`)
    next()
  }
  if (!told.isEnded || !told.sums) throw new Fault('it ends too early')
  const recordings = files.recordings()
  return { documents: told.sums, files: told.files ?? null, ...(recordings > 0 ? { recordings } : {}) }
}

function checked<Said>(said: Said, found: Said, what: string): Said {
  if (JSON.stringify(said) !== JSON.stringify(found)) throw new Fault(`the ${what} before it are not what was written`)
  return said
}

const sumsOf = (found: ReadonlyMap<string, ReturnType<typeof createTally>>): Sums =>
  Object.fromEntries([...found].map(([name, each]) => [name, each.sum()]))

function headingOf(line: string): Heading {
  try {
    return Heading.parse(JSON.parse(line.slice(1)))
  } catch {
    throw new Fault('it is none that a backup has')
  }
}

function written(line: string): Written {
  try {
    return { document: decode(Buffer.from(line)), encoded: line }
  } catch {
    throw new Fault('it is no document')
  }
}

/** The count of lines and a checksum of them all, in their order. */
function tallyLines() {
  const hash = createHash('sha256')
  let lines = 0
  return {
    add(text: string): string {
      hash.update(text)
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
      return text
    },
    sum: () => ({ lines, sha256: hash.copy().digest('hex') }),
  }
}

/** Of whatever gzip has compressed. */
const magic = Buffer.from('1f8b', 'hex')

async function beginningOf(file: string): Promise<{ size: number; begin: Buffer }> {
  // Does not wait for the writer of a pipe.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw new Unreadable('is no regular file')
    const { buffer } = await handle.read(Buffer.alloc(magic.length), 0, magic.length, 0)
    return { size: found.size, begin: buffer }
  } finally {
    await handle.close()
  }
}

async function* linesIn(file: string): AsyncGenerator<string> {
  const { size, begin } = await beginningOf(file).catch(unreadable)
  if (!begin.equals(magic)) throw new NoBackup()
  const unpacked = createGunzip()
  const reading = pipeline(createReadStream(file), unpacked).catch((error: unknown) => error)
  let rest: string[] = []
  try {
    for await (const piece of unpacked.setEncoding('utf8') as AsyncIterable<string>) {
      const [first = '', ...lines] = piece.split('\n')
      rest.push(first)
      for (const line of lines) {
        yield rest.join('')
        rest = [line]
      }
    }
  } catch (error) {
    if (isOfReading(error)) unreadable(error)
    throw new Fault('it cannot be unpacked')
  } finally {
    unpacked.destroy()
    await reading
  }
  if (rest.some((piece) => piece !== '')) throw new Fault('it ends in the middle of a line')
  if (unpacked.bytesWritten !== size) throw new Fault('more follows where it has ended')
}

/** Errors of the system name their call; those of unpacking do not. */
const isOfReading = (error: unknown): boolean => error instanceof Error && 'syscall' in error

function unreadable(error: unknown): never {
  if (error instanceof Unreadable) throw error
  const code = (error as NodeJS.ErrnoException).code
  throw new Unreadable(code === 'ENOENT' ? 'is not there' : `cannot be read (${code})`)
}
