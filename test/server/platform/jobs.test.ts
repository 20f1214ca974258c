// Modes: embedded, two-nodes-redis
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { Job, JobRun, Node } from '#server/kernel/context'
import { type StoredJob, StoredJobs } from '#server/kernel/store/model'
import { job, startJobs } from '#server/kernel/work/jobs'
import { bullQueue } from '#server/ports/jobs/bullmq'
import { memoryQueue } from '#server/ports/jobs/memory'
import type { JobQueue } from '#server/ports/jobs/port'
import { type Booted, boot } from '#test/support/boot'
import { redisUnderTest } from '#test/support/test-servers'

let server: Booted
beforeAll(async () => {
  server = await boot()
})
afterAll(() => server.close())

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const times = { leaseMilliseconds: 1_200, sweepMilliseconds: 50, backOffMilliseconds: 1, stopMilliseconds: 5_000 }
const patient = { ...times, leaseMilliseconds: 5_000, sweepMilliseconds: 500 }
const never = { ...times, sweepMilliseconds: 3_600_000 }
/** Loses every id that is given to it. */
const forgetful: JobQueue = { push() {}, consume: () => async () => {}, async close() {} }

let kinds = 0
const kindOf = (run: (payload: { text: string }, run: JobRun) => ReturnType<Job['run']>) =>
  job({ kind: `test.${process.pid}-${++kinds}`, payload: z.object({ text: z.string() }), run })

const nodeAt = (at: number): Node => {
  const app = server.apps[at % server.apps.length]
  if (!app) throw new Error('No node')
  return app.node
}

/** Runs jobs of this kind, on the next node, until the test ends. */
function worker(kind: Job<z.ZodObject<{ text: z.ZodString }>>, { at = 0, queue = memoryQueue(), timing = times } = {}) {
  const running = startJobs(nodeAt(at), queue, [kind], timing)
  cleanups.push(running.close)
  return running
}

const rowOf = (id: string) => StoredJobs.findOne({ _id: id }).lean<StoredJob>()
const over = (id: string, state: 'done' | 'failed' = 'done') =>
  vi.waitFor(async () => expect(await rowOf(id)).toMatchObject({ state }), { timeout: 15_000, interval: 20 })

describe('P18: a job is done at least once, and seen to be done once', () => {
  test('it is stored before the answer, and nobody reads in the database what it carries', async () => {
    const done: string[] = []
    const kind = kindOf(async ({ text }) => void done.push(text))
    const stored = startJobs(nodeAt(0), forgetful, [kind], never)
    cleanups.push(stored.close)
    await stored.add(kind, { text: 'code 123456' }, 'stored-1')
    const row = await rowOf('stored-1')
    expect(row).toMatchObject({ state: 'open', attempts: 0 })
    expect(JSON.stringify(row)).not.toMatch(/123456|MTIzNDU2/)
    worker(kind)
    await over('stored-1')
    expect(done).toEqual(['code 123456'])
    expect(await rowOf('stored-1')).not.toHaveProperty('payload')
  })

  test('a job that no worker was told of is found in the database', async () => {
    const done = vi.fn(async () => {})
    const kind = kindOf(done)
    worker(kind, { at: 1 })
    await worker(kind, { queue: forgetful, timing: never }).add(kind, { text: 'x' }, 'swept-1')
    await over('swept-1')
    expect(done).toHaveBeenCalledOnce()
  })

  test('one that is due later is run within a second of its time, and not before, though the node that stored it has ended', async () => {
    const runs: number[] = []
    const kind = kindOf(async () => void runs.push(nodeAt(1).now()))
    const ending = startJobs(nodeAt(0), memoryQueue(), [kind])
    const dueAt = nodeAt(0).now() + 1_500
    await ending.add(kind, { text: 'x' }, 'later-1', dueAt)
    await ending.close()
    cleanups.push(startJobs(nodeAt(1), memoryQueue(), [kind]).close)
    await over('later-1')
    expect(runs).toHaveLength(1)
    expect(runs[0]).toBeGreaterThanOrEqual(dueAt)
    expect(runs[0]).toBeLessThan(dueAt + 1_500)
  })

  test('one that names the time of its next run is run again then, and fails as seldom as a new one', async () => {
    const runs: [number, number][] = []
    let dueAt = 0
    const kind = kindOf(async (_payload, { node, attempt }) => {
      runs.push([node.now(), attempt])
      if (runs.length === 1) throw new Error('failed once')
      if (runs.length > 3) return
      dueAt = node.now() + 300
      return dueAt
    })
    await worker(kind).add(kind, { text: 'x' }, 'again-1')
    await over('again-1')
    expect(runs.map(([, attempt]) => attempt)).toEqual([1, 2, 1, 1])
    expect(runs[3]?.[0]).toBeGreaterThanOrEqual(dueAt)
  })

  test('of a kind that leaves room for others only so many run at once, and all are done', async () => {
    let running = 0
    let most = 0
    const others: string[] = []
    const slow = {
      ...kindOf(async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 300))
        running -= 1
      }),
      atOnce: 2,
    }
    const quick = kindOf(async ({ text }) => void others.push(text))
    const jobs = startJobs(nodeAt(0), memoryQueue(), [slow, quick], patient)
    cleanups.push(jobs.close)
    for (let at = 0; at < 10; at++) await jobs.add(slow, { text: 'x' }, `slow-${at}`)
    await jobs.add(quick, { text: 'letter' }, 'quick')
    await over('quick')
    expect((await rowOf('slow-9'))?.state).toBe('open')
    for (let at = 0; at < 10; at++) await over(`slow-${at}`)
    expect(most).toBe(2)
    expect(await rowOf('slow-9')).toMatchObject({ attempts: 1 })
  })

  test('several workers run each job once', async () => {
    const runs: string[] = []
    const kind = kindOf(async ({ text }) => {
      runs.push(text)
      await new Promise(setImmediate)
    })
    const [first] = [0, 1, 2].map((at) => worker(kind, { at, timing: patient }))
    const texts = Array.from({ length: 50 }, (_, at) => `job ${at}`)
    await Promise.all(texts.map((text, at) => first?.add(kind, { text }, `many-${at}`)))
    await vi.waitFor(() => expect(new Set(runs).size).toBe(50), { timeout: 40_000 })
    for (const at of texts.keys()) await over(`many-${at}`)
    expect(runs).toHaveLength(50)
  }, 60_000)

  test('one with an id of its own is done once, however often it is asked for', async () => {
    const done = vi.fn(async () => {})
    const kind = kindOf(done)
    const one = worker(kind)
    await Promise.all(Array.from({ length: 10 }, () => one.add(kind, { text: 'x' }, 'same-1')))
    await over('same-1')
    await one.add(kind, { text: 'x' }, 'same-1')
    await worker(kindOf(async () => {})).add(kind, { text: 'x' }, 'same-1')
    expect(done).toHaveBeenCalledOnce()
    expect(await rowOf('same-1')).toMatchObject({ state: 'done', attempts: 1 })
  })

  test('a worker that dies in the middle delays its job by a lease, and cannot end it any more', async () => {
    const begun: number[] = []
    let revive = () => {}
    const kind = kindOf(async (_payload, { attempt, signal }) => {
      begun.push(attempt)
      if (attempt > 1) return
      await new Promise<void>((resolve) => {
        revive = resolve
      })
      expect(signal.aborted).toBe(true)
      throw new Error('a late word of the dead')
    })
    const dying = startJobs(nodeAt(0), memoryQueue(), [kind], { ...times, stopMilliseconds: 0 })
    await dying.add(kind, { text: 'x' }, 'killed-1')
    await vi.waitFor(() => expect(begun).toEqual([1]))
    await dying.close()
    worker(kind, { at: 1 })
    await over('killed-1')
    revive()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(begun).toEqual([1, 2])
    expect(await rowOf('killed-1')).toMatchObject({ state: 'done', error: null })
  })

  test('a job that takes longer than its lease is not run twice', async () => {
    const runs = vi.fn(() => new Promise<void>((resolve) => setTimeout(resolve, 3 * times.leaseMilliseconds)))
    const kind = kindOf(runs)
    worker(kind, { at: 1 })
    await worker(kind).add(kind, { text: 'x' }, 'long-1')
    await over('long-1')
    expect(runs).toHaveBeenCalledOnce()
  })

  test('one that fails is tried again, later and later, and its last failure stays visible', async () => {
    const at: number[] = []
    const kind = kindOf(async () => {
      at.push(Date.now())
      throw new Error('the service is away')
    })
    await worker(kind).add(kind, { text: 'x' }, 'failing-1')
    await over('failing-1', 'failed')
    expect(at).toHaveLength(10)
    expect((at[9] ?? 0) - (at[8] ?? 0)).toBeGreaterThanOrEqual(256)
    const row = await rowOf('failing-1')
    expect(row).toMatchObject({ attempts: 10, error: 'the service is away' })
    expect(row).not.toHaveProperty('payload')
    const { metrics } = nodeAt(0)
    const text = await metrics.text()
    expect(text).toContain(`plaza_job_runs_total{kind="${kind.kind}",outcome="failed"} 1`)
    await vi.waitFor(async () =>
      expect(await metrics.text()).toMatch(/plaza_jobs\{queue="outbox",state="failed"\} [1-9]/),
    )
  })

  test('a job of a kind that a node does not know waits for one that does', async () => {
    const known = kindOf(async () => {})
    const unknown = kindOf(async () => {})
    const one = worker(known)
    await one.add(unknown, { text: 'x' }, 'unknown-1')
    await one.add(known, { text: 'x' }, 'known-1')
    await over('known-1')
    expect(await rowOf('unknown-1')).toMatchObject({ state: 'open', attempts: 0 })
    worker(unknown)
    await over('unknown-1')
  })

  test('a stop waits for what runs', async () => {
    let finish = () => {}
    const kind = kindOf(async () => {
      await new Promise<void>((resolve) => {
        finish = resolve
      })
    })
    const stopping = worker(kind)
    await stopping.add(kind, { text: 'x' }, 'stopped-1')
    await vi.waitFor(async () => expect(await rowOf('stopped-1')).toMatchObject({ attempts: 1 }))
    let isClosed = false
    const closed = stopping.close().then(() => {
      isClosed = true
    })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(isClosed).toBe(false)
    finish()
    await closed
    expect(await rowOf('stopped-1')).toMatchObject({ state: 'done' })
  })

  test('jobs are run while Redis is not there', async () => {
    const queue = bullQueue('redis://127.0.0.1:9', 'plaza:test')
    cleanups.push(queue.close)
    const done = vi.fn(async () => {})
    const kind = kindOf(done)
    await worker(kind, { queue, timing: { ...never, stopMilliseconds: 200 } }).add(kind, { text: 'x' }, 'no-redis-1')
    await over('no-redis-1')
    expect(done).toHaveBeenCalledOnce()
  })
})

/** Run in the modes that have a Redis. */
function overRedis(redis: string): void {
  const url = `${redis}/9`
  const prefix = `plaza:jobs-${process.pid}`
  const queue = () => {
    const one = bullQueue(url, prefix)
    cleanups.push(one.close)
    return one
  }

  test('a Redis that is emptied with 200 jobs in it loses none and doubles none', async () => {
    const runs: string[] = []
    const kind = kindOf(async ({ text }) => {
      runs.push(text)
      await new Promise((resolve) => setTimeout(resolve, 5))
    })
    const [first] = [0, 1].map((at) => worker(kind, { at, queue: queue(), timing: patient }))
    const ids = Array.from({ length: 200 }, (_, at) => `flushed-${at}`)
    const emptying = new Redis(url)
    const added = Promise.all(ids.map((id) => first?.add(kind, { text: id }, id)))
    for (const _ of Array(5)) {
      await emptying.flushdb()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await added
    await emptying.flushdb()
    emptying.disconnect()
    for (const id of ids) await over(id)
    expect(runs.sort()).toEqual(ids.sort())
  }, 120_000)

  test('what fails is tried again', async () => {
    const attempts: number[] = []
    const kind = kindOf(async (_payload, { attempt }) => {
      attempts.push(attempt)
      if (attempt < 3) throw new Error('not yet')
    })
    await worker(kind, { queue: queue(), timing: patient }).add(kind, { text: 'x' }, 'bull-fails')
    await over('bull-fails')
    expect(attempts).toEqual([1, 2, 3])
  })
}

const redis = redisUnderTest
if (redis) describe('P18: jobs over Redis', () => overRedis(redis))
