import { z } from 'zod'
import { stepsOfAText } from '#shared/kit/budgets'
import { domains } from './domains/index.ts'
import { given, storeVariables } from './environment.ts'
import { isLoopbackName, type Proxies, proxiesAt } from './kernel/addresses.ts'
import {
  ConfigError,
  checked,
  type DomainSettings,
  host,
  hosts,
  list,
  numeric,
  origins,
  urlOf,
  webUrl,
  word,
} from './kernel/settings.ts'
import { publicKeyOf } from './ports/push/port.ts'
import { parseSessionKeys, type SessionKeys } from './session-keys.ts'
import { type VideoConfig, videoOf, videoVariables } from './video-config.ts'

/** A count, or addresses and networks. */
const proxies = z
  .string()
  .default('0')
  .transform((value) => (/^(10|\d)$/.test(value) ? Number(value) : proxiesAt(value.split(',').map((at) => at.trim()))))
  .refine((read) => read !== null, { error: 'must be a number up to 10, or addresses and networks such as 10.0.0.0/8' })
const bucket = z.string().regex(/^(?!.*\.\.)[a-z\d][a-z\d.-]{1,61}[a-z\d]$/, { error: 'must be the name of a bucket' })
/** Where tokens of attendance are looked up unless another provider is named, and their collections. */
const publicAttendance = {
  baseUrl: 'https://api.poap.tech',
  compassUrl: 'https://public.compass.poap.tech/v1/graphql',
}
const port = numeric(z.number().int().min(0).max(65_535))

const variables = z.object({
  ...storeVariables.shape,
  ...videoVariables.shape,
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
  RATE_LIMIT_SCALE: numeric(z.number().min(0.01).max(1_000_000)).default(1),
  VERDICT_STEPS: numeric(z.number().int().min(1_000).max(1_000_000_000)).default(stepsOfAText),
  TRUSTED_PROXIES: proxies,
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).optional(),
  FAILPOINT: z
    .string()
    .regex(/^[a-z]+-[a-z]+(:[1-9]\d*)?$/, { error: 'must be the name of a place, or name:passes' })
    .optional(),
  STORAGE_URL: webUrl.optional(),
  FILES_ORIGIN: webUrl.optional(),
  STORAGE_RESERVE_MB: numeric(z.number().int().min(0).max(1_000_000_000)).default(1_024),
  S3_REGION: word.default('us-east-1'),
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  S3_BUCKET_CHAT_IMAGES: bucket.default('chat-images'),
  S3_BUCKET_CHAT_VOICE: bucket.default('chat-voice'),
  S3_BUCKET_MEDIA: bucket.default('media'),
  PINNING_URL: webUrl.optional(),
  PINNING_KEY: z.string().min(1).optional(),
  PINNING_GATEWAYS: list.refine((all) => all.every((each) => webUrl.safeParse(each).success), {
    error: 'must be URLs separated by commas',
  }),
  MAIL_URL: urlOf(/^smtps?:\/\//, 'must start with smtp:// or smtps:// and name a host, or be captured')
    .or(z.literal('captured'))
    .optional(),
  MAIL_FROM: z
    .string()
    .regex(/^([^<>@]*<[^\s<>@:/]+@[^\s<>@:/]+>|[^\s<>@:/]+@[^\s<>@:/]+)$/, {
      error: 'must be an address, such as Plaza <door@example.com>',
    })
    .optional(),
  SMS_URL: urlOf(/^https?:\/\//, 'must be a URL, or captured')
    .or(z.literal('captured'))
    .optional(),
  SMS_FROM: z
    .string()
    .regex(/^[^\p{Cf}]{1,100}$/u, { error: 'must be a number or a name that people can read' })
    .default('Plaza'),
  WORLDID_BASE_URL: webUrl.default('https://developer.worldcoin.org'),
  WORLDID_APP_ID: word.optional(),
  WORLDID_LEVEL: word.regex(/^[a-z]\w*$/i, { error: 'must be a level, such as orb or device' }).default('orb'),
  PARTNER_JWKS_URL: webUrl.optional(),
  PARTNER_JWKS: z
    .string()
    .refine((value) => isKeySet(value), { error: 'must be a key set in JSON' })
    .optional(),
  PARTNER_ISSUER: z.string().min(1).optional(),
  PARTNER_AUDIENCE: z.string().min(1).optional(),
  ONRAMP_URL: webUrl.optional(),
  ONRAMP_KEY: z.string().min(1).optional(),
  ATTENDANCE_API_BASE: webUrl.default(publicAttendance.baseUrl),
  ATTENDANCE_API_KEY: z.string().min(1).optional(),
  ATTENDANCE_COMPASS_URL: webUrl.optional(),
  EGRESS_HOSTS: hosts,
  VAPID_PUBLIC_KEY: z
    .string()
    .regex(/^[\w-]{87}$/, { error: 'must be a public key of P-256 in base64url' })
    .optional(),
  VAPID_PRIVATE_KEY: z
    .string()
    .regex(/^[\w-]{43}$/, { error: 'must be a private key of P-256 in base64url' })
    .optional(),
  VAPID_SUBJECT: z
    .string()
    .regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/[^\s/]+\S*)$/, { error: 'must be a mailto: or an https:// address' })
    .refine((given) => URL.canParse(given), { error: 'must be a mailto: or an https:// address' })
    .optional(),
  PUSH_HOSTS: hosts,
  CRON_SECRET: z
    .string()
    .regex(/^[\w.~+/-]{16,}$/, { error: 'must be at least 16 letters, digits or any of ._~+/-' })
    .optional(),
  MODEL: z
    .enum(['scripted'], { error: 'must be scripted, or left out: MODEL_NAME names the model of a server' })
    .optional(),
  MODEL_API_KEY: z.string().min(1).optional(),
  MODEL_BASE_URL: webUrl.default('https://api.openai.com/v1'),
  MODEL_NAME: word.default('gpt-4.1-mini'),
  MODEL_API: z.enum(['chat', 'responses'], { error: 'must be chat or responses' }).default('chat'),
  PLATFORM_GRAPHQL_URL: webUrl.optional(),
  EMBEDDING_MODEL: word.optional(),
  EMBEDDING_DIMENSIONS: numeric(z.number().int().min(1).max(8_192)).default(1_536),
  PRICES_URL: urlOf(/^https?:\/\//, 'must be a URL, or fixed')
    .or(z.literal('fixed'))
    .optional(),
  GITHUB_API_URL: webUrl.default('https://api.github.com'),
  GITHUB_TOKEN: word.optional(),
  GITHUB_REPOSITORY: z
    .string()
    .regex(/^[\w.-]{1,100}\/[\w.-]{1,100}$/, { error: 'must be owner/name' })
    .optional(),
  GOOGLE_CLIENT_ID: word.optional(),
  GOOGLE_CLIENT_SECRET: z.string().min(1).optional(),
  X402_FACILITATOR_URL: urlOf(/^https?:\/\//, 'must be a URL, or simulated')
    .or(z.literal('simulated'))
    .optional(),
  X402_FACILITATOR_VERSION: z.enum(['1', '2']).default('1'),
  LIVEKIT_URL: urlOf(/^(wss?|https?):\/\//, 'must start with wss:// or https:// and name a host').optional(),
  LIVEKIT_API_KEY: word.optional(),
  LIVEKIT_API_SECRET: z.string().min(16).optional(),
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
  /** What judging the words of one text may cost; the same on all nodes. */
  verdictSteps: number
  /** How many proxies stand in front, or where they are. */
  trustedProxies: Proxies
  logLevel: string
  failpoint: string | undefined
  storageUrl: string
  /** The host name that serves files alone. */
  filesHost: string | null
  /** Null where files are kept in a folder, or nowhere. */
  s3: S3Config | null
  /** What uploads leave free on the disk of a folder. */
  reserveBytes: number
  /** Null where pixel art is kept here alone. */
  pinning: { url: string; key: string | undefined; gateways: readonly string[] } | null
  /** The endpoints of chains. */
  rpcUrls: ReadonlyMap<number, string>
  mail: { url: string | undefined; from: string }
  sms: { url: string | undefined; from: string }
  humanProof: { baseUrl: string; appId: string | undefined; level: string }
  partnerKeys: PartnerKeys | null
  onramp: { url: string; key: string } | null
  /** Who holds tokens of attendance; null where nobody is asked. */
  attendance: AttendanceConfig | 'scripted' | null
  /** The hosts that URLs of people may name; null where that is any public one. */
  egressHosts: readonly string[] | null
  /** Where browsers are told something; its key is made, and kept, where it is null. */
  push: { privateKey: string | null; subject: string; hosts: readonly string[] }
  cronSecret: string | null
  /** Null where agents cannot answer. */
  model: ModelConfig | 'scripted' | null
  /** Where agents look up data of the platform. */
  platformGraphqlUrl: string | undefined
  /** Null where texts are compared by their words. */
  embedding: { baseUrl: string; apiKey: string; model: string; dimensions: number } | null
  facilitator: { url: string | undefined; version: 1 | 2 }
  /** Where prices of coins are asked for; undefined where they are not known. */
  pricesUrl: string | undefined
  /** Whose issues are those of this installation; null where it has none. */
  github: { apiUrl: string; repository: string; token: string } | null
  /** As which client calendars at Google are asked for; null where none can be connected. */
  google: { id: string; secret: string } | null
  /** Null where people meet over this server. */
  liveKit: { url: string; apiKey: string; apiSecret: string } | null
  /** Null where nobody can go live. */
  video: VideoConfig | null
  /** What each domain made of its own variables. */
  domains: ReadonlyMap<DomainSettings, object>
}

/** Throws a `ConfigError` where a value makes no sense. */
export function readConfig(environment?: NodeJS.ProcessEnv): Config {
  const values = given(isVariable, environment)
  const env = checked(variables, values)
  const production = env.NODE_ENV === 'production'
  const publicUrl = new URL(env.PUBLIC_URL ?? `http://localhost:${env.PORT}`).origin
  const files = filesAt(env, publicUrl)
  const reach = reachOf(env.HOST, publicUrl)
  refuseReach(env, production, reach)
  /** In production, or where other machines may connect, a service that is not configured has no stand-in. */
  const hasStandIns = !production && reach === null
  const standIn = hasStandIns ? 'captured' : undefined
  const localOrigins = production ? [] : [`http://localhost:${env.PORT}`, `http://127.0.0.1:${env.PORT}`]
  const demo = env.DEMO ? env.DEMO === 'on' : !production && reach === null && env.MONGODB_URI === undefined
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
    demo,
    reach,
    rateLimitScale: env.RATE_LIMIT_SCALE,
    verdictSteps: env.VERDICT_STEPS,
    trustedProxies: env.TRUSTED_PROXIES ?? 0,
    failpoint: production ? undefined : env.FAILPOINT,
    logLevel: env.LOG_LEVEL ?? (production ? 'info' : 'warn'),
    storageUrl: env.STORAGE_URL ?? `${files?.origin ?? publicUrl}/files`,
    filesHost: files?.hostname ?? null,
    s3: s3Of(env),
    reserveBytes: env.STORAGE_RESERVE_MB * 1024 * 1024,
    pinning: pinningOf(env),
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
    attendance: attendanceOf(env) ?? (demo ? 'scripted' : null),
    push: pushOf(env, publicUrl),
    cronSecret: env.CRON_SECRET ?? null,
    egressHosts: env.EGRESS_HOSTS.length === 0 ? null : env.EGRESS_HOSTS.map((host) => host.toLowerCase()),
    model: modelOf(env, production),
    platformGraphqlUrl: env.PLATFORM_GRAPHQL_URL,
    embedding: embeddingOf(env),
    facilitator: {
      url: env.X402_FACILITATOR_URL ?? (hasStandIns ? 'simulated' : undefined),
      version: env.X402_FACILITATOR_VERSION === '2' ? 2 : 1,
    },
    pricesUrl: env.PRICES_URL ?? (hasStandIns ? 'fixed' : undefined),
    github: githubOf(env),
    google: googleOf(env),
    liveKit: liveKitOf(env),
    video: videoOf(env, publicUrl),
    domains: new Map(
      settingsOfDomains.map((settings) => [settings, settings.read(values, { production, publicUrl, localOrigins })]),
    ),
  }
}

/** The second name of this server, which serves files alone. */
function filesAt({ FILES_ORIGIN: given, STORAGE_URL: other }: z.output<typeof variables>, publicUrl: string) {
  if (given === undefined) return null
  const files = new URL(given)
  if (other !== undefined) throw new ConfigError('FILES_ORIGIN and STORAGE_URL exclude each other.')
  if (files.href !== `${files.origin}/`) throw new ConfigError('FILES_ORIGIN must be an origin, without a path.')
  if (files.hostname === new URL(publicUrl).hostname)
    throw new ConfigError('FILES_ORIGIN must have another host name than PUBLIC_URL.')
  return files
}

/** A server that speaks S3, and what our buckets are called there. */
interface S3Config {
  endpoint: string
  region: string
  keyId: string
  secret: string
  buckets: Readonly<Record<string, string>>
}

function s3Of(env: z.output<typeof variables>): S3Config | null {
  const { S3_ENDPOINT: endpoint, S3_ACCESS_KEY_ID: keyId, S3_SECRET_ACCESS_KEY: secret } = env
  if (endpoint === undefined) return null
  if (keyId === undefined || secret === undefined)
    throw new ConfigError('S3_ENDPOINT needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.')
  const buckets = {
    'chat-images': env.S3_BUCKET_CHAT_IMAGES,
    'chat-voice': env.S3_BUCKET_CHAT_VOICE,
    media: env.S3_BUCKET_MEDIA,
  }
  return { endpoint, region: env.S3_REGION, keyId, secret, buckets }
}

const publicGateways = ['https://ipfs.io', 'https://dweb.link', 'https://gateway.pinata.cloud']

function pinningOf({ PINNING_URL: url, PINNING_KEY: key, PINNING_GATEWAYS: given }: z.output<typeof variables>) {
  if (url === undefined) return null
  const wrong = given.find((gateway) => !webUrl.safeParse(gateway).success)
  if (wrong !== undefined) throw new ConfigError(`PINNING_GATEWAYS is not usable: ${wrong} is no URL.`)
  return { url, key, gateways: given.length === 0 ? publicGateways : given }
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
  const powers = { DEMO: 'on', MAIL_URL: 'captured', SMS_URL: 'captured', X402_FACILITATOR_URL: 'simulated' } as const
  const [asked] = Object.entries(powers).flatMap(([name, on]) =>
    env[name as keyof typeof powers] === on ? [`${name}=${on}`] : [],
  )
  if (production && env.DEMO === 'on') throw new ConfigError('DEMO=on is not for production: it lets anybody moderate.')
  if (asked && reach)
    throw new ConfigError(`${asked} is for this machine alone, but ${reach} lets others in: leave out one of them.`)
}

function onrampOf(url: string | undefined, key: string | undefined): Config['onramp'] {
  if (url === undefined && key === undefined) return null
  if (url === undefined || key === undefined) throw new ConfigError('ONRAMP_URL and ONRAMP_KEY belong together.')
  return { url, key }
}

function liveKitOf(env: z.output<typeof variables>): Config['liveKit'] {
  const { LIVEKIT_URL: url, LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret } = env
  if (url === undefined && apiKey === undefined && apiSecret === undefined) return null
  if (url === undefined || apiKey === undefined || apiSecret === undefined)
    throw new ConfigError('LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET belong together.')
  return { url, apiKey, apiSecret }
}

interface AttendanceConfig {
  baseUrl: string
  key: string
  /** Where collections are asked for; undefined where they are not. */
  compassUrl: string | undefined
}

/** The key of one provider is shown to no other: the public place of collections belongs to the public provider. */
function attendanceOf(env: z.output<typeof variables>): AttendanceConfig | null {
  const { ATTENDANCE_API_BASE: baseUrl, ATTENDANCE_API_KEY: key, ATTENDANCE_COMPASS_URL: given } = env
  if (key === undefined) return null
  return {
    baseUrl,
    key,
    compassUrl: given ?? (baseUrl === publicAttendance.baseUrl ? publicAttendance.compassUrl : undefined),
  }
}

function githubOf(env: z.output<typeof variables>): Config['github'] {
  const { GITHUB_API_URL: apiUrl, GITHUB_REPOSITORY: repository, GITHUB_TOKEN: token } = env
  if (repository === undefined && token === undefined) return null
  if (repository === undefined || token === undefined)
    throw new ConfigError('GITHUB_TOKEN and GITHUB_REPOSITORY belong together.')
  return { apiUrl, repository, token }
}

function googleOf({
  GOOGLE_CLIENT_ID: id,
  GOOGLE_CLIENT_SECRET: secret,
}: z.output<typeof variables>): Config['google'] {
  if (id === undefined && secret === undefined) return null
  if (id === undefined || secret === undefined)
    throw new ConfigError('GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET belong together.')
  return { id, secret }
}

interface ModelConfig {
  /** The interface of its server: chat completions, or Responses with a search of the web. */
  api: 'chat' | 'responses'
  baseUrl: string
  apiKey: string
  model: string
}

/** Those of the browsers that people use. */
const pushServices = [
  'fcm.googleapis.com',
  'updates.push.services.mozilla.com',
  '*.push.apple.com',
  '*.notify.windows.com',
]

function pushOf(env: z.output<typeof variables>, publicUrl: string): Config['push'] {
  const { VAPID_PUBLIC_KEY: publicKey, VAPID_PRIVATE_KEY: privateKey, VAPID_SUBJECT: given, PUSH_HOSTS } = env
  if ((publicKey === undefined) !== (privateKey === undefined))
    throw new ConfigError('VAPID_PUBLIC_KEY and VAPID_PRIVATE_KEY belong together.')
  if (privateKey !== undefined && !arePair(privateKey, publicKey))
    throw new ConfigError('VAPID_PRIVATE_KEY is not usable: it is not the key of VAPID_PUBLIC_KEY.')
  const { protocol, hostname } = new URL(publicUrl)
  const hosts = PUSH_HOSTS.length === 0 ? pushServices : PUSH_HOSTS.map((host) => host.toLowerCase())
  const subject = given ?? (protocol === 'https:' ? publicUrl : `mailto:no-reply@${hostname}`)
  return { privateKey: privateKey ?? null, subject, hosts }
}

function arePair(privateKey: string, publicKey: string | undefined): boolean {
  try {
    return publicKeyOf(privateKey) === publicKey
  } catch {
    return false
  }
}

const scripted = 'scripted'

/** In production nobody is answered by a script that was not asked for by its name. */
function modelOf(env: z.output<typeof variables>, production: boolean): Config['model'] {
  const apiKey = env.MODEL_API_KEY
  if (apiKey === scripted) throw new ConfigError('MODEL_API_KEY is no key: MODEL=scripted asks for the script.')
  if (env.MODEL === scripted) return scripted
  if (apiKey === undefined) return production ? null : scripted
  return { api: env.MODEL_API, baseUrl: env.MODEL_BASE_URL, apiKey, model: env.MODEL_NAME }
}

function embeddingOf(env: z.output<typeof variables>): Config['embedding'] {
  const {
    MODEL_API_KEY: apiKey,
    MODEL_BASE_URL: baseUrl,
    EMBEDDING_MODEL: model,
    EMBEDDING_DIMENSIONS: dimensions,
  } = env
  if (model === undefined) return null
  if (apiKey === undefined)
    throw new ConfigError('EMBEDDING_MODEL needs a MODEL_API_KEY: the server that makes vectors asks for it.')
  return { baseUrl, apiKey, model, dimensions }
}

const KeySet = z.object({ keys: z.array(z.object({ kty: z.string() })).min(1) })

const isKeySet = (value: string): boolean => KeySet.safeParse(readJson(value)).success

/** Undefined where it is none. */
function readJson(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

const isRpcUrl = (name: string) => name.startsWith('RPC_URL_') && !name.endsWith('_FILE')
const isVariable = (name: string) => variableNames.includes(name) || isRpcUrl(name)
/** `RPC_URL_<chain id>`: where contract wallets of that chain are asked. */
function rpcUrls(environment: Record<string, string | undefined>): ReadonlyMap<number, string> {
  const urls = new Map<number, string>()
  for (const [name, value] of Object.entries(environment)) {
    if (!isRpcUrl(name) || value === undefined) continue
    const chain = /^RPC_URL_([1-9]\d{0,14})$/.exec(name)?.[1]
    if (chain === undefined) throw new ConfigError(`${name} is not usable: it ends in the id of a chain, in digits.`)
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
  if (!keys)
    throw new ConfigError(
      'SESSION_KEYS is not usable: each key must be id:base64 of at least 32 bytes, with an id of its own.',
    )
  return keys
}
