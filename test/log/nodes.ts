import { createRoomLog } from '#server/log/index'
import type { Hint, Hints, LogDependencies, LogStore, RoomLog } from '#server/log/types'
import { Kept, projection } from './chat.ts'
import { isDuplicate, Memory, memoryStore } from './memory-store.ts'

/** Nodes on one memory, in real time. Hints reach the others at once unless there are none. */
export class Nodes {
  readonly memory = new Memory()
  readonly kept = new Kept((room) => this.memory.log(room))
  readonly #listeners: ((hint: Hint) => void)[] = []
  readonly #alone: boolean
  #ids = 0
  hasHints = true

  constructor({ alone = false } = {}) {
    this.#alone = alone
  }

  readonly hints: Hints = {
    publish: (hint) => {
      if (this.hasHints) for (const listener of this.#listeners) listener(hint)
    },
    subscribe: (listener) => void this.#listeners.push(listener),
  }

  start(node: string, changes: Partial<LogDependencies> & { reach?: Parameters<typeof memoryStore>[2] } = {}): RoomLog {
    return createRoomLog({
      node,
      store: memoryStore(this.memory, this.#alone, changes.reach),
      records: {
        load: async (room, keys) => this.kept.load(room, keys),
        save: async (room, saved) => this.kept.save(room, saved),
      },
      projection,
      hints: this.hints,
      clock: {
        now: Date.now,
        sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds).unref()),
      },
      random: Math.random,
      newId: () => `${node}-${++this.#ids}`,
      isDuplicate,
      pollMilliseconds: 50,
      ...changes,
    })
  }
}

/** A `reach` that can be stopped and let go on, per operation. */
export class Gate {
  readonly #closed = new Map<keyof LogStore, Promise<void>>()
  readonly seen: (keyof LogStore)[] = []

  readonly reach = async <T>(name: keyof LogStore, work: () => T): Promise<T> => {
    this.seen.push(name)
    await this.#closed.get(name)
    return work()
  }

  /** Holds back this operation; returns what lets it go on. */
  close(name: keyof LogStore): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#closed.set(name, promise)
    return () => {
      this.#closed.delete(name)
      resolve()
    }
  }
}
