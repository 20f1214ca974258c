import { z } from 'zod'
import type { storeVariables } from '#server/environment'
import { isLoopbackName, type Proxies, readProxies } from '#server/kernel/addresses'
import { ConfigError, decimalNumber, host, type Installation, origins, urlOf, webUrl } from '#server/kernel/settings'
import { parseSessionKeys, type SessionKeys } from '#server/session-keys'
import { stepsOfAText } from '#shared/kit/budgets'

/** A count, or addresses and networks. */
const proxies = z
  .string()
  .default('0')
  .transform((value) =>
    /^(10|\d)$/.test(value) ? Number(value) : readProxies(value.split(',').map((at) => at.trim())),
  )
  .refine((read) => read !== null, { error: 'must be a number up to 10, or addresses and networks such as 10.0.0.0/8' })
const port = decimalNumber(z.number().int().min(0).max(65_535))

/** Where the server listens, who may reach it, what it does at all, and what it shares with other nodes. */
export const serverVariables = z.object({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  PORT: port.default(3000),
  HOST: host.default('127.0.0.1'),
  PUBLIC_URL: webUrl.optional(),
  ALLOWED_ORIGINS: origins,
  OPS_PORT: port.optional(),
  OPS_HOST: host.default('127.0.0.1'),
  REDIS_URL: urlOf(/^rediss?:\/\/[^/]+(\/\d{0,5})?(\?|$)/, 'must start with redis:// and name a host').optional(),
  SESSION_KEYS: z.string().optional(),
  DEMO: z.enum(['on', 'off']).optional(),
  RATE_LIMIT_SCALE: decimalNumber(z.number().min(0.01).max(1_000_000)).default(1),
  VERDICT_STEPS: decimalNumber(z.number().int().min(1_000).max(1_000_000_000)).default(stepsOfAText),
  TRUSTED_PROXIES: proxies,
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).optional(),
  FAILPOINT: z
    .string()
    .regex(/^[a-z]+-[a-z]+(:[1-9]\d*)?$/, { error: 'must be the name of a place, or name:passes' })
    .optional(),
  CRON_SECRET: z
    .string()
    .regex(/^[\w.~+/-]{16,}$/, { error: 'must be at least 16 letters, digits or any of ._~+/-' })
    .optional(),
})

type Given = z.output<typeof serverVariables> & z.output<typeof storeVariables>

/** What defaults of all subjects are derived from. */
export interface Deployment extends Installation {
  /** What lets others than this machine in: the variable that says so; null where nothing does. */
  reach: 'HOST' | 'PUBLIC_URL' | null
  /** In production, or where other machines may connect, a service that is not configured has no stand-in. */
  hasStandIns: boolean
  demo: boolean
}

export function deploymentOf(env: Given): Deployment {
  const production = env.NODE_ENV === 'production'
  const publicUrl = new URL(env.PUBLIC_URL ?? `http://localhost:${env.PORT}`).origin
  const reach = reachOf(env.HOST, publicUrl)
  const hasStandIns = !production && reach === null
  return {
    production,
    publicUrl,
    localOrigins: production ? [] : [`http://localhost:${env.PORT}`, `http://127.0.0.1:${env.PORT}`],
    reach,
    hasStandIns,
    demo: env.DEMO ? env.DEMO === 'on' : hasStandIns && env.MONGODB_URI === undefined,
  }
}

function reachOf(host: string, publicUrl: string): Deployment['reach'] {
  if (!isLoopbackName(host) && host !== '::1') return 'HOST'
  return isLoopbackName(new URL(publicUrl).hostname) ? null : 'PUBLIC_URL'
}

export interface ServerConfig extends Pick<Deployment, 'production' | 'publicUrl' | 'reach' | 'demo'> {
  port: number
  host: string
  origins: readonly string[]
  ops: { port: number | undefined; host: string }
  dataDirectory: string
  mongodbUri: string | undefined
  redisUrl: string | undefined
  /** Null where none are given: then they are made, and kept. */
  sessionKeys: SessionKeys | null
  rateLimitScale: number
  /** What judging the words of one text may cost; the same on all nodes. */
  verdictSteps: number
  /** How many proxies stand in front, or where they are. */
  trustedProxies: Proxies
  logLevel: string
  failpoint: string | undefined
  cronSecret: string | null
}

export function serverOf(env: Given, { production, publicUrl, localOrigins, reach, demo }: Deployment): ServerConfig {
  return {
    production,
    publicUrl,
    reach,
    demo,
    port: env.PORT,
    host: env.HOST,
    origins: [publicUrl, ...env.ALLOWED_ORIGINS, ...localOrigins],
    ops: { port: env.OPS_PORT, host: env.OPS_HOST },
    dataDirectory: env.DATA_DIR,
    mongodbUri: env.MONGODB_URI,
    redisUrl: env.REDIS_URL,
    sessionKeys: givenKeys(env.SESSION_KEYS, production),
    rateLimitScale: env.RATE_LIMIT_SCALE,
    verdictSteps: env.VERDICT_STEPS,
    trustedProxies: env.TRUSTED_PROXIES ?? 0,
    logLevel: env.LOG_LEVEL ?? (production ? 'info' : 'warn'),
    failpoint: production ? undefined : env.FAILPOINT,
    cronSecret: env.CRON_SECRET ?? null,
  }
}

function givenKeys(given: string | undefined, production: boolean): SessionKeys | null {
  if (given === undefined && production)
    throw new ConfigError('SESSION_KEYS is required in production: id:base64 of at least 32 bytes.')
  if (given === undefined) return null
  const keys = parseSessionKeys(given)
  if (!keys)
    throw new ConfigError(
      'SESSION_KEYS is not usable: each key must be id:base64 of at least 32 bytes, with an id of its own.',
    )
  return keys
}
