// Modes: embedded
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addressOf } from '#server/kernel/addresses'
import { createLimits, tiers } from '#server/kernel/limits/limits'
import { memoryKv } from '#server/ports/kv/memory'
import { heavy } from '#test/support/heavy'
import { channelOf, personAt } from '#test/support/people'
import { dial } from '#test/support/raw-connection'
import { times } from '#test/support/times'
import { call, wallet } from '#test/support/wallet'
import { type ChangedServer, openChangedServer } from './changed-server.ts'
import { openWire, request, sendBytes } from './wire.ts'

let server: ChangedServer
let now = Date.now()

/** A server with the real limits, one proxy before it, and a clock that the test holds. */
beforeEach(async () => {
  now = Math.floor(Date.now() / 1000) * 1000
  server = await openChangedServer({ RATE_LIMIT_SCALE: '1', TRUSTED_PROXIES: '1' }, (platform) => ({
    ...platform,
    database: { ...platform.database, now: () => now },
  }))
})
afterEach(() => server.close())

const from = (address: string) => ({ 'x-forwarded-for': address })
const path = `/api/auth/verify?address=${wallet('limited').address}`
const begin = async (headers: Record<string, string>, at = path) => (await fetch(server.url + at, { headers })).status
const statuses = async (calls: (() => Promise<number>)[]) => {
  const seen: number[] = []
  for (const call of calls) seen.push(await call())
  return seen
}

describe('T39: nobody gets a second bucket by disguise', () => {
  test('what a client writes before its proxy’s own entry is not looked at', async () => {
    const seen = await statuses(times(15, (at) => () => begin(from(`10.9.8.${at}, 203.0.113.7`))))
    expect(seen).toEqual([...Array(10).fill(200), ...Array(5).fill(429)])
  })

  test('a forwarded value that is no address is replaced by the address of the socket', async () => {
    const disguises = ['unknown', '', 'localhost', '203.0.113.7:80', '999.1.1.1', '[::1]', '0x7f.1', "'; --"]
    const seen = await statuses(times(16, (at) => () => begin(from(disguises[at % disguises.length] ?? ''))))
    expect(seen.filter((status) => status === 200)).toHaveLength(10)
  })

  test('a network of /64 is one address, and its neighbour another', async () => {
    const seen = await statuses(times(12, (at) => () => begin(from(`2001:db8:0:1::${at.toString(16)}`))))
    expect(seen).toEqual([...Array(10).fill(200), 429, 429])
    expect(await begin(from('2001:DB8::1:0:0:0:7'))).toBe(429)
    expect(await begin(from('2001:db8:0:2::1'))).toBe(200)
  })

  test('case, slashes and escapes of a path are the same path or none', heavy, async () => {
    const spellings = ['/API/Auth/Verify', '/api/auth/verify/', '/api/auth/VERIFY/']
    const query = path.slice(path.indexOf('?'))
    const seen = await statuses(
      times(14, (at) => () => begin(from('203.0.113.9'), `${spellings[at % spellings.length]}${query}`)),
    )
    expect(seen).toEqual([...Array(10).fill(200), ...Array(4).fill(429)])
    for (const other of ['/api/%61uth/verify', '//api/auth/verify', '/api//auth/verify', '/api/x/../auth/verify']) {
      const line = `GET ${other}${query}`
      const { status } = await sendBytes(server.url, request(line, ['X-Forwarded-For: 203.0.113.9']))
      expect([404, 429]).toContain(status)
    }
  })

  test('without a proxy the header says nothing', () => {
    expect(addressOf('203.0.113.7', 0, '::ffff:192.0.2.1')).toBe('192.0.2.1')
    expect(addressOf('1.1.1.1, 203.0.113.7', 2, '192.0.2.1')).toBe('1.1.1.1')
    expect(addressOf('203.0.113.7', 2, '192.0.2.1')).toBe('192.0.2.1')
    expect(addressOf('::ffff:203.0.113.7', 1, '192.0.2.1')).toBe('203.0.113.7')
  })

  test('a session has its own bucket, whatever address it comes from', async () => {
    const who = await personAt(server.url, 'traveller', from('203.0.113.20'))
    const seen = await statuses(
      times(
        tiers.general + 2,
        (at) => async () => (await who.rest('GET /api/user/rooms', null, from(`203.0.113.${30 + at}`))).status,
      ),
    )
    expect(seen).toEqual([...Array(tiers.general).fill(200), 429, 429])
  })
})

describe('T40: each tier has its number of calls a minute, and its own bucket', () => {
  const unsigned = { address: wallet('limited').address, message: 'no message', signature: '0x00' }
  const probes = [
    { tier: 'auth', route: `GET ${path}`, body: null, answered: 200 },
    { tier: 'strict', route: 'POST /api/auth/verify', body: unsigned, answered: 401 },
    { tier: 'general', route: 'GET /api/channels', body: null, answered: 200 },
  ] as const
  test.each(probes)('$tier', heavy, async ({ tier, route, body, answered }) => {
    const guest = from('203.0.113.60')
    const ask = async (headers = guest) => (await call(server.url, route, body, undefined, headers)).status
    const allowed = await statuses(times(tiers[tier], () => () => ask()))
    expect(allowed).toEqual(Array(tiers[tier]).fill(answered))
    expect(await ask()).toBe(429)
    expect(await ask(from('203.0.113.61'))).toBe(answered)
    for (const other of probes.filter((probe) => probe.tier !== tier))
      expect((await call(server.url, other.route, other.body, undefined, guest)).status).toBe(other.answered)
  })
})

describe('T40: the window slides', () => {
  test('five a minute are five in any minute', async () => {
    const kv = memoryKv()
    let at = 1_000_000
    const limits = createLimits(kv, 1, () => at)
    const free = async () => (await limits.spend('strict', 'a')).retryAfterSeconds === null
    at += 59_900
    expect(await Promise.all(times(5, free))).toEqual(Array(5).fill(true))
    at += 200
    expect(await Promise.all(times(5, free))).toEqual(Array(5).fill(false))
    at += 59_799
    expect(await free()).toBe(false)
    at += 1
    expect(await Promise.all(times(6, free))).toEqual([true, true, true, true, true, false])
    await kv.close()
  })

  test('the headers of each answer are exact', async () => {
    const headers = from('203.0.113.40')
    const started = now / 1000
    for (let at = 0; at < 10; at++) {
      const answer = await fetch(server.url + path, { headers })
      expect(answer.status).toBe(200)
      expect(rateOf(answer)).toEqual([10, 9 - at, started + at + 60])
      expect(answer.headers.get('retry-after')).toBeNull()
      now += 1_000
    }
    now += 30_500
    const refused = await fetch(server.url + path, { headers })
    expect(refused.status).toBe(429)
    expect(rateOf(refused)).toEqual([10, 0, started + 60])
    expect(refused.headers.get('retry-after')).toBe('20')
    expect(await refused.json()).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfter: 20 })
    now += 19_500
    expect((await fetch(server.url + path, { headers })).status).toBe(200)
  })

  test('refused calls do not push the window on', heavy, async () => {
    const headers = from('203.0.113.41')
    await statuses(times(10, () => () => begin(headers)))
    for (let at = 0; at < 59; at++) {
      now += 1_000
      expect(await begin(headers)).toBe(429)
    }
    now += 1_000
    expect(await begin(headers)).toBe(200)
  })

  test('every answer carries the headers, errors too', async () => {
    for (const [route, status] of [
      ['/api/status', 200],
      ['/api/nowhere', 404],
      ['/api/user/rooms', 401],
      ['/api/auth/verify?address=x', 400],
      ['/docs/rest.md', 200],
    ] as const) {
      const answer = await fetch(server.url + route, { headers: from('203.0.113.42') })
      expect([route, answer.status]).toEqual([route, status])
      for (const value of rateOf(answer)) expect(value).toSatisfy(Number.isInteger)
    }
  })
})

const rateOf = ({ headers }: Response) =>
  ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN))

test('T61: sixty messages a minute over both doors together', heavy, async () => {
  const owner = await personAt(server.url, 'limited owner', from('203.0.113.50'))
  const channel = (await channelOf(owner)).id
  const sent = await statuses(
    times(40, (at) => async () => {
      const { status } = await owner.rest(`POST /api/channels/${channel}/messages`, { content: `rest ${at}` })
      return status
    }),
  )
  expect(sent).toEqual(Array(40).fill(200))
  const wire = await openWire(server.url, '/rooms', { token: owner.token })
  const room = { type: 'channel', id: channel }
  const acks = []
  for (let at = 0; at < 24; at++)
    acks.push(await wire.ask('message:send', JSON.stringify({ room, text: `live ${at}` })))
  expect(acks.map((ack) => ack?.ok)).toEqual([...Array(20).fill(true), ...Array(4).fill(false)])
  expect(acks.at(-1)?.error).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', status: 429, retryAfter: 60 })
  const over = await owner.rest(`POST /api/channels/${channel}/messages`, { content: 'one more' })
  expect(over).toMatchObject({ status: 429, code: 'RATE_LIMIT_EXCEEDED' })
  expect(over.headers.get('retry-after')).toBe('60')
  now += 60_000
  expect(await wire.ask('message:send', JSON.stringify({ room, text: 'later' }))).toMatchObject({
    ok: true,
    meta: { rate: { limit: 60, remaining: 59 } },
  })
  wire.close()
})

test('a repeat with the same key costs nothing twice', async () => {
  const owner = await personAt(server.url, 'repeating owner', from('203.0.113.51'))
  const channel = (await channelOf(owner)).id
  const input = { content: 'once', client_msg_id: 'the-same-key' }
  const answers = []
  for (let at = 0; at < 3; at++) answers.push(await owner.rest(`POST /api/channels/${channel}/messages`, input))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  const ids = answers.map(({ body }) => (body.message as { id: string }).id)
  expect(new Set(ids).size).toBe(1)
})

const remaining = ({ headers }: Awaited<ReturnType<typeof call>>) => Number(headers.get('x-ratelimit-remaining'))

test('R10: a repeat under a known key, and another input under it, cost what a call costs', async () => {
  const [owner, other] = [await personAt(server.url, 'keyed owner'), await personAt(server.url, 'keyed other')]
  const creations: [string, object, object][] = [
    ['POST /api/groups', { name: 'Keyed' }, { name: 'Keyed otherwise' }],
    ['POST /api/channels', { name: 'Keyed' }, { name: 'Keyed otherwise' }],
    ['POST /api/dm', { recipientAddress: other.account }, { recipientAddress: wallet('nobody yet').address }],
    ['POST /api/friends/request', { toAddress: other.account }, { toAddress: wallet('nobody yet').address }],
  ]
  for (const [route, input, changed] of creations) {
    const key = { 'idempotency-key': `key of ${route.length}`.replaceAll(' ', '-') }
    const first = await owner.rest(route, input, key)
    const repeats = [await owner.rest(route, input, key), await owner.rest(route, input, key)]
    const conflict = await owner.rest(route, changed, key)
    expect(
      [route, first, ...repeats, conflict].map((answer) => (typeof answer === 'string' ? answer : answer.status)),
    ).toEqual([route, 200, 200, 200, 409])
    const left = remaining(first)
    expect([route, ...[...repeats, conflict].map(remaining)]).toEqual([route, left - 1, left - 2, left - 3])
  }
})

test(
  'R10: repeats under a known key are refused where the bucket is empty, and answered when it fills',
  heavy,
  async () => {
    const owner = await personAt(server.url, 'storming owner')
    const ask = () => owner.rest('POST /api/groups', { name: 'Stormed' }, { 'idempotency-key': 'storm' })
    const answers = await Promise.all(times(110, ask))
    expect(answers.filter(({ status }) => status === 200).length).toBe(100)
    expect(answers.filter(({ code }) => code === 'RATE_LIMIT_EXCEEDED').length).toBe(10)
    const ids = answers.flatMap(({ body }) => (body.group as { id: string } | undefined)?.id ?? [])
    expect(new Set(ids).size).toBe(1)
    now += 61_000
    expect((await ask()).body.group).toMatchObject({ id: ids[0] })
  },
)

test('T45: one address holds 50 anonymous connections, and gets new ones after closing some', async () => {
  await server.close()
  server = await openChangedServer({ RATE_LIMIT_SCALE: '1' })
  const sockets = Array.from({ length: 60 }, () => dial(server.url).on('error', () => undefined))
  await expect.poll(() => sockets.filter((socket) => socket.closed).length, { timeout: 5_000 }).toBe(10)
  for (const socket of sockets) socket.destroy()
  const served = () =>
    fetch(`${server.url}/api/status`).then(
      ({ status }) => status,
      () => 0,
    )
  await expect.poll(served, { timeout: 5_000 }).toBe(200)
})

test('T44: more than 30 events a second are refused, and ten times as many end the connection', async () => {
  const owner = await personAt(server.url, 'hasty', from('203.0.113.60'))
  const wire = await openWire(server.url, '/rooms', { token: owner.token })
  const acks = await Promise.all(Array.from({ length: 120 }, () => wire.ask('no:such', '{}')))
  const codes = acks.map((ack) => ack?.error?.code)
  expect(codes.filter((code) => code === 'NOT_FOUND').length).toBeLessThanOrEqual(90)
  expect(codes).toContain('RATE_LIMIT_EXCEEDED')
  for (let at = 0; at < 5_000; at++) wire.send('42/rooms,["no:such",{}]')
  await wire.closed
  expect((await owner.rest('GET /api/auth/session')).status).toBe(200)
})

test('T45: an address shakes hands sixty times a minute', async () => {
  const owner = await personAt(server.url, 'shaker', from('203.0.113.61'))
  const headers = from('203.0.113.62')
  for (let at = 0; at < 60; at++) (await openWire(server.url, '/rooms', undefined, headers)).close()
  await expect(openWire(server.url, '/rooms', undefined, headers)).rejects.toThrow('refused: 429')
  const elsewhere = await openWire(server.url, '/rooms', { token: owner.token }, from('203.0.113.63'))
  expect(elsewhere.answer).toMatch(/^40/)
  elsewhere.close()
})

test('an account holds ten connections; the oldest gives way', async () => {
  const owner = await personAt(server.url, 'many', from('203.0.113.64'))
  const wires = []
  for (let at = 0; at < 11; at++)
    wires.push(await openWire(server.url, '/rooms', { token: owner.token }, from(`203.0.113.${70 + at}`)))
  await wires[0]?.closed
  expect((await wires[1]?.ask('room:list', '{}'))?.ok).toBe(true)
  for (const wire of wires) wire.close()
})
