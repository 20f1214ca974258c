import { setTimeout } from 'node:timers/promises'

const LONGEST_WAIT_MILLISECONDS = 250

/**
 * Reads what a write was just refused for as a duplicate. The refusal may come before a majority has the other document,
 * and until then it is not read. Null where it is gone.
 */
export async function readBack<T>(read: () => Promise<T | null>): Promise<T | null> {
  for (let wait = 1; ; wait *= 2) {
    const found = await read()
    if (found !== null || wait > LONGEST_WAIT_MILLISECONDS) return found
    await setTimeout(wait)
  }
}
