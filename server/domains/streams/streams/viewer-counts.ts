import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { type StoredStream, Streams, Viewers } from './model.ts'
import { notifyWatchers } from './notices.ts'
import { windowMilliseconds } from './states.ts'
import { keepViewers, oneAtATime } from './viewers.ts'

/** Streams with at most so many rows are counted for each answer, as a count reads all rows. */
const mostRowsCountedAtOnce = 500
/** The minimum pause after a count. After a long count, the pause is a multiple of its time. */
const pauseMilliseconds = 1_000
const pauseFactor = 3
const longestPauseMilliseconds = 5_000

interface Counter {
  /** Counts once at a time, stores the counts, and notifies watchers where the pause is over. */
  run: () => Promise<StoredStream | null>
  timer: NodeJS.Timeout | null
  /** The earliest time of the next notice. */
  nextAt: number
  rows: number
  /** Watchers were not notified of the last counts. */
  isDue: boolean
}
const countersOn = nodeState(() => new Map<string, Counter>())

function counterOf(node: Node, id: string): Counter {
  const known = countersOn(node).get(id)
  if (known) return known
  const counter: Counter = {
    ...{ timer: null, nextAt: Number.NEGATIVE_INFINITY, rows: 0, isDue: false },
    run: oneAtATime(() => countViewers(node, id, counter)),
  }
  countersOn(node).set(id, counter)
  return counter
}

/** The stream with its current counts; null for a large one, which is counted within a second. */
export async function countViewersNow(node: Node, id: string): Promise<StoredStream | null> {
  const { rows, run } = counterOf(node, id)
  if (rows <= mostRowsCountedAtOnce) return run()
  countViewersSoon(node, id)
  return null
}

export function countViewersSoon(node: Node, id: string): void {
  const counter = counterOf(node, id)
  const wait = Math.max(0, counter.nextAt - performance.now())
  counter.timer ??= setTimeout(() => {
    counter.timer = null
    counter.run().catch((error: unknown) => node.logger.warn({ error }, 'viewers could not be counted'))
  }, wait).unref()
}

async function countViewers(node: Node, id: string, counter: Counter): Promise<StoredStream | null> {
  const startedAt = performance.now()
  const stream = await countRows(node, id, counter)
  const endedAt = performance.now()
  if (endedAt < counter.nextAt) {
    if (counter.isDue) countViewersSoon(node, id)
    return stream
  }
  const pause = Math.min(longestPauseMilliseconds, pauseFactor * (endedAt - startedAt))
  counter.nextAt = endedAt + Math.max(pauseMilliseconds, pause)
  if (counter.isDue) await notifyWatchers(node, id)
  counter.isDue = false
  return stream
}

/** Counts rows, and adds nothing up. Of two nodes that count at once, the later one counts again. */
async function countRows(node: Node, id: string, counter: Counter): Promise<StoredStream | null> {
  const held = { stream: id, nodes: { $in: node.alone ? [node.id] : [...node.nodes.live()] } }
  for (let tries = 0; tries < 4; tries++) {
    const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
    if (!stream) return null
    const now = new Date(node.now())
    const isOver = stream.status === 'ended'
    const [viewers, sockets, rows, beyond] = await Promise.all([
      isOver ? 0 : Viewers.countDocuments({ stream: id, $or: [held, { until: { $gt: now } }] }),
      isOver ? 0 : Viewers.countDocuments(held),
      Viewers.countDocuments({ stream: id }),
      Viewers.countDocuments({ stream: id, beyond: true }),
    ])
    counter.rows = rows
    const counts = {
      viewer_count: viewers,
      socket_viewers: Math.min(sockets, viewers),
      unique_viewers: Math.max(rows - beyond, stream.unique_viewers),
      peak_viewers: Math.max(stream.peak_viewers, viewers),
    }
    if (Object.entries(counts).every(([name, value]) => stream[name as keyof typeof counts] === value)) return stream
    const change = { $set: { ...counts, counted_at: now }, $inc: { counts_v: 1 } }
    const { matchedCount } = await Streams.updateOne({ _id: id, counts_v: stream.counts_v }, change)
    if (matchedCount === 0) continue
    counter.isDue = true
    return { ...stream, ...counts, counts_v: stream.counts_v + 1, counted_at: now }
  }
  // Other nodes count at this moment: their counts hold until the next look.
  countViewersSoon(node, id)
  return null
}

/** Renews the viewers of this node; the first node counts all. REST viewers leave without notice, and nodes die. */
export async function sweepViewers(node: Node, isFirst = true): Promise<void> {
  const counted = isFirst ? await Streams.find({ viewer_count: { $gt: 0 } }, { _id: 1 }).lean<{ _id: string }[]>() : []
  for (const { _id } of counted) await counterOf(node, _id).run()
  await keepViewers(node)
  const now = performance.now()
  for (const [id, { timer, nextAt }] of countersOn(node))
    if (timer === null && now - nextAt > windowMilliseconds) countersOn(node).delete(id)
}
