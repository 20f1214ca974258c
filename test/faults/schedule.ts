import { setTimeout as pause } from 'node:timers/promises'
import type { PlazaNode } from './cluster.ts'
import type { Fault, Lane } from './faults.ts'
import type { Random } from './random.ts'
import { until } from './setup.ts'
import type { World } from './world.ts'

const lanes: readonly Lane[] = ['node', 'store', 'redis', 'links', 'people', 'services']
const restMilliseconds: Record<Lane, number> = {
  node: 800,
  store: 1_500,
  redis: 800,
  links: 1_000,
  people: 800,
  services: 800,
  last: 500,
}

/** Their faults take a part of the server away. */
const lanesOfParts: readonly Lane[] = ['node', 'store', 'redis']
/** The time without faults of the store that a node needs to start. */
const startMilliseconds = 10_000
/** One fault may take so long, and all rounds so much longer than they should; what is late is told, and the run goes on. */
const faultMilliseconds = 600_000
const lateMilliseconds = 1_200_000

export interface Plan {
  faults: readonly Fault[]
  /** The number of times each fault is injected; repeated until the time is over. */
  times: number
  seconds: number
  /** The number of messages to be acknowledged before the faults end; the run is prolonged by up to a minute for it. */
  acked: number
}

/** Injects every fault, in an order determined by the seed; returns how often each was injected. */
export async function injectAll(world: World, random: Random, plan: Plan): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const end = Date.now() + 1_000 * plan.seconds
  const last = end + lateMilliseconds
  const inLane = (lane: Lane) => {
    const faults = plan.faults.filter((fault) => fault.lane === lane)
    if (faults.length === 0) return []
    const round = random.shuffled(Array.from({ length: plan.times }, () => faults).flat())
    const targets = lane === 'node' ? world.cluster.nodes : [null]
    return targets.map((node, at) => {
      const mine = round.filter((_, index) => index % targets.length === at)
      return follow(world, random.fork(), { mine, node, end, last, counts })
    })
  }
  await Promise.all(lanes.flatMap(inLane))
  await Promise.all(inLane('last'))
  return counts
}

interface Course {
  mine: readonly Fault[]
  node: PlazaNode | null
  /** Rounds are repeated until then, and none of them goes on after the last moment. */
  end: number
  last: number
  counts: Map<string, number>
}

async function follow(world: World, random: Random, { mine, node, end, last, counts }: Course): Promise<void> {
  const [first, ...others] = world.cluster.nodes
  if (!first) return
  do {
    for (const fault of mine) {
      if (Date.now() > last) return
      await pause(restMilliseconds[fault.lane] * random.between(0.5, 1.5))
      const areUp = () => world.cluster.nodes.every(({ process: one }) => one.isUp)
      if (fault.lane === 'store') await until(areUp, startMilliseconds)
      const target = node ?? random.pick([first, ...others])
      note(world, fault, target.process.name)
      const mend = lanesOfParts.includes(fault.lane) ? world.history.disturb() : () => undefined
      const isDone = await world.step(`${fault.id}: ${fault.what}`, faultMilliseconds, async () => {
        await fault.inject(world, random, target)
        return true
      })
      mend()
      if (isDone) counts.set(fault.id, (counts.get(fault.id) ?? 0) + 1)
    }
  } while (Date.now() < end)
}

function note({ history }: World, { id, what }: Fault, where: string): void {
  const t = history.now()
  history.add({ t, proc: where, op: 'fault', room: '', type: 'info', kind: id, what })
  console.log(`${(t / 1_000).toFixed(1).padStart(6)} s  ${id} ${what}`)
}
