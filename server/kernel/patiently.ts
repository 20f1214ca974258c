import { setTimeout as pause } from 'node:timers/promises'
import { refusalFrom } from './deadline.ts'

const againMilliseconds = 250
const giveUpMilliseconds = 5 * 60_000

/**
 * Does work of the start again while the store, or this machine, is too busy for it: nobody waits for an answer there. Each step of the
 * work must be one that is done once, however often it is begun.
 */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const end = performance.now() + giveUpMilliseconds
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (refusalFrom(error)?.code !== 'SERVICE_UNAVAILABLE' || performance.now() > end) throw error
      await pause(againMilliseconds)
    }
  }
}
