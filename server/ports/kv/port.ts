/** Short-lived counters that nodes share. */
export interface Kv {
  /**
   * Takes one from a sliding window of `limit` in `windowMilliseconds`, unless it is full.
   * `freeAt`: when full, the time the oldest leaves; else the time the window is empty again.
   */
  slide(
    key: string,
    limit: number,
    windowMilliseconds: number,
    now: number,
  ): Promise<{ allowed: boolean; used: number; freeAt: number }>
  /** How many nodes count beside each other while they cannot count together. */
  sharedBy(nodes: number): void
  close(): Promise<void>
}
