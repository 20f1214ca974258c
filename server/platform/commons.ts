import { randomUUID } from 'node:crypto'
import type { Config } from '#server/config'
import type { Logger } from '#server/kernel/operate/logger'
import { createMetrics } from '#server/kernel/operate/metrics'
import { hintsOver } from '#server/log/hints'
import type { Database } from '#server/ports/database/port'
import { localFanout } from '#server/ports/fanout/local'
import { memoryQueue } from '#server/ports/jobs/memory'
import type { JobQueue } from '#server/ports/jobs/port'
import { memoryKv } from '#server/ports/kv/memory'
import { redisKv } from '#server/ports/kv/redis'
import { noPeers } from '#server/ports/peers/none'
import { redisPeers } from '#server/ports/peers/redis'
import type { SessionKeys } from '#server/session-keys'
import type { Part } from './part.ts'

export const nodeId = () => randomUUID().slice(0, 8)

/** The connections of a node to what nodes share beside the database. */
export async function openCommons(
  { redisUrl: url }: Config,
  { database, sessionKeys }: { database: Database; sessionKeys: SessionKeys },
  node: string,
  logger: Logger,
) {
  const memory = memoryKv()
  const metrics = createMetrics()
  if (url === undefined)
    return {
      metrics,
      kv: memory,
      peers: noPeers,
      hints: hintsOver(noPeers),
      fanout: localFanout,
      parts: [
        { part: 'redis', adapter: 'none', why: 'REDIS_URL is not set' },
        { part: 'limits', adapter: 'memory', why: 'each process counts for itself' },
      ],
      close: memory.close,
    }
  const [{ openRedis }, { redisFanout }] = await Promise.all([
    import('#server/ports/redis/ioredis'),
    import('#server/ports/fanout/redis'),
  ])
  const redis = await openRedis({
    url,
    prefix: prefixOf(database),
    secrets: sessionKeys.map(({ secret }) => secret),
    warn: (what) => logger.warn({ part: 'redis' }, what),
  })
  const trouble = redis.isUp() ? null : `does not answer yet: ${redis.trouble() ?? 'nothing is heard of it'}`
  if (trouble) logger.warn({ part: 'redis' }, trouble)
  metrics.degraded('redis', !redis.isUp())
  redis.onChange((isUp) => metrics.degraded('redis', !isUp))
  const peers = redisPeers(redis, node)
  return {
    metrics,
    kv: redisKv(redis, memory, metrics.limitFallback),
    peers,
    hints: hintsOver(peers),
    fanout: redisFanout(redis),
    parts: [
      {
        part: 'redis',
        adapter: redis.name,
        why: trouble ? `REDIS_URL is set; it ${trouble}` : 'REDIS_URL is set',
      },
      { part: 'limits', adapter: 'redis', why: 'all nodes count together' },
    ],
    async close() {
      await memory.close()
      await redis.close()
    },
  }
}

/** One Redis may serve several installations. */
const prefixOf = ({ installation }: Database) => `plaza:${installation.slice(0, 8)}`

export async function openJobs({ redisUrl }: Config, database: Database): Promise<JobQueue> {
  if (!redisUrl) return memoryQueue()
  const { bullQueue } = await import('#server/ports/jobs/bullmq')
  return bullQueue(redisUrl, prefixOf(database))
}

export const nodeParts = ({ redisUrl }: Config, { alone }: Database): Part[] => [
  {
    part: 'nodes',
    adapter: alone ? 'this one' : redisUrl ? 'told by redis' : 'found by polling',
    why: alone ? 'the embedded store has one process' : 'nodes meet on the database',
  },
  {
    part: 'jobs',
    adapter: redisUrl ? 'bullmq' : 'in the process',
    why: redisUrl
      ? 'REDIS_URL is set; what is to be done is in the database'
      : 'each node takes them from the database',
  },
]
