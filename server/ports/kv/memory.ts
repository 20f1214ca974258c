import { repeatWork } from '#server/kernel/beat'
import type { Kv } from './port.ts'

interface Window {
  /** Times of the calls inside the window, oldest first. */
  times: number[]
  expiresAt: number
}

const sweepMilliseconds = 30_000

export const memoryKv = (): Kv => {
  const windows = new Map<string, Window>()
  // The caller's clock, which may be another than this machine's, and may be set back.
  let latest = 0
  const stopSweeping = repeatWork(sweepMilliseconds, () => {
    for (const [key, window] of windows) if (window.expiresAt < latest - sweepMilliseconds) windows.delete(key)
  })
  return {
    async slide(key, limit, windowMilliseconds, now) {
      latest = now
      const window = windows.get(key) ?? { times: [], expiresAt: 0 }
      windows.set(key, window)
      const first = window.times.findIndex((time) => time > now - windowMilliseconds)
      window.times.splice(0, first < 0 ? window.times.length : first)
      const allowed = window.times.length < limit
      if (allowed) window.times.push(now)
      const newest = window.times.at(-1) ?? now
      const oldest = window.times[0] ?? now
      window.expiresAt = newest + windowMilliseconds
      return { allowed, used: window.times.length, freeAt: (allowed ? newest : oldest) + windowMilliseconds }
    },
    sharedBy() {},
    async close() {
      stopSweeping()
    },
  }
}
