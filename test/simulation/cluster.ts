import { GLOBAL } from '#server/log/index'
import { type Hint, ROW_VERSION, type RoomKey } from '#server/log/types'
import type { Rule } from '#test/log/weaker'
import { Database } from './database.ts'
import type { History } from './history.ts'
import { Machine, type RuleOfParts } from './machine.ts'
import { Split } from './split.ts'
import type { Profile, Range } from './weather.ts'
import type { World } from './world.ts'

/** Nodes on one database, and the faults between them. */
export class Cluster {
  readonly world: World
  readonly profile: Profile
  readonly without: Rule | RuleOfParts | null
  readonly database: Database
  readonly machines: Machine[] = []
  isHealed = false
  readonly #history: History
  #born = 0

  constructor(
    world: World,
    history: History,
    profile: Profile,
    rooms: readonly RoomKey[],
    without: Rule | RuleOfParts | null,
  ) {
    this.world = world
    this.profile = profile
    this.without = without
    this.#history = history
    this.database = new Database(world, rooms, { torn: profile.tornRecords }, (room, key, seq) =>
      history.note({ op: 'recorded', room, key, seq }),
    )
    this.database.memory.onCommit = (row) => history.note({ op: 'stored', row })
    this.database.collections.isNewerOnly = without !== 'write only newer records'
    for (let index = 0; index < profile.nodes; index++) this.#start()
    void this.#trouble()
    if (profile.splits) void this.#every(profile.splits, () => this.#split())
    if (profile.steps) void this.#every(profile.steps, () => this.#step())
    if (profile.strangers) void this.#every(profile.strangers, () => this.#strange())
  }

  async #every(pause: Range, act: () => void | Promise<void>): Promise<void> {
    for (;;) {
      await this.world.sleep(this.world.within(pause))
      if (this.isHealed) return
      await act()
    }
  }

  /** The primary loses its majority: some machines stay connected to it, until it steps down and its unreplicated writes are rolled back. */
  async #split(): Promise<void> {
    const split = new Split(this.database)
    const cut = this.machines.filter(() => this.world.chance(0.5))
    for (const machine of cut) machine.split = split
    this.#history.note({ op: 'split', nodes: cut.map(({ name }) => name) })
    await this.world.sleep(this.world.within(this.profile.splitting))
    for (const machine of cut) machine.split = null
    this.#history.note({ op: 'rejoined', nodes: cut.map(({ name }) => name) })
  }

  #step(): void {
    const machine = this.any()
    const by = this.world.chance(0.5) ? 10_000 : -10_000
    machine.step(by)
    this.#history.note({ op: 'stepped', node: machine.name, by })
    this.world.after(this.world.within(this.profile.stepping), () => machine.step(-by))
  }

  /** A node of a later version appends a row of an unknown type, or one that cannot be applied. */
  #strange(): void {
    const last = this.database.memory.log(this.world.pick([...this.database.memory.logs.keys(), GLOBAL])).at(-1)
    if (!last) return
    const seq = last.seq + 1
    const id = `strange-${last.room}-${seq}`
    const empty = { body: {}, target: null, until: null, reason: null, n: null, chained: false }
    const own = {
      _id: id,
      cid: id,
      seq,
      type: this.world.pick(['novelty', 'member.joined']),
      v: ROW_VERSION + 1,
      sender: 'stranger',
      applied_seq: seq,
    }
    this.database.memory.insertOne({ ...last, ...empty, ...own, at: Math.max(last.at, this.world.now) })
  }

  heal(): void {
    this.isHealed = true
    this.database.collections.isHealed = true
  }

  any(): Machine {
    return this.world.pick(this.machines)
  }

  /** Hints may be lost, repeated, late and out of order. */
  publish(from: Machine, hint: Hint): void {
    if (!this.profile.hints) return
    for (const machine of this.machines) {
      if (machine === from || this.world.chance(0.15)) continue
      for (let copies = this.world.chance(0.1) ? 2 : 1; copies > 0; copies--) {
        const delay = this.world.chance(0.02) ? this.world.between(50, 500) : this.world.between(0.2, 6)
        machine.after(delay, () => machine.hear(hint))
      }
    }
  }

  /** Kills, stops, pauses and starts machines until the faults end. */
  async #trouble(): Promise<void> {
    const { world, profile } = this
    for (;;) {
      await world.sleep(world.within(profile.trouble))
      if (this.isHealed) return
      const [machine, what] = [this.any(), world.random()]
      if (what >= profile.kills + profile.stops) this.pause(machine)
      else if (this.machines.length > 1) this.#end(machine, what < profile.kills)
    }
  }

  pause(machine: Machine): void {
    machine.pause(this.world.pick(this.profile.pauses))
    this.#history.note({ op: 'paused', node: machine.name })
  }

  #end(machine: Machine, isKilled: boolean): void {
    this.machines.splice(this.machines.indexOf(machine), 1)
    this.#history.note({ op: isKilled ? 'killed' : 'stopped', node: machine.name })
    if (isKilled) machine.kill()
    else void machine.log.close().then(() => machine.kill())
    this.world.after(this.world.between(50, 800), () => this.#start())
  }

  #start(): void {
    const machine = new Machine(`node${++this.#born}`, this)
    this.machines.push(machine)
    this.#history.note({ op: 'started', node: machine.name })
  }
}
