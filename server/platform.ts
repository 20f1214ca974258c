import { randomUUID } from 'node:crypto'
import { hintsOver } from '#server/log/hints'
import type { Hints } from '#server/log/types'
import type { Config } from './config.ts'
import type { Services } from './kernel/context.ts'
import { createDevMailbox, type DevMailbox } from './kernel/dev-mailbox.ts'
import { createLogger, type Logger } from './kernel/logger.ts'
import { createMetrics, type Metrics } from './kernel/metrics.ts'
import { openChains } from './ports/chain/viem.ts'
import { connectEmbedded } from './ports/database/embedded.ts'
import { connectMongo } from './ports/database/mongo.ts'
import { type Database, keepSessionKeys } from './ports/database/port.ts'
import { localFanout } from './ports/fanout/local.ts'
import type { Fanout } from './ports/fanout/port.ts'
import { worldId } from './ports/human-proof/world-id.ts'
import { memoryQueue } from './ports/jobs/memory.ts'
import type { JobQueue } from './ports/jobs/port.ts'
import { memoryKv } from './ports/kv/memory.ts'
import type { Kv } from './ports/kv/port.ts'
import { redisKv } from './ports/kv/redis.ts'
import { capturedMail } from './ports/mail/captured.ts'
import type { Mail } from './ports/mail/port.ts'
import { httpOnramp } from './ports/onramp/http.ts'
import { partnerByKeys, partnerByUrl } from './ports/partner/jwks.ts'
import { noPeers } from './ports/peers/none.ts'
import type { Peers } from './ports/peers/port.ts'
import { redisPeers } from './ports/peers/redis.ts'
import { capturedSms } from './ports/sms/captured.ts'
import { httpSms } from './ports/sms/http.ts'
import type { Sms } from './ports/sms/port.ts'
import { keptSessionKeys, type SessionKeys } from './session-keys.ts'

/** What a server stands on: one adapter for each port. */
export interface Platform {
  node: string
  database: Database
  sessionKeys: SessionKeys
  kv: Kv
  peers: Peers
  hints: Hints
  fanout: Fanout
  jobs: JobQueue
  services: Services
  /** Where letters and texts go that are not sent; null where all are, or none can be. */
  captured: DevMailbox | null
  logger: Logger
  metrics: Metrics
  /** How many times as long as promised an act waits, for the store and for the other nodes: more on a busy machine of tests. */
  deadlineFactor: number
  /** What is real, what is a stand-in, and why. */
  parts: readonly Part[]
  close(): Promise<void>
}

export interface Part {
  part: string
  adapter: string
  why: string
}

/** The only place that picks adapters; the heavy ones are loaded only where they are picked. */
export async function openPlatform(config: Config): Promise<Platform> {
  const database = config.mongodbUri
    ? await connectMongo(config.mongodbUri)
    : await connectEmbedded(config.dataDirectory)
  const node = nodeId()
  const logger = createLogger(config.logLevel)
  const sessionKeys =
    config.sessionKeys ?? (await keptSessionKeys(config.dataDirectory, database.alone ? null : keepSessionKeys))
  const commons = await openCommons(config, { database, sessionKeys }, node, logger)
  const jobs = await openJobs(config, database)
  const captured = createDevMailbox(() => database.now())
  const mail = await openMail(config, captured)
  const sms = openSms(config, captured)
  return {
    ...commons,
    node,
    database,
    sessionKeys,
    jobs,
    captured: config.mail.url === asked || config.sms.url === asked ? captured : null,
    services: {
      mail,
      sms,
      humanProofs: openHumanProofs(config),
      partnerTokens: openPartner(config),
      ...onChains(config),
    },
    logger,
    deadlineFactor: 1,
    parts: [
      {
        part: 'database',
        adapter: database.name,
        why: config.mongodbUri ? 'MONGODB_URI is set' : 'MONGODB_URI is not set: one process, all on disk',
      },
      ...commons.parts,
      {
        part: 'nodes',
        adapter: database.alone ? 'this one' : config.redisUrl ? 'told by redis' : 'found by polling',
        why: database.alone ? 'the embedded store has one process' : 'nodes meet on the database',
      },
      {
        part: 'jobs',
        adapter: config.redisUrl ? 'bullmq' : 'in the process',
        why: config.redisUrl
          ? 'REDIS_URL is set; what is to be done is in the database'
          : 'each node takes them from the database',
      },
      ...Object.values(serviceParts).map((partOf) => partOf(config)),
    ],
    async close() {
      await jobs.close()
      await mail?.close()
      await sms?.close()
      await commons.close()
      await database.close()
    },
  }
}

export const nodeId = () => randomUUID().slice(0, 8)

/** What a node shares with the others beside the database: each has connections of its own. */
export async function openCommons(
  { redisUrl: url }: Config,
  { database, sessionKeys }: Pick<Platform, 'database' | 'sessionKeys'>,
  node: string,
  logger: Logger,
) {
  const memory = memoryKv()
  const metrics = createMetrics()
  if (url === undefined)
    return {
      metrics,
      kv: memory,
      peers: noPeers,
      hints: hintsOver(noPeers),
      fanout: localFanout,
      parts: [
        { part: 'redis', adapter: 'none', why: 'REDIS_URL is not set' },
        { part: 'limits', adapter: 'memory', why: 'each process counts for itself' },
      ],
      close: memory.close,
    }
  const [{ openRedis }, { redisFanout }] = await Promise.all([
    import('./ports/redis/ioredis.ts'),
    import('./ports/fanout/redis.ts'),
  ])
  const redis = await openRedis({
    url,
    prefix: `plaza:${database.installation.slice(0, 8)}`,
    secrets: sessionKeys.map(({ secret }) => secret),
    warn: (what) => logger.warn({ part: 'redis' }, what),
  })
  metrics.degraded('redis', !redis.isUp())
  redis.onChange((isUp) => {
    metrics.degraded('redis', !isUp)
    logger.warn({ part: 'redis' }, isUp ? 'there again' : 'away: nodes meet on the database alone')
  })
  const peers = redisPeers(redis, node)
  return {
    metrics,
    kv: redisKv(redis, memory, metrics.limitFallback),
    peers,
    hints: hintsOver(peers),
    fanout: redisFanout(redis),
    parts: [
      {
        part: 'redis',
        adapter: redis.name,
        why: redis.isUp() ? 'REDIS_URL is set' : 'REDIS_URL is set; it does not answer yet',
      },
      { part: 'limits', adapter: 'redis', why: 'all nodes count together' },
    ],
    async close() {
      await memory.close()
      await redis.close()
    },
  }
}

const onChains = ({ rpcUrls, onramp }: Config) => ({
  chains: openChains(rpcUrls),
  onramp: onramp && httpOnramp(onramp.url, onramp.key),
})

const openHumanProofs = ({ humanProof: { baseUrl, appId, level } }: Config) =>
  appId === undefined ? null : worldId({ baseUrl, appId, level })

function openPartner({ partnerKeys: keys }: Config) {
  if (keys === null) return null
  const { jwks, jwksUrl = '' } = keys
  return jwks === undefined ? partnerByUrl(jwksUrl, keys) : partnerByKeys(jwks, keys)
}

/** The row of each service in the table of the start: a service without one does not compile. */
const serviceParts: { readonly [Service in keyof Services]: (config: Config) => Part } = {
  humanProofs: ({ humanProof: { appId, baseUrl } }) =>
    appId === undefined
      ? { part: 'human proof', adapter: 'none', why: 'WORLDID_APP_ID is not set: sign-in by it answers 503' }
      : { part: 'human proof', adapter: new URL(baseUrl).host, why: 'WORLDID_APP_ID is set' },
  partnerTokens: ({ partnerKeys: keys }) =>
    keys === null
      ? { part: 'partner', adapter: 'none', why: 'PARTNER_JWKS_URL is not set: sign-in by it answers 503' }
      : {
          part: 'partner',
          adapter: keys.jwks ? 'given keys' : 'published keys',
          why: 'the keys of its tokens are set',
        },
  chains: ({ rpcUrls }) =>
    rpcUrls.size === 0
      ? { part: 'chains', adapter: 'none', why: 'no RPC_URL_<chainId> is set: what needs one answers 503' }
      : { part: 'chains', adapter: [...rpcUrls.keys()].join(', '), why: 'RPC_URL_<chainId> is set' },
  onramp: ({ onramp }) =>
    onramp
      ? { part: 'onramp', adapter: new URL(onramp.url).host, why: 'ONRAMP_URL is set' }
      : { part: 'onramp', adapter: 'none', why: 'ONRAMP_URL is not set: what needs it answers 503' },
  mail: ({ mail: { url } }) => outgoing('mail', 'MAIL_URL', url),
  sms: ({ sms: { url } }) => outgoing('sms', 'SMS_URL', url),
}

async function openJobs({ redisUrl }: Config, database: Database): Promise<JobQueue> {
  if (!redisUrl) return memoryQueue()
  const { bullQueue } = await import('./ports/jobs/bullmq.ts')
  return bullQueue(redisUrl, `plaza:${database.installation.slice(0, 8)}`)
}

const asked = 'captured'

async function openMail({ mail: { url, from } }: Config, captured: DevMailbox): Promise<Mail | null> {
  if (url === undefined) return null
  if (url === asked) return capturedMail((letter) => captured.keep({ kind: 'mail', ...letter }))
  const { smtpMail } = await import('./ports/mail/smtp.ts')
  return smtpMail(url, from)
}

function openSms({ sms: { url, from } }: Config, captured: DevMailbox): Sms | null {
  if (url === undefined) return null
  return url === asked
    ? capturedSms((text) => captured.keep({ kind: 'sms', subject: null, ...text }))
    : httpSms(url, from)
}

function outgoing(part: string, variable: string, url: string | undefined): Part {
  if (url === undefined) return { part, adapter: 'none', why: `${variable} is not set: what needs it answers 503` }
  if (url === asked) return { part, adapter: asked, why: `shown at /dev/mail; ${variable} sends them` }
  return { part, adapter: new URL(url).host, why: `${variable} is set` }
}

/** Copies of the store, for the tools beside the server. */
export * as copies from './ports/database/copies/index.ts'
