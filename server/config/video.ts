import { isIP } from 'node:net'
import { z } from 'zod'
import { mediaIn } from '#server/environment'
import { ConfigError, commaList, decimalNumber, host, hostAndPort, urlOf, webUrl } from '#server/kernel/settings'
import type { EngineSettings } from '#server/media/messages'

const whole = (least: number, most: number, usual: number) =>
  decimalNumber(z.number().int().min(least).max(most)).default(usual)

/** From which to which. */
const portRange = z
  .string()
  .regex(/^\d{1,5}-\d{1,5}$/, { error: 'must be two ports, such as 40000-40099' })
  .transform((value) => value.split('-').map(Number) as [number, number])
  .refine(([first, last]) => first > 0 && first <= last && last <= 65_535, {
    error: 'must go from a port to a later one',
  })

const nodeUrl = z
  .url({ protocol: /^http$/, error: 'must be http://address:port' })
  .transform((value) => new URL(value))
  .refine((url) => url.href === `${url.origin}/`, { error: 'must be http://address:port, and nothing else' })

const rtmpUrl = urlOf(/^rtmps?:\/\//, 'must start with rtmp:// or rtmps:// and name a host')

/** The provider of livestreams, and its options. */
export const videoVariables = z.object({
  VIDEO_PROVIDER: z.enum(['auto', 'selfhosted', 'livepeer', 'mediamtx', 'none']).optional(),
  MEDIA_ANNOUNCED_IPS: commaList.refine((given) => given.every((address) => isIP(address) !== 0), {
    error: 'must be addresses, not names',
  }),
  MEDIA_UDP_PORTS: portRange.optional(),
  NODE_URL: nodeUrl.optional(),
  MEDIA_MEMORY_MB: whole(128, 65_536, 1_024),
  MAX_INGESTS: whole(1, 1_000, 20),
  RTMP_HOST: host.optional(),
  RTMP_PORT: decimalNumber(z.number().int().min(0).max(65_535)).optional(),
  RTMP_URL: rtmpUrl.optional(),
  HLS_SEGMENT_MS: whole(500, 10_000, 2_000),
  HLS_PART_MS: whole(100, 2_000, 330),
  STREAM_RECONNECT_GRACE_MS: whole(0, 600_000, 30_000),
  LIVEPEER_API_KEY: z.string().min(1).optional(),
  LIVEPEER_API_URL: webUrl.default('https://livepeer.studio/api'),
  LIVEPEER_INGEST_HOST: hostAndPort.default('livepeer.studio'),
  LIVEPEER_RTMP_URL: rtmpUrl.default('rtmp://rtmp.livepeer.com'),
  LIVEPEER_PLAYBACK_HOST: hostAndPort.default('livepeercdn.studio'),
  LIVEPEER_WEBHOOK_SECRET: z.string().min(16).optional(),
  MEDIAMTX_API_URL: webUrl.default('http://localhost:9997'),
  MEDIAMTX_WEBRTC_URL: webUrl.optional(),
  MEDIAMTX_HLS_URL: webUrl.optional(),
  MEDIAMTX_PLAYBACK_URL: webUrl.optional(),
})

export interface VideoConfig {
  /** Both are null where the engine of our own is used. */
  livepeer: ReturnType<typeof livepeerOf> | null
  mediamtx: ReturnType<typeof mediaMtxOf> | null
  publicUrl: string
  reached: ReturnType<typeof reachedOf>
  engine: Omit<EngineSettings, 'host' | 'httpPort' | 'rtmpPort'>
  /** The listening address for encoders, and the URL shown to people; each is undefined if not set. */
  rtmp: { host: string | undefined; port: number | undefined; url: string | undefined }
}

interface Installed {
  NODE_ENV: string
  PORT: number
  HOST: string
  DATA_DIR: string
  MEDIA_DIR?: string | undefined
}

/** Null where there are no livestreams: a server of a test runs them where the test asks for them. */
export function videoOf(env: z.output<typeof videoVariables> & Installed, publicUrl: string): VideoConfig | null {
  const asked = env.VIDEO_PROVIDER ?? (env.NODE_ENV === 'test' ? 'none' : 'auto')
  if (asked === 'none') return null
  return {
    livepeer: asked === 'livepeer' || (asked === 'auto' && env.LIVEPEER_API_KEY !== undefined) ? livepeerOf(env) : null,
    mediamtx: asked === 'mediamtx' ? mediaMtxOf(env, publicUrl) : null,
    publicUrl,
    reached: reachedOf(env),
    engine: {
      directory: mediaIn(env),
      rtmpHost: env.RTMP_HOST ?? env.HOST,
      partMs: env.HLS_PART_MS,
      segmentMs: env.HLS_SEGMENT_MS,
      graceMs: env.STREAM_RECONNECT_GRACE_MS,
      peers: { announced: env.MEDIA_ANNOUNCED_IPS, udpPorts: env.MEDIA_UDP_PORTS ?? null, address: null },
      aac: true,
      mostIngests: env.MAX_INGESTS,
      mostViewers: 300,
      memoryMb: env.MEDIA_MEMORY_MB,
    },
    rtmp: { host: env.RTMP_HOST, port: env.RTMP_PORT, url: env.RTMP_URL },
  }
}

/** The URL of this node for other nodes; null without one. A server that listens everywhere may have any name. */
function reachedOf({ NODE_URL: given, PORT: taken, HOST }: z.output<typeof videoVariables> & Installed) {
  if (given && taken !== 0 && Number(given.port || 80) === taken)
    throw new ConfigError('NODE_URL is not usable: its port must be another than PORT, as nodes ask each other there.')
  return { nodeUrl: given ?? null, otherwiseAt: ['0.0.0.0', '::'].includes(HOST) ? HOST : null }
}

function livepeerOf(env: z.output<typeof videoVariables>) {
  if (env.LIVEPEER_API_KEY === undefined)
    throw new ConfigError('LIVEPEER_API_KEY is not usable: VIDEO_PROVIDER=livepeer needs one.')
  return {
    apiUrl: env.LIVEPEER_API_URL,
    apiKey: env.LIVEPEER_API_KEY,
    ingestHost: env.LIVEPEER_INGEST_HOST,
    rtmpUrl: env.LIVEPEER_RTMP_URL,
    playbackHost: env.LIVEPEER_PLAYBACK_HOST,
    webhookSecret: env.LIVEPEER_WEBHOOK_SECRET ?? null,
  }
}

/** People reach it at the host of this installation, at the ports that MediaMTX has by itself. */
function mediaMtxOf(env: z.output<typeof videoVariables>, publicUrl: string) {
  const { hostname } = new URL(publicUrl)
  const at = (port: number) => `http://${hostname}:${port}`
  const listUrl = new URL(env.MEDIAMTX_API_URL)
  listUrl.port = '9996'
  return {
    apiUrl: env.MEDIAMTX_API_URL,
    listUrl: listUrl.origin,
    webrtcUrl: env.MEDIAMTX_WEBRTC_URL ?? at(8889),
    hlsUrl: env.MEDIAMTX_HLS_URL ?? at(8888),
    playbackUrl: env.MEDIAMTX_PLAYBACK_URL ?? at(9996),
    rtmpUrl: env.RTMP_URL ?? `rtmp://${hostname}:1935`,
    graceMs: env.STREAM_RECONNECT_GRACE_MS,
  }
}
