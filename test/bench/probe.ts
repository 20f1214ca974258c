import { monitorEventLoopDelay } from 'node:perf_hooks'

export interface Reading {
  cpuMicroseconds: number
  rssBytes: number
  lagMilliseconds: number
}

const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()

/** `memory` collects all garbage first, and what runs right after it is slower for that. */
export type Probe = 'probe' | 'memory'

// Loaded into the server that is measured: tells what it has used, and how late its turns were since the last time it was asked.
process.on('message', (message: Probe) => {
  if (message === 'memory') (globalThis as { gc?: () => void }).gc?.()
  const { user, system } = process.cpuUsage()
  const lagMilliseconds = Math.max(0, delay.percentile(99) / 1e6 - 5)
  process.send?.({ cpuMicroseconds: user + system, rssBytes: process.memoryUsage.rss(), lagMilliseconds })
  delay.reset()
})
