import type { LogStore } from '#server/log/types'
import type { Memory } from '#test/log/memory-store'
import type { Tables } from './collections.ts'
import type { Database } from './database.ts'

/**
 * A primary that is cut off from its majority, as seen by the machines still connected to it: it accepts rows that will be
 * rolled back, and confirms nothing.
 */
export class Split {
  /** The state of the majority at the moment of the partition. */
  readonly frozen: Memory
  /** The state of the primary itself. */
  readonly own: Memory
  readonly tables: Tables

  constructor(database: Database) {
    this.frozen = database.memory.copy()
    this.own = database.memory.copy()
    this.tables = database.copyOver(this.frozen)
  }
}

export const isWrite = (name: keyof LogStore): boolean =>
  name === 'insert' || name === 'raiseHeads' || name === 'writeLeases'

export class NoMajority extends Error {}
