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

test('P20: a limit is shared by the doors of all nodes, and by none any more once Redis is gone', async () => {
  expect(await asked(14)).toEqual([...Array(10).fill(200), ...Array(4).fill(429)])
  await redis.kill()
  await expect.poll(() => server.apps.every(({ node }) => !node.peers.isUp())).toBe(true)
  const alone = await asked(14)
  expect(alone.filter((status) => status === 200)).toHaveLength(10)
  await redis.start()
})
