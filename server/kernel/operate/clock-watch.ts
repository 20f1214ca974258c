import { repeatWork } from '#server/kernel/beat'
import type { Logger } from './logger.ts'

const toleranceMilliseconds = 5_000
const everyMilliseconds = 1_000
/** A forward step may correct the clock, or follow a sleep. */
const longestForwardMilliseconds = 3_600_000

/** Detects steps of the store's clock. */
export interface ClockWatch {
  /** Has the clock stepped so recently that times of rooms may be wrong or stand still? */
  hasStepped(): boolean
  /** Gets the time of a row. If it is ahead of the clock, the clock was set before this process began. */
  saw(at: number): void
  stop(): void
}

/**
 * Compares the store's clock with a monotonic one. A difference of more than 5 s is a step. It is reported for its own
 * length, because rooms with later rows keep their time so long. A forward step is reported for an hour at most.
 */
export function watchClock(now: () => number, logger: Logger): ClockWatch {
  const elapsed = () => performance.now()
  const offset = () => now() - elapsed()
  let known = offset()
  let until = Number.NEGATIVE_INFINITY
  const holdFor = (milliseconds: number) => {
    until = Math.max(until, elapsed() + milliseconds)
  }
  const look = () => {
    const seen = offset()
    const step = seen - known
    if (Math.abs(step) > toleranceMilliseconds) {
      holdFor(step < 0 ? -step : Math.min(step, longestForwardMilliseconds))
      logger.warn({ seconds: Math.round(step / 1_000) }, 'the clock of the store has stepped')
    }
    known = seen
  }
  const stop = repeatWork(everyMilliseconds, look)
  return {
    hasStepped() {
      look()
      return elapsed() < until
    },
    saw(at) {
      const ahead = at - now()
      if (ahead > toleranceMilliseconds) holdFor(ahead)
    },
    stop,
  }
}
