import { DelayedError, Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { memoryQueue } from './memory.ts'
import type { JobQueue } from './port.ts'

const queueName = 'jobs'
const answerMilliseconds = 1_000
const lockMilliseconds = 10_000
const over = { removeOnComplete: true, removeOnFail: true }

/** Shares job ids among nodes through Redis. Without Redis each node runs its own jobs. */
export function bullQueue(url: string, prefix: string): JobQueue {
  const local = memoryQueue()
  const connection = new Redis(url, { commandTimeout: answerMilliseconds, maxRetriesPerRequest: 0 })
  connection.on('error', () => undefined)
  const queue = new Queue(queueName, { connection, prefix, defaultJobOptions: over })
  queue.on('error', () => undefined)
  return {
    push(id) {
      if (connection.status !== 'ready') return local.push(id)
      queue.add('run', {}, { jobId: id }).catch(() => local.push(id))
    },
    consume(run, atOnce) {
      const blocking = new Redis(url, { maxRetriesPerRequest: null })
      blocking.on('error', () => undefined)
      const worker = new Worker(
        queueName,
        async (job, token) => {
          const again = await run(job.id ?? '')
          if (!again) return
          await job.moveToDelayed(Date.now() + again.againInMilliseconds, token)
          throw new DelayedError()
        },
        {
          connection: blocking,
          prefix,
          concurrency: atOnce,
          lockDuration: lockMilliseconds,
          stalledInterval: lockMilliseconds / 2,
          maxStalledCount: Number.MAX_SAFE_INTEGER,
          runRetryDelay: answerMilliseconds,
          removeOnComplete: { count: 0 },
          removeOnFail: { count: 0 },
        },
      )
      worker.on('error', () => undefined)
      const stopLocal = local.consume(run, atOnce)
      return async () => {
        await Promise.all([stopLocal(), worker.close(connection.status !== 'ready')])
        blocking.disconnect()
      }
    },
    async close() {
      await local.close()
      connection.disconnect()
    },
  }
}
