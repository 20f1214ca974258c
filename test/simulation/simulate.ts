import { records } from '#server/domains/rooms/records'
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
  /** How much happens before everything is healed. */
  steps?: number
  nodes?: number | undefined
  profile?: ProfileName | undefined
  without?: AnyRule | null
}

export interface Run {
  events: readonly Event[]
  /** In the order in which they showed. */
  faults: readonly Fault[]
}

export const STEPS = 12_000

// Longer than nodes go without comparing their logs with the store's.
const HEALING = 30_000
/** What was stored last has reached every node after so long, by its poll where by nothing else. */
const SPREADING = 3_000

/** One run of a cluster under everything that may go wrong, checked at every event; the seed decides it all. */
export async function simulate(seed: number, options: Options = {}): Promise<Run> {
  const { stackTraceLimit } = Error
  // Thousands of refusals are made and their stacks never looked at.
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

/** The client waits by the clock of the world, and its chance is the world's; what is returned undoes that. */
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

/** What the records say when all is over. */
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
