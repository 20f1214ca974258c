import { connect } from 'node:net'
import express, { type Request, type Response } from 'express'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { openStreams } from '#server/kernel/http/streams'
import { type Call, invoke, type Kernel } from '#server/kernel/invoke'
import { createMetrics } from '#server/kernel/operate/metrics'
import type { LiveConnection } from '#server/kernel/sockets/connection'
import { answerItems, sendItems } from '#server/kernel/store/items'
import { AppError } from '#shared/errors'
import { stream } from '#shared/kit/contract'
import { heavy } from '#test/support/heavy'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup()
})

/** A door that answers this sequence, with what became of the answer. */
async function open(
  items: (gone: AbortSignal) => AsyncIterable<unknown>,
  isStill: () => Promise<AppError | null> = async () => null,
) {
  let whenClosed: (milliseconds: number) => void = () => undefined
  const closed = new Promise<number>((resolve) => {
    whenClosed = resolve
  })
  const gone = new AbortController()
  const answer = async (request: Request, response: Response) => {
    const began = performance.now()
    response.on('close', () => gone.abort())
    response.on('close', () => whenClosed(performance.now() - began))
    await answerItems(items(gone.signal), request, response, {
      gone,
      isStill,
      metrics: createMetrics(),
      itemsOnly: false,
      form: 'lines',
    })
  }
  const server = express().get('/', answer).listen(0)
  cleanups.push(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  return { port: (server.address() as { port: number }).port, closed, gone }
}
const ask = (port: number) => {
  const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'))
  cleanups.push(() => socket.destroy())
  return socket.on('error', () => undefined)
}
const lines = async (port: number) => (await (await fetch(`http://127.0.0.1:${port}`)).text()).split('\n')
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

test('who does not read is waited for, then ended; the sequence makes no more than was taken', {
  ...heavy,
  timeout: 30_000,
}, async () => {
  // More than the buffers of a connection hold, and no more than memory does.
  const many = 1_000
  let made = 0
  let isLeft = false
  const { port, closed } = await open(async function* () {
    try {
      while (made < many) {
        made++
        yield { text: 'x'.repeat(64_000) }
      }
    } finally {
      isLeft = true
    }
  })
  ask(port).pause()
  await pause(2_000)
  const before = made
  expect(before).toBeLessThan(many)
  await pause(3_000)
  expect(made).toBe(before)
  expect(await closed).toBeGreaterThan(9_000)
  await expect.poll(() => isLeft).toBe(true)
  expect(made).toBe(before)
})

test('a client that goes ends what waits for the next item', async () => {
  let isLeft = false
  const { port } = await open(async function* (signal) {
    try {
      yield { n: 1 }
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    } finally {
      isLeft = true
    }
  })
  const socket = ask(port)
  await new Promise((resolve) => socket.once('data', resolve))
  expect(isLeft).toBe(false)
  socket.destroy()
  await expect.poll(() => isLeft).toBe(true)
})

test('the last line says that it came to its end, or why it did not', async () => {
  const whole = await open(async function* () {
    yield { n: 1 }
    yield { n: 2 }
  })
  expect(await lines(whole.port)).toEqual(['{"n":1}', '{"n":2}', '{"success":true}', ''])
  const refused = await open(async function* () {
    yield { n: 1 }
    throw new AppError('BANNED')
  })
  expect((await lines(refused.port)).at(-2)).toContain('"code":"BANNED"')
  const faulty = await open(async function* () {
    yield { n: 1 }
    throw new TypeError('of the inside')
  })
  const told = (await lines(faulty.port)).at(-2)
  expect(told).toContain('"code":"INTERNAL_ERROR"')
  expect(told).not.toContain('inside')
})

test('what ends with a reason says it at once, whatever the sequence waits for, and gives no item after', async () => {
  const { port, gone } = await open(async function* () {
    yield { n: 1 }
    await pause(300)
    yield { n: 2 }
  })
  setTimeout(() => gone.abort(new AppError('SESSION_NOT_FOUND')), 100)
  const told = await lines(port)
  expect(told).toHaveLength(3)
  expect(told[1]).toContain('"code":"SESSION_NOT_FOUND"')
})

test('the session is looked at with each heartbeat, and no heartbeat comes after the end', async () => {
  const ends = [null, null, new AppError('SESSION_NOT_FOUND')]
  const { port } = await open(
    async function* (signal) {
      yield { n: 1 }
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
    async () => ends.shift() ?? null,
  )
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  cleanups.push(() => void vi.useRealTimers())
  const told = lines(port)
  await expect.poll(() => vi.getTimerCount()).toBe(1)
  for (let beat = 0; beat < 3; beat++) {
    await pause(50)
    vi.advanceTimersByTime(15_000)
  }
  const [first, ...others] = await told
  expect(first).toBe('{"n":1}')
  expect(others.filter((line) => line === '').length).toBe(4)
  expect(others.at(-2)).toContain('"code":"SESSION_NOT_FOUND"')
  expect(vi.getTimerCount()).toBe(0)
})

test('a session ends its own sequences, an expired one within a second, a stop all, and none begins after it', async () => {
  let now = 0
  const streams = openStreams({ now: () => now, state: new Map(), limits: { scale: 1 } as never })
  const ended: string[] = []
  const enter = (account: string, id: string, expiresAt = 1e12) =>
    streams.enter({
      caller: { account, session: { id, expiresAt, authMethod: 'siwe', userId: '0' } as never, ip: '', userAgent: '' },
      end: ({ code }) => ended.push(`${account} ${id} ${code}`),
    })
  const leave = enter('ann', 'one')
  enter('ann', 'two')
  enter('bob', 'three', 5)
  streams.endSessions('bob', ['one'])
  expect(ended).toEqual([])
  streams.endSessions('ann', ['one'])
  expect(ended.splice(0)).toEqual(['ann one SESSION_NOT_FOUND'])
  leave()
  now = 10
  await expect.poll(() => ended.splice(0)).toEqual(['bob three SESSION_EXPIRED'])
  streams.drain()
  expect(ended).toContain('ann two SERVICE_UNAVAILABLE')
  expect(ended).not.toContain('ann one SERVICE_UNAVAILABLE')
  expect(() => enter('ann', 'four')).toThrow(AppError)
})

test('each item passes the output check: what it does not name never leaves, and what it refuses ends the sequence', async () => {
  const operation = stream({
    summary: 'Counts.',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({}),
    output: z.object({ n: z.number() }),
  })
  async function* counted() {
    yield { n: 1, secret: 'inside' }
    yield { n: 'two' }
  }
  const spend = async () => ({ rate: { limit: 1, remaining: 1, reset: 1 }, retryAfterSeconds: null })
  const node = {
    metrics: createMetrics(),
    limits: { spend },
    isStoreAway: () => false,
    logger: { error: () => undefined },
  }
  const kernel = { node, strict: true, deliver: () => undefined, underWay: new Set() } as unknown as Kernel
  const call = { caller: { account: null, session: null, ip: '' }, onRate: () => undefined, askedAt: performance.now() }
  const bound = { name: 'test.count', operation, action: counted }
  const { output } = await invoke(kernel, bound, operation.input, {}, { door: 'http', ...call } as unknown as Call)
  const items = (output as AsyncIterable<unknown>)[Symbol.asyncIterator]()
  expect(await items.next()).toEqual({ done: false, value: { n: 1 } })
  await expect(items.next()).rejects.toMatchObject({ code: 'INTERNAL_ERROR' })
})

describe('over a socket', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** A connection that reads or does not, with what a sequence of it told. */
  function open(items: AsyncIterable<unknown>) {
    const told: object[] = []
    const gone = new AbortController()
    const metrics = createMetrics()
    const slow = vi.spyOn(metrics, 'slowConsumer')
    const live = {
      isBusyReading: true,
      drop: vi.fn(() => gone.abort()),
      endStream: vi.fn(),
      emit: ({ name }: { name: string }, payload: object) => void told.push({ [name]: payload }),
    }
    const isOver = vi.fn()
    void sendItems(items, live as unknown as LiveConnection, 's', gone.signal, metrics).then(isOver)
    return { told, gone, live, isOver, slow }
  }
  async function* two() {
    yield { n: 1 }
    yield { n: 2 }
  }

  test('who does not read is told nothing, and dropped once after 10 s, which ends the sequence', async () => {
    const { told, live, isOver, slow } = open(two())
    await vi.advanceTimersByTimeAsync(9_900)
    expect(live.drop).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(60_000)
    expect([live.drop.mock.calls.length, slow.mock.calls.length, isOver.mock.calls.length]).toEqual([1, 1, 1])
    expect(told).toEqual([])
  })

  test('who reads again is told all of it, and the end', async () => {
    const { told, live, isOver } = open(two())
    await vi.advanceTimersByTimeAsync(9_000)
    expect(told).toEqual([])
    live.isBusyReading = false
    await vi.advanceTimersByTimeAsync(100)
    expect(told).toEqual([
      { 'stream:item': { stream: 's', item: { n: 1 } } },
      { 'stream:item': { stream: 's', item: { n: 2 } } },
      { 'stream:end': { stream: 's', error: null } },
    ])
    expect(isOver).toHaveBeenCalled()
    expect(live.endStream).toHaveBeenCalledWith('s')
    expect(live.drop).not.toHaveBeenCalled()
  })

  test('a sequence that is cancelled while it waits for its reader tells nothing more', async () => {
    const { told, live, gone, isOver } = open(two())
    await vi.advanceTimersByTimeAsync(5_000)
    gone.abort()
    live.isBusyReading = false
    await vi.advanceTimersByTimeAsync(60_000)
    expect([told, isOver.mock.calls.length]).toEqual([[], 1])
  })

  test('a sequence that is cancelled while its reader stays busy drops nobody', async () => {
    const { live, gone } = open(two())
    await vi.advanceTimersByTimeAsync(5_000)
    gone.abort()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(live.drop).not.toHaveBeenCalled()
  })

  test('the end says why, with details', async () => {
    const { told, live } = open(
      (async function* () {
        yield { n: 1 }
        throw new AppError('CONFLICT', { details: { head_seq: 7 } })
      })(),
    )
    live.isBusyReading = false
    await vi.advanceTimersByTimeAsync(100)
    expect(told.at(-1)).toMatchObject({
      'stream:end': { stream: 's', error: { code: 'CONFLICT', status: 409, details: { head_seq: 7 } } },
    })
  })
})

test('an item is one line to whatever splits lines', async () => {
  const { port } = await open(async function* () {
    yield { text: 'a\u2028b\u2029c\u0085d' }
  })
  const text = await (await fetch(`http://127.0.0.1:${port}`)).text()
  expect(text.split(/[\n\u0085\u2028\u2029]/)).toHaveLength(3)
  expect(JSON.parse(text.split('\n')[0] ?? '')).toEqual({ text: 'a\u2028b\u2029c\u0085d' })
})
