import { seeded as numbers } from '#test/support/seeded'

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
  const next = numbers(seed)
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
