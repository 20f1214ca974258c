import { createHash } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { makeDirectory } from './make-directory.ts'
import { ConfigError } from './settings.ts'

const Line = z.object({
  /** The account, hashed with the salt. */
  hash: z.string().regex(/^[\w-]{43}$/),
  salt: z.string().min(1),
  /** An account that was made later is another one. */
  at: z.iso.datetime(),
  messages: z.enum(['unlink', 'erase']),
})

/** An erased account, without its name. */
export type ErasureLine = z.output<typeof Line>

/** The list of erased accounts. It is kept beside the backups, because a restored database has an older one. */
export const erasuresFileIn = (dataDirectory: string): string => join(dataDirectory, 'erasures.jsonl')

export const erasureHash = (salt: string, account: string): string =>
  createHash('sha256').update(`${salt} ${account}`).digest('base64url')

/** The lines of the list; null without a file. A damaged line is refused, because without it somebody comes back. */
export async function readErasures(file: string): Promise<ErasureLine[] | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  return text.split('\n').flatMap((line, at) => (line === '' ? [] : lineOf(line, at + 1)))
}

function lineOf(text: string, number: number): ErasureLine {
  try {
    return Line.parse(JSON.parse(text))
  } catch {
    throw new ConfigError(`The file erasures.jsonl in DATA_DIR is not usable: line ${number} is damaged.`)
  }
}

/** Replaces the list. A reader sees the old one or the new one. */
export async function writeErasures(file: string, lines: readonly ErasureLine[]): Promise<void> {
  await makeDirectory(dirname(file))
  const beside = `${file}.${process.pid}`
  const handle = await open(beside, 'w', 0o600)
  try {
    await handle.writeFile(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(beside, file)
}

/** The newest line of each erased account. */
export function newestErasures(lines: readonly ErasureLine[]): ErasureLine[] {
  const newest = new Map<string, ErasureLine>()
  for (const line of lines) {
    const known = newest.get(line.hash)
    if (!known || known.at < line.at) newest.set(line.hash, line)
  }
  return [...newest.values()]
}

/** Finds the erasure of an account that was made before it; null for all others. */
export function erasuresOf(lines: readonly ErasureLine[]): (account: string, madeAt: Date) => ErasureLine | null {
  const newest = new Map(newestErasures(lines).map((line) => [line.hash, line]))
  const salts = [...new Set(lines.map(({ salt }) => salt))]
  return (account, madeAt) => {
    const found = salts.map((salt) => newest.get(erasureHash(salt, account)))
    return found.find((line) => line !== undefined && madeAt.getTime() < Date.parse(line.at)) ?? null
  }
}
