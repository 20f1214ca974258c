import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { messages } from '#shared/api/messages'
import { serverNotice } from '#shared/kit/connection'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import type { Line } from '#test/support/line'
import { channelOf, moderates, type Person, person } from '#test/support/people'
import { type OwnRedis, ownRedis } from './own-redis.ts'

let redis: OwnRedis
let server: Booted
let here: Person
let there: Person
let room: RoomRef & { id: string }
let line: Line
beforeAll(async () => {
  redis = await ownRedis()
  server = await boot({ environment: { REDIS_URL: redis.url } })
  const [first, second] = server.urls
  here = await person(server, 'here', first)
  there = await person(server, 'there', second)
  room = await channelOf(here, there)
  line = await there.line()
  await there.does('socket', messages.join, { room })
  await here.does('socket', messages.send, { room, text: 'before' })
})
afterEach(() => areUp(true))
afterAll(async () => {
  await server.close()
  await redis.kill()
})

const areUp = (is: boolean) =>
  expect.poll(() => server.apps.every(({ node }) => node.peers.isUp() === is), { timeout: 60_000 }).toBe(true)

const slowest = 1_500

/** Sends from one node until the time is up; each message is acknowledged, and reaches the other node in time. */
async function chats(milliseconds: number): Promise<void> {
  const delays: number[] = []
  for (const end = Date.now() + milliseconds; Date.now() < end; ) {
    const began = Date.now()
    const { message } = await here.does('socket', messages.send, { room, text: 'still here' })
    await line.follows(room, ({ seq }) => seq === message.seq)
    delays.push(Date.now() - began)
  }
  expect(Math.max(...delays)).toBeLessThan(slowest + 500)
}

async function everythingElse(): Promise<void> {
  const began = Date.now()
  const { messages: seen } = await there.does('rest', messages.history, { room })
  expect(seen.length).toBeGreaterThan(0)
  await there.does('rest', messages.typing, { room, on: true })
  await here.does('rest', messages.presenceOf, { addresses: [there.account] })
  await moderates(here, { room, action: 'mute', target: there.account, duration: '1h' })
  expect((await there.refused('rest', messages.send, { room, text: 'muted' })).code).toBe('MUTED')
  await moderates(here, { room, action: 'unmute', target: there.account })
  expect(Date.now() - began).toBeLessThan(5_000)
}

describe('P12, P14: chat continues', () => {
  test('while Redis is down, and is fast again when it is back', async () => {
    const chatting = chats(4_000)
    await redis.kill()
    await areUp(false)
    await everythingElse()
    await chatting
    await line.hears(serverNotice, ({ kind, detail }) => kind === 'degraded' && detail === 'redis')
    await redis.start()
    await areUp(true)
    await line.hears(serverNotice, ({ kind, detail }) => kind === 'restored' && detail === 'redis')
    await chats(1_000)
  })

  test('while Redis hangs, and waits at most once for the timeout of 250 ms', async () => {
    const chatting = chats(4_000)
    redis.hang()
    await areUp(false)
    const began = performance.now()
    for (let at = 0; at < 40; at++) await here.does('rest', messages.presenceOf, { addresses: [] }).catch(() => {})
    expect(performance.now() - began).toBeLessThan(5_000)
    await everythingElse()
    await chatting
    redis.wake()
    await areUp(true)
    await chats(1_000)
  })
})
