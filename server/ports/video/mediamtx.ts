import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { AppError } from '#shared/errors'
import { below, mediaMtxApi, type Path, type Span } from './mediamtx-api.ts'
import { polledHearers } from './polled.ts'
import type { StreamStatus, Video, VideoAsset } from './port.ts'

/** The first character says whether it is recorded: the configuration of MediaMTX reads it. */
const Playback = /^([rn])[0-9a-f]{32}$/
const folder = 'live/'
const ours = 'mediamtx-'

/** A random name for viewers. */
const newPlayback = (record: boolean): string => `${record ? 'r' : 'n'}${randomBytes(16).toString('hex')}`

const isRecorded = (playbackId: string): boolean => Playback.exec(playbackId)?.[1] === 'r'

const pathOf = (playbackId: string): string => `${folder}${playbackId}`

/** Null for a path that is not one of ours. */
function playbackAt(path: string): string | null {
  const playbackId = path.startsWith(folder) ? path.slice(folder.length) : ''
  return Playback.test(playbackId) ? playbackId : null
}

const streamIdOf = (playbackId: string): string => `${ours}${playbackId}`

/** Null for an id that is not one of ours. */
function playbackOf(streamId: string): string | null {
  const playbackId = streamId.startsWith(ours) ? streamId.slice(ours.length) : ''
  return Playback.test(playbackId) ? playbackId : null
}

interface MediaMtxKeys {
  /** The key with which the stream is published. */
  secretOf(playbackId: string): string
  isSecretOf(playbackId: string, given: string): boolean
  /** The password of this server at MediaMTX. */
  token(): string
  isToken(given: string): boolean
}

/** Keys that are derived from the installation's, newest first. Every node has them, and nothing is stored. */
function mediaMtxKeys(secrets: readonly Uint8Array[]): MediaMtxKeys {
  const made = (secret: Uint8Array, what: string) =>
    createHmac('sha256', secret).update(`mediamtx ${what}`).digest('base64url')
  const newest = (what: string) => {
    const [secret] = secrets
    if (!secret) throw new Error('There is no key to make others from')
    return made(secret, what)
  }
  const isOne = (what: string, given: string) => secrets.some((secret) => isSame(made(secret, what), given))
  const publishing = (playbackId: string) => `publish ${playbackId}`
  return {
    secretOf: (playbackId) => newest(publishing(playbackId)),
    isSecretOf: (playbackId, given) => isOne(publishing(playbackId), given),
    token: () => newest('api'),
    isToken: (given) => isOne('api', given),
  }
}

function isSame(right: string, given: string): boolean {
  const [one, other] = [Buffer.from(right), Buffer.from(given)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** MediaMTX gives along what a client sent with its request: a bearer token or a password is the `token`. */
const Asked = z.object({
  action: z.string(),
  path: z.string().default(''),
  query: z.string().default(''),
  token: z.string().default(''),
})

/** Authorizes publishers for MediaMTX: returns the playback id of a right key; null for readers and this server. Throws UNAUTHORIZED. */
function authorizedPlayback(body: Buffer, keys: MediaMtxKeys): string | null {
  const read = Asked.safeParse(parsed(body.toString()))
  if (!read.success) throw new AppError('UNAUTHORIZED')
  const { action, path, query, token } = read.data
  if (action === 'read' || action === 'playback') return null
  if (action === 'api' && keys.isToken(token)) return null
  const playbackId = action === 'publish' ? playbackAt(path) : null
  const given = new URLSearchParams(query).get('key') ?? token
  if (playbackId === null || !keys.isSecretOf(playbackId, given)) throw new AppError('UNAUTHORIZED')
  return playbackId
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export interface MediaMtxConfig {
  /** Where this server reaches its control API and its playback server. */
  apiUrl: string
  listUrl: string
  /** Where people reach what publishes, shows and plays. */
  webrtcUrl: string
  hlsUrl: string
  playbackUrl: string
  rtmpUrl: string
  /** The grace for a publisher who left. */
  graceMs: number
}

interface Installation {
  /** Newest first: keys of streams are made from them. */
  secrets: readonly Uint8Array[]
  now(): number
}

const usual = { pollMilliseconds: 2_000, keptMilliseconds: 1_000, clock: () => performance.now() }
/** Recordings are requested for so long, until two answers are equal. */
const settlingMilliseconds = 10 * 60_000
/** A recording begins with its stream, by the clock of MediaMTX, or a little before. */
const earlyMilliseconds = 5_000
const mostDeleted = 10_000

interface Shown {
  state: 'live' | 'interrupted'
  /** The publisher's connection. */
  publisher: string
  since: Date | null
  seenAt: Date
  /** Since when nobody publishes, at the earliest. */
  from: number
  /** We ended it, so no grace applies. */
  isEnded: boolean
}

/** An own MediaMTX. Its paths are playback ids, keys are derived, and it authenticates publishers here. It is polled, without deliberate stops. */
export function mediaMtxVideo(
  config: MediaMtxConfig,
  { secrets, now }: Installation,
  { pollMilliseconds, keptMilliseconds, clock } = usual,
): Video {
  const keys = mediaMtxKeys(secrets)
  const api = mediaMtxApi(config, keys.token)
  const { notify, subscribe } = polledHearers(() => poll(), pollMilliseconds)
  const shown = new Map<string, Shown>()
  const settling = new Map<string, { until: number; last: string | null }>()
  const deleted = new Set<string>()
  let isOpen = async (_streamId: string) => true

  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> = Promise.resolve()
  let wasAway = false

  /** Reads are serialized, so that no older state is reported. */
  function look(keptFor: number): Promise<void> {
    if (clock() - readAt < keptFor) return reading
    const one = reading.catch(() => undefined).then(read)
    readAt = clock()
    reading = one
    one.catch(() => {
      wasAway = true
      if (reading === one) readAt = Number.NEGATIVE_INFINITY
    })
    return one
  }

  async function read(): Promise<void> {
    const askedAt = clock()
    const online = new Map<string, Path>()
    for (const path of await api.paths()) {
      const playbackId = playbackAt(path.name)
      if (playbackId !== null && path.isOnline) online.set(streamIdOf(playbackId), path)
    }
    for (const [streamId, path] of online) if (!deleted.has(streamId)) beLive(streamId, path, askedAt)
    for (const [streamId, one] of shown) if (!online.has(streamId)) beGone(streamId, one)
    wasAway = false
  }

  function beLive(streamId: string, { publisher, since }: Path, askedAt: number): void {
    const before = shown.get(streamId)
    const is = { publisher: publisher?.id ?? '', since, seenAt: new Date(now()), from: askedAt }
    const isLeaving = before?.isEnded === true && before.publisher === is.publisher
    shown.set(streamId, { ...is, state: 'live', isEnded: isLeaving })
    if (before?.state !== 'live' || before.isEnded !== isLeaving) notify({ type: 'ingest.started', streamId })
  }

  function beGone(streamId: string, one: Shown): void {
    // Nobody could come back while MediaMTX was away.
    if (wasAway) one.from = clock()
    const isOver = one.isEnded || clock() - one.from > config.graceMs
    if (!isOver && one.state === 'interrupted') return
    if (isOver) shown.delete(streamId)
    else one.state = 'interrupted'
    if (isRecorded(playbackOf(streamId) ?? ''))
      settling.set(streamId, { until: clock() + settlingMilliseconds, last: null })
    notify({ type: isOver ? 'ingest.stopped' : 'ingest.interrupted', streamId })
  }

  async function recordingsOf(streamId: string): Promise<VideoAsset[]> {
    const playbackId = playbackOf(streamId)
    if (playbackId === null || !isRecorded(playbackId) || deleted.has(streamId)) return []
    await look(keptMilliseconds)
    const spans = await api.spans(pathOf(playbackId))
    return spans.map((span) => assetOf(config, playbackId, span, shown.get(streamId)))
  }

  /** Recordings are reported until they settle, as the last part is written late. */
  async function settle(streamId: string, { until, last }: { until: number; last: string | null }): Promise<void> {
    const assets = await recordingsOf(streamId).catch(() => null)
    const found = assets && JSON.stringify(assets)
    if (clock() > until || (found !== null && found === last)) settling.delete(streamId)
    else if (found !== null) settling.set(streamId, { until, last: found })
    if (found !== last) for (const asset of assets ?? []) notify({ type: 'asset.updated', asset })
  }

  let isPolling = false
  async function poll(): Promise<void> {
    if (isPolling) return
    isPolling = true
    await look(0).catch(() => undefined)
    for (const [streamId, one] of settling) await settle(streamId, one)
    isPolling = false
  }

  async function end(streamId: string): Promise<void> {
    const playbackId = playbackOf(streamId)
    if (playbackId === null) return
    const path = await api.path(pathOf(playbackId))
    const setEnded = (isEnded: boolean) => {
      const one = shown.get(streamId)
      if (one) one.isEnded = isEnded
    }
    setEnded(true)
    if (path?.publisher)
      await api.disconnect(path.publisher).catch((error: unknown) => {
        setEnded(false)
        throw error
      })
    await look(0).catch(() => undefined)
  }

  return {
    addresses: {
      whip(streamKey) {
        const [playbackId = '', key = ''] = streamKey.split('?')
        return `${below(config.webrtcUrl)}/${pathOf(playbackId)}/whip?${key}`
      },
      // An encoder wants the part before the last slash as its server, and what comes after it as its key.
      rtmp: (streamKey) => `${below(config.rtmpUrl)}/${pathOf(streamKey)}`,
      hls: (playbackId) => `${below(config.hlsUrl)}/${pathOf(playbackId)}/index.m3u8`,
      whep: (playbackId) => `${below(config.webrtcUrl)}/${pathOf(playbackId)}/whep`,
    },
    origins: [...new Set([config.webrtcUrl, config.hlsUrl, config.playbackUrl].map((url) => new URL(url).origin))],
    async createStream({ record }) {
      await look(keptMilliseconds)
      const playbackId = newPlayback(record)
      const streamKey = `${playbackId}?key=${keys.secretOf(playbackId)}`
      return { streamId: streamIdOf(playbackId), streamKey, playbackId }
    },
    async status(streamIds) {
      await look(keptMilliseconds)
      const known = streamIds.filter((streamId) => playbackOf(streamId) !== null && !deleted.has(streamId))
      return new Map(known.map((streamId) => [streamId, statusOf(shown.get(streamId))]))
    },
    endStream: end,
    async deleteStream(streamId) {
      const playbackId = playbackOf(streamId)
      if (playbackId === null) return
      await end(streamId)
      if (isRecorded(playbackId)) await api.removeRecordings(pathOf(playbackId))
      deleted.add(streamId)
      const [oldest] = deleted
      if (oldest !== undefined && deleted.size > mostDeleted) deleted.delete(oldest)
      settling.delete(streamId)
      if (shown.delete(streamId)) notify({ type: 'ingest.stopped', streamId })
    },
    assets: recordingsOf,
    subscribe,
    admit(ask) {
      isOpen = ask
    },
    async webhook(body) {
      const playbackId = authorizedPlayback(body, keys)
      if (playbackId === null) return
      const streamId = streamIdOf(playbackId)
      if (deleted.has(streamId) || !(await isOpen(streamId))) throw new AppError('UNAUTHORIZED')
    },
  }
}

const statusOf = (one: Shown | undefined): StreamStatus =>
  one ? { state: one.state, lastSeen: one.seenAt } : { state: 'idle', lastSeen: null }

/** What is still published is not whole yet. */
function assetOf(
  { playbackUrl }: MediaMtxConfig,
  playbackId: string,
  { start, duration }: Span,
  one: Shown | undefined,
): VideoAsset {
  const startedAt = new Date(start)
  const isWhole = one?.state !== 'live' || startedAt.getTime() < (one.since?.getTime() ?? 0) - earlyMilliseconds
  const asked = new URLSearchParams({ path: pathOf(playbackId), start, duration: String(duration) })
  const url = isWhole ? `${below(playbackUrl)}/get?${asked}` : null
  return {
    assetId: `${playbackId}-${startedAt.getTime()}`,
    streamId: streamIdOf(playbackId),
    phase: isWhole ? 'ready' : 'waiting',
    progress: isWhole ? 1 : 0,
    startedAt,
    durationSeconds: isWhole ? duration : null,
    sizeBytes: null,
    error: null,
    playbackId: isWhole ? playbackId : null,
    playbackUrl: url,
    downloadUrl: url && `${url}&format=mp4`,
  }
}
