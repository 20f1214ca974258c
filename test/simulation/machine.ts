import { framesOf } from '#server/domains/rooms/messages/live'
import { eventOf } from '#server/domains/rooms/messages/pages'
import { projection } from '#server/domains/rooms/room-state/projection'
import { createRoomLog, SKIPPED } from '#server/log/index'
import type { Clock, Hint, LogDependencies, RoomKey, RoomLog, Row } from '#server/log/types'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { isDuplicate } from '#test/log/memory-store'
import { weaker } from '#test/log/weaker'
import type { Cluster } from './cluster.ts'
import { kindOf, removedBy } from './product.ts'
import { NotEncodable, roadTo } from './road.ts'
import type { Split } from './split.ts'
import type { World } from './world.ts'

// The largest deviation of a clock: the promised accuracy of each node's estimate of the store's clock.
const SKEW = 250

/** A listener of a room on a machine. */
export interface Listener {
  user: string
  told(rows: readonly Row[], events: readonly RoomEvent[]): void
  out(): void
}

/** A simulated process, which may be killed or paused. */
export class Machine {
  readonly name: string
  readonly log: RoomLog
  isDead = false
  readonly #world: World
  readonly #cutsFrames: boolean
  readonly #showsUnknown: boolean
  readonly #hear: ((hint: Hint) => void)[] = []
  readonly #audiences = new Map<RoomKey, Set<Listener>>()
  readonly #coldUntil: number
  /** The database as this machine sees it while its primary is cut off from the majority. */
  split: Split | null = null
  #pausedUntil = 0
  #skew: number

  constructor(name: string, cluster: Cluster) {
    this.name = name
    this.#world = cluster.world
    this.#showsUnknown = cluster.without !== 'show what is not known'
    this.#cutsFrames = cluster.without !== 'cut frames at removals'
    this.#coldUntil = this.#world.now + this.#world.between(0, cluster.profile.coldness)
    this.#skew = this.#world.between(-SKEW, SKEW)
    this.log = createRoomLog(this.#dependencies(cluster))
    this.log.onRows((room, rows) => this.#deliver(room, rows))
  }

  #dependencies(cluster: Cluster): LogDependencies {
    const { world, without, profile } = cluster
    let ids = 0
    const clock: Clock = {
      now: () => world.now + this.#skew,
      elapsed: () => world.now + (without === 'measure by a clock that only rises' ? this.#skew : 0),
      sleep: (milliseconds) => new Promise((resolve) => this.after(milliseconds, resolve)),
    }
    return {
      node: this.name,
      ...roadTo(cluster, this),
      projection,
      hints: {
        publish: (hint) => cluster.publish(this, hint),
        subscribe: (listener) => void this.#hear.push(listener),
        pollMilliseconds: () => (profile.hints ? 1_000 : 500),
      },
      clock,
      random: world.random,
      newId: () => `${this.name}-${++ids}`,
      isDuplicate,
      isNeverSent: (error) => without !== 'know what is never sent' && error instanceof NotEncodable,
      policy: without && !isOfParts(without) ? weaker[without] : {},
    }
  }

  /** Runs a function on this machine: not at all if the machine is dead, later if it is paused. */
  after(milliseconds: number, run: () => void) {
    return this.#world.after(milliseconds, () => this.#run(run))
  }

  #run(run: () => void): void {
    if (this.isDead) return
    if (this.#world.now < this.#pausedUntil) this.after(this.#pausedUntil - this.#world.now, run)
    else run()
  }

  /** True shortly after its start. */
  get isCold(): boolean {
    return this.#world.now < this.#coldUntil
  }

  hear(hint: Hint): void {
    if (this.isCold) return
    for (const listener of this.#hear) listener(hint)
  }

  /** The end of its last or current pause. */
  get pausedUntil(): number {
    return this.#pausedUntil
  }

  /** Its clock jumps, and later back. */
  step(by: number): void {
    this.#skew += by
  }

  /** Pauses, and continues with a stepped clock. */
  pause(milliseconds: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#world.now + milliseconds)
    this.#skew = this.#world.between(-SKEW, SKEW)
  }

  kill(): void {
    this.isDead = true
    for (const audience of this.#audiences.values()) for (const listener of [...audience]) listener.out()
  }

  listen(room: RoomKey, listener: Listener): () => void {
    const audience = this.#audiences.get(room) ?? new Set()
    this.#audiences.set(room, audience.add(listener))
    return () => void audience.delete(listener)
  }

  /** Sends rows to readers. */
  show(rows: readonly Row[]): RoomEvent[] {
    if (!this.#showsUnknown && rows.some((row) => kindOf(row) === null && row.type !== SKIPPED))
      throw new Error('A row of another version.')
    return rows.map(eventOf)
  }

  /** A removed reader is gone before the next frame is sent. */
  #deliver(room: RoomKey, rows: readonly Row[]): void {
    const audience = this.#audiences.get(room)
    if (!audience) return
    const frames = this.#cutsFrames ? framesOf(rows, removedBy) : [{ rows, removed: null }]
    for (const frame of frames) {
      const events = this.show(frame.rows)
      for (const listener of [...audience]) listener.told(frame.rows, events)
      for (const listener of [...audience]) if (listener.user === frame.removed) listener.out()
    }
    if (this.#cutsFrames) return
    const removed = new Set(rows.map(removedBy))
    for (const listener of [...audience]) if (removed.has(listener.user)) listener.out()
  }
}

/** Rules of the parts around the log; each can be switched off, to test that the checker notices it. */
export const rulesOfParts = [
  'cut frames at removals',
  'write only newer records',
  'say what was not written',
  'read what the majority has',
  'know what is never sent',
  'end pages at the head that was judged',
  'measure by a clock that only rises',
  'show what is not known',
] as const
export type RuleOfParts = (typeof rulesOfParts)[number]

function isOfParts(rule: string): rule is RuleOfParts {
  return rulesOfParts.some((each) => each === rule)
}
