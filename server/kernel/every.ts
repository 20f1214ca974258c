import type { Node } from './context.ts'

/** Does some work beside all else. An error is logged with this message, unless the returned function was called before. */
export function beside({ logger }: Pick<Node, 'logger'>, work: () => Promise<unknown>, message: string): () => void {
  let isStopped = false
  work().catch((error: unknown) => {
    if (!isStopped) logger.warn({ error }, message)
  })
  return () => {
    isStopped = true
  }
}

/**
 * Does some work at once, and then again and again until the returned function is called; never twice at a time. An error is logged with
 * this message, and the work is done again when it is next due.
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
