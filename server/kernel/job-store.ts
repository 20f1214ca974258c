import { newId } from './ids.ts'
import { type StoredJob, StoredJobs } from './model.ts'

const keptMilliseconds = { done: 24 * 60 * 60 * 1000, failed: 14 * 24 * 60 * 60 * 1000 }
const sweptAtOnce = 500

/** A job that nobody else runs until its lease is over. */
export interface Claim {
  id: string
  run: string
  kind: string
  payload: string
  attempts: number
}

/** Stores a job; an existing one of this id is left unchanged. */
export async function storeJob(id: string, kind: string, payload: string, now: number, dueAt = now): Promise<void> {
  const row = { kind, payload, state: 'open', attempts: 0, due_at: new Date(dueAt), created_at: new Date(now) }
  await StoredJobs.updateOne({ _id: id }, { $setOnInsert: row }, { upsert: true })
}

/** Takes a job that is due, for the time of a lease. Of several at once one gets it. */
export async function claimJob(
  id: string,
  kinds: readonly string[],
  now: number,
  leaseMilliseconds: number,
): Promise<Claim | null> {
  const run = newId()
  const row = await StoredJobs.findOneAndUpdate(
    { _id: id, state: 'open', kind: { $in: [...kinds] }, due_at: { $lte: new Date(now) } },
    { $set: { run, due_at: new Date(now + leaseMilliseconds) }, $inc: { attempts: 1 } },
    { returnDocument: 'after' },
  ).lean<StoredJob>()
  return row && { id, run, kind: row.kind, payload: row.payload ?? '', attempts: row.attempts }
}

/** False where the lease was over and somebody else runs the job now. */
export async function renewJob({ id, run }: Claim, until: number): Promise<boolean> {
  const { matchedCount } = await StoredJobs.updateOne({ _id: id, run }, { $set: { due_at: new Date(until) } })
  return matchedCount === 1
}

/** Gives a job back, to be run again from then on. */
export async function postponeJob({ id, run }: Claim, until: number, error: string): Promise<void> {
  await StoredJobs.updateOne({ _id: id, run }, { $set: { due_at: new Date(until), run: null, error } })
}

/** Gives back a job that was not begun: that was no attempt. */
export async function putBack({ id, run }: Claim, until: number): Promise<void> {
  await StoredJobs.updateOne({ _id: id, run }, { $set: { due_at: new Date(until), run: null }, $inc: { attempts: -1 } })
}

export async function finishJob(
  { id, run }: Claim,
  state: 'done' | 'failed',
  now: number,
  error: string | null = null,
): Promise<void> {
  const expires_at = new Date(now + keptMilliseconds[state])
  await StoredJobs.updateOne(
    { _id: id, run },
    { $set: { state, error, run: null, finished_at: new Date(now), expires_at }, $unset: { payload: '' } },
  )
}

/** Jobs that are due and that nobody runs, the longest waiting first. */
export async function dueJobs(kinds: readonly string[], now: number): Promise<string[]> {
  const rows = await StoredJobs.find(
    { state: 'open', due_at: { $lte: new Date(now) }, kind: { $in: [...kinds] } },
    { _id: 1 },
  )
    .sort({ due_at: 1 })
    .limit(sweptAtOnce)
    .lean<StoredJob[]>()
  return rows.map(({ _id }) => _id)
}

export async function countJobs(): Promise<{ open: number; failed: number }> {
  const [open, failed] = await Promise.all([
    StoredJobs.countDocuments({ state: 'open' }),
    StoredJobs.countDocuments({ state: 'failed' }),
  ])
  return { open, failed }
}
