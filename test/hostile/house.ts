import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '#server/app'
import { readConfig } from '#server/config'
import { openPlatform, type Platform } from '#server/platform'
import { noteOutcomes } from '#test/support/outcomes'
import { freshDatabaseUri } from '#test/support/test-servers'
import { call, signIn, wallet } from '#test/support/wallet'

/** One server whose platform a test may change: another clock, a logger that remembers. */
export async function openHouse(environment: Record<string, string> = {}, change = (platform: Platform) => platform) {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-'))
  const uri = freshDatabaseUri()
  const config = readConfig({
    NODE_ENV: 'test',
    PORT: '0',
    OPS_PORT: '0',
    DATA_DIR: directory,
    DEMO: 'off',
    LOG_LEVEL: 'silent',
    RATE_LIMIT_SCALE: '1000',
    PUBLIC_URL: 'http://localhost:3000',
    ...(uri ? { MONGODB_URI: uri } : {}),
    ...environment,
  })
  const platform = await openPlatform(config)
  await platform.database.buildIndexes()
  const app = await createApp(config, change(platform))
  return {
    url: app.url,
    opsUrl: app.opsUrl,
    app,
    platform,
    async close() {
      await noteOutcomes()
      await app.close()
      await platform.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
export type House = Awaited<ReturnType<typeof openHouse>>

/** An account and its session. `headers` may give it an address of its own. */
export async function person(url: string, name: string, headers = {}) {
  const { sessionToken, refreshToken, address } = await signIn(url, wallet(name), headers)
  return {
    address,
    token: sessionToken,
    refreshToken,
    ask: (route: string, input: object | null = null, more = {}) =>
      call(url, route, input, sessionToken, { ...headers, ...more }),
  }
}
export type Person = Awaited<ReturnType<typeof person>>

export async function newChannel(owner: Person, name: string): Promise<string> {
  const { status, body } = await owner.ask('POST /api/channels', { name })
  if (status !== 200) throw new Error(`no channel: ${JSON.stringify(body)}`)
  const { id } = body.channel as { id: string }
  return id
}

/** What went wrong in this process while a test file ran, and how long its loop stood still. */
export function watchProcess() {
  const faults: unknown[] = []
  const note = (error: unknown) => void faults.push(error)
  process.on('uncaughtException', note)
  process.on('unhandledRejection', note)
  let longestStallMilliseconds = 0
  let last = performance.now()
  const beat = setInterval(() => {
    longestStallMilliseconds = Math.max(longestStallMilliseconds, performance.now() - last - 20)
    last = performance.now()
  }, 20)
  return {
    faults,
    stall: () => longestStallMilliseconds,
    stop() {
      clearInterval(beat)
      process.off('uncaughtException', note)
      process.off('unhandledRejection', note)
    },
  }
}
