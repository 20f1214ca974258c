import type { z } from 'zod'
import type { JobQueue } from '#server/ports/jobs/port'
import type { Job, Jobs, Node } from './context.ts'
import { newId } from './ids.ts'
import {
  type Claim,
  claimJob,
  countJobs,
  dueJobs,
  finishJob,
  postponeJob,
  putBack,
  renewJob,
  storeJob,
} from './job-store.ts'
import { seal, unseal } from './seal.ts'

interface JobTimes {
  leaseMilliseconds: number
  sweepMilliseconds: number
  /** Before the second attempt; doubled before each one after it. */
  backOffMilliseconds: number
  /** How long a stop waits for what runs. */
  stopMilliseconds: number
}

/** A process that dies delays its jobs by a lease and a sweep at the most. */
const usualTimes: JobTimes = {
  leaseMilliseconds: 15_000,
  sweepMilliseconds: 10_000,
  backOffMilliseconds: 1_000,
  stopMilliseconds: 8_000,
}

const atOnce = 8
const mostAttempts = 10
/** Until a job is looked at again of whose kind as many run as may. */
const fullMilliseconds = 500
const longestError = 300
const queueStopMilliseconds = 1_000

/** Thrown by a job that would fail at each attempt. */
export class GiveUp extends Error {
  override readonly name = 'GiveUp'
}

/** Declares a kind of work: the one place that says what it carries and what is done. */
export const job = <Payload extends z.ZodType>(declared: Job<Payload>): Job<Payload> => declared

/** Runs stored jobs of these kinds on this node, each at least once, until the stop. */
export function startJobs(
  node: Node,
  queue: JobQueue,
  declared: readonly Job[],
  times: JobTimes = usualTimes,
): Jobs & { close(): Promise<void> } {
  const kinds = new Map(declared.map((one) => [one.kind, one]))
  const names = [...kinds.keys()]
  const stopping = new AbortController()
  const running = new Set<Promise<unknown>>()
  /** How many of each kind run here. */
  const busy = new Map<string, number>()
  let isClosing = false

  async function sweep(): Promise<void> {
    for (const id of await dueJobs(names, node.now())) queue.push(id)
    for (const [state, count] of Object.entries(await countJobs())) node.metrics.jobs('outbox', state, count)
  }

  async function run(id: string) {
    if (isClosing) return null
    const ended = claimAndRun(id)
    running.add(ended)
    return ended.finally(() => running.delete(ended))
  }

  async function claimAndRun(id: string) {
    const claim = await claimJob(id, names, node.now(), times.leaseMilliseconds)
    if (!claim) return null
    const count = busy.get(claim.kind) ?? 0
    if (count >= (kinds.get(claim.kind)?.atOnce ?? atOnce)) {
      await putBack(claim, node.now() + fullMilliseconds)
      return { againInMilliseconds: fullMilliseconds }
    }
    busy.set(claim.kind, count + 1)
    return runClaimed(claim).finally(() => busy.set(claim.kind, (busy.get(claim.kind) ?? 1) - 1))
  }

  async function runClaimed(claim: Claim) {
    const lease = keepLease(claim)
    try {
      if (claim.attempts > mostAttempts) throw new Error('The process died at each attempt')
      await perform(claim, lease.signal)
      await finishJob(claim, 'done', node.now())
      node.metrics.jobRun(claim.kind, 'done')
      return null
    } catch (error) {
      return await giveBack(claim, error)
    } finally {
      lease.end()
    }
  }

  async function perform({ id, kind, payload, attempts: attempt }: Claim, signal: AbortSignal): Promise<void> {
    const declaration = kinds.get(kind)
    const carried = declaration?.payload.parse(JSON.parse(unseal(node.settings.sessionKeys, payload)))
    await declaration?.run(carried as never, { id, attempt, node, signal })
  }

  /** The message of an error may be shown; a payload never is. */
  async function giveBack(claim: Claim, error: unknown): Promise<{ againInMilliseconds: number } | null> {
    const { id, kind, attempts } = claim
    const said = (error instanceof Error ? error.message : String(error)).slice(0, longestError)
    const isLast = attempts >= mostAttempts || error instanceof GiveUp
    node.metrics.jobRun(kind, isLast ? 'failed' : 'retried')
    node.logger[isLast ? 'error' : 'warn']({ job: id, kind, attempts, error: said }, 'a job failed')
    if (isLast) {
      await finishJob(claim, 'failed', node.now(), said)
      return null
    }
    const againInMilliseconds = times.backOffMilliseconds * 2 ** (attempts - 1)
    await postponeJob(claim, node.now() + againInMilliseconds, said)
    return { againInMilliseconds }
  }

  /** Renewed while the job runs; the run is told to end when the lease was lost, or when the node stops for good. */
  function keepLease(claim: Claim): { signal: AbortSignal; end(): void } {
    const lost = new AbortController()
    const renewing = setInterval(() => {
      renewJob(claim, node.now() + times.leaseMilliseconds).then(
        (isOurs) => isOurs || lost.abort(),
        () => undefined,
      )
    }, times.leaseMilliseconds / 3)
    renewing.unref()
    const end = () => clearInterval(renewing)
    const signal = AbortSignal.any([lost.signal, stopping.signal])
    signal.addEventListener('abort', end)
    return { signal, end }
  }

  const stopConsuming = queue.consume(run, atOnce)
  const swept = () => void sweep().catch((error: unknown) => node.logger.warn({ error }, 'jobs were not swept'))
  const sweeping = setInterval(swept, times.sweepMilliseconds).unref()
  swept()
  return {
    async add(declaration, payload, id = newId(), dueAt = node.now()) {
      const carried = JSON.stringify(declaration.payload.parse(payload))
      await storeJob(id, declaration.kind, seal(node.settings.sessionKeys, carried), node.now(), dueAt)
      if (dueAt <= node.now()) queue.push(id)
    },
    async close() {
      isClosing = true
      clearInterval(sweeping)
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
