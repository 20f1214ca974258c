import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClient } from '#client/sdk/client'
import { events } from '#client/sdk/index'
import { memoryStorage } from '#client/sdk/storage'
import type { Client, ClientOptions, LiveRoom } from '#client/sdk/types'
import { leanBatch } from '#shared/api/rooms/lean'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { heavy } from '#test/support/heavy'
import { room, TinyServer } from './tiny-server.ts'

let server: TinyServer
const clients: Client[] = []

beforeEach(async () => {
  server = new TinyServer()
  await server.start()
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.close()
  await server.stop()
})

function clientOf(options: Partial<ClientOptions> = {}): Client {
  const client = createClient({ url: server.url, token: 'bob', ...options })
  clients.push(client)
  return client
}

const texts = ({ state }: LiveRoom) => state.messages.map(({ content }) => content)
const asked = (name: string) => server.asked.filter((one) => one === name).length
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `${from + index}`)

async function live(client: Client): Promise<LiveRoom> {
  const open = client.room(room)
  await expect.poll(() => open.state.status).toBe('live')
  return open
}

describe.each([1, 2] as const)('a room over the socket, where the server knows protocol %s', (protocol) => {
  beforeEach(() => {
    server.protocol = protocol
  })

  test('shows earlier messages and new ones', async () => {
    for (const text of numbers(1, 3)) server.say('ada', text)
    const open = await live(clientOf())
    expect(texts(open)).toEqual(['1', '2', '3'])
    server.say('ada', '4')
    await expect.poll(() => texts(open)).toEqual(['1', '2', '3', '4'])
    expect(open.state.me.unread).toBe(1)
  })

  test('closes a gap with one request, on the same connection', async () => {
    const open = await live(clientOf())
    server.lost.add(2).add(3)
    for (const text of numbers(1, 5)) server.say('ada', text)
    await expect.poll(() => texts(open)).toEqual(numbers(1, 5))
    expect(asked('room:sync')).toBe(1)
    expect(asked('room:join')).toBe(1)
    expect(open.state.caughtUp).toMatchObject({ events: 4, gaps: 1 })
  })

  test('waits a moment for events that are only late', async () => {
    const open = await live(clientOf())
    server.lost.add(1)
    server.say('ada', '1')
    server.say('ada', '2')
    server.push(...server.log.slice(0, 1))
    await expect.poll(() => texts(open)).toEqual(['1', '2'])
    expect(asked('room:sync')).toBe(0)
  })

  test('notices by the heads that the last event was lost', async () => {
    const open = await live(clientOf())
    server.lost.add(1)
    server.say('ada', '1')
    server.emit('room:heads', { heads: { 'channel:plaza': 1 } })
    await expect.poll(() => texts(open)).toEqual(['1'])
  })

  test('applies a repeated event once', async () => {
    const open = await live(clientOf())
    server.say('ada', '1')
    server.push(...server.log, ...server.log)
    server.say('ada', '2')
    await expect.poll(() => texts(open)).toEqual(['1', '2'])
  })

  test('catches up over many pages after a disconnect', async () => {
    const client = clientOf()
    const open = await live(client)
    client.pause()
    await expect.poll(() => open.state.status).toBe('offline')
    for (const text of numbers(1, 450)) server.say('ada', text)
    client.resume()
    await expect.poll(() => texts(open)).toEqual(numbers(1, 450))
    expect(open.state.caughtUp?.events).toBe(450)
    expect(asked('room:sync')).toBe(2)
  })

  test('loads everything again when the epoch has changed', async () => {
    const client = clientOf()
    server.say('ada', 'old')
    const open = await live(client)
    client.pause()
    server.log.length = 0
    server.epoch = 'second'
    server.say('ada', 'new')
    client.resume()
    await expect.poll(() => texts(open)).toEqual(['new'])
    expect(open.state.epoch).toBe('second')
  })

  test('listeners get each event and each answer with all fields, and with the epoch of the event', async () => {
    const client = clientOf()
    const heard: RoomEvent[][] = [[], []]
    for (const list of heard) client.on(events.roomEvent, (event) => list.push(event))
    const batches: unknown[] = []
    client.on(events.roomEventBatch, (batch) => batches.push(batch))
    await live(client)
    const { message } = await client.messages.send({ room, client_msg_id: 'c1', text: 'mine' })
    server.tell('of.tomorrow', { some: [1] })
    server.epoch = 'second'
    server.say('ada', 'hers')
    await expect.poll(() => heard[0]?.length).toBe(3)
    for (const list of heard) expect(list).toEqual(server.log)
    expect(message).toEqual(server.messages[0])
    const batch = { room, events: server.log }
    server.emit('room:events', protocol === 1 ? batch : leanBatch(batch, ({ seq }) => seq !== 2))
    await expect.poll(() => batches).toEqual([batch])
  })

  test('is the same object until it is closed', async () => {
    const client = clientOf()
    const open = await live(client)
    expect(client.room({ ...room })).toBe(open)
    open.close()
    expect(client.room(room)).not.toBe(open)
  })
})

describe('a connection', () => {
  const kept = { token: 'bob', refreshToken: 'first', account: 'bob', endedBy: null }

  test('continues with a newer session before the old one expires', async () => {
    const storage = memoryStorage()
    storage.setItem('plaza:session', JSON.stringify(kept))
    const client = createClient({ url: server.url, storage })
    clients.push(client)
    await live(client)
    server.emit('session:expiring', { in_s: 300 })
    await expect.poll(() => JSON.parse(storage.getItem('plaza:session') ?? '{}').refreshToken).toBe('newer')
    expect(asked('POST /api/auth/session')).toBe(1)
    expect(client.connection.state).toBe('online')
  })

  test('ends with its session, and tells the reason', async () => {
    const client = clientOf()
    const open = await live(client)
    server.emit('session:ended', { code: 'SESSION_NOT_FOUND' })
    await expect.poll(() => client.session.endedBy).toBe('SESSION_NOT_FOUND')
    expect(client.account).toBeNull()
    expect(texts(open)).toEqual([])
  })

  test('M66: reconnects when a ping is missing', heavy, async () => {
    const client = clientOf()
    const open = await live(client)
    const states: string[] = []
    client.connection.subscribe(() => states.push(client.connection.state))
    server.stopPings()
    await expect.poll(() => states, { timeout: 8_000 }).toEqual(['connecting', 'online'])
    await expect.poll(() => open.state.status).toBe('live')
  })

  test('M66: is `connecting` until the first attempt has failed, and lost only then', async () => {
    server.refuseSockets()
    server.doesRest = false
    const client = createClient({ url: server.url, storage: memoryStorage() })
    clients.push(client)
    const states = [client.connection.state]
    client.connection.subscribe(() => states.push(client.connection.state))
    const open = client.room(room)
    const statuses = [open.state.status]
    open.subscribe(() => statuses.push(open.state.status))
    client.enter({
      sessionToken: 'bob',
      refreshToken: 'first',
      userAddress: 'bob',
      user: { wallet_address: 'bob' } as never,
    })
    expect(states).not.toContain('offline')
    expect(statuses).not.toContain('offline')
    await expect.poll(() => client.connection.state).toBe('offline')
    server.allowSockets()
    await expect.poll(() => open.state.status, { timeout: 5_000 }).toBe('live')
  })

  test('reconnects after the delay that a draining server has given, not earlier', async () => {
    const client = clientOf()
    const open = await live(client)
    server.emit('server:notice', { kind: 'draining', detail: '', reconnect_after_ms: 1_200 })
    await new Promise((resolve) => setTimeout(resolve, 50))
    const cutAt = Date.now()
    server.cut()
    await expect.poll(() => client.connection.state).toBe('connecting')
    await expect.poll(() => open.state.status, { timeout: 5_000 }).toBe('live')
    expect(Date.now() - cutAt).toBeGreaterThan(1_000)
  })

  test('connects other namespaces as soon as they have a listener', async () => {
    const client = clientOf()
    await live(client)
    const heard: number[] = []
    client.on(events.unreadChanged, ({ total }) => heard.push(total))
    await expect.poll(() => server.emit('unread:changed', { total: 3 }, '/notifications') ?? heard).toContain(3)
    server.cut()
    heard.length = 0
    await expect.poll(() => server.emit('unread:changed', { total: 4 }, '/notifications') ?? heard).toContain(4)
  })
})

describe('a message', () => {
  test('is shown immediately, and only once', async () => {
    const client = clientOf()
    const open = await live(client)
    const echo = open.send({ text: 'hello' })
    expect(echo.local).toBe('sending')
    expect(open.state.messages.map(({ local }) => local)).toEqual(['sending'])
    const seen: number[] = []
    open.subscribe(() => seen.push(open.state.messages.length))
    await expect.poll(() => open.state.messages[0]).toMatchObject({ local: 'sent', seq: 1, client_msg_id: echo.id })
    expect(new Set(seen)).toEqual(new Set([1]))
    expect(open.state.me.unread).toBe(0)
  })

  test('keeps its order through failures', async () => {
    const open = await live(clientOf())
    server.faults.push('unavailable', 'unavailable')
    for (const text of numbers(1, 6)) open.send({ text })
    await expect.poll(() => server.messages.map(({ content }) => content), { timeout: 5_000 }).toEqual(numbers(1, 6))
    await expect.poll(() => texts(open)).toEqual(numbers(1, 6))
  })

  test('is stored once when its answer is lost with the connection', async () => {
    const open = await live(clientOf())
    server.faults.push('cut-after')
    for (const text of numbers(1, 3)) open.send({ text })
    await expect.poll(() => texts(open), { timeout: 5_000 }).toEqual(numbers(1, 3))
    await expect.poll(() => open.state.messages.map(({ local }) => local)).toEqual(['sent', 'sent', 'sent'])
    expect(server.messages.map(({ content }) => content)).toEqual(numbers(1, 3))
  })

  test('that is refused is kept with the reason, and later ones are sent', async () => {
    const open = await live(clientOf())
    server.faults.push('refused')
    const first = open.send({ text: 'first' })
    open.send({ text: 'second' })
    await expect.poll(() => texts(open)).toEqual(['second', 'first'])
    const refused = open.state.messages.at(-1)
    expect(refused).toMatchObject({ local: 'refused', refusal: { code: 'READ_ONLY', verdict: { ok: false } } })
    open.retry(first.client_msg_id)
    await expect.poll(() => server.messages.map(({ content }) => content)).toEqual(['second', 'first'])
  })

  test('waits for a connection, and survives a reload of the page', async () => {
    const storage = memoryStorage()
    const client = clientOf({ storage })
    const open = await live(client)
    client.pause()
    for (const text of numbers(1, 4)) open.send({ text })
    expect(open.state.messages.map(({ local }) => local)).toEqual(['queued', 'queued', 'queued', 'queued'])
    client.close()
    clientOf({ storage })
    await expect.poll(() => server.messages.map(({ content }) => content)).toEqual(numbers(1, 4))
    await expect.poll(() => storage.getItem('plaza:outbox:bob')).toBeNull()
  })
})

describe('without a socket', () => {
  test('a room is followed and written to by REST', async () => {
    server.say('ada', '1')
    const client = clientOf({ transport: 'rest' })
    const open = await live(client)
    expect(client.connection.state).toBe('rest')
    server.say('ada', '2')
    await expect.poll(() => texts(open)).toEqual(['1', '2'])
    await expect.poll(() => client.account).toBe('bob')
    open.send({ text: '3' })
    await expect.poll(() => texts(open)).toEqual(['1', '2', '3'])
    expect(server.asked).not.toContain('room:join')
  })

  test('unanswered messages are sent by REST, once, and the socket takes over again', async () => {
    const client = clientOf()
    const open = await live(client)
    server.faults.push('no-ack')
    for (const text of numbers(1, 3)) open.send({ text })
    await expect.poll(() => server.messages.length).toBe(1)
    server.refuseSockets()
    await expect.poll(() => client.connection.state, { timeout: 8_000 }).toBe('rest')
    await expect.poll(() => server.messages.map(({ content }) => content), { timeout: 5_000 }).toEqual(numbers(1, 3))
    expect(asked('POST /api/rooms/channel/plaza/messages')).toBeGreaterThan(0)
    server.say('ada', '4')
    await expect.poll(() => texts(open)).toEqual(numbers(1, 4))
    server.allowSockets()
    await expect.poll(() => client.connection.state, { timeout: 10_000 }).toBe('online')
    server.say('ada', '5')
    await expect.poll(() => texts(open)).toEqual(numbers(1, 5))
  })
})
