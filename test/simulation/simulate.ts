import { records } from '#server/domains/rooms/room-state/records'
import { GLOBAL } from '#server/log/index'
import type { RoomKey } from '#server/log/types'
import { type Rule, rulesOfLog } from '#test/log/weaker'
import { Checker, type Fault } from './checker.ts'
import { Cluster } from './cluster.ts'
import { type Event, History } from './history.ts'
import { type RuleOfParts, rulesOfParts } from './machine.ts'
import { People, roomsOf } from './people.ts'
import { type Profile, type ProfileName, profileOf } from './weather.ts'
import { type Due, World } from './world.ts'

export type AnyRule = Rule | RuleOfParts

export const allRules: readonly AnyRule[] = [...rulesOfLog, ...rulesOfParts]

export interface Options {
  /** The number of events before the faults end. */
  steps?: number
  nodes?: number | undefined
  profile?: ProfileName | undefined
  without?: AnyRule | null
}

export interface Run {
  events: readonly Event[]
  /** In the order in which they were noticed. */
  faults: readonly Fault[]
}

export const STEPS = 12_000

// Longer than the interval in which nodes compare their logs with the store's.
const HEALING = 30_000
/** Milliseconds after which the last row has reached every node, at the latest by its poll. */
const SPREADING = 3_000

/** One run of a cluster with all faults, checked at every event; fully determined by the seed. */
export async function simulate(seed: number, options: Options = {}): Promise<Run> {
  const { stackTraceLimit } = Error
  // Thousands of refusals are created, and their stacks are never read.
  Error.stackTraceLimit = 0
  const world = new World(seed)
  const putBack = liveIn(world)
  try {
    return await live(world, seed, options)
  } finally {
    putBack()
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Replaces the client's timers and random numbers by those of the world; returns a function that restores them. */
function liveIn(world: World): () => void {
  const { setTimeout, clearTimeout, crypto } = globalThis
  const own = {
    setTimeout: (run: () => void, milliseconds = 0) => world.after(milliseconds, run),
    clearTimeout: (due?: Due) => {
      if (due) due.run = null
    },
  }
  Object.assign(globalThis, own)
  const chance = (numbers: Uint32Array) => numbers.map(() => world.random() * 2 ** 32)
  Object.defineProperty(crypto, 'getRandomValues', { value: chance, configurable: true })
  return () => {
    Object.assign(globalThis, { setTimeout, clearTimeout })
    Reflect.deleteProperty(crypto, 'getRandomValues')
  }
}

async function live(world: World, seed: number, options: Options): Promise<Run> {
  const { steps = STEPS, without = null } = options
  const checker = new Checker()
  const history = new History(
    () => world.now,
    (event) => checker.see(event),
  )
  const profile = profileFor(seed, options)
  const cluster = new Cluster(world, history, profile, roomsOf(profile), without)
  const people = new People(cluster, history)
  await world.run({ steps })
  cluster.heal()
  people.stop()
  await world.run({ milliseconds: HEALING })
  while (!people.areDone) await world.run({ milliseconds: SPREADING })
  void people.comeBack().then(() => people.welcome())
  await world.run({ milliseconds: 4 * SPREADING })
  await finish(world, cluster, people, history)
  await readRecords(world, checker.facts(), history)
  cluster.database.close()
  return { events: history.events, faults: checker.faults }
}

function profileFor(seed: number, { nodes, profile }: Options): Profile {
  const chosen = profileOf(seed, profile).profile
  return nodes === undefined ? chosen : { ...chosen, nodes }
}

async function finish(world: World, cluster: Cluster, people: People, history: History): Promise<void> {
  for (const { name, log } of cluster.machines) {
    for (const room of [...people.rooms, GLOBAL]) {
      const head = log.headHere(room)
      if (head) history.note({ op: 'follows', node: name, room, seq: head.seq })
    }
  }
  for (const reader of people.readers) void reader.finish()
  await world.run({ milliseconds: 8_000 })
}

/** Reads the records at the end. */
async function readRecords(world: World, facts: readonly [RoomKey, string[]][], history: History): Promise<void> {
  let isRead = false
  const read = async () => {
    for (const [room, keys] of facts)
      for (const [key, { value }] of await records.load(room, keys)) history.note({ op: 'read', room, key, value })
    isRead = true
  }
  void read()
  while (!isRead) await world.run({ milliseconds: 100 })
  history.note({ op: 'over' })
}
