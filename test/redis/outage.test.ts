import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
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

const slowest = 2_000

/** Milliseconds that work takes while all is well, several times: a machine that does much else is slow at everything. */
async function usual(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return 8 * (performance.now() - began)
}

const said = async () => {
  const { message } = await here.does('socket', messages.send, { room, text: 'still here' })
  await line.follows(room, ({ seq }) => seq === message.seq)
}
const asked = () => here.does('rest', messages.presenceOf, { addresses: [] })

/** Sends from one node until the time is up; each message is acknowledged, and reaches the other node in time. */
async function chats(milliseconds: number, usually: number): Promise<void> {
  const delays: number[] = []
  for (const end = Date.now() + milliseconds; Date.now() < end; ) {
    const began = Date.now()
    await said()
    delays.push(Date.now() - began)
  }
  expect(Math.max(...delays)).toBeLessThan(slowest + usually)
}

async function everythingElse(): Promise<void> {
  const { messages: seen } = await there.does('rest', messages.history, { room })
  expect(seen.length).toBeGreaterThan(0)
  await there.does('rest', messages.typing, { room, on: true })
  await here.does('rest', messages.presenceOf, { addresses: [there.account] })
  await moderates(here, { room, action: 'mute', target: there.account, duration: '1h' })
  expect((await there.refused('rest', messages.send, { room, text: 'muted' })).code).toBe('MUTED')
  await moderates(here, { room, action: 'unmute', target: there.account })
}

/** The longest that work may take while Redis is away. */
async function within(milliseconds: number, work: () => Promise<unknown>): Promise<void> {
  const began = performance.now()
  await work()
  expect(performance.now() - began).toBeLessThan(milliseconds)
}

describe('P12, P14: chat continues', () => {
  test('while Redis is down, and is fast again when it is back', async () => {
    const [talk, rest] = [await usual(said), await usual(everythingElse)]
    const chatting = chats(4_000, talk)
    await redis.kill()
    await areUp(false)
    await within(5_000 + rest, everythingElse)
    await chatting
    await line.hears(serverNotice, ({ kind, detail }) => kind === 'degraded' && detail === 'redis')
    await redis.start()
    await areUp(true)
    await line.hears(serverNotice, ({ kind, detail }) => kind === 'restored' && detail === 'redis')
    await chats(1_000, talk)
  })

  test('while Redis hangs, and waits at most once for the timeout of 250 ms', async () => {
    const [talk, rest] = [await usual(said), await usual(everythingElse)]
    const fortyTimes = async () => {
      for (let at = 0; at < 40; at++) await asked().catch(() => {})
    }
    const ask = await usual(fortyTimes)
    const chatting = chats(4_000, talk)
    redis.hang()
    await areUp(false)
    await within(5_000 + ask, fortyTimes)
    await within(5_000 + rest, everythingElse)
    await chatting
    redis.wake()
    await areUp(true)
    await chats(1_000, talk)
  })
})
