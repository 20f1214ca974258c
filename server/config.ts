import { z } from 'zod'
import { domains } from './domains/index.ts'
import { given, storeVariables } from './environment.ts'
import { isLoopbackName, type Proxies, proxiesAt } from './kernel/addresses.ts'
import { ConfigError, checked, type DomainSettings, list, webUrl } from './kernel/settings.ts'
import { parseSessionKeys, type SessionKeys } from './session-keys.ts'

/** A count, or addresses and networks. */
const proxies = z
  .string()
  .default('0')
  .transform((value) => (/^(10|\d)$/.test(value) ? Number(value) : proxiesAt(value.split(',').map((at) => at.trim()))))
  .refine((read) => read !== null, { error: 'must be a number up to 10, or addresses and networks such as 10.0.0.0/8' })
const port = z.coerce.number().int().min(0).max(65_535)

const variables = z.object({
  ...storeVariables.shape,
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  PORT: port.default(3000),
  HOST: z.string().min(1).default('127.0.0.1'),
  PUBLIC_URL: webUrl.optional(),
  ALLOWED_ORIGINS: list,
  OPS_PORT: port.optional(),
  OPS_HOST: z.string().min(1).default('127.0.0.1'),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, { error: 'must start with redis://' })
    .optional(),
  SESSION_KEYS: z.string().optional(),
  DEMO: z.enum(['on', 'off']).optional(),
  RATE_LIMIT_SCALE: z.coerce.number().min(0.01).max(1_000_000).default(1),
  TRUSTED_PROXIES: proxies,
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).optional(),
  FAILPOINT: z
    .string()
    .regex(/^[a-z]+-[a-z]+(:[1-9]\d*)?$/, { error: 'must be the name of a place, or name:passes' })
    .optional(),
  STORAGE_URL: webUrl.optional(),
  MAIL_URL: z
    .string()
    .regex(/^(smtps?:\/\/.+|captured)$/, { error: 'must start with smtp:// or smtps://, or be captured' })
    .optional(),
  MAIL_FROM: z.string().min(3).optional(),
  SMS_URL: z
    .string()
    .regex(/^(https?:\/\/.+|captured)$/, { error: 'must be a URL, or captured' })
    .optional(),
  SMS_FROM: z.string().min(1).default('Plaza'),
  WORLDID_BASE_URL: webUrl.default('https://developer.worldcoin.org'),
  WORLDID_APP_ID: z.string().min(1).optional(),
  WORLDID_LEVEL: z.string().min(1).default('orb'),
  PARTNER_JWKS_URL: webUrl.optional(),
  PARTNER_JWKS: z.string().refine(isKeySet, { error: 'must be a key set in JSON' }).optional(),
  PARTNER_ISSUER: z.string().min(1).optional(),
  PARTNER_AUDIENCE: z.string().min(1).optional(),
  ONRAMP_URL: webUrl.optional(),
  ONRAMP_KEY: z.string().min(1).optional(),
})

const settingsOfDomains = domains.flatMap(({ settings }) => settings ?? [])

export const variableNames = [...Object.keys(variables.shape), ...settingsOfDomains.flatMap(({ names }) => names)]

export interface Config {
  production: boolean
  port: number
  host: string
  publicUrl: string
  origins: readonly string[]
  ops: { port: number | undefined; host: string }
  dataDirectory: string
  mongodbUri: string | undefined
  redisUrl: string | undefined
  /** Null where none are given: then they are made, and kept. */
  sessionKeys: SessionKeys | null
  demo: boolean
  /** What lets others than this machine in: the variable that says so; null where nothing does. */
  reach: 'HOST' | 'PUBLIC_URL' | null
  rateLimitScale: number
  /** How many proxies stand in front, or where they are. */
  trustedProxies: Proxies
  logLevel: string
  failpoint: string | undefined
  storageUrl: string
  /** The endpoints of chains. */
  rpcUrls: ReadonlyMap<number, string>
  mail: { url: string | undefined; from: string }
  sms: { url: string | undefined; from: string }
  humanProof: { baseUrl: string; appId: string | undefined; level: string }
  partnerKeys: PartnerKeys | null
  onramp: { url: string; key: string } | null
  /** What each domain made of its own variables. */
  domains: ReadonlyMap<DomainSettings, object>
}

/** Throws a `ConfigError` where a value makes no sense. */
export function readConfig(environment?: NodeJS.ProcessEnv): Config {
  const values = given(isVariable, environment)
  const env = checked(variables, values)
  const production = env.NODE_ENV === 'production'
  const publicUrl = new URL(env.PUBLIC_URL ?? `http://localhost:${env.PORT}`).origin
  const reach = reachOf(env.HOST, publicUrl)
  refuseReach(env, production, reach)
  /** In production, or where other machines may connect, a service that is not configured has no stand-in. */
  const standIn = production || reach !== null ? undefined : 'captured'
  const localOrigins = production ? [] : [`http://localhost:${env.PORT}`, `http://127.0.0.1:${env.PORT}`]
  return {
    production,
    port: env.PORT,
    host: env.HOST,
    publicUrl,
    origins: [publicUrl, ...env.ALLOWED_ORIGINS, ...localOrigins],
    ops: { port: env.OPS_PORT, host: env.OPS_HOST },
    dataDirectory: env.DATA_DIR,
    mongodbUri: env.MONGODB_URI,
    redisUrl: env.REDIS_URL,
    sessionKeys: givenKeys(env.SESSION_KEYS, production),
    demo: env.DEMO ? env.DEMO === 'on' : !production && reach === null && env.MONGODB_URI === undefined,
    reach,
    rateLimitScale: env.RATE_LIMIT_SCALE,
    trustedProxies: env.TRUSTED_PROXIES ?? 0,
    failpoint: production ? undefined : env.FAILPOINT,
    logLevel: env.LOG_LEVEL ?? (production ? 'info' : 'warn'),
    storageUrl: env.STORAGE_URL ?? `${publicUrl}/media`,
    rpcUrls: rpcUrls(values),
    mail: { url: env.MAIL_URL ?? standIn, from: env.MAIL_FROM ?? `Plaza <no-reply@${new URL(publicUrl).hostname}>` },
    sms: { url: env.SMS_URL ?? standIn, from: env.SMS_FROM },
    humanProof: {
      baseUrl: env.WORLDID_BASE_URL,
      appId: env.WORLDID_APP_ID,
      level: env.WORLDID_LEVEL,
    },
    partnerKeys: partnerKeysOf(env),
    onramp: onrampOf(env.ONRAMP_URL, env.ONRAMP_KEY),
    domains: new Map(
      settingsOfDomains.map((settings) => [settings, settings.read(values, { production, publicUrl, localOrigins })]),
    ),
  }
}

/** Where the keys of a partner are, and which of the tokens they sign are for us. */
interface PartnerKeys {
  jwksUrl: string | undefined
  jwks: string | undefined
  issuer: string
  audience: string
}

function partnerKeysOf(env: z.output<typeof variables>): PartnerKeys | null {
  const { PARTNER_JWKS_URL: jwksUrl, PARTNER_JWKS: jwks, PARTNER_ISSUER: issuer, PARTNER_AUDIENCE: audience } = env
  if (jwksUrl === undefined && jwks === undefined) return null
  if (issuer === undefined || audience === undefined)
    throw new ConfigError(
      'PARTNER_ISSUER and PARTNER_AUDIENCE are required with partner keys: without them a token for another app signs in here.',
    )
  return { jwksUrl, jwks, issuer, audience }
}

function reachOf(host: string, publicUrl: string): Config['reach'] {
  if (!isLoopbackName(host) && host !== '::1') return 'HOST'
  return isLoopbackName(new URL(publicUrl).hostname) ? null : 'PUBLIC_URL'
}

/** Development powers are for this very machine, whatever else is said. */
function refuseReach(env: z.output<typeof variables>, production: boolean, reach: Config['reach']): void {
  const powers = { DEMO: env.DEMO === 'on', MAIL_URL: env.MAIL_URL === 'captured', SMS_URL: env.SMS_URL === 'captured' }
  const [asked] = Object.entries(powers).flatMap(([name, isOn]) => (isOn ? [name] : []))
  if (production && powers.DEMO) throw new ConfigError('DEMO=on is not for production: it lets anybody moderate.')
  if (asked && reach)
    throw new ConfigError(
      `${asked}=${asked === 'DEMO' ? 'on' : 'captured'} is for this machine alone, but ${reach} lets others in: leave out one of them.`,
    )
}

function onrampOf(url: string | undefined, key: string | undefined): Config['onramp'] {
  if (url === undefined && key === undefined) return null
  if (url === undefined || key === undefined) throw new ConfigError('ONRAMP_URL and ONRAMP_KEY belong together.')
  return { url, key }
}

const KeySet = z.object({ keys: z.array(z.object({ kty: z.string() })).min(1) })

function isKeySet(value: string): boolean {
  try {
    return KeySet.safeParse(JSON.parse(value)).success
  } catch {
    return false
  }
}

const isVariable = (name: string) => variableNames.includes(name) || /^RPC_URL_\d+$/.test(name)
/** `RPC_URL_<chain id>`: where contract wallets of that chain are asked. */
function rpcUrls(environment: Record<string, string | undefined>): ReadonlyMap<number, string> {
  const urls = new Map<number, string>()
  for (const [name, value] of Object.entries(environment)) {
    const chain = /^RPC_URL_(\d+)$/.exec(name)?.[1]
    if (chain === undefined) continue
    if (!webUrl.safeParse(value).success) throw new ConfigError(`${name} is not usable: must be a URL.`)
    urls.set(Number(chain), String(value))
  }
  return urls
}

function givenKeys(given: string | undefined, production: boolean): SessionKeys | null {
  if (given === undefined && production)
    throw new ConfigError('SESSION_KEYS is required in production: id:base64 of at least 32 bytes.')
  if (given === undefined) return null
  const keys = parseSessionKeys(given)
  if (!keys) throw new ConfigError('SESSION_KEYS is not usable: each key must be id:base64 of at least 32 bytes.')
  return keys
}
