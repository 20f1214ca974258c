import { createReadStream, createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { z } from 'zod'
import { CopyError, createTally, type Sums } from '../embedded/sums.ts'
import { decode } from '../embedded/values.ts'
import { IndexDefinition, type Written } from './documents.ts'

// A backup is lines of text, compressed: `#` begins a heading, any other line is a document as the store writes it.
const Heading = z.union([
  z.object({ plaza: z.literal('backup'), format: z.literal(1), at: z.string() }),
  z.object({ collection: z.string(), indexes: z.array(IndexDefinition) }),
  z.object({ sums: z.record(z.string(), z.object({ count: z.number(), checksum: z.string() })) }),
])

/** What stands in an archive, in its order. */
export type Entry = { collection: string; indexes: IndexDefinition[] } | Written

/** Writes what a store tells, durably. The file must not exist. */
export async function writeArchive(lines: AsyncIterable<string>, file: string): Promise<void> {
  await pipeline(Readable.from(lines), createGzip(), createWriteStream(file, { flags: 'wx', mode: 0o600 }))
  const handle = await open(file, 'r+')
  await handle.sync().finally(() => handle.close())
}

/** What an archive holds, to its end; then throws where that is not all, or not what was written. */
export async function* readArchive(file: string): AsyncGenerator<Entry, Sums> {
  const found: Record<string, ReturnType<typeof createTally>> = {}
  let tally = createTally()
  let told: Sums | null = null
  let isBegun = false
  for await (const line of linesIn(file)) {
    const read = line.startsWith('#') ? Heading.parse(JSON.parse(line.slice(1))) : null
    isBegun ||= read !== null && 'plaza' in read
    if (!isBegun) break
    if (read === null) {
      tally.add(line)
      yield { document: decode(Buffer.from(line)), encoded: line }
    } else if ('collection' in read) {
      tally = createTally()
      found[read.collection] = tally
      yield read
    } else if ('sums' in read) told = read.sums
  }
  if (!isBegun) throw new CopyError(`${file} is no backup of Plaza.`)
  const sums = Object.fromEntries(Object.entries(found).map(([name, each]) => [name, each.sum()]))
  if (JSON.stringify(told) !== JSON.stringify(sums))
    throw new CopyError(`${file} is damaged: it does not hold what it says.`)
  return sums
}

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
