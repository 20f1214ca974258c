import { createRoomLog } from '#server/log/index'
import type { Clock, Hint, Hints, LogDependencies, LogStore, Observer, RoomLog } from '#server/log/types'
import { Kept, projection } from './chat.ts'
import { isDuplicate, Memory, memoryStore } from './memory-store.ts'

type Reach = NonNullable<Parameters<typeof memoryStore>[2]>

type Telling = Omit<Hints, 'pollMilliseconds'>

export interface Changes extends Partial<Omit<LogDependencies, 'hints'>> {
  reach?: Reach
  hints?: Telling
  pollMilliseconds?: number
}

/** Nodes on one store in memory, in real time. Hints reach the others at once if there are hints. */
export class Nodes {
  readonly memory = new Memory()
  readonly kept = new Kept((room) => this.memory.log(room))
  readonly #listeners: ((hint: Hint) => void)[] = []
  readonly #started: RoomLog[] = []
  #ids = 0
  hasHints = true

  readonly hints: Telling = {
    publish: (hint) => {
      if (this.hasHints) this.hint(hint)
    },
    subscribe: (listener) => void this.#listeners.push(listener),
  }

  /** An observer that ignores everything. */
  readonly silent: Observer = {
    appended() {},
    delivered() {},
    healed() {},
    collided() {},
    retried() {},
    follows() {},
    hinted() {},
  }

  storeOf(alone: boolean, reach?: Reach): LogStore {
    return memoryStore(this.memory, alone, reach)
  }

  hint(hint: Hint): void {
    for (const listener of this.#listeners) listener(hint)
  }

  /** A node without others. */
  alone(changes: Changes = {}): RoomLog {
    return this.start('alone', { store: memoryStore(this.memory, true, changes.reach), ...changes })
  }

  start(node: string, { pollMilliseconds = 50, hints = this.hints, ...changes }: Changes = {}): RoomLog {
    const log = createRoomLog({
      node,
      store: memoryStore(this.memory, false, changes.reach),
      records: {
        load: async (room, keys) => this.kept.load(room, keys),
        save: async (room, saved) => this.kept.save(room, saved),
      },
      projection,
      hints: { ...hints, pollMilliseconds: () => pollMilliseconds },
      clock: clockOf(1),
      random: Math.random,
      newId: () => `${node}-${++this.#ids}`,
      isDuplicate,
      isNeverSent: () => false,
      ...changes,
    })
    this.#started.push(log)
    return log
  }

  async stop(): Promise<void> {
    await Promise.all(this.#started.map((log) => log.close()))
  }
}

/** A connection to the store that counts the calls of one kind. */
export function counting(kind: keyof LogStore): { count: number; reach: Reach } {
  const calls = {
    count: 0,
    reach: async <T>(name: keyof LogStore, work: () => T): Promise<T> => {
      if (name === kind) calls.count++
      return work()
    },
  }
  return calls
}

/** A clock that runs `speed` times faster than real time. */
export function clockOf(speed: number): Clock {
  return {
    now: () => Date.now() * speed,
    elapsed: () => performance.now() * speed,
    sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds / speed)),
  }
}

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))
