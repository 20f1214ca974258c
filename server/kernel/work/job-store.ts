import { type StoredJob, StoredJobs } from '#server/kernel/store/model'
import type { UpdateQuery } from '#server/ports/database/port'
import type { Lease } from './lease.ts'

const sweptAtOnce = 100

/** The death of a process delays its jobs by at most a lease and a sweep. */
export const jobLease: Lease<StoredJob> = {
  model: StoredJobs,
  holder: 'run',
  held_until: 'due_at',
  milliseconds: 15_000,
}

/** Stores a job; an existing one of this id stays unchanged. */
export async function storeJob(id: string, kind: string, payload: string, now: number, dueAt = now): Promise<void> {
  const row = { kind, payload, state: 'open', attempts: 0, due_at: new Date(dueAt), created_at: new Date(now) }
  await StoredJobs.updateOne({ _id: id }, { $setOnInsert: row }, { upsert: true })
}

/** The state of a job that waits for its next run. */
export const waitingJob = (until: number, change: Partial<StoredJob>): UpdateQuery<StoredJob> => ({
  $set: { due_at: new Date(until), run: null, ...change },
})

export const finishedJob = (
  state: 'done' | 'failed',
  now: number,
  kept: Readonly<Record<'done' | 'failed', number>>,
  error: string | null = null,
): UpdateQuery<StoredJob> => ({
  $set: {
    ...{ state, error, run: null, finished_at: new Date(now) },
    expires_at: new Date(now + kept[state]),
  },
  $unset: { payload: '' },
})

/** Jobs that are due and not running, the longest waiting first, and when the next one is due. */
export async function dueJobs(kinds: readonly string[], now: number): Promise<{ due: string[]; nextAt: number }> {
  const rows = await StoredJobs.find({ state: 'open', kind: { $in: [...kinds] } }, { due_at: 1 })
    .sort({ due_at: 1 })
    .limit(sweptAtOnce)
    .lean<Pick<StoredJob, '_id' | 'due_at'>[]>()
  const due = rows.filter(({ due_at }) => due_at.getTime() <= now)
  const later = rows[due.length]?.due_at.getTime()
  const isWhole = rows.length < sweptAtOnce
  return { due: due.map(({ _id }) => _id), nextAt: later ?? (isWhole ? Number.POSITIVE_INFINITY : now) }
}

/** Counts failed jobs, and open ones without those that are due later. */
export async function countJobs(now: number): Promise<{ open: number; failed: number }> {
  const begun = [{ due_at: { $lte: new Date(now) } }, { attempts: { $gt: 0 } }]
  const [open, failed] = await Promise.all([
    StoredJobs.countDocuments({ state: 'open', $or: begun }),
    StoredJobs.countDocuments({ state: 'failed' }),
  ])
  return { open, failed }
}
