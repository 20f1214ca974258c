import { setTimeout as pause } from 'node:timers/promises'
import { refusalFrom } from './http/deadline.ts'

const againMilliseconds = 250
const giveUpMilliseconds = 5 * 60_000

/**
 * Repeats work of the start while the store or this machine is too busy, because no caller waits. Each step must be
 * idempotent.
 */
export async function retryOnStart<T>(work: () => Promise<T>): Promise<T> {
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
