/** Time that only goes forward, in milliseconds, and what is to be done later. */
export interface Clock {
  now(): number
  /** Returns what calls it off. */
  after(milliseconds: number, act: () => void): () => void
}

export const steadyClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, act) {
    const timer = setTimeout(act, milliseconds)
    return () => clearTimeout(timer)
  },
}
