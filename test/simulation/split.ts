import type { LogStore } from '#server/log/types'
import type { Memory } from '#test/log/memory-store'
import type { Tables } from './collections.ts'
import type { Database } from './database.ts'

/**
 * A primary that is cut off from its majority, as the machines see it that are still on its side: it takes rows that will be
 * rolled back, and confirms nothing.
 */
export class Split {
  /** What the majority had when it was cut off. */
  readonly frozen: Memory
  /** What it has itself. */
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
