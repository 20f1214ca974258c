import type { Logger } from './logger.ts'

const toleranceMilliseconds = 5_000
const everyMilliseconds = 1_000
/** A step forward may be one that put the clock right, or the end of a sleep. */
const longestForwardMilliseconds = 3_600_000

/** Notices that the clock of the store was set. */
export interface ClockWatch {
  /** Has it stepped, so lately that the times of rooms may be wrong or stand still? */
  hasStepped(): boolean
  /** A row was given this time: where the clock was set before this process began, it is ahead of it. */
  saw(at: number): void
  stop(): void
}

/**
 * The clock of the store beside one that only rises. Where they part by more than 5 s, it has stepped, and that is so for as long as
 * the step was: rooms that have rows of an hour ahead stand still for an hour. A step forward is told for an hour at most.
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
  const timer = setInterval(look, everyMilliseconds).unref()
  return {
    hasStepped() {
      look()
      return elapsed() < until
    },
    saw(at) {
      const ahead = at - now()
      if (ahead > toleranceMilliseconds) holdFor(ahead)
    },
    stop: () => clearInterval(timer),
  }
}
