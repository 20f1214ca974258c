/** Runs the stored job of an id; says when to run it again, or null where that is not needed. */
export type RunJob = (id: string) => Promise<{ againInMilliseconds: number } | null>

/**
 * Brings ids of stored jobs to somebody who runs them. It may lose an id, double it or bring it late:
 * what is to be done is in the database, and found there again.
 */
export interface JobQueue {
  /** Never waits and never throws. An id that is on its way already is not doubled. */
  push(id: string): void
  /** Runs what comes, so many at once. The stop waits for those that run. */
  consume(run: RunJob, atOnce: number): () => Promise<void>
  close(): Promise<void>
}
