import { setTimeout as pause } from 'node:timers/promises'
import type { Node } from '#server/kernel/context'
import { repeatWork } from '../beat.ts'
import { refusalFrom } from '../http/deadline.ts'

/** Starts work without a wait. An error is logged, unless the returned function was called before. */
export function startInBackground(
  { logger }: Pick<Node, 'logger'>,
  work: () => Promise<unknown>,
  message: string,
): () => void {
  let isStopped = false
  work().catch((error: unknown) => {
    if (!isStopped) logger.warn({ error }, message)
  })
  return () => {
    isStopped = true
  }
}

const soonMilliseconds = 1_000

/**
 * Repeats work until the returned function is called, never twice at a time. Work that returned true, or was woken, is repeated soon.
 * An error is logged, and the next run follows in its time.
 */
export function every(
  { logger }: Pick<Node, 'logger'>,
  milliseconds: number,
  work: () => Promise<unknown>,
  message: string,
  onWake?: (wake: () => void) => void,
): () => void {
  let [isWorking, isStopped] = [false, false]
  const workOnce = async () => {
    if (isWorking || isStopped) return
    isWorking = true
    const isMore = await work().catch((error: unknown) => {
      if (!isStopped) logger.warn({ error }, message)
    })
    isWorking = false
    if (isMore === true) workSoon()
  }
  let soon: NodeJS.Timeout | undefined
  const workSoon = () => {
    clearTimeout(soon)
    soon = setTimeout(workOnce, soonMilliseconds).unref()
  }
  void workOnce()
  onWake?.(workSoon)
  const stopRepeating = repeatWork(milliseconds, workOnce)
  return () => {
    isStopped = true
    stopRepeating()
  }
}

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
