/** Each call is served by one run that begins after it. Calls during a run share the next run. */
export function coalesceRuns(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  return () => {
    if (next) return next
    next = running.then(() => {
      next = null
      return run()
    })
    running = next.catch(() => {})
    return next
  }
}
