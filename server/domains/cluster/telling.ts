import { hostname } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Node } from '#server/kernel/context'
import { metrics } from '#server/kernel/metrics'
import { version } from '#server/kernel/version'
import { Nodes } from './model.ts'

const tellMilliseconds = 3_000
const resolutionMilliseconds = 20
const bytesInMegabyte = 2 ** 20

/** When this process began to measure, and what it measures for all its nodes. */
const startedAt = new Date()
const delay = monitorEventLoopDelay({ resolution: resolutionMilliseconds })
delay.enable()

const toldAt = new WeakMap<Node, number>()

/** Where others may ask for it, each node tells of itself every few seconds, and leaves the list when it ends. */
export function tellOfNode(node: Node): () => void {
  if (node.alone) return () => {}
  const tellQuietly = () => void tell(node).catch(() => {})
  tellQuietly()
  const timer = setInterval(tellQuietly, tellMilliseconds).unref()
  return () => {
    clearInterval(timer)
    void Nodes.deleteOne({ _id: node.id }).catch(() => {})
  }
}

/** Writes what this node has done since it last told. */
export async function tell(node: Node): Promise<void> {
  const now = node.now()
  const seconds = Math.max(0.1, (now - (toldAt.get(node) ?? startedAt.getTime())) / 1000)
  toldAt.set(node, now)
  const { messages, rooms, lagMilliseconds, healed } = node.figures.take()
  const loopLag = Math.max(0, delay.max / 1e6 - resolutionMilliseconds)
  delay.reset()
  const told = {
    host: hostname(),
    process: process.pid,
    version,
    started_at: startedAt,
    seen_at: new Date(now),
    connections: node.live.connections(),
    rooms,
    messages_per_second: Math.round((messages / seconds) * 10) / 10,
    lag_ms: Math.round(lagMilliseconds),
    gaps_healed: healed,
    loop_lag_ms: Math.round(loopLag),
    memory_mb: Math.round(process.memoryUsage.rss() / bytesInMegabyte),
    degraded: metrics.degradedParts(),
  }
  await Nodes.updateOne({ _id: node.id }, { $set: told }, { upsert: true })
}
