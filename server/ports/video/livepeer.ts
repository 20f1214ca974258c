import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { AppError } from '#shared/errors'
import { Asset, parsedJson, recordingOf, Session, Stream, studio } from './livepeer-api.ts'
import { polledHearers } from './polled.ts'
import type { StreamStatus, Video, VideoAsset } from './port.ts'

/** Each try to deliver is signed with a time of its own. */
const mostAge = 5 * 60_000

const Told = z.object({
  id: z.string().min(1).max(200),
  timestamp: z.number(),
  event: z.string(),
  stream: z.object({ id: z.string().min(1).max(200), parentId: z.string().min(1).max(200).nullish() }).nullish(),
})

/** Verifies and reads a webhook call. Throws UNAUTHORIZED for an unsigned or old one. */
function livepeerEventIn(
  body: Buffer,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  secret: string,
  now: number,
): { id: string; event: string; streamId: string | null } {
  const header = String(headers['livepeer-signature'] ?? '')
  const right = createHmac('sha256', secret).update(body).digest()
  const isSigned = [...header.matchAll(/(?:^|,)\s*v1=([0-9a-f]{64})(?=,|$)/g)].some(([, mark = '']) =>
    timingSafeEqual(Buffer.from(mark, 'hex'), right),
  )
  const told = Told.safeParse(isSigned ? parsedJson(body.toString()) : null)
  if (!told.success || Math.abs(now - told.data.timestamp) > mostAge) throw new AppError('UNAUTHORIZED')
  const { id, event, stream } = told.data
  return { id, event, streamId: stream?.parentId ?? stream?.id ?? null }
}

export interface LivepeerConfig {
  apiUrl: string
  apiKey: string
  /** Where browsers publish and watch over WebRTC, encoders publish, and players find HLS. */
  ingestHost: string
  rtmpUrl: string
  playbackHost: string
  /** Of the webhook that is set up at Livepeer; null where there is none. */
  webhookSecret: string | null
}

/** Without signs for so long, a stream is inactive, and a session is over. */
const silence = { active: 90_000, session: 60_000 }
const usual = { pollMilliseconds: 15_000, keptMilliseconds: 10_000 }
/** Unrequested streams are watched for a while; live ones and those with pending recordings always. */
const watch = { most: 200, milliseconds: 10 * 60_000, owing: 2 * 3_600_000 }
const mostEvents = 1000

interface Watched {
  id: string
  askedAt: number
  /** The latest status; one request at a time. */
  readAt: number
  answer: Promise<Stream | null>
  state: StreamStatus['state']
  /** We ended it, so no grace applies. */
  isEnded: boolean
  /** It was recorded, and some recordings are still pending. */
  owes: boolean
  sent: Map<string, string>
}

/** Livepeer Studio, polled for recent streams, or at a webhook call. Streams of others in the account stay private. */
export function livepeerVideo(config: LivepeerConfig, { pollMilliseconds, keptMilliseconds } = usual): Video {
  const api = studio(config.apiUrl, config.apiKey)
  const atOnce = fewAtOnce(4)
  const { notify, subscribe } = polledHearers(() => poll(), pollMilliseconds)
  const watched = new Map<string, Watched>()
  const heard = new Map<string, Promise<void>>()

  function watching(id: string): Watched {
    const nobody = { readAt: Number.NEGATIVE_INFINITY, answer: Promise.resolve(null), sent: new Map<string, string>() }
    const one = watched.get(id) ?? { id, askedAt: 0, ...nobody, state: 'idle', isEnded: false, owes: false }
    one.askedAt = performance.now()
    watched.delete(id)
    watched.set(id, one)
    const [oldest] = watched.keys()
    if (oldest !== undefined && watched.size > watch.most) watched.delete(oldest)
    return one
  }

  /** Reads of a stream are serialized, so that no older state is reported. */
  function look(one: Watched, keptFor: number): Promise<Stream | null> {
    if (performance.now() - one.readAt < keptFor) return one.answer
    const answer = one.answer
      .catch(() => null)
      .then(() => atOnce(() => api.one(`/stream/${encodeURIComponent(one.id)}`, Stream)))
      .then((stream) => {
        become(one, stream)
        return stream
      })
    one.readAt = performance.now()
    one.answer = answer
    answer.catch(() => {
      if (one.answer === answer) one.readAt = Number.NEGATIVE_INFINITY
    })
    return answer
  }

  function become(one: Watched, stream: Stream | null): void {
    const state = stream ? stateOf(stream, one.isEnded, Date.now()) : 'idle'
    if (state === 'live') one.owes ||= stream?.record === true
    if (!stream) watched.delete(one.id)
    if (state === one.state) return
    if (state === 'live') one.isEnded = false
    one.state = state
    const type = ({ live: 'started', interrupted: 'interrupted', idle: 'stopped' } as const)[state]
    notify({ type: `ingest.${type}`, streamId: one.id })
  }

  /** Of one that is gone there are none. */
  const sessionsOf = (streamId: string) =>
    atOnce(() => api.all(`/stream/${encodeURIComponent(streamId)}/sessions?record=1&limit=100`, Session))

  async function recordingsOf(one: Watched): Promise<VideoAsset[]> {
    const found = (await sessionsOf(one.id)).filter(({ recordingStatus }) => recordingStatus !== 'deleted')
    const assets = await Promise.all(
      found.map(async (session) => {
        const asset = await atOnce(() => api.one(`/asset/${encodeURIComponent(session.id)}`, Asset))
        return recordingOf(one.id, session, asset)
      }),
    )
    const shown = assets.filter((asset) => asset !== null)
    for (const asset of shown) {
      const now = `${asset.phase} ${asset.progress}`
      if (one.sent.get(asset.assetId) === now) continue
      one.sent.set(asset.assetId, now)
      notify({ type: 'asset.updated', asset })
    }
    if (shown.some(({ phase }) => phase === 'waiting' || phase === 'processing')) one.owes = true
    else if (shown.length > 0 && one.state !== 'live') one.owes = false
    return shown
  }

  /** Failures are retried. */
  async function refresh(one: Watched): Promise<void> {
    await look(one, 0)
    if (one.owes && one.state !== 'live') await recordingsOf(one)
  }

  let isPolling = false
  async function poll(): Promise<void> {
    if (isPolling) return
    isPolling = true
    for (const one of watched.values()) {
      const age = performance.now() - one.askedAt
      if (one.state === 'idle' && age > (one.owes ? watch.owing : watch.milliseconds)) watched.delete(one.id)
    }
    await Promise.allSettled([...watched.values()].map(refresh))
    isPolling = false
  }

  async function takeUp(event: string, streamId: string | null): Promise<void> {
    if (streamId !== null) await refresh(watching(streamId))
    // Asset events do not name their stream.
    else if (event.startsWith('asset.'))
      await Promise.all([...watched.values()].filter(({ owes }) => owes).map(refresh))
  }

  const secret = config.webhookSecret
  return {
    addresses: {
      whip: (streamKey) => `${originOf(config.ingestHost)}/webrtc/${streamKey}`,
      rtmp: (streamKey) => `${config.rtmpUrl.replace(/\/+$/, '')}/live/${streamKey}`,
      hls: (playbackId) => `${originOf(config.playbackHost)}/hls/${playbackId}/index.m3u8`,
      whep: (playbackId) => `${originOf(config.ingestHost)}/webrtc/${playbackId}`,
    },
    origins: [...new Set([config.ingestHost, config.playbackHost].map(originOf))],
    async createStream({ name, record }) {
      const { id, streamKey, playbackId } = await api.create(name, record)
      watching(id)
      return { streamId: id, streamKey, playbackId }
    },
    async status(streamIds) {
      const found = await Promise.all(
        [...new Set(streamIds)].map(async (streamId) => {
          const one = watching(streamId)
          const stream = await look(one, keptMilliseconds)
          return stream && ([streamId, { state: one.state, lastSeen: seenAt(stream) }] as const)
        }),
      )
      return new Map(found.filter((one) => one !== null))
    },
    async endStream(streamId) {
      await api.remove(`/stream/${encodeURIComponent(streamId)}/terminate`, [429])
      const one = watching(streamId)
      one.isEnded = true
      await look(one, 0).catch(() => null)
    },
    async deleteStream(streamId) {
      for (const { id, recordingStatus } of await sessionsOf(streamId))
        if (recordingStatus !== 'deleted') await api.remove(`/asset/${encodeURIComponent(id)}`)
      await api.remove(`/stream/${encodeURIComponent(streamId)}`)
      const one = watched.get(streamId)
      if (one) become(one, null)
    },
    assets: (streamId) => recordingsOf(watching(streamId)),
    subscribe,
    ...(secret !== null &&
      ({
        /** Again by the same id it is what it was, unless that failed. */
        async webhook(body, headers) {
          const { id, event, streamId } = livepeerEventIn(body, headers, secret, Date.now())
          const before = heard.get(id)
          if (before) return before
          const taken = takeUp(event, streamId)
          heard.set(id, taken)
          taken.catch(() => heard.delete(id))
          const [oldest] = heard.keys()
          if (oldest !== undefined && heard.size > mostEvents) heard.delete(oldest)
          return taken
        },
      } satisfies Pick<Video, 'webhook'>)),
  }
}

/** Livepeer does not say whether a publisher meant to stop: until the session is over, it may go on. */
function stateOf({ isActive, lastSeen }: Stream, isEnded: boolean, now: number): StreamStatus['state'] {
  const age = now - (lastSeen ?? 0)
  if (isActive) return age <= silence.active ? 'live' : 'idle'
  return !isEnded && age <= silence.session ? 'interrupted' : 'idle'
}

const seenAt = ({ lastSeen }: Stream) => (lastSeen ? new Date(lastSeen) : null)
const originOf = (host: string) => `${host.includes('://') ? '' : 'https://'}${host.replace(/\/+$/, '')}`
