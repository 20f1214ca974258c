import type { Rule } from '#server/log/types'
import { check } from './checker.ts'
import { Cluster } from './cluster.ts'
import { History } from './history.ts'
import { People } from './people.ts'
import { World } from './world.ts'

export interface Run {
  faults: Record<string, number>
  rows: number
  acknowledged: number
  shown: number
}

export interface Options {
  nodes?: number
  seconds?: number
  hints?: boolean
  hang?: number
  loss?: number
  without?: Rule
}

/** One run of a cluster under everything that may go wrong; the seed decides it all. */
export async function simulate(seed: number, options: Options = {}): Promise<Run> {
  const world = new World(seed)
  const { nodes = 3, seconds = 6, hints = true, hang = 0.006, loss = 0.002, without } = options
  const cluster = new Cluster(world, nodes, { hints, hang, loss, rulesOff: new Set(without ? [without] : []) })
  const history = new History(cluster)
  const people = new People(cluster, history)
  people.start()
  void cluster.trouble()
  await world.run(1_000 * seconds)
  cluster.isHealed = true
  people.stop()
  // Until all is written and everybody has caught up.
  await world.run(10_000)
  return {
    faults: check(cluster, people, history),
    rows: [...cluster.memory.logs.values()].reduce((sum, log) => sum + log.length, 0),
    acknowledged: history.answers.filter(({ outcome }) => outcome?.row).length,
    shown: people.readers.reduce((sum, reader) => sum + reader.shown.length, 0),
  }
}
