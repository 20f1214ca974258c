import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Booted, boot } from '#test/support/boot'
import { wallet } from '#test/support/wallet'
import { type OwnRedis, ownRedis } from './own-redis.ts'

let redis: OwnRedis
let server: Booted
beforeAll(async () => {
  redis = await ownRedis()
  server = await boot({ environment: { REDIS_URL: redis.url, RATE_LIMIT_SCALE: '1' } })
})
afterAll(async () => {
  await server.close()
  await redis.kill()
})

const path = `/api/auth/verify?address=${wallet('limited').address}`
async function asked(times: number): Promise<number[]> {
  const statuses: number[] = []
  for (let at = 0; at < times; at++) {
    const url = server.urls[at % server.urls.length]
    statuses.push((await fetch(`${url}${path}`)).status)
  }
  return statuses
}

/** The number of calls that nodes have counted without Redis so far. */
async function countedAlone(): Promise<number> {
  const texts = await Promise.all(server.apps.map(({ node }) => node.metrics.text()))
  return texts.reduce((sum, text) => sum + Number(/^plaza_ratelimit_fallback_total (\d+)/m.exec(text)?.[1]), 0)
}
const free = (statuses: readonly number[]) => statuses.filter((status) => status === 200).length

test('P20: a limit is shared by all nodes and both doors, and is counted by each node once Redis is gone', async () => {
  const known = () => server.apps.map(({ node }) => node.nodes.live().size)
  await expect.poll(known, { timeout: 10_000 }).toEqual(server.apps.map(() => server.apps.length))
  const before = await countedAlone()
  const together = await asked(14)
  // If the machine stalls for a quarter of a second, a node counts that call without Redis.
  const stalled = (await countedAlone()) - before
  expect(stalled).toBeLessThan(14)
  expect(free(together)).toBeGreaterThanOrEqual(10)
  expect(free(together)).toBeLessThanOrEqual(10 + stalled)
  await redis.kill()
  await expect.poll(() => server.apps.every(({ node }) => !node.peers.isUp())).toBe(true)
  const alone = await asked(14)
  expect(free(together) + free(alone)).toBeLessThanOrEqual(20)
  expect(free(together) + free(alone)).toBeGreaterThanOrEqual(20 - stalled)
  await redis.start()
})
