import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import type { StreamStatus } from '#server/ports/video/port'
import type { StoredStream } from './model.ts'
import { unprovenMilliseconds } from './states.ts'

const keptMilliseconds = 3_000

interface Asked {
  until: number
  status: Promise<StreamStatus | null>
}
const askedOf = nodeState(() => new Map<string, Asked>())

const answeredOn = nodeState(() => ({ once: false }))

/** What the provider knows of these streams; nothing where there is none. Throws where it does not answer. */
export async function statusOf(node: Node, streamIds: readonly string[]): Promise<Map<string, StreamStatus>> {
  const { video } = node.services
  if (!video) return new Map()
  const found = await video.status(streamIds)
  answeredOn(node).once = true
  return found
}

/** Where it has no part but this node's, what was published before this process is published no more until it says so. */
const mayBeSeen = (node: Node): boolean => node.services.video !== null && (!node.alone || answeredOn(node).once)

/**
 * Whether the provider sees a picture of streams that say they are live: true, false, or null where it does not answer. Those that
 * have just begun are not asked for; the others at most every three seconds.
 */
export async function seenAmong(
  node: Node,
  streams: readonly StoredStream[],
): Promise<(stream: StoredStream) => boolean | null> {
  const now = performance.now()
  const asked = askedOf(node)
  for (const [id, { until }] of asked) if (until <= now) asked.delete(id)
  const proven = streams.filter(
    ({ status, started_at }) => status === 'live' && node.now() - (started_at?.getTime() ?? 0) >= unprovenMilliseconds,
  )
  const ids = proven.map(({ stream_id }) => stream_id)
  const missing = ids.filter((id) => !asked.has(id))
  if (missing.length > 0) {
    const answer = statusOf(node, missing)
    answer.catch(() => undefined)
    const until = now + keptMilliseconds
    for (const id of missing) asked.set(id, { until, status: answer.then((all) => all.get(id) ?? null) })
  }
  const seen = new Map<string, boolean | null>()
  for (const id of ids) {
    const status = await asked.get(id)?.status.catch(() => undefined)
    const isUnknown = status === undefined && mayBeSeen(node)
    seen.set(id, isUnknown ? null : status?.state === 'live' || status?.state === 'interrupted')
  }
  return ({ stream_id }) => seen.get(stream_id) ?? null
}
