import { createHash, randomUUID } from 'node:crypto'
import type { Hints } from '#server/log/types'
import type { Config } from './config.ts'
import { type CapturedPost, createCaptured } from './kernel/captured.ts'
import type { Services } from './kernel/context.ts'
import { createLogger, type Logger } from './kernel/logger.ts'
import { openChains } from './ports/chain/viem.ts'
import { connectEmbedded } from './ports/database/embedded.ts'
import { connectMongo } from './ports/database/mongo.ts'
import type { Database } from './ports/database/port.ts'
import { bullQueue } from './ports/jobs/bullmq.ts'
import { memoryQueue } from './ports/jobs/memory.ts'
import type { JobQueue } from './ports/jobs/port.ts'
import { memoryKv } from './ports/kv/memory.ts'
import type { Kv } from './ports/kv/port.ts'
import { httpOnramp } from './ports/onramp/http.ts'
import { capturedMail } from './ports/mail/captured.ts'
import type { Mail } from './ports/mail/port.ts'
import { smtpMail } from './ports/mail/smtp.ts'
import { capturedSms } from './ports/sms/captured.ts'
import { httpSms } from './ports/sms/http.ts'
import type { Sms } from './ports/sms/port.ts'

/** What a server stands on: one adapter for each port. */
export interface Platform {
  node: string
  database: Database
  kv: Kv
  hints: Hints
  jobs: JobQueue
  services: Services
  /** Where letters and texts go that are not sent; null where all are, or none can be. */
  captured: CapturedPost | null
  logger: Logger
  /** What is real, what is a stand-in, and why. */
  parts: readonly Part[]
  close(): Promise<void>
}

export interface Part {
  part: string
  adapter: string
  why: string
}

/** The only place that picks adapters. */
export async function openPlatform(config: Config): Promise<Platform> {
  const database = config.mongodbUri
    ? await connectMongo(config.mongodbUri)
    : await connectEmbedded(config.dataDirectory)
  const kv = memoryKv()
  const jobs = openJobs(config, database)
  const captured = createCaptured()
  const mail = openMail(config, captured)
  const sms = openSms(config, captured)
  return {
    node: randomUUID().slice(0, 8),
    database,
    kv,
    hints: noHints,
    jobs,
    captured: config.mail.url === asked || config.sms.url === asked ? captured : null,
    services: { mail, sms, humanProofs: null, partnerTokens: null, ...onChains(config) },
    logger: createLogger(config.logLevel),
    parts: [
      {
        part: 'database',
        adapter: database.name,
        why: config.mongodbUri ? 'MONGODB_URI is set' : 'MONGODB_URI is not set: one process, all on disk',
      },
      { part: 'limits', adapter: 'memory', why: 'each process counts for itself' },
      {
        part: 'nodes',
        adapter: database.alone ? 'this one' : 'found by polling',
        why: database.alone ? 'the embedded store has one process' : 'nodes meet on the database',
      },
      ...chainParts(config),
      {
        part: 'jobs',
        adapter: config.redisUrl ? 'bullmq' : 'in the process',
        why: config.redisUrl
          ? 'REDIS_URL is set; what is to be done is in the database'
          : 'each node takes them from the database',
      },
      outgoing('mail', 'MAIL_URL', config.mail.url),
      outgoing('sms', 'SMS_URL', config.sms.url),
    ],
    async close() {
      await jobs.close()
      await mail?.close()
      await sms?.close()
      await kv.close()
      await database.close()
    },
  }
}

const noHints: Hints = { publish() {}, subscribe() {} }

const onChains = ({ siwe, onramp }: Config) => ({
  chains: openChains(siwe.rpcUrls),
  onramp: onramp && httpOnramp(onramp.url, onramp.key),
})

const chainParts = ({ siwe: { rpcUrls }, onramp }: Config): Part[] => [
  rpcUrls.size === 0
    ? { part: 'chains', adapter: 'none', why: 'no RPC_URL_<chainId> is set: what needs one answers 503' }
    : { part: 'chains', adapter: [...rpcUrls.keys()].join(', '), why: 'RPC_URL_<chainId> is set' },
  onramp
    ? { part: 'onramp', adapter: new URL(onramp.url).host, why: 'ONRAMP_URL is set' }
    : { part: 'onramp', adapter: 'none', why: 'ONRAMP_URL is not set: what needs it answers 503' },
]

/** Installations that share a Redis are told apart by their databases. */
const openJobs = ({ redisUrl }: Config, database: Database): JobQueue =>
  redisUrl ? bullQueue(redisUrl, `plaza:${hashed(database.name)}`) : memoryQueue()

const hashed = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)

const asked = 'captured'

function openMail({ mail: { url, from } }: Config, captured: CapturedPost): Mail | null {
  if (url === undefined) return null
  return url === asked ? capturedMail((letter) => captured.keep({ kind: 'mail', ...letter })) : smtpMail(url, from)
}

function openSms({ sms: { url, from } }: Config, captured: CapturedPost): Sms | null {
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
