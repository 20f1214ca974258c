/** A number that only rises; setting it is left to `raise`, which lets nothing lower it. */
export interface Rising {
  readonly at: number
  /** To this, unless it is there already. */
  raise(to: number): void
}

export function rising(start = 0): Rising {
  let at = start
  return {
    get at() {
      return at
    },
    raise(to) {
      if (to > at) at = to
    },
  }
}
