/** A number that only rises: `raise` is its only setter. */
export interface RisingNumber {
  readonly at: number
  /** Sets the number, unless it is higher already. */
  raise(to: number): void
}

export function risingNumber(start = 0): RisingNumber {
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
