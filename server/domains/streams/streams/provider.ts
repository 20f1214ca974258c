import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { StreamStatus } from '#server/ports/video/port'
import type { StoredStream } from './model.ts'
import { unprovenMilliseconds } from './states.ts'

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
