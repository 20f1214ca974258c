import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  findChromium,
  placeFor,
  provisionAnvil,
  provisionPythonClient,
  startMongo,
  startRedis,
} from '../../scripts/test-servers.mjs'
import type { Need } from './projects.ts'
import { fail, say } from './report.ts'

const gibibyte = 2 ** 30
const isInCi = Boolean(process.env.CI)

/** Why something that was needed is not there. */
export type Missing = Partial<Record<Need, string>>

const cleanups: (() => unknown)[] = []

/** A folder for the stores of the run, which ends with it. */
export function makeFolder(): string {
  const directory = mkdtempSync(join(placeFor(4 * gibibyte), 'plaza-test-'))
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }))
  process.env.TMPDIR = directory
  return directory
}

/** Starts or installs what is needed, and names it in the environment of the tests. */
export async function provide(needed: ReadonlySet<Need>): Promise<Missing> {
  process.env.PLAZA_TEST_DATABASES = `plaza_test_${process.pid}_`
  const found: Record<Need, () => Found | Promise<Found>> = {
    mongodb: () => served(startMongo(), 'PLAZA_SUITE_MONGODB_URI'),
    redis: () => served(startRedis(), 'PLAZA_SUITE_REDIS_URL'),
    chromium: () => ({ name: findChromium(), missing: 'no Chromium found; set CHROMIUM_BINARY' }),
    anvil: provisionAnvil,
    'python client': provisionPythonClient,
  }
  const missing: Missing = {}
  for (const need of needed) {
    const { name, missing: why } = await found[need]()
    say(`${need}: ${name ?? `none: ${why}`}`)
    if (name) continue
    missing[need] = why ?? 'not found'
    // In CI, a missing service is a failure.
    if (isInCi) fail(`${need}: ${why}`)
  }
  // Of the servers of the environment, tests see those alone that their project names.
  delete process.env.MONGODB_URI
  delete process.env.REDIS_URL
  return missing
}

interface Found {
  name?: string | undefined
  missing?: string | undefined
}

type Server = Awaited<ReturnType<typeof startMongo>> | Awaited<ReturnType<typeof startRedis>>

/** Also a server that is still starting is stopped at the end. */
async function served(starting: Promise<Server>, variable: string): Promise<Found> {
  cleanups.push(async () => {
    const server = await starting
    if ('stop' in server) await server.stop()
  })
  const server = await starting
  if ('missing' in server) return server
  process.env[variable] = 'uri' in server ? server.uri : server.url
  server.died?.then((how) => how && fail(how))
  return server
}

export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse())
    try {
      await cleanup()
    } catch (error) {
      say(`Left behind: ${(error as Error).message}`)
    }
}
