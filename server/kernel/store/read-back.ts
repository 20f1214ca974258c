import { setTimeout } from 'node:timers/promises'

const LONGEST_WAIT_MILLISECONDS = 250

/**
 * Reads the document of a duplicate-key error; null if it was deleted. The error may precede the majority's commit, and
 * until then the document cannot be read.
 */
export async function readDuplicate<T>(read: () => Promise<T | null>): Promise<T | null> {
  for (let wait = 1; ; wait *= 2) {
    const found = await read()
    if (found !== null || wait > LONGEST_WAIT_MILLISECONDS) return found
    await setTimeout(wait)
  }
}
