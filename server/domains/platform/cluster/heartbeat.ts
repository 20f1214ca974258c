import { hostname } from 'node:os'
import { repeatWork } from '#server/kernel/beat'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { version } from '#server/kernel/version'
import { Nodes } from './model.ts'

const heartbeatMilliseconds = 3_000
const bytesInMegabyte = 2 ** 20

/** The times of this node: its start, and its last heartbeat. */
const measuresOf = nodeState(() => ({ startedAt: null as number | null, writtenAt: null as number | null }))

/** Each of several nodes writes a heartbeat every few seconds, and leaves the list at its end. */
export function startHeartbeat(node: Node): () => void {
  measuresOf(node).startedAt = node.now()
  if (node.alone) return () => {}
  const writeQuietly = () => void writeHeartbeat(node).catch(() => {})
  writeQuietly()
  const stop = repeatWork(heartbeatMilliseconds, writeQuietly)
  return () => {
    stop()
    void Nodes.deleteOne({ _id: node.id }).catch(() => {})
  }
}

/** Writes the work of this node since its last heartbeat. */
export async function writeHeartbeat(node: Node): Promise<void> {
  const now = node.now()
  const measures = measuresOf(node)
  const startedAt = measures.startedAt ?? now
  const seconds = Math.max(0.1, (now - (measures.writtenAt ?? startedAt)) / 1000)
  measures.writtenAt = now
  const { messages, rooms, lagMilliseconds, healed } = node.stats.take()
  const heartbeat = {
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
    loop_lag_ms: Math.round(node.metrics.takeLoopLag()),
    memory_mb: Math.round(process.memoryUsage.rss() / bytesInMegabyte),
    degraded: node.metrics.degradedParts(),
  }
  await Nodes.updateOne({ _id: node.id }, { $set: heartbeat }, { upsert: true })
}
