import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryKv } from '#server/ports/kv/memory'
import { redisKv } from '#server/ports/kv/redis'
import { redisPeers } from '#server/ports/peers/redis'
import { openRedis } from '#server/ports/redis/ioredis'
import { longestMessage, type Redis } from '#server/ports/redis/port'
import { type OwnRedis, ownRedis } from './own-redis.ts'

const secret = new Uint8Array(32).fill(1)
const opened: Redis[] = []
let redis: OwnRedis
beforeAll(async () => {
  redis = await ownRedis()
})
afterAll(async () => {
  for (const one of opened) await one.close()
  await redis.kill()
})

async function connected(secrets = [secret]): Promise<Redis> {
  const one = await openRedis({ url: redis.url, prefix: 'test', secrets, warn() {} })
  opened.push(one)
  return one
}
const isUp = (one: Redis, is: boolean) => expect.poll(one.isUp, { timeout: 5_000 }).toBe(is)

describe('limits', () => {
  test('are counted by all nodes together in a sliding window, with the clock of Redis', async () => {
    const nodes = [await connected(), await connected()].map((one) => redisKv(one, memoryKv(), () => {}))
    const take = (at: number) => nodes[at % 2]?.slide('sliding', 5, 400, at * 1_000_000)
    const taken = await Promise.all(Array.from({ length: 20 }, (_, at) => take(at)))
    expect(taken.filter((one) => one?.allowed)).toHaveLength(5)
    expect(await nodes[0]?.slide('sliding', 0, 400, 7)).toMatchObject({ allowed: false, used: 5 })
    const { freeAt = 0 } = (await nodes[0]?.slide('sliding', 5, 400, 7)) ?? {}
    expect(freeAt).toBeGreaterThan(7)
    expect(freeAt).toBeLessThanOrEqual(407)
    await expect.poll(async () => (await take(0))?.allowed, { timeout: 2_000 }).toBe(true)
  })

  test('fall back to a share for each node while Redis hangs, without waiting at each call, and recover', async () => {
    let fallbacks = 0
    const one = await connected()
    const kv = redisKv(one, memoryKv(), () => fallbacks++)
    kv.sharedBy(3)
    redis.hang()
    const began = performance.now()
    const taken = []
    for (let at = 0; at < 50; at++) taken.push(await kv.slide('hung', 30, 60_000, at))
    expect(performance.now() - began).toBeLessThan(5_000)
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(10)
    expect(fallbacks).toBe(50)
    redis.wake()
    await isUp(one, true)
    expect(await kv.slide('healed', 30, 60_000, 0)).toMatchObject({ allowed: true, used: 1 })
    expect(fallbacks).toBe(50)
  })

  test.each([['text'], [[1, 'two', 3]], [null], [[1]]])(
    'are counted by the node itself when Redis answers %j',
    async (junk) => {
      const one: Redis = { ...(await connected()), run: async () => junk }
      const kv = redisKv(one, memoryKv(), () => {})
      expect(await kv.slide('junk', 1, 60_000, 0)).toMatchObject({ allowed: true, used: 1 })
      expect(await kv.slide('junk', 1, 60_000, 0)).toMatchObject({ allowed: false })
    },
  )
})

describe('messages between nodes', () => {
  test('reach the other nodes only, also after a restart of Redis', async () => {
    const [one, other] = [await connected(), await connected()]
    const heard: unknown[] = []
    const [speaker, listener] = [redisPeers(one, 'one'), redisPeers(other, 'other')]
    speaker.listen('topic', () => heard.push('oneself'))
    const stop = listener.listen('topic', (word) => heard.push(word))
    await expect.poll(() => speaker.tell('topic', 'first') && heard.includes('first')).toBe(true)
    await redis.kill()
    await isUp(one, false)
    await redis.start()
    await Promise.all([isUp(one, true), isUp(other, true)])
    await expect.poll(() => speaker.tell('topic', 'again') && heard.includes('again')).toBe(true)
    stop()
    expect(heard).not.toContain('oneself')
  })

  test('are answered by nodes that are up, and nobody waits for others', async () => {
    const [one, other] = [await connected(), await connected()]
    const [asking, answering] = [redisPeers(one, 'asking'), redisPeers(other, 'answering')]
    asking.answer('double', (question) => Number(question) * 2)
    expect(await asking.ask('double', 3)).toEqual([])
    answering.answer('double', (question) => Number(question) * 2)
    await expect.poll(() => asking.ask('double', 3)).toEqual([6])
  })

  test('without our seal, damaged, or moved to another channel, are dropped', async () => {
    const [mine, foreign] = [await connected(), await connected([new Uint8Array(32).fill(2)])]
    const heard: string[] = []
    mine.subscribe('test:a', (message) => heard.push(message))
    await expect.poll(() => foreign.publish('test:a', 'forged')).toBe(1)
    await mine.publish('test:a', 'true')
    await expect.poll(() => heard).toEqual(['true'])
    await expect(mine.publish('test:a', 'x'.repeat(longestMessage + 1))).rejects.toThrow('too long')
    await foreign.publish('test:a', 'forged again')
    await mine.publish('test:a', 'last')
    await expect.poll(() => heard).toEqual(['true', 'last'])
  })
})
