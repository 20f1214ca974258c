import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { isLoopbackName, type Proxies, proxiesAt } from '#server/kernel/addresses'
import { canonicalAddress } from '#shared/kit/primitives'

const list = z
  .string()
  .default('')
  .transform((value) =>
    value
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean),
  )
const accounts = list.transform((ids) => ids.map(canonicalAddress))
/** A count, or addresses and networks. */
const proxies = z
  .string()
  .default('0')
  .transform((value) => (/^(10|\d)$/.test(value) ? Number(value) : proxiesAt(value.split(',').map((at) => at.trim()))))
  .refine((read) => read !== null, { error: 'must be a number up to 10, or addresses and networks such as 10.0.0.0/8' })
const port = z.coerce.number().int().min(0).max(65_535)
const webUrl = z.url({ protocol: /^https?$/ })
/** As browsers write them; apps on Android have one of their own. */
const isOrigin = (value: string) =>
  value.startsWith('android:apk-key-hash:') || (URL.canParse(value) && new URL(value).origin === value)

const variables = z.object({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  PORT: port.default(3000),
  HOST: z.string().min(1).default('127.0.0.1'),
  PUBLIC_URL: webUrl.optional(),
  ALLOWED_ORIGINS: list,
  OPS_PORT: port.optional(),
  OPS_HOST: z.string().min(1).default('127.0.0.1'),
  DATA_DIR: z.string().min(1).default('./data'),
  MONGODB_URI: z
    .string()
    .regex(/^mongodb(\+srv)?:\/\//, { error: 'must start with mongodb://' })
    .optional(),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, { error: 'must start with redis://' })
    .optional(),
  SESSION_KEYS: z.string().optional(),
  ADMINS: accounts,
  SUPER_ADMINS: accounts,
  DEMO: z.enum(['on', 'off']).optional(),
  RATE_LIMIT_SCALE: z.coerce.number().min(0.01).max(1_000_000).default(1),
  TRUSTED_PROXIES: proxies,
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).optional(),
  FAILPOINT: z
    .string()
    .regex(/^[a-z]+-[a-z]+(:[1-9]\d*)?$/, { error: 'must be the name of a place, or name:passes' })
    .optional(),
  STORAGE_URL: webUrl.optional(),
  SIWE_DOMAIN: z.string().min(1).optional(),
  SIWE_URI: webUrl.optional(),
  SIWE_CHAIN_IDS: z
    .string()
    .default('1,10,137,8453,42161,84532,11155111')
    .transform((value) => value.split(',').map(Number))
    .refine((ids) => ids.length > 0 && ids.every((id) => Number.isInteger(id) && id > 0), {
      error: 'must be numbers separated by commas',
    }),
  SIWE_DEFAULT_CHAIN_ID: z.coerce.number().int().positive().default(1),
  WEBAUTHN_RP_ID: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, { error: 'must be a host name in lower case, without scheme and port' })
    .optional(),
  WEBAUTHN_RP_NAME: z.string().min(1).default('Plaza'),
  WEBAUTHN_ORIGINS: list.refine((all) => all.every(isOrigin), {
    error: 'must be origins separated by commas, such as https://example.com',
  }),
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
  WORLDID_ACTION: z.string().min(1).optional(),
  WORLDID_LEVEL: z.string().min(1).default('orb'),
  PARTNER_JWKS_URL: webUrl.optional(),
  PARTNER_JWKS: z.string().refine(isKeySet, { error: 'must be a key set in JSON' }).optional(),
  PARTNER_ISSUER: z.string().min(1).optional(),
  PARTNER_AUDIENCE: z.string().min(1).optional(),
  PARTNER_CHANNEL: z.string().min(1).default('partner'),
  ONRAMP_URL: webUrl.optional(),
  ONRAMP_KEY: z.string().min(1).optional(),
})

export const variableNames = Object.keys(variables.shape)

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
  admins: readonly string[]
  superAdmins: readonly string[]
  demo: boolean
  /** What lets others than this machine in: the variable that says so; null where nothing does. */
  reach: 'HOST' | 'PUBLIC_URL' | null
  rateLimitScale: number
  /** How many proxies stand in front, or where they are. */
  trustedProxies: Proxies
  logLevel: string
  failpoint: string | undefined
  storageUrl: string
  siwe: {
    domain: string
    uri: string
    chainIds: readonly number[]
    defaultChainId: number
    rpcUrls: ReadonlyMap<number, string>
  }
  passkeys: { rpId: string; rpName: string; origins: readonly string[] }
  mail: { url: string | undefined; from: string }
  sms: { url: string | undefined; from: string }
  humanProof: { baseUrl: string; appId: string | undefined; action: string | undefined; level: string }
  partner: { keys: PartnerKeys | null; channel: string }
  onramp: { url: string; key: string } | null
}

/** Thrown with one plain sentence; the start stops with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Where the store is; all that a tool beside the server reads. */
export function readStore(environment: NodeJS.ProcessEnv = process.env) {
  const asked = variables.pick({ DATA_DIR: true, MONGODB_URI: true })
  const { DATA_DIR, MONGODB_URI } = checked(
    asked,
    given(environment, (name) => Object.hasOwn(asked.shape, name)),
  )
  return { dataDirectory: DATA_DIR, mongodbUri: MONGODB_URI }
}

/** The only reader of the environment. An empty variable counts as absent; `X_FILE` names a file that has the value of `X`. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const values = given(environment, isVariable)
  const env = checked(variables, values)
  const production = env.NODE_ENV === 'production'
  const publicUrl = new URL(env.PUBLIC_URL ?? `http://localhost:${env.PORT}`).origin
  const reach = reachOf(env.HOST, publicUrl)
  refuseReach(env, production, reach)
  /** In production, or where other machines may connect, a service that is not configured has no stand-in. */
  const standIn = production || reach !== null ? undefined : 'captured'
  const local = production ? [] : [`http://localhost:${env.PORT}`, `http://127.0.0.1:${env.PORT}`]
  if (!env.SIWE_CHAIN_IDS.includes(env.SIWE_DEFAULT_CHAIN_ID))
    throw new ConfigError('SIWE_DEFAULT_CHAIN_ID must be among SIWE_CHAIN_IDS.')
  return {
    production,
    port: env.PORT,
    host: env.HOST,
    publicUrl,
    origins: [publicUrl, ...env.ALLOWED_ORIGINS, ...local],
    ops: { port: env.OPS_PORT, host: env.OPS_HOST },
    dataDirectory: env.DATA_DIR,
    mongodbUri: env.MONGODB_URI,
    redisUrl: env.REDIS_URL,
    sessionKeys: givenKeys(env.SESSION_KEYS, production),
    admins: env.ADMINS,
    superAdmins: env.SUPER_ADMINS,
    demo: env.DEMO ? env.DEMO === 'on' : !production && reach === null && env.MONGODB_URI === undefined,
    reach,
    rateLimitScale: env.RATE_LIMIT_SCALE,
    trustedProxies: env.TRUSTED_PROXIES ?? 0,
    failpoint: production ? undefined : env.FAILPOINT,
    logLevel: env.LOG_LEVEL ?? (production ? 'info' : 'warn'),
    storageUrl: env.STORAGE_URL ?? `${publicUrl}/media`,
    siwe: {
      domain: env.SIWE_DOMAIN ?? new URL(publicUrl).host,
      uri: env.SIWE_URI ?? publicUrl,
      chainIds: env.SIWE_CHAIN_IDS,
      defaultChainId: env.SIWE_DEFAULT_CHAIN_ID,
      rpcUrls: rpcUrls(values),
    },
    passkeys: {
      rpId: env.WEBAUTHN_RP_ID ?? new URL(publicUrl).hostname,
      rpName: env.WEBAUTHN_RP_NAME,
      origins: env.WEBAUTHN_ORIGINS.length > 0 ? env.WEBAUTHN_ORIGINS : [publicUrl, ...local],
    },
    mail: { url: env.MAIL_URL ?? standIn, from: env.MAIL_FROM ?? `Plaza <no-reply@${new URL(publicUrl).hostname}>` },
    sms: { url: env.SMS_URL ?? standIn, from: env.SMS_FROM },
    humanProof: {
      baseUrl: env.WORLDID_BASE_URL,
      appId: env.WORLDID_APP_ID,
      action: env.WORLDID_ACTION,
      level: env.WORLDID_LEVEL,
    },
    partner: { keys: partnerKeysOf(env), channel: env.PARTNER_CHANNEL },
    onramp: onrampOf(env.ONRAMP_URL, env.ONRAMP_KEY),
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

const isVariable = (name: string) => Object.hasOwn(variables.shape, name) || /^RPC_URL_\d+$/.test(name)
const withoutEmpty = (environment: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))

/** The values of the variables that are asked for, wherever they stand. */
function given(environment: NodeJS.ProcessEnv, isAsked: (name: string) => boolean): NodeJS.ProcessEnv {
  const direct = withoutEmpty(environment)
  const read = Object.entries(direct).flatMap(([name, path = '']) => {
    const target = name.replace(/_FILE$/, '')
    return target !== name && isAsked(target) ? [[target, textAt(name, path)] as const] : []
  })
  const [twice] = read.find(([name]) => direct[name] !== undefined) ?? []
  if (twice) throw new ConfigError(`${twice} and ${twice}_FILE are both set: leave out one of them.`)
  return { ...direct, ...withoutEmpty(Object.fromEntries(read)) }
}

/** Without the line ends and spaces around it. */
function textAt(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new ConfigError(`${name} is not usable: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

function checked<Schema extends z.ZodType>(schema: Schema, given: object): z.output<Schema> {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new ConfigError(`${issue?.path.join('.')} is not usable: ${issue?.message}.`)
}

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

/** Newest first: the first signs, all verify. */
export type SessionKeys = readonly { id: string; secret: Uint8Array }[]

export const keyBytes = 32

/** Reads `id:base64,id:base64`; null where a key is too short or has no id. */
export function parseSessionKeys(text: string): SessionKeys | null {
  const keys = text.split(',').map((entry) => {
    const [id = '', secret = ''] = entry.trim().split(':')
    return { id, secret: new Uint8Array(Buffer.from(secret, 'base64')) }
  })
  return keys.some(({ id, secret }) => id === '' || secret.length < keyBytes) ? null : keys
}

function givenKeys(given: string | undefined, production: boolean): SessionKeys | null {
  if (given === undefined && production)
    throw new ConfigError('SESSION_KEYS is required in production: id:base64 of at least 32 bytes.')
  if (given === undefined) return null
  const keys = parseSessionKeys(given)
  if (!keys) throw new ConfigError('SESSION_KEYS is not usable: each key must be id:base64 of at least 32 bytes.')
  return keys
}
