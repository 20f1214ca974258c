import type { Node } from '#server/kernel/context'
import { type StoredStream, Streams, Viewers } from './model.ts'
import { tellStream } from './told.ts'
import { countMilliseconds, watchedOf, watchedOn } from './watched.ts'

/** Of so few an answer has the count of this moment: a count reads them all. */
const countedAtOnce = 500
/** A count reads every row of a stream: where there are so many that it takes long, the pause after it is this many times as long. */
const pauseFactor = 3
const longestPauseMilliseconds = 5_000

/**
 * Counts at once, and tells it where nothing was told within a second, or else when that second is over. Null where so many watch that it
 * is counted then as well.
 */
export async function countNow(node: Node, stream: string): Promise<StoredStream | null> {
  const watched = watchedOf(node, stream)
  if (!watched.running && performance.now() - watched.countedAt >= watched.pause) return count(node, stream)
  countSoon(node, stream)
  if (watched.rows > countedAtOnce) return null
  if (!watched.running) return run(node, stream, false)
  watched.next ??= watched.running
    .catch(() => null)
    .then(() => {
      watched.next = null
      return run(node, stream, false)
    })
  return watched.next
}

export function countSoon(node: Node, stream: string): void {
  const watched = watchedOf(node, stream)
  if (watched.counting) return
  const wait = Math.max(0, watched.pause - (performance.now() - watched.countedAt))
  watched.counting = setTimeout(() => {
    watched.counting = null
    count(node, stream).catch((error: unknown) => node.logger.warn({ error }, 'viewers could not be counted'))
  }, wait).unref()
}

/** Counts and tells it, never twice at a time: where it is being counted, it is counted again, and the answer is null. */
export async function count(node: Node, id: string): Promise<StoredStream | null> {
  const watched = watchedOf(node, id)
  if (watched.running) {
    watched.isDue = true
    return null
  }
  return run(node, id, true)
}

function run(node: Node, id: string, isTold: boolean): Promise<StoredStream | null> {
  const watched = watchedOf(node, id)
  const startedAt = performance.now()
  const running = countRows(node, id, isTold).finally(() => {
    const endedAt = performance.now()
    watched.running = null
    if (isTold) watched.countedAt = endedAt
    watched.pause = Math.max(countMilliseconds, Math.min(longestPauseMilliseconds, pauseFactor * (endedAt - startedAt)))
    if (!watched.isDue) return
    watched.isDue = false
    countSoon(node, id)
  })
  watched.running = running
  return running
}

/** Rows, and nothing else, say how many watch. Of two nodes that count at once, the later one looks again. */
async function countRows(node: Node, id: string, isTold: boolean): Promise<StoredStream | null> {
  const watched = watchedOf(node, id)
  const nodes = node.alone ? [node.id] : [...node.nodes.live()]
  for (let tries = 0; ; tries++) {
    const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
    if (!stream) {
      watchedOn(node).delete(id)
      return null
    }
    const now = node.now()
    const held = { stream: id, nodes: { $in: nodes } }
    const isOver = stream.status === 'ended'
    const [viewers, sockets, all, beyond] = await Promise.all([
      isOver ? 0 : Viewers.countDocuments({ stream: id, $or: [held, { until: { $gt: new Date(now) } }] }),
      isOver ? 0 : Viewers.countDocuments(held),
      Viewers.countDocuments({ stream: id }),
      Viewers.countDocuments({ stream: id, beyond: true }),
    ])
    const counted = {
      viewer_count: viewers,
      socket_viewers: Math.min(sockets, viewers),
      unique_viewers: Math.max(all - beyond, stream.unique_viewers),
      peak_viewers: Math.max(stream.peak_viewers, viewers),
    }
    const same = Object.entries(counted).every(([name, value]) => stream[name as keyof typeof counted] === value)
    watched.rows = all
    if (same) {
      if (isTold && watched.isUntold) await tell()
      return stream
    }
    const change = { $set: { ...counted, counted_at: new Date(now) }, $inc: { counts_v: 1 } }
    const { matchedCount } = await Streams.updateOne({ _id: id, counts_v: stream.counts_v }, change)
    if (matchedCount === 0 && tries < 3) continue
    if (matchedCount === 0) {
      // Others count it at this very moment; what they stored holds until it is looked at again.
      countSoon(node, id)
      return null
    }
    watched.isUntold = true
    if (isTold) await tell()
    return { ...stream, ...counted, counts_v: stream.counts_v + 1, counted_at: new Date(now) }
  }

  function tell(): Promise<void> {
    watched.isUntold = false
    return tellStream(node, id)
  }
}
