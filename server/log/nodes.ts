import { leaseMilliseconds } from './limits.ts'
import { GLOBAL, type LiveNodes, type LogStore } from './types.ts'

const lookMilliseconds = 1_000

/** A dead node is noticed within six seconds, with or without Redis. */
export function followNodes(store: LogStore, self: string, now: () => number): LiveNodes {
  let live: ReadonlySet<string> = new Set([self])
  const listeners: (() => void)[] = []
  const look = async () => {
    const leases = await store.leasesOf(GLOBAL, now() - leaseMilliseconds)
    const found = new Set([self, ...leases.map(({ node }) => node)])
    if (found.size === live.size && [...found].every((node) => live.has(node))) return
    live = found
    for (const listener of listeners) listener()
  }
  const timer = store.alone ? undefined : setInterval(() => void look().catch(() => {}), lookMilliseconds).unref()
  return {
    live: () => live,
    onChange: (listener) => void listeners.push(listener),
    stop: () => clearInterval(timer),
  }
}
