import { setTimeout as pause } from 'node:timers/promises'

/** Takes a step of a run. One that fails, or does not end in time, is told as a breach, and results in null. */
export type Step = <T>(what: string, milliseconds: number, act: () => Promise<T>) => Promise<T | null>

/** What follows a step goes on whatever became of it, so that a run always comes to its table. */
export const stepsTo =
  (breaches: string[]): Step =>
  async (what, milliseconds, act) => {
    const over = new AbortController()
    const late = async () => {
      await pause(milliseconds, undefined, { signal: over.signal })
      throw new Error(`has not ended after ${milliseconds / 1_000} s`)
    }
    try {
      return await Promise.race([act(), late()])
    } catch (error) {
      breaches.push(`${what}: ${sentenceOf(error)}`)
      return null
    } finally {
      over.abort()
    }
  }

/** With what caused it, as the first sentence is often that of a port. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return `${error}`
  return error.cause === undefined ? error.message : `${error.message}, because of ${sentenceOf(error.cause)}`
}
