import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'

const everyMilliseconds = 2_000

/** What the nodes tell of themselves while a run goes on. */
export class Figures {
  maxRssBytes = 0
  maxLagSeconds = 0
  unhandled = 0
  slowConsumers = 0
  #isStopped = false

  start({ nodes }: Cluster): void {
    for (const { opsPort } of nodes) void this.#watch(`http://127.0.0.1:${opsPort}/metrics`)
  }

  stop(): void {
    this.#isStopped = true
  }

  async #watch(url: string): Promise<void> {
    let before = new Map<string, number>()
    for (; !this.#isStopped; await pause(everyMilliseconds)) {
      const now = await read(url).catch(() => null)
      if (now === null) continue
      const grown = (name: string) => {
        const [was, is] = [before.get(name) ?? 0, now.get(name) ?? 0]
        return is < was ? is : is - was
      }
      this.maxRssBytes = Math.max(this.maxRssBytes, now.get('process_resident_memory_bytes') ?? 0)
      this.maxLagSeconds = Math.max(this.maxLagSeconds, now.get('nodejs_eventloop_lag_p99_seconds') ?? 0)
      this.unhandled += grown('plaza_unhandled_total')
      this.slowConsumers += grown('plaza_slow_consumers_total')
      before = now
    }
  }
}

async function read(url: string): Promise<Map<string, number>> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) })
  const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [name = '', value] = line.split(' ')
      return [name, Number(value)]
    }),
  )
}
