import { StoredJobs } from '#server/kernel/model'

/** Does a job run, or is one due? An export goes on after the answer to the call that began it. */
export async function hasJobsAtWork(): Promise<boolean> {
  const due = { due_at: { $lte: new Date() } }
  return (await StoredJobs.countDocuments({ state: 'open', $or: [due, { run: { $ne: null } }] })) > 0
}
