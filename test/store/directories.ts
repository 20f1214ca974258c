import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type EmbeddedStore, openEmbedded } from '#server/ports/database/embedded'
import { type Environment, openEnvironment } from '#server/ports/database/embedded/environment'
import { lockDirectory } from '#server/ports/database/embedded/lock'
import { CATALOG, type Catalog, catalogIn } from '#server/ports/database/embedded/tallies'

export async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'plaza-store-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** A store that is closed at the end of the test. */
export async function opened(directory: string): Promise<EmbeddedStore> {
  const store = await openEmbedded(directory)
  onTestFinished(() => store.close())
  return store
}

/** Changes the file of a closed store directly, in one transaction, without updating counts and checksums. */
export async function tampered<T>(directory: string, change: (environment: Environment) => T): Promise<T> {
  const lock = await lockDirectory(directory)
  const environment = await openEnvironment(lock)
  try {
    return await environment.childTransaction(() => change(environment))
  } finally {
    await environment.close()
    await lock.release()
  }
}

export const catalogOf = (directory: string): Promise<Catalog> =>
  tampered(directory, (environment) => catalogIn(environment.get(CATALOG) ?? Buffer.of()))

/** Reads the output of a tool to its end. */
export async function linesOf(told: AsyncIterable<string>): Promise<string[]> {
  const lines: string[] = []
  for await (const line of told) lines.push(line)
  return lines
}
