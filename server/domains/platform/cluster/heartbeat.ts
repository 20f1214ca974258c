import { hostname } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import { version } from '#server/kernel/version'
import { Nodes } from './model.ts'

const tellMilliseconds = 3_000
const resolutionMilliseconds = 20
const bytesInMegabyte = 2 ** 20

/** When this node began to measure, when it last told, and what it measures: the loop of its process. */
const measuresOf = nodeState(() => {
  const delay = monitorEventLoopDelay({ resolution: resolutionMilliseconds })
  delay.enable()
  return { startedAt: null as number | null, toldAt: null as number | null, delay }
})

/** Where others may ask for it, each node tells of itself every few seconds, and leaves the list when it ends. */
export function startHeartbeat(node: Node): () => void {
  const measures = measuresOf(node)
  const { delay } = measures
  measures.startedAt = node.now()
  if (node.alone) return () => delay.disable()
  const tellQuietly = () => void tell(node).catch(() => {})
  tellQuietly()
  const timer = setInterval(tellQuietly, tellMilliseconds).unref()
  return () => {
    delay.disable()
    clearInterval(timer)
    void Nodes.deleteOne({ _id: node.id }).catch(() => {})
  }
}

/** Writes what this node has done since it last told. */
export async function tell(node: Node): Promise<void> {
  const now = node.now()
  const measures = measuresOf(node)
  const { delay } = measures
  const startedAt = measures.startedAt ?? now
  const seconds = Math.max(0.1, (now - (measures.toldAt ?? startedAt)) / 1000)
  measures.toldAt = now
  const { messages, rooms, lagMilliseconds, healed } = node.stats.take()
  const loopLag = Math.max(0, delay.max / 1e6 - resolutionMilliseconds)
  delay.reset()
  const told = {
    host: hostname(),
    process: process.pid,
    version,
    started_at: new Date(startedAt),
    seen_at: new Date(now),
    connections: node.live.connections(),
    rooms,
    messages_per_second: Math.round((messages / seconds) * 10) / 10,
    lag_ms: Math.round(lagMilliseconds),
    gaps_healed: healed,
    loop_lag_ms: Math.round(loopLag),
    memory_mb: Math.round(process.memoryUsage.rss() / bytesInMegabyte),
    degraded: node.metrics.degradedParts(),
  }
  await Nodes.updateOne({ _id: node.id }, { $set: told }, { upsert: true })
}
