import type { Node } from '#server/kernel/context'

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

/**
 * Repeats work until the returned function is called, never twice at a time. An error is logged, and the next run
 * follows in its time.
 */
export function every(
  { logger }: Pick<Node, 'logger'>,
  milliseconds: number,
  work: () => Promise<unknown>,
  message: string,
): () => void {
  let [isWorking, isStopped] = [false, false]
  const workOnce = async () => {
    if (isWorking) return
    isWorking = true
    await work().catch((error: unknown) => {
      if (!isStopped) logger.warn({ error }, message)
    })
    isWorking = false
  }
  void workOnce()
  const timer = setInterval(workOnce, milliseconds).unref()
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}
