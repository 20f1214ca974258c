import { createRoomLog } from '#server/log/index'
import type { Hint, LogStore, RoomKey, RoomLog, Row, Rule } from '#server/log/types'
import { Kept, projection } from '#test/log/chat'
import { isDuplicate, Memory, memoryStore } from '#test/log/memory-store'
import type { World } from './world.ts'

export interface Faults {
  /** Are there hints at all? */
  hints: boolean
  /** How likely an insert hangs, and an answer is lost. */
  hang: number
  loss: number
  rulesOff: ReadonlySet<Rule>
}

const TIMEOUT = 150

/** A process: it may be killed, and it may stand still while the world goes on. */
export class Machine {
  readonly name: string
  readonly log: RoomLog
  readonly watchers = new Set<(room: RoomKey, row: Row) => void>()
  isDead = false
  pausedUntil = 0
  readonly #world: World
  readonly #hear: ((hint: Hint) => void)[] = []

  constructor(name: string, cluster: Cluster) {
    this.name = name
    this.#world = cluster.world
    const skew = cluster.world.between(-100, 100)
    let ids = 0
    this.log = createRoomLog({
      node: name,
      store: memoryStore(cluster.memory, false, (operation, work) => this.#reach(cluster, operation, work)),
      records: {
        load: (room, keys) => this.#reach(cluster, 'read', () => cluster.kept.load(room, keys)),
        save: (room, changes) => this.#reach(cluster, 'insert', () => cluster.kept.save(room, changes)),
      },
      projection,
      hints: {
        publish: (hint) => cluster.publish(this, hint),
        subscribe: (listener) => void this.#hear.push(listener),
      },
      clock: {
        now: () => this.#world.now + skew,
        sleep: (milliseconds) => new Promise((resolve) => this.after(milliseconds, resolve)),
      },
      random: this.#world.random,
      newId: () => `${name}-${++ids}`,
      isDuplicate,
      pollMilliseconds: 200,
      rulesOff: cluster.faults.rulesOff,
    })
    this.log.onRows((room, rows) => {
      for (const row of rows) for (const watch of [...this.watchers]) watch(room, row)
    })
  }

  /** Runs it on this machine: never once dead, and later when standing still. */
  after(milliseconds: number, run: () => void): void {
    this.#world.after(milliseconds, () => {
      if (this.isDead) return
      if (this.#world.now < this.pausedUntil) this.after(this.pausedUntil - this.#world.now, run)
      else run()
    })
  }

  hear(hint: Hint): void {
    for (const listener of this.#hear) listener(hint)
  }

  /** The way to the database: requests may hang and still arrive, answers may be lost. */
  #reach<T>(cluster: Cluster, operation: keyof LogStore, work: () => T): Promise<T> {
    const world = this.#world
    const isHung = operation === 'insert' && !cluster.isHealed && world.chance(cluster.faults.hang)
    const isLost = !cluster.isHealed && world.chance(cluster.faults.loss)
    return new Promise((resolve, reject) => {
      world.after(world.between(0.2, 2) + (isHung ? world.between(50, 500) : 0), () => {
        const settle = outcomeOf(work)
        if (!isLost) this.after(world.between(0.1, 1), () => settle(resolve, reject))
      })
      this.after(TIMEOUT, () => reject(new Error('No answer from the database.')))
    })
  }
}

/** Nodes on one database, and what goes wrong between them. */
export class Cluster {
  readonly world: World
  readonly faults: Faults
  readonly memory = new Memory()
  readonly kept = new Kept((room) => this.memory.log(room))
  readonly committedAt = new Map<string, number>()
  readonly machines: Machine[] = []
  isHealed = false
  #born = 0

  constructor(world: World, size: number, faults: Faults) {
    this.world = world
    this.faults = faults
    this.memory.onCommit = (row) => void this.committedAt.set(row._id, world.now)
    for (let index = 0; index < size; index++) this.start()
  }

  start(): void {
    this.machines.push(new Machine(`node${++this.#born}`, this))
  }

  any(): Machine {
    return this.world.pick(this.machines)
  }

  publish(from: Machine, hint: Hint): void {
    if (!this.faults.hints) return
    for (const machine of this.machines) {
      if (machine === from || this.world.chance(0.15)) continue
      for (let copies = this.world.chance(0.1) ? 2 : 1; copies > 0; copies--) {
        machine.after(this.world.between(0.2, 6), () => machine.hear(hint))
      }
    }
  }

  /** Kills machines and starts others, lets machines stand still, until healed. */
  async trouble(): Promise<void> {
    while (!this.isHealed) {
      await this.world.sleep(this.world.between(500, 2_500))
      if (this.isHealed) return
      const machine = this.any()
      if (this.world.chance(0.5)) {
        machine.pausedUntil = this.world.now + this.world.pick([300, 1_500, 6_500])
      } else {
        machine.isDead = true
        this.machines.splice(this.machines.indexOf(machine), 1)
        await this.world.sleep(this.world.between(50, 800))
        this.start()
      }
    }
  }
}

function outcomeOf<T>(work: () => T): (resolve: (value: T) => void, reject: (error: unknown) => void) => void {
  try {
    const value = work()
    return (resolve) => resolve(value)
  } catch (error) {
    return (_, reject) => reject(error)
  }
}
