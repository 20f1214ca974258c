export interface Random {
  /** At least 0 and below 1. */
  next(): number
  /** At least `from` and below `to`. */
  between(from: number, to: number): number
  pick<T>(list: readonly [T, ...T[]]): T
  shuffled<T>(list: readonly T[]): T[]
  /** An independent sequence, which concurrent users do not affect. */
  fork(): Random
}

/** The same numbers for the same seed. */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  return {
    next,
    between: (from, to) => from + next() * (to - from),
    pick: (list) => list[below(list.length)] ?? list[0],
    shuffled(list) {
      const rest = [...list]
      return list.map(() => rest.splice(below(rest.length), 1)[0]).filter((one) => one !== undefined)
    },
    fork: () => seeded(Math.floor(next() * 2 ** 32)),
  }
}
