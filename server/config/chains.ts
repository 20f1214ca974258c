import { z } from 'zod'
import { ConfigError, urlOf, webUrl } from '#server/kernel/settings'

/** Where tokens of attendance are looked up unless another provider is named, and their collections. */
const publicAttendance = {
  baseUrl: 'https://api.poap.tech',
  compassUrl: 'https://public.compass.poap.tech/v1/graphql',
}

/** Tokens, payments, purchases and prices. Each chain has an `RPC_URL_<chainId>` as well. */
export const chainsVariables = z.object({
  ONRAMP_URL: webUrl.optional(),
  ONRAMP_KEY: z.string().min(1).optional(),
  ATTENDANCE_API_BASE: webUrl.default(publicAttendance.baseUrl),
  ATTENDANCE_API_KEY: z.string().min(1).optional(),
  ATTENDANCE_COMPASS_URL: webUrl.optional(),
  PRICES_URL: urlOf(/^https?:\/\//, 'must be a URL, or fixed')
    .or(z.literal('fixed'))
    .optional(),
  X402_FACILITATOR_URL: urlOf(/^https?:\/\//, 'must be a URL, or simulated')
    .or(z.literal('simulated'))
    .optional(),
  X402_FACILITATOR_VERSION: z.enum(['1', '2']).default('1'),
})

type Given = z.output<typeof chainsVariables>

export interface ChainsConfig {
  /** The endpoints of chains. */
  rpcUrls: ReadonlyMap<number, string>
  onramp: { url: string; key: string } | null
  /** The source of attendance tokens; null if there is none. */
  attendance: AttendanceConfig | 'scripted' | null
  /** Where prices of coins are asked for; undefined where they are not known. */
  pricesUrl: string | undefined
  facilitator: { url: string | undefined; version: 1 | 2 }
}

interface AttendanceConfig {
  baseUrl: string
  key: string
  /** Where collections are asked for; undefined where they are not. */
  compassUrl: string | undefined
}

export const chainsOf = (
  env: Given,
  values: Record<string, string | undefined>,
  { hasStandIns, demo }: { hasStandIns: boolean; demo: boolean },
): ChainsConfig => ({
  rpcUrls: rpcUrlsOf(values),
  onramp: onrampOf(env),
  attendance: attendanceOf(env) ?? (demo ? 'scripted' : null),
  pricesUrl: env.PRICES_URL ?? (hasStandIns ? 'fixed' : undefined),
  facilitator: {
    url: env.X402_FACILITATOR_URL ?? (hasStandIns ? 'simulated' : undefined),
    version: env.X402_FACILITATOR_VERSION === '2' ? 2 : 1,
  },
})

export const isRpcUrl = (name: string): boolean => name.startsWith('RPC_URL_') && !name.endsWith('_FILE')

/** `RPC_URL_<chain id>`: where contract wallets of that chain are asked. */
function rpcUrlsOf(values: Record<string, string | undefined>): ReadonlyMap<number, string> {
  const urls = new Map<number, string>()
  for (const [name, value] of Object.entries(values)) {
    if (!isRpcUrl(name) || value === undefined) continue
    const chain = /^RPC_URL_([1-9]\d{0,14})$/.exec(name)?.[1]
    if (chain === undefined) throw new ConfigError(`${name} is not usable: it ends in the id of a chain, in digits.`)
    if (!webUrl.safeParse(value).success) throw new ConfigError(`${name} is not usable: must be a URL.`)
    urls.set(Number(chain), value)
  }
  return urls
}

function onrampOf({ ONRAMP_URL: url, ONRAMP_KEY: key }: Given): ChainsConfig['onramp'] {
  if (url === undefined && key === undefined) return null
  if (url === undefined || key === undefined) throw new ConfigError('ONRAMP_URL and ONRAMP_KEY belong together.')
  return { url, key }
}

/** The key of one provider is shown to no other: the public place of collections belongs to the public provider. */
function attendanceOf(env: Given): AttendanceConfig | null {
  const { ATTENDANCE_API_BASE: baseUrl, ATTENDANCE_API_KEY: key, ATTENDANCE_COMPASS_URL: given } = env
  if (key === undefined) return null
  return {
    baseUrl,
    key,
    compassUrl: given ?? (baseUrl === publicAttendance.baseUrl ? publicAttendance.compassUrl : undefined),
  }
}
