// Modes: embedded
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { heavy } from '#test/support/heavy'
import { loggerInto } from '#test/support/logged'
import { channelOf, type Person, personAt } from '#test/support/people'
import { type ChangedServer, openChangedServer, watchProcess } from './changed-server.ts'
import { restTargets, samples, socketTargets } from './generator.ts'
import { openWire, request, sendBytes } from './wire.ts'

const watch = watchProcess()
const lines: string[] = []

let server: ChangedServer
let me: Person
let channel: string
beforeAll(async () => {
  server = await openChangedServer({}, (platform) => ({
    ...platform,
    logger: loggerInto(lines),
    // A store that fails is told in the time that was promised.
    deadlineFactor: 1,
  }))
  me = await personAt(server.url, 'leaker')
  channel = (await channelOf(me)).id
})
afterAll(async () => {
  watch.stop()
  // The last test closes the store, where it runs.
  await server.close().catch(() => undefined)
})

/** No request id can look like it. */
const canary = '~canary~5ecret~'
const nested = (levels: number): unknown => (levels === 0 ? canary : { inner: nested(levels - 1), list: [canary] })

test('N13: a plain HTTP request to the path of the sockets is answered once, as every other', async () => {
  for (const path of ['/socket.io/?EIO=4&transport=polling', '/socket.io/?EIO=3', '/socket.io/?transport=websocket']) {
    const answer = await fetch(server.url + path)
    expect([path, answer.status]).toEqual([path, 400])
    expect(await answer.json()).toMatchObject({
      error: { code: 'VALIDATION_ERROR', message: expect.stringContaining('WebSocket') },
    })
  }
  expect(lines.filter((line) => line.includes('failed'))).toEqual([])
})

test('N13: a refused upgrade has the headers of every other answer', async () => {
  const headers = [
    'Host: localhost',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    'Origin: https://evil.example',
  ]
  const line = 'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1'
  const answer = await sendBytes(server.url, [line, ...headers, '', ''].join('\r\n'))
  const usual = (await fetch(`${server.url}/api/nothing`)).headers
  expect(answer).toMatchObject({
    status: 403,
    headers: Object.fromEntries(secured.map((name) => [name, usual.get(name)])),
  })
})
const secured = [
  'content-security-policy',
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options',
  'referrer-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'cache-control',
]

describe('T42: secrets that clients send are repeated nowhere', () => {
  test('a secret in every header and every field stays out of logs, figures and refusals', {
    ...heavy,
    timeout: 300_000,
  }, async () => {
    const headers = {
      'x-request-id': canary,
      'x-payment': canary,
      'x-api-key': canary,
      'user-agent': canary,
      referer: `http://localhost:3000/${canary}`,
      'idempotency-key': canary,
      'x-forwarded-for': canary,
      'accept-language': canary,
    }
    const credentials = [
      { authorization: `Bearer ${canary}` },
      { authorization: `Basic ${canary}` },
      { cookie: `app_session=${canary}; other=${canary}` },
      { authorization: `Bearer ${me.token}` },
    ]
    for (const [at, target] of restTargets.entries()) {
      const fields = samples(target.schema, {}).flatMap(Object.keys)
      const names = [...new Set([...fields, 'token', 'code', 'password', 'text', 'content', 'message', 'signature'])]
      const spoilt = Object.fromEntries(names.map((name, level) => [name, nested(level % 5)]))
      const plain = Object.fromEntries(names.map((name) => [name, canary]))
      for (const input of [spoilt, plain]) {
        const path = target.path.replace(/:[a-zA-Z_]+/g, 'x')
        const query = target.method === 'GET' ? `${path.includes('?') ? '&' : '?'}${new URLSearchParams(plain)}` : ''
        const answer = await fetch(server.url + path + query, {
          method: target.method,
          headers: { ...headers, ...credentials[at % credentials.length], 'content-type': 'application/json' },
          ...(target.method === 'GET' ? {} : { body: JSON.stringify(input) }),
        })
        const text = await wholeOf(target, answer)
        expect([target.path, answer.status < 400 ? '' : text]).not.toEqual([
          target.path,
          expect.stringContaining(canary),
        ])
        expect(JSON.stringify([...answer.headers])).not.toContain(canary)
      }
    }
    const wire = await openWire(server.url, '/rooms', { token: me.token })
    for (const { event, operation, namespace } of socketTargets) {
      const input = Object.fromEntries(Object.keys(operation.input.shape).map((name) => [name, canary]))
      if (namespace !== '/rooms') continue
      const ack = await wire.ask(event, JSON.stringify(input))
      if (ack?.ok !== true) expect(JSON.stringify(ack)).not.toContain(canary)
    }
    wire.close()
    const refused = await openWire(server.url, '/rooms', { token: canary })
    expect(refused.answer).toMatch(/^44/)
    expect(refused.answer).not.toContain(canary)
    refused.close()
    expect(lines.length).toBeGreaterThan(restTargets.length)
    expect(lines.filter((line) => line.includes(canary))).toEqual([])
    const figures = await (await fetch(`${server.opsUrl}/metrics`)).text()
    expect(figures).toContain('plaza_operations_total')
    expect(figures).not.toContain(canary)
  })

  test('tokens of a session, a nonce and a message stay out as well', async () => {
    await me.rest(`POST /api/channels/${channel}/messages`, { content: 'a private thought' })
    const after = await me.rest('POST /api/auth/session', { refreshToken: me.refreshToken })
    const told = lines.join('\n')
    const secrets = [me.token, me.refreshToken, String(after.body.sessionToken), 'a private thought']
    for (const secret of secrets) expect(told).not.toContain(secret)
  })

  test('nobody is named by the line of a request, in any spelling of its path', async () => {
    const address = me.account.slice(2)
    const paths = [me.account, `0X${address.toUpperCase()}`, `%30x${address}`, `a/${me.account}~${me.account}`]
    const addresses = [...paths, 'ada%40lovelace.example', 'ada@lovelace.example']
    for (const path of addresses) await fetch(`${server.url}/api/users/${path}`)
    const solana = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'
    await me.rest(`GET /api/public/user/${solana}`)
    await vi.waitFor(() => expect(lines.filter((line) => line.includes('/api/public/user/***'))).toHaveLength(1))
    const told = lines.filter((line) => line.startsWith('http ')).join('\n')
    expect(told).toContain('/api/users/***')
    for (const name of [address.toLowerCase(), 'lovelace', solana.toLowerCase()])
      expect(told.toLowerCase()).not.toContain(name)
  })

  test('a line of the log is one line, whatever a path or a request id holds', async () => {
    for (const line of ['GET /api/%0d%0aforged:%20yes', 'GET /api/%1b[2J'])
      await sendBytes(server.url, request(line, ['X-Request-Id: a\tb']))
    const told = lines.slice(-2).join(' ')
    expect(told).toContain('%0d%0aforged')
    expect(told).not.toContain('\u001b[2J')
    expect(told).not.toContain('a\tb')
  })
})

/** What was answered; of an answer that goes on, that it began. */
async function wholeOf({ operation }: (typeof restTargets)[number], answer: Response): Promise<string> {
  if (!operation.stream || answer.status !== 200) return answer.text()
  await answer.body?.cancel()
  return '{}'
}

const innards = /\n\s+at |node_modules|\.[jt]s[:"]|[Mm]ongo|E11000|lmdb|closed|Error:|ECONN|plaza-/

describe('T43, T48: a store that fails under every operation', () => {
  test('is told as a documented failure over both doors, and takes nothing down', {
    ...heavy,
    timeout: 90_000,
  }, async () => {
    const wire = await openWire(server.url, '/rooms', { token: me.token })
    await vi.waitFor(() => expect(wire.heard.join()).toContain('session:ready'), 10_000)
    await server.platform.database.close()
    const room = { type: 'channel', id: channel }
    const candidates = { room, id: channel, address: me.account, text: 'hello', on: true, n: 1, options: ['a', 'b'] }
    const answers = await Promise.all(
      restTargets.map(async (target) => {
        const input = samples(target.schema, candidates)[0] ?? {}
        const path = target.path.replace(':type', 'channel').replace(/:[a-zA-Z_]+/g, channel)
        const sign = path.includes('?') ? '&' : '?'
        const query = target.method === 'GET' ? `${sign}${new URLSearchParams(flat(input))}` : ''
        const answer = await fetch(server.url + path + query, {
          method: target.method,
          headers: { authorization: `Bearer ${me.token}`, 'content-type': 'application/json' },
          ...(target.method === 'GET' ? {} : { body: JSON.stringify(input) }),
        })
        return { path: target.path, status: answer.status, text: await wholeOf(target, answer) }
      }),
    )
    for (const { path, status, text } of answers) {
      expect([path, innards.exec(text)?.[0]]).toEqual([path, undefined])
      const parsed = JSON.parse(text) as { code?: string; error?: { code?: string } }
      if (status >= 400) expect([path, typeof (parsed.code ?? parsed.error?.code)]).toEqual([path, 'string'])
    }
    expect(answers.filter(({ status }) => status >= 500).length).toBeGreaterThan(answers.length / 2)
    for (const { event, operation, namespace } of socketTargets) {
      if (namespace !== '/rooms') continue
      const ack = await wire.ask(event, JSON.stringify(samples(operation.input, candidates)[0] ?? {}), 8_000)
      expect([event, ack === null]).toEqual([event, false])
      expect([event, innards.exec(JSON.stringify(ack))?.[0]]).toEqual([event, undefined])
    }
    wire.close()
    expect((await fetch(`${server.url}/api/status`)).status).toBe(200)
    expect((await fetch(`${server.opsUrl}/readyz`)).status).toBe(503)
    expect((await fetch(`${server.opsUrl}/healthz`)).status).toBe(200)
    expect(lines.some((line) => /^(action failed|request failed|request put off|refused) /.test(line))).toBe(true)
    await server.close().catch(() => undefined)
    expect(watch.faults).toEqual([])
  })
})

const flat = (input: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) => (typeof value === 'object' ? [] : [[name, String(value)]])),
  )
