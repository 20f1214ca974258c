/** Runs a stored job; returns when to run it again, or null. */
export type RunJob = (id: string) => Promise<{ againInMilliseconds: number } | null>

/** Delivers ids of stored jobs. It may lose, repeat or delay them, as the database finds them again. */
export interface JobQueue {
  /** Never waits and never throws. An id that is on its way already is not doubled. */
  push(id: string): void
  /** Runs delivered jobs, so many at once. The stop waits for running ones. */
  consume(run: RunJob, atOnce: number): () => Promise<void>
  close(): Promise<void>
}
