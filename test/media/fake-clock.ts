import type { Clock } from '#server/media/clock'

/** A clock that a test moves. */
export function fakeClock(): Clock & { pass(milliseconds: number): void } {
  let time = 0
  const later = new Set<{ at: number; act: () => void }>()
  return {
    now: () => time,
    after(milliseconds, act) {
      const one = { at: time + milliseconds, act }
      later.add(one)
      return () => void later.delete(one)
    },
    pass(milliseconds) {
      const end = time + milliseconds
      for (;;) {
        const [next] = [...later].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
        if (!next) break
        later.delete(next)
        time = next.at
        next.act()
      }
      time = end
    },
  }
}
