import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { hintsOver } from '#server/log/hints'
import type { Hints } from '#server/log/types'
import type { Config } from './config.ts'
import type { Services } from './kernel/context.ts'
import { createDevMailbox, type DevMailbox } from './kernel/dev-mailbox.ts'
import { createLogger, type Logger } from './kernel/logger.ts'
import { createMetrics, type Metrics } from './kernel/metrics.ts'
import { demoAttendance } from './ports/attendance/demo.ts'
import { httpAttendance } from './ports/attendance/http.ts'
import type { Attendance } from './ports/attendance/port.ts'
import { googleCalendars } from './ports/calendar/google.ts'
import { openChains } from './ports/chain/viem.ts'
import { lockDirectory } from './ports/database/embedded/lock.ts'
import { connectEmbedded } from './ports/database/embedded.ts'
import { mediaHosts } from './ports/database/media-hosts.ts'
import { connectMongo } from './ports/database/mongo.ts'
import { type Database, keepPushKey, keepSessionKeys } from './ports/database/port.ts'
import { vectorSearch } from './ports/database/vectors.ts'
import { httpFacilitator } from './ports/facilitator/http.ts'
import { localFacilitator } from './ports/facilitator/local.ts'
import { localFanout } from './ports/fanout/local.ts'
import type { Fanout } from './ports/fanout/port.ts'
import { worldId } from './ports/human-proof/world-id.ts'
import { githubIssues } from './ports/issues/github.ts'
import { memoryQueue } from './ports/jobs/memory.ts'
import type { JobQueue } from './ports/jobs/port.ts'
import { memoryKv } from './ports/kv/memory.ts'
import type { Kv } from './ports/kv/port.ts'
import { redisKv } from './ports/kv/redis.ts'
import { capturedMail } from './ports/mail/captured.ts'
import type { Mail } from './ports/mail/port.ts'
import { liveKitMeetings } from './ports/meetings/livekit.ts'
import { localMeetings } from './ports/meetings/local.ts'
import { localEmbedder } from './ports/model/local-embedder.ts'
import type { Embedder, Model } from './ports/model/port.ts'
import { scriptedModel } from './ports/model/scripted.ts'
import { httpOnramp } from './ports/onramp/http.ts'
import { partnerByKeys, partnerByUrl } from './ports/partner/jwks.ts'
import { noPeers } from './ports/peers/none.ts'
import type { Peers } from './ports/peers/port.ts'
import { redisPeers } from './ports/peers/redis.ts'
import { httpPinning } from './ports/pinning/http.ts'
import { graphqlData } from './ports/platform-data/graphql.ts'
import { fixedPrices } from './ports/prices/fixed.ts'
import { httpPrices } from './ports/prices/http.ts'
import { newPrivateKey, type Push } from './ports/push/port.ts'
import { webPush } from './ports/push/web-push.ts'
import { processReader } from './ports/reader/local.ts'
import { capturedSms } from './ports/sms/captured.ts'
import { httpSms } from './ports/sms/http.ts'
import type { Sms } from './ports/sms/port.ts'
import { localStorage } from './ports/storage/local.ts'
import type { Storage } from './ports/storage/port.ts'
import { mcpServers } from './ports/tool-servers/mcp.ts'
import { type OpenedVideo, openHosts, openSelfHosted } from './ports/video/open.ts'
import { guardedWeb } from './ports/web/guarded.ts'
import type { Web } from './ports/web/port.ts'
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
    ? await connectMongo(config.mongodbUri, { tell: console.error })
    : await connectEmbedded(config.dataDirectory)
  return orClosed(database, () => openOn(database, config))
}

const giveUpMilliseconds = 10_000

/** Closes the store where the work fails: a process that exits while its store writes may wait for the end of that write for ever. */
export async function orClosed<T>(database: Database, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await Promise.race([database.close(), pause(giveUpMilliseconds)]).catch(() => undefined)
    throw error
  }
}

async function openOn(database: Database, config: Config): Promise<Platform> {
  const node = nodeId()
  const logger = createLogger(config.logLevel)
  const sessionKeys =
    config.sessionKeys ?? (await keptSessionKeys(config.dataDirectory, database.alone ? null : keepSessionKeys))
  const commons = await openCommons(config, { database, sessionKeys }, node, logger)
  const jobs = await openJobs(config, database)
  const captured = createDevMailbox(() => database.now())
  const mail = await openMail(config, captured)
  const sms = openSms(config, captured)
  const web = guardedWeb(config.egressHosts)
  const pushServices = guardedWeb(config.push.hosts)
  const reader = processReader()
  const livestreams = await openVideo(config, database, sessionKeys)
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
      attendance: openAttendance(config),
      calendars: config.google && googleCalendars(config.google),
      issues: config.github && githubIssues(config.github.apiUrl, config.github.repository, config.github.token),
      facilitator: openFacilitator(config),
      ...onChains(config),
      prices: openPrices(config),
      push: await openPush(config, pushServices),
      web,
      model: await openModel(config),
      embedder: await openEmbedder(config),
      vectors: database.kind === 'mongodb' ? vectorSearch('knowledge_chunks') : null,
      reader,
      toolServers: mcpServers,
      storage: await openStorage(config, database),
      pinning: config.pinning && httpPinning(config.pinning.url, config.pinning.key, config.pinning.gateways),
      platformData: config.platformGraphqlUrl === undefined ? null : graphqlData(config.platformGraphqlUrl),
      video: livestreams?.video ?? null,
      meetings: config.liveKit
        ? liveKitMeetings(config.liveKit, database.now)
        : localMeetings({ keys: sessionKeys, now: database.now }),
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
      ...Object.values(serviceParts).map((partOf) => partOf(config, livestreams)),
    ],
    async close() {
      await jobs.close()
      await mail?.close()
      await sms?.close()
      await web.close()
      await pushServices.close()
      await reader.close()
      await livestreams?.close()
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
  const trouble = redis.isUp() ? null : `does not answer yet: ${redis.trouble() ?? 'nothing is heard of it'}`
  if (trouble) logger.warn({ part: 'redis' }, trouble)
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
        why: trouble ? `REDIS_URL is set; it ${trouble}` : 'REDIS_URL is set',
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

function openAttendance({ attendance }: Config): Attendance | null {
  if (attendance === null) return null
  return attendance === 'scripted' ? demoAttendance() : httpAttendance(attendance)
}

const fixed = 'fixed'

function openPrices({ pricesUrl: url }: Config) {
  if (url === undefined) return null
  return url === fixed ? fixedPrices : httpPrices(url)
}

const simulated = 'simulated'

function openFacilitator({ facilitator: { url, version } }: Config) {
  if (url === undefined) return null
  return url === simulated ? localFacilitator : httpFacilitator(url, version)
}

/** The row of each service in the table of the start: a service without one does not compile. */
const serviceParts: {
  readonly [Service in keyof Services]: (config: Config, livestreams: OpenedVideo | null) => Part
} = {
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
  attendance({ attendance }) {
    const part = 'attendance'
    if (attendance === null) return { part, adapter: 'none', why: 'ATTENDANCE_API_KEY is not set: nobody holds tokens' }
    return attendance === 'scripted'
      ? { part, adapter: attendance, why: 'three events of the demo; ATTENDANCE_API_KEY asks a provider' }
      : { part, adapter: new URL(attendance.baseUrl).host, why: 'ATTENDANCE_API_KEY is set' }
  },
  issues: ({ github }) =>
    github
      ? { part: 'issues', adapter: github.repository, why: 'GITHUB_TOKEN and GITHUB_REPOSITORY are set' }
      : { part: 'issues', adapter: 'none', why: 'GITHUB_TOKEN is not set: what needs the code host answers 500' },
  prices({ pricesUrl: url }) {
    const part = 'prices'
    if (url === undefined) return { part, adapter: 'none', why: 'PRICES_URL is not set: /api/prices answers 503' }
    return url === fixed
      ? { part, adapter: fixed, why: 'those of no market; PRICES_URL asks a source' }
      : { part, adapter: new URL(url).host, why: 'PRICES_URL is set' }
  },
  calendars: ({ google }) =>
    google
      ? { part: 'calendars', adapter: 'google', why: 'GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET are set' }
      : { part: 'calendars', adapter: 'none', why: 'GOOGLE_CLIENT_ID is not set: nobody connects one' },
  model: ({ model }) => {
    if (model === null) return { part: 'model', adapter: 'none', why: 'MODEL_API_KEY is not set: agents answer 503' }
    return model === 'scripted'
      ? { part: 'model', adapter: model, why: 'a script answers for agents; MODEL_API_KEY without MODEL asks a model' }
      : {
          part: 'model',
          adapter: `${model.model} at ${new URL(model.baseUrl).host}`,
          why: `MODEL_API_KEY is set; asked by MODEL_API=${model.api}`,
        }
  },
  embedder: ({ embedding }) =>
    embedding === null
      ? { part: 'embedder', adapter: 'local', why: 'EMBEDDING_MODEL is not set: texts are compared by their words' }
      : { part: 'embedder', adapter: embedding.model, why: 'EMBEDDING_MODEL is set' },
  vectors: ({ mongodbUri }) =>
    mongodbUri === undefined
      ? {
          part: 'search',
          adapter: 'exact',
          why: 'MONGODB_URI is not set: the process compares all that an agent knows',
        }
      : {
          part: 'search',
          adapter: 'by the database, or exact',
          why: 'MONGODB_URI is set: where it can search vectors',
        },
  facilitator({ facilitator: { url, version } }) {
    const part = 'payments'
    if (url === undefined)
      return { part, adapter: 'none', why: 'X402_FACILITATOR_URL is not set: paid chat answers 503' }
    if (url === simulated)
      return {
        part,
        adapter: simulated,
        why: 'checked, settled nowhere, on test networks; X402_FACILITATOR_URL settles',
      }
    return { part, adapter: new URL(url).host, why: `X402_FACILITATOR_URL is set, version ${version}` }
  },
  toolServers: () => ({ part: 'tools', adapter: 'mcp', why: 'agents ask the tool servers that their owners name' }),
  platformData: ({ platformGraphqlUrl: url }) =>
    url === undefined
      ? { part: 'platform data', adapter: 'none', why: 'PLATFORM_GRAPHQL_URL is not set: agents have no such tool' }
      : { part: 'platform data', adapter: new URL(url).host, why: 'PLATFORM_GRAPHQL_URL is set' },
  storage: ({ s3, mongodbUri, dataDirectory }) => {
    if (s3) return { part: 'files', adapter: new URL(s3.endpoint).host, why: 'S3_ENDPOINT is set' }
    return mongodbUri === undefined
      ? { part: 'files', adapter: 'a folder', why: `S3_ENDPOINT is not set: they are kept in ${dataDirectory}/files` }
      : { part: 'files', adapter: 'none', why: 'S3_ENDPOINT is not set, which several nodes need: uploads answer 503' }
  },
  pinning: ({ pinning }) =>
    pinning === null
      ? { part: 'pinning', adapter: 'none', why: 'PINNING_URL is not set: pixel art is kept here alone' }
      : { part: 'pinning', adapter: new URL(pinning.url).host, why: 'PINNING_URL is set' },
  video: (_config, opened) => {
    const part = 'livestreams'
    if (opened) return { part, adapter: opened.adapter, why: opened.why }
    return { part, adapter: 'none', why: 'VIDEO_PROVIDER is none: going live answers 503' }
  },
  meetings: ({ liveKit }) =>
    liveKit
      ? { part: 'meetings', adapter: `livekit at ${new URL(liveKit.url).host}`, why: 'LIVEKIT_URL is set' }
      : {
          part: 'meetings',
          adapter: 'local',
          why: 'LIVEKIT_URL is not set: browsers meet each other, over this server',
        },
  push: ({ push: { privateKey } }) =>
    privateKey === null
      ? {
          part: 'push',
          adapter: 'web push',
          why: 'VAPID_PRIVATE_KEY is not set: its key is made, and kept in the store',
        }
      : { part: 'push', adapter: 'web push', why: 'VAPID_PRIVATE_KEY is set' },
  mail: ({ mail: { url } }) => outgoing('mail', 'MAIL_URL', url),
  sms: ({ sms: { url } }) => outgoing('sms', 'SMS_URL', url),
  reader: () => ({ part: 'reader', adapter: 'a process', why: 'documents of strangers are read beside the server' }),
  web: ({ egressHosts }) =>
    egressHosts === null
      ? { part: 'web', adapter: 'guarded', why: 'EGRESS_HOSTS is not set: people may name any public host' }
      : { part: 'web', adapter: 'guarded', why: `EGRESS_HOSTS is set: ${egressHosts.join(', ')}` },
}

async function openJobs({ redisUrl }: Config, database: Database): Promise<JobQueue> {
  if (!redisUrl) return memoryQueue()
  const { bullQueue } = await import('./ports/jobs/bullmq.ts')
  return bullQueue(redisUrl, `plaza:${database.installation.slice(0, 8)}`)
}

async function openStorage({ s3, dataDirectory, reserveBytes }: Config, { alone }: Database): Promise<Storage | null> {
  if (s3 === null) return alone ? localStorage(filesIn(dataDirectory), reserveBytes) : null
  const { s3Storage } = await import('./ports/storage/s3.ts')
  return s3Storage(s3)
}

/** Where other providers are opened. */
async function openVideo(
  { video }: Config,
  { alone, now }: Database,
  sessionKeys: SessionKeys,
): Promise<OpenedVideo | null> {
  if (video === null) return null
  if (video.livepeer) {
    const { livepeerVideo } = await import('./ports/video/livepeer.ts')
    const { host } = new URL(video.livepeer.apiUrl)
    return {
      video: livepeerVideo(video.livepeer),
      adapter: host,
      why: 'LIVEPEER_API_KEY is set',
      close: async () => {},
    }
  }
  const secrets = sessionKeys.map(({ secret }) => secret)
  if (video.mediamtx) {
    const { mediaMtxVideo } = await import('./ports/video/mediamtx.ts')
    const { host } = new URL(video.mediamtx.apiUrl)
    return {
      video: mediaMtxVideo(video.mediamtx, { secrets, now }),
      adapter: host,
      why: 'VIDEO_PROVIDER is mediamtx',
      close: async () => {},
    }
  }
  if (alone) return openSelfHosted(video)
  return openHosts(video, {
    hosts: mediaHosts(),
    ...video.reached,
    secrets,
    now,
    async lock(directory) {
      const held = await lockDirectory<'taken'>(directory, async () => 'taken')
      return held === 'taken' ? null : held
    },
  })
}

async function openModel({ model }: Config): Promise<Model | null> {
  if (model === null || model === 'scripted') return model && scriptedModel()
  if (model.api === 'responses') {
    const { openaiResponses } = await import('./ports/model/openai-responses.ts')
    return openaiResponses(model)
  }
  const { openaiModel } = await import('./ports/model/openai.ts')
  return openaiModel(model)
}

async function openEmbedder({ embedding }: Config): Promise<Embedder> {
  if (embedding === null) return localEmbedder()
  const { openaiEmbedder } = await import('./ports/model/openai-embedder.ts')
  return openaiEmbedder(embedding)
}

/** Browsers are subscribed by one key, so that it is kept where nobody gave one. */
async function openPush({ push: { privateKey, ...named } }: Config, web: Web): Promise<Push> {
  return webPush({ privateKey: privateKey ?? (await keepPushKey(newPrivateKey())), ...named }, web)
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

/** Where a node with a data directory of its own keeps what people upload. */
export const filesIn = (dataDirectory: string): string => join(dataDirectory, 'files')

/** Copies of the store, for the tools beside the server. */
export * as copies from './ports/database/copies/index.ts'
