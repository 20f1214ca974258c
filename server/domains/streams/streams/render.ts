import { foundRows } from '#server/domains/people/accounts/found'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { tryUnseal } from '#server/kernel/seal'
import type { StreamStatus } from '#server/ports/video/port'
import type { PublicStream, Stream, StreamAsset, StreamCounts, StreamState } from '#shared/api/streams/stream-records'
import { isSameAccount } from '#shared/kit/accounts'
import type { StoredAsset, StoredStream } from './model.ts'
import { isShownLive, unprovenMilliseconds, windowMilliseconds } from './states.ts'

const keptMilliseconds = 3_000

interface CachedStatus {
  until: number
  status: Promise<StreamStatus | null>
}
const cachedOn = nodeState(() => new Map<string, CachedStatus>())

const answeredOn = nodeState(() => ({ once: false }))

/** The status of streams at the provider; empty without a provider. Throws if it does not answer. */
export async function providerStatusOf(node: Node, streamIds: readonly string[]): Promise<Map<string, StreamStatus>> {
  const { video } = node.services
  if (!video) return new Map()
  const found = await video.status(streamIds)
  answeredOn(node).once = true
  return found
}

/** A single node restarts with its provider, so silence before the first answer means that nobody publishes. */
const isAnswerPending = (node: Node): boolean => node.services.video !== null && (!node.alone || answeredOn(node).once)

/** Whether the provider has a picture of live streams; null without an answer. Asked every three seconds, not for new streams. */
export async function picturesSeen(
  node: Node,
  streams: readonly StoredStream[],
): Promise<(stream: StoredStream) => boolean | null> {
  const now = performance.now()
  const cached = cachedOn(node)
  for (const [id, { until }] of cached) if (until <= now) cached.delete(id)
  const proven = streams.filter(
    ({ status, started_at }) => status === 'live' && node.now() - (started_at?.getTime() ?? 0) >= unprovenMilliseconds,
  )
  const ids = proven.map(({ stream_id }) => stream_id)
  const missing = ids.filter((id) => !cached.has(id))
  if (missing.length > 0) {
    const answer = providerStatusOf(node, missing)
    answer.catch(() => undefined)
    const until = now + keptMilliseconds
    for (const id of missing) cached.set(id, { until, status: answer.then((all) => all.get(id) ?? null) })
  }
  const seen = new Map<string, boolean | null>()
  for (const id of ids) {
    const status = await cached.get(id)?.status.catch(() => undefined)
    const isUnknown = status === undefined && isAnswerPending(node)
    seen.set(id, isUnknown ? null : status?.state === 'live' || status?.state === 'interrupted')
  }
  return ({ stream_id }) => seen.get(stream_id) ?? null
}

const iso = (at: Date | null) => at?.toISOString() ?? null

/** The context of the seal of a stream key. */
export const streamKeyContext = (id: string) => `stream ${id}`

export function streamStateOf(stream: StoredStream, isLive: boolean): StreamState {
  const { _id, v, title, status, reason } = stream
  return {
    ...{ stream_id: _id, v, title, status, is_live: isLive, reason },
    started_at: iso(stream.started_at),
    ended_at: iso(stream.ended_at),
    grace_until: iso(stream.grace_until),
  }
}

export const streamCountsOf = (stream: StoredStream): StreamCounts => ({
  stream_id: stream._id,
  v: stream.counts_v,
  viewers: stream.viewer_count,
  peak: stream.peak_viewers,
  unique: stream.unique_viewers,
  as_of: stream.counted_at.toISOString(),
  window_s: windowMilliseconds / 1_000,
  sources: { sockets: stream.socket_viewers, rest: Math.max(0, stream.viewer_count - stream.socket_viewers) },
})

/** The streams among these whose owners the viewer finds. */
export const foundStreams = (streams: readonly StoredStream[], viewer: string | null): Promise<StoredStream[]> =>
  foundRows(streams, ({ user_address }) => user_address, viewer)

/** Streams as everyone sees them. */
export async function publicStreamsOf(node: Node, streams: readonly StoredStream[]): Promise<PublicStream[]> {
  const [seen, profiles] = await Promise.all([
    picturesSeen(node, streams),
    profilesOf(
      node,
      streams.map(({ user_address }) => user_address),
    ),
  ])
  const { video } = node.services
  return streams.map((stream) => {
    const { stream_id: _, v: __, ...state } = streamStateOf(stream, isShownLive(stream, node.now(), seen(stream)))
    const { display_name, avatar_url } = profiles.get(stream.user_address) ?? { display_name: null, avatar_url: null }
    return {
      ...state,
      ...{ id: stream._id, description: stream.description, playback_id: stream.playback_id },
      viewer_count: stream.viewer_count,
      peak_viewers: stream.peak_viewers,
      unique_viewers: stream.unique_viewers,
      playback_url: video?.addresses.hls(stream.playback_id) ?? '',
      whep_url: video?.addresses.whep(stream.playback_id) ?? null,
      created_at: stream.created_at.toISOString(),
      streamer: { address: stream.user_address, display_name, avatar_url },
    }
  })
}

/** Streams as a signed-in account sees them; its own with the keys for publishing. */
export async function streamsFor(node: Node, streams: readonly StoredStream[], account: string): Promise<Stream[]> {
  const shown = await publicStreamsOf(node, streams)
  return streams.map((stream, at) => ({
    ...(shown[at] as PublicStream),
    ...{ user_address: stream.user_address, stream_id: stream.stream_id, record: stream.record },
    ...(isSameAccount(stream.user_address, account) ? secretsOf(node, stream) : {}),
  }))
}

function secretsOf(node: Node, { _id, stream_key: sealed }: StoredStream) {
  const { video } = node.services
  const stream_key = tryUnseal(node.settings.sessionKeys, sealed, streamKeyContext(_id))
  if (stream_key === null) return {}
  return video
    ? { stream_key, ingest_url: video.addresses.whip(stream_key), rtmp_url: video.addresses.rtmp(stream_key) }
    : { stream_key }
}

export const streamAssetOf = (asset: StoredAsset): StreamAsset => ({
  id: asset._id,
  stream_id: asset.stream,
  asset_id: asset._id,
  playback_id: asset.playback_id,
  playback_url: asset.playback_url,
  download_url: asset.download_url,
  status: { phase: asset.phase, progress: asset.progress, error: asset.error },
  duration_seconds: asset.duration_seconds,
  size_bytes: asset.size_bytes,
  recorded_from: asset.recorded_from.toISOString(),
  created_at: asset.created_at.toISOString(),
})
