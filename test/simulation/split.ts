import type { LogStore } from '#server/log/types'
import type { Kept } from '#test/log/chat'
import type { Memory } from '#test/log/memory-store'

/**
 * A primary that is cut off from its majority, as the machines see it that are still on its side: it takes rows that will be
 * rolled back, and confirms nothing.
 */
export class Split {
  /** What the majority had when it was cut off. */
  readonly frozen: Memory
  /** What it has itself. */
  readonly own: Memory
  readonly records: Kept

  constructor(memory: Memory, kept: Kept) {
    this.frozen = memory.copy()
    this.own = memory.copy()
    this.records = kept.copy((room) => this.frozen.log(room))
  }
}

export const isWrite = (name: keyof LogStore): boolean =>
  name === 'insert' || name === 'raiseHeads' || name === 'writeLeases'

export class NoMajority extends Error {}
