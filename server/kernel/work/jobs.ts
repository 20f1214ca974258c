import type { z } from 'zod'
import type { Job, Jobs, Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { nodeState } from '#server/kernel/operate/node-state'
import { seal, unseal } from '#server/kernel/seal'
import { type StoredJob, StoredJobs } from '#server/kernel/store/model'
import type { UpdateQuery } from '#server/ports/database/port'
import type { JobQueue } from '#server/ports/jobs/port'
import { every } from './every.ts'
import { type Lease, type LeasedDocument, takeLease, withLease } from './lease.ts'

const sweptAtOnce = 100

/** The death of a process delays its jobs by at most a lease and a sweep. */
const jobLease: Lease<StoredJob> = {
  model: StoredJobs,
  holder: 'run',
  held_until: 'due_at',
  milliseconds: 15_000,
}

/** Stores a job; an existing one of this id stays unchanged. */
async function storeJob(id: string, kind: string, payload: string, now: number, dueAt = now): Promise<void> {
  const row = { kind, payload, state: 'open', attempts: 0, due_at: new Date(dueAt), created_at: new Date(now) }
  await StoredJobs.updateOne({ _id: id }, { $setOnInsert: row }, { upsert: true })
}

/** The state of a job that waits for its next run. */
const waitingJob = (until: number, change: Partial<StoredJob>): UpdateQuery<StoredJob> => ({
  $set: { due_at: new Date(until), run: null, ...change },
})

const finishedJob = (
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
async function dueJobs(kinds: readonly string[], now: number): Promise<{ due: string[]; nextAt: number }> {
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
async function countJobs(now: number): Promise<{ open: number; failed: number }> {
  const begun = [{ due_at: { $lte: new Date(now) } }, { attempts: { $gt: 0 } }]
  const [open, failed] = await Promise.all([
    StoredJobs.countDocuments({ state: 'open', $or: begun }),
    StoredJobs.countDocuments({ state: 'failed' }),
  ])
  return { open, failed }
}

interface JobTimes {
  leaseMilliseconds: number
  sweepMilliseconds: number
  /** The pause before the second attempt; it doubles with each further one. */
  backOffMilliseconds: number
  /** The longest wait for running jobs at a stop. */
  stopMilliseconds: number
}

const usualTimes: JobTimes = {
  leaseMilliseconds: jobLease.milliseconds,
  sweepMilliseconds: 1_000,
  backOffMilliseconds: 1_000,
  stopMilliseconds: 8_000,
}

const atOnce = 8
const mostAttempts = 10
/** The pause before a job is tried again whose kind is at its limit. */
const fullMilliseconds = 500
const longestError = 300
const queueStopMilliseconds = 1_000
const sweepsPerCount = 10

/** Thrown by a job that would fail at every attempt. */
export class PermanentFailure extends Error {
  override readonly name = 'GiveUp'
}

/** Declares a kind of job: its payload and its work. */
export const job = <Payload extends z.ZodType>(declared: Job<Payload>): Job<Payload> => declared

/** Rises after each time at which a job is due was written by this node. */
const writtenOn = nodeState(() => ({ times: 0 }))

/** Runs stored jobs of these kinds on this node, each at least once, until the stop. */
export function startJobs(
  node: Node,
  queue: JobQueue,
  declared: readonly Job[],
  times: JobTimes = usualTimes,
): Jobs & { close(): Promise<void> } {
  const kinds = new Map(declared.map((one) => [one.kind, one]))
  const names = [...kinds.keys()]
  const kept = node.settings.retention.jobMilliseconds
  const lease = { ...jobLease, milliseconds: times.leaseMilliseconds }
  const stopping = new AbortController()
  const running = new Set<Promise<unknown>>()
  /** The running jobs of each kind. */
  const busy = new Map<string, number>()
  const written = writtenOn(node)
  let isClosing = false
  let sweeps = 0
  let [sweptTimes, countedTimes, nextAt] = [-1, -1, Number.NEGATIVE_INFINITY]

  /** Finds jobs that are due, or that the queue has lost. A single node knows whether a look can find any. */
  async function sweep(): Promise<void> {
    const { times } = written
    if (!node.alone || times !== sweptTimes || node.now() >= nextAt) {
      const found = await dueJobs(names, node.now())
      for (const id of found.due) queue.push(id)
      ;[sweptTimes, nextAt] = [times, found.due.length > 0 ? Number.NEGATIVE_INFINITY : found.nextAt]
    }
    if (sweeps++ % sweepsPerCount > 0 || (node.alone && times === countedTimes)) return
    countedTimes = times
    for (const [state, count] of Object.entries(await countJobs(node.now()))) node.metrics.jobs('outbox', state, count)
  }

  async function run(id: string) {
    if (isClosing) return null
    const ended = takeAndRun(id)
    running.add(ended)
    return ended.finally(() => running.delete(ended))
  }

  async function takeAndRun(id: string) {
    const due = { _id: id, state: 'open' as const, kind: { $in: names } }
    const taken = await takeLease(lease, node, due, { $inc: { attempts: 1 } })
    const run = taken && withLease(lease, node, taken, (held) => runTaken(taken, held), stopping.signal)
    return await Promise.resolve(run).finally(() => written.times++)
  }

  async function runTaken(taken: StoredJob, held: LeasedDocument<StoredJob>) {
    const { kind, attempts } = taken
    const count = busy.get(kind) ?? 0
    if (count >= (kinds.get(kind)?.atOnce ?? atOnce)) {
      await held.end(waitingJob(node.now() + fullMilliseconds, { attempts: attempts - 1 }))
      return { againInMilliseconds: fullMilliseconds }
    }
    busy.set(kind, count + 1)
    try {
      if (attempts > mostAttempts) throw new Error('The process died at each attempt')
      const againAt = await perform(taken, held.signal)
      await held.end(againAt ? waitingJob(againAt, { attempts: 0 }) : finishedJob('done', node.now(), kept))
      node.metrics.jobRun(kind, 'done')
      return null
    } catch (error) {
      return await giveBack(taken, held, error)
    } finally {
      busy.set(kind, (busy.get(kind) ?? 1) - 1)
    }
  }

  async function perform({ _id: id, kind, payload = '', attempts: attempt }: StoredJob, signal: AbortSignal) {
    const declaration = kinds.get(kind)
    const carried = declaration?.payload.parse(JSON.parse(unseal(node.settings.sessionKeys, payload)))
    return declaration?.run(carried as never, { id, attempt, node, signal })
  }

  /** Error messages may be shown, payloads never. */
  async function giveBack({ _id: job, kind, attempts }: StoredJob, held: LeasedDocument<StoredJob>, error: unknown) {
    const message = (error instanceof Error ? error.message : String(error)).slice(0, longestError)
    const isLast = attempts >= mostAttempts || error instanceof PermanentFailure
    node.metrics.jobRun(kind, isLast ? 'failed' : 'retried')
    node.logger[isLast ? 'error' : 'warn']({ job, kind, attempts, error: message }, 'a job failed')
    if (isLast) {
      await held.end(finishedJob('failed', node.now(), kept, message))
      return null
    }
    const againInMilliseconds = times.backOffMilliseconds * 2 ** (attempts - 1)
    await held.end(waitingJob(node.now() + againInMilliseconds, { error: message }))
    return { againInMilliseconds }
  }

  const stopConsuming = queue.consume(run, atOnce)
  const stopSweeping = every(node, times.sweepMilliseconds, sweep, 'jobs were not swept')
  return {
    async add(declaration, payload, id = newId(), dueAt = node.now()) {
      const carried = JSON.stringify(declaration.payload.parse(payload))
      await storeJob(id, declaration.kind, seal(node.settings.sessionKeys, carried), node.now(), dueAt)
      written.times++
      if (dueAt <= node.now()) queue.push(id)
    },
    async close() {
      isClosing = true
      stopSweeping()
      const stopped = stopConsuming()
      await atMost(times.stopMilliseconds, Promise.allSettled(running))
      stopping.abort()
      await atMost(queueStopMilliseconds, stopped)
    },
  }
}

async function atMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}
