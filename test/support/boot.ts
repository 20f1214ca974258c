import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type App, createApp } from '#server/app'
import { type Config, readConfig } from '#server/config'
import type { Services } from '#server/kernel/context'
import { openPlatform, type Platform } from '#server/platform'
import { nodeId, openCommons } from '#server/platform/commons'
import type { Kv } from '#server/ports/kv/port'
import { admit, type Entry } from './enter.ts'
import { noteExchanges } from './exchanges.ts'
import { noteOutcomes } from './outcomes.ts'
import { freshDatabaseUri, nodesUnderTest, redisUnderTest } from './test-servers.ts'

export interface Booted {
  /** The first node. */
  url: string
  /** Every node; tests put their clients on different ones. */
  urls: readonly string[]
  opsUrl: string
  apps: readonly App[]
  /** Sets the clock of all nodes so far ahead of the real one. */
  setAhead(seconds: number): void
  close(): Promise<void>
}

/** Real servers on free ports, over a store of this test alone. */
export async function boot({
  nodes = nodesUnderTest,
  environment = {},
  services = {},
  entry = 'written',
  change = (platform) => platform,
}: {
  nodes?: number
  environment?: Record<string, string>
  /** The fakes of outside services on all nodes. */
  services?: Partial<Services>
  /** How `person` signs in; a file that tests signing in says `through the door`. */
  entry?: Entry
  /** Puts another clock or logger in the place of the platform's own. */
  change?: (platform: Platform) => Platform
} = {}): Promise<Booted> {
  noteExchanges()
  const directory = mkdtempSync(join(tmpdir(), 'plaza-'))
  const uri = freshDatabaseUri()
  const config = readConfig({
    NODE_ENV: 'test',
    PORT: '0',
    OPS_PORT: '0',
    DATA_DIR: directory,
    DEMO: 'off',
    OFFICIAL_CHANNELS: 'off',
    WELCOME_MESSAGE: 'off',
    LOG_LEVEL: 'silent',
    VIDEO_PROVIDER: 'none',
    RATE_LIMIT_SCALE: '1000',
    PUBLIC_URL: 'http://localhost:3000',
    ...(uri ? { MONGODB_URI: uri } : {}),
    ...(redisUnderTest ? { REDIS_URL: redisUnderTest } : {}),
    ...environment,
  })
  const first = await openPlatform(config)
  await first.database.buildIndexes()
  const platforms = [first]
  while (platforms.length < nodes) platforms.push(await another(config, first))
  const apps: App[] = []
  let ahead = 0
  for (const platform of platforms) {
    const database = { ...platform.database, now: () => platform.database.now() + ahead }
    const kv = lenient(platform.kv, config.rateLimitScale)
    apps.push(
      await createApp(
        config,
        change({ ...platform, database, deadlineFactor: 5, kv, services: { ...platform.services, ...services } }),
      ),
    )
  }
  const ends = apps.map(({ url, node }) => admit(url, node, entry))
  return {
    url: apps[0]?.url ?? '',
    urls: apps.map(({ url }) => url),
    opsUrl: apps[0]?.opsUrl ?? '',
    apps,
    setAhead(seconds) {
      ahead = seconds * 1_000
    },
    async close() {
      await noteOutcomes(platforms)
      for (const end of ends) end()
      for (const app of apps) await app.close()
      for (const platform of platforms.reverse()) await platform.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** The configured scale does not raise the limits against guessing; this raises them, for tests of other things. */
const lenient = (kv: Kv, scale: number): Kv => ({
  ...kv,
  slide: (key, limit, ...rest) => kv.slide(key, /^(claim|guard):/.test(key) ? limit * scale : limit, ...rest),
})

/** A second node in this process: it shares the database and the outside services, and has its own connections. */
async function another(config: Config, first: Platform): Promise<Platform> {
  const node = nodeId()
  return { ...first, ...(await openCommons(config, first, node, first.logger)), node, parts: first.parts }
}
