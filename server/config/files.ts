import { z } from 'zod'
import type { storeVariables } from '#server/environment'
import { ConfigError, commaList, decimalNumber, nameOrId, webUrl } from '#server/kernel/settings'

const bucket = z.string().regex(/^(?!.*\.\.)[a-z\d][a-z\d.-]{1,61}[a-z\d]$/, { error: 'must be the name of a bucket' })

/** Where what people upload is kept and served from, and where pixel art is pinned. */
export const filesVariables = z.object({
  STORAGE_URL: webUrl.optional(),
  FILES_ORIGIN: webUrl.optional(),
  STORAGE_RESERVE_MB: decimalNumber(z.number().int().min(0).max(1_000_000_000)).default(1_024),
  S3_REGION: nameOrId.default('us-east-1'),
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  S3_BUCKET_CHAT_IMAGES: bucket.default('chat-images'),
  S3_BUCKET_CHAT_VOICE: bucket.default('chat-voice'),
  S3_BUCKET_MEDIA: bucket.default('media'),
  PINNING_URL: webUrl.optional(),
  PINNING_KEY: z.string().min(1).optional(),
  PINNING_GATEWAYS: commaList.refine((all) => all.every((each) => webUrl.safeParse(each).success), {
    error: 'must be URLs separated by commas',
  }),
})

type Given = z.output<typeof filesVariables>

export interface FilesConfig {
  storageUrl: string
  /** The host name that serves files alone. */
  filesHost: string | null
  /** Null where files are kept in a folder, or nowhere. */
  s3: S3Config | null
  /** What uploads leave free on the disk of a folder. */
  reserveBytes: number
  /** Null where pixel art is kept here alone. */
  pinning: { url: string; key: string | undefined; gateways: readonly string[] } | null
}

/** A server that speaks S3, and what our buckets are called there. */
interface S3Config {
  endpoint: string
  region: string
  keyId: string
  secret: string
  buckets: Readonly<Record<string, string>>
}

export function filesOf(env: Given & z.output<typeof storeVariables>, publicUrl: string): FilesConfig {
  const files = filesAt(env, publicUrl)
  return {
    storageUrl: env.STORAGE_URL ?? `${files?.origin ?? publicUrl}/files`,
    filesHost: files?.hostname ?? null,
    s3: s3Of(env),
    reserveBytes: env.STORAGE_RESERVE_MB * 1024 * 1024,
    pinning: pinningOf(env),
  }
}

/** The second name of this server, which serves files alone. */
function filesAt({ FILES_ORIGIN: given, STORAGE_URL: other }: Given, publicUrl: string) {
  if (given === undefined) return null
  const files = new URL(given)
  if (other !== undefined) throw new ConfigError('FILES_ORIGIN and STORAGE_URL exclude each other.')
  if (files.href !== `${files.origin}/`) throw new ConfigError('FILES_ORIGIN must be an origin, without a path.')
  if (files.hostname === new URL(publicUrl).hostname)
    throw new ConfigError('FILES_ORIGIN must have another host name than PUBLIC_URL.')
  return files
}

function s3Of(env: Given & z.output<typeof storeVariables>): S3Config | null {
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

function pinningOf({ PINNING_URL: url, PINNING_KEY: key, PINNING_GATEWAYS: given }: Given): FilesConfig['pinning'] {
  if (url === undefined) return null
  return { url, key, gateways: given.length === 0 ? publicGateways : given }
}
