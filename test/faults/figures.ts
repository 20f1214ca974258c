import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster, PlazaNode } from './cluster.ts'

/** The metrics of a node, by name. */
export type Numbers = ReadonlyMap<string, number>

const everyMilliseconds = 2_000

/** Collects the metrics of the nodes during a run. */
export class Figures {
  maxRssBytes = 0
  maxLagSeconds = 0
  unhandled = 0
  #isStopped = false

  start({ nodes }: Cluster): void {
    for (const node of nodes) void this.#watch(node)
  }

  stop(): void {
    this.#isStopped = true
  }

  async #watch(node: PlazaNode): Promise<void> {
    let before: Numbers = new Map()
    for (; !this.#isStopped; await pause(everyMilliseconds)) {
      const now = await readNumbers(node).catch(() => null)
      if (now === null) continue
      this.maxRssBytes = Math.max(this.maxRssBytes, now.get('process_resident_memory_bytes') ?? 0)
      this.maxLagSeconds = Math.max(this.maxLagSeconds, now.get('nodejs_eventloop_lag_p99_seconds') ?? 0)
      this.unhandled += risen(before, now, 'plaza_unhandled_total')
      before = now
    }
  }
}

/** The increase of a counter; a counter that was reset counts from 0. */
export function risen(before: Numbers | undefined, now: Numbers, name: string): number {
  const [was, is] = [before?.get(name) ?? 0, now.get(name) ?? 0]
  return is < was ? is : is - was
}

export async function readNumbers({ opsPort }: PlazaNode): Promise<Numbers> {
  const answer = await fetch(`http://127.0.0.1:${opsPort}/metrics`, { signal: AbortSignal.timeout(1_000) })
  const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [name = '', value] = line.split(' ')
      return [name, Number(value)]
    }),
  )
}
