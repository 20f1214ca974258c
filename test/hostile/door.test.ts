// Modes: embedded
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { budgets } from '#server/kernel/limits/budgets'
import { tiers } from '#server/kernel/limits/limits'
import { fakeVideo } from '#server/ports/video/fake'
import { AppError } from '#shared/errors'
import { type Booted, boot } from '#test/support/boot'
import { closed } from '#test/support/closed'
import { heavy } from '#test/support/heavy'
import { personAt } from '#test/support/people'
import { sent } from '#test/support/raw-connection'
import { call, wallet } from '#test/support/wallet'
import { openWire, request, sendBytes } from './wire.ts'

let server: Booted
let url: string
const cleanups: (() => unknown)[] = []

/** What shows media: names that begin with `there` are. */
const asked: string[] = []
const answer = ({ url: path = '' }: IncomingMessage, response: ServerResponse) => {
  asked.push(path)
  response.writeHead(/^\/(hls|recordings)\/there/.test(path) ? 200 : 404, { 'content-length': 0 }).end()
}
/** Looks for streams, as several nodes do. */
const looked: string[] = []
const warned: string[] = []

async function open(environment: Record<string, string> = {}): Promise<void> {
  const engine = createServer(answer).listen(0, '127.0.0.1')
  await once(engine, 'listening')
  const { port } = engine.address() as AddressInfo
  const originOf = async (id: string) => {
    looked.push(id)
    if (id.startsWith('nowhere')) throw new AppError('NOT_FOUND')
    return { host: '127.0.0.1', port, headers: {} }
  }
  server = await boot({
    nodes: 1,
    environment: { RATE_LIMIT_SCALE: '1', ...environment },
    services: { video: { ...fakeVideo(), originOf } },
    change: (platform) => ({
      ...platform,
      logger: { ...platform.logger, warn: (fields) => void warned.push((fields as { reason?: string }).reason ?? '') },
    }),
  })
  url = server.url
  cleanups.push(() => {
    engine.closeAllConnections()
    engine.close()
  })
}

beforeEach(async () => {
  asked.length = 0
  looked.length = 0
  warned.length = 0
  await open()
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  await server.close()
})

/** A connection that has sent this, until the test ends. */
function opens(bytes: string, from?: string) {
  const connection = sent(url, bytes, from)
  cleanups.push(() => connection.socket.destroy())
  return connection
}
const line = (path: string, headers: readonly string[] = [], method = 'GET') =>
  [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n')
const { requestsOfAddress, refusedRequests, waitingRequests, looksOfAddress } = budgets

/** An address that has asked as often as it may. */
async function spend(count = requestsOfAddress.most, address = '127.0.0.1') {
  const [app] = server.apps
  for (let one = 0; one < count; one++) await app?.node.limits.throttle('http', address, requestsOfAddress.most, 60)
}
const turnedAway = async () =>
  Number(/^plaza_requests_turned_away_total (\d+)/m.exec((await server.apps[0]?.node.metrics.text()) ?? '')?.[1])

describe('O06: every request counts by address before anything is looked up', () => {
  const kinds: [what: string, method: string, path: string, headers?: string[]][] = [
    ['an OPTIONS of a path', 'OPTIONS', '/api/channels'],
    [
      'an OPTIONS of any page',
      'OPTIONS',
      '/api/channels',
      ['Origin: http://localhost:3000', 'Access-Control-Request-Method: POST'],
    ],
    ['an OPTIONS of no path', 'OPTIONS', '/nowhere'],
    ['an OPTIONS of a stream', 'OPTIONS', '/hls/there/index.m3u8'],
    ['an OPTIONS of a key', 'OPTIONS', '/webrtc/key'],
    ['an OPTIONS of everything', 'OPTIONS', '*'],
    ['the page', 'GET', '/'],
    ['a state', 'GET', '/api/status'],
    ['an unknown path', 'GET', '/nowhere'],
    ['an unknown path of the API', 'PUT', '/api/nowhere'],
    ['an unknown stream', 'GET', '/hls/unknown/index.m3u8'],
    ['a part of an unknown stream', 'GET', '/hls/unknown/1.m4s'],
    ['a stream of no host', 'GET', '/hls/nowhere/index.m3u8'],
    ['an unknown recording', 'GET', '/recordings/unknown.mp4'],
    ['a file that is none', 'GET', '/files/media/nothing'],
    ['documents', 'GET', '/docs/rest.md'],
    ['polling', 'GET', '/socket.io/?EIO=4&transport=polling'],
    ['another protocol', 'GET', '/api/status', ['Connection: Upgrade', 'Upgrade: h2c']],
    ['a page of elsewhere', 'POST', '/api/channels', ['Origin: https://evil.example', 'Content-Length: 0']],
    ['what cannot be read', 'POST', '/api/channels', ['Content-Type: text/plain', 'Content-Length: 2']],
    ['a webhook', 'POST', '/api/webhooks/video', ['Content-Length: 0']],
  ]
  test.each(kinds)('%s', async (_what, method, path, headers = []) => {
    const ask = () =>
      sendBytes(url, request(`${method} ${path}`, headers, headers.includes('Content-Length: 2') ? 'xx' : ''))
    await spend(requestsOfAddress.most - 1)
    expect((await ask()).status).not.toBe(429)
    const before = [asked.length, looked.length]
    expect(await ask()).toMatchObject({ status: 429, headers: { 'retry-after': expect.any(String) } })
    expect([asked.length, looked.length]).toEqual(before)
  })

  test('a handshake, of whatever page', async () => {
    await spend(requestsOfAddress.most - 1)
    await expect(openWire(url, '/rooms', undefined, { origin: 'https://evil.example' })).rejects.toThrow('refused: 403')
    await expect(openWire(url, '/rooms', undefined, { origin: 'https://evil.example' })).rejects.toThrow('refused: 429')
  })

  test('those who watch what is there do not spend it, and are not refused where others have', async () => {
    const shown = ['/hls/there/index.m3u8', '/recordings/there.mp4']
    const ask = async (path: string) => (await sendBytes(url, request(`GET ${path}`))).status
    for (const path of shown) expect(await ask(path)).toBe(200)
    await spend()
    expect(await ask('/hls/unknown/index.m3u8')).toBe(429)
    for (const path of [...shown, '/hls/there/1.m4s']) expect(await ask(path)).toBe(200)
  })

  test('an unknown name is looked for once', async () => {
    for (const path of ['/hls/nowhere/index.m3u8', '/hls/unknown/index.m3u8', '/recordings/unknown.mp4']) {
      const answers = []
      for (let one = 0; one < 5; one++) answers.push(await fetch(url + path))
      expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(404))
      expect(new Set(answers.map(({ headers }) => headers.get('access-control-allow-origin')))).toEqual(new Set(['*']))
    }
    expect(looked).toEqual(['nowhere', 'unknown', 'unknown'])
  })

  test('who shows a session has as many of their own, and a made-up one is looked up a bounded number of times', async () => {
    const [one, other] = [await personAt(url, 'busy'), await personAt(url, 'quiet')]
    await spend()
    const ask = (token: string) => sendBytes(url, request('GET /api/status', [`Authorization: Bearer ${token}`]))
    for (const { token } of [one, other]) expect((await ask(token)).status).toBe(200)
    await spend(requestsOfAddress.most, one.account)
    expect((await ask(one.token)).status).toBe(429)
    const cookie = await sendBytes(url, request('GET /api/status', [`Cookie: app_session=${other.token}`]))
    expect(cookie.status).toBe(200)
    const [app] = server.apps
    for (let look = 0; look < looksOfAddress.most; look++)
      await app?.node.limits.throttle('look', '127.0.0.1', looksOfAddress.most, 60)
    const late = await personAt(url, 'late')
    expect((await ask(late.token)).status).toBe(429)
    expect((await ask(other.token)).status).toBe(200)
  })

  test('the documented answer: headers of the limits and of every answer, and the shape of the path', async () => {
    await spend()
    const shapes = [
      ['GET /api/channels', 'text'],
      ['GET /api/status', 'coded'],
      ['GET /api/nowhere', 'coded'],
      ['GET /hls/nothing/index.m3u8', 'coded'],
    ] as const
    for (const [path, shape] of shapes) {
      const { status, headers, body } = await sendBytes(
        url,
        request(path, ['Origin: http://localhost:3000', 'X-Request-Id: mine']),
      )
      expect([path, status, headers['x-error-code'], headers['x-error-shape']]).toEqual([
        path,
        429,
        'RATE_LIMIT_EXCEEDED',
        shape,
      ])
      expect(headers).toMatchObject({
        'retry-after': '60',
        'x-ratelimit-limit': '1200',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': expect.stringMatching(/^\d+$/),
        'x-request-id': 'mine',
        'cache-control': 'no-store',
        'content-type': 'application/json; charset=utf-8',
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'access-control-allow-origin': 'http://localhost:3000',
      })
      const refusal = { code: 'RATE_LIMIT_EXCEEDED', retryAfter: 60 }
      const text = 'Too many requests'
      expect(JSON.parse(body)).toEqual(
        shape === 'text' ? { error: text, ...refusal } : { success: false, error: { message: text, ...refusal } },
      )
    }
    const older = await sendBytes(url, request('GET /api/channels/one/messages'))
    expect([older.status, older.headers.deprecation, older.headers.link]).toEqual([
      429,
      expect.stringMatching(/^@\d+$/),
      '</api/rooms/channel/one/messages>; rel="successor-version"',
    ])
    expect((await sendBytes(url, request('HEAD /api/channels'))).body).toBe('')
  })
})

describe('O05: a connection is served in its turn', () => {
  test('one request at a time, in order', async () => {
    const { statuses, heard } = opens(
      line('/api/rooms/alpha/events?after_seq=999&wait=1') + line('/api/status').repeat(3),
    )
    await expect.poll(() => statuses().length).toBe(4)
    expect(heard().split('HTTP/1.1 ')[1]).toContain('"head_seq"')
  })

  test('others of the same address come in between', async () => {
    const order: string[] = []
    const many = opens(line('/api/nowhere/many').repeat(50))
    many.socket.on('data', () => order.push('many'))
    await once(many.socket, 'data')
    const one = opens(line('/api/nowhere/one'))
    one.socket.once('data', () => order.push('one'))
    await expect.poll(() => many.statuses().length).toBe(50)
    expect(one.statuses()).toEqual([404])
    expect(order.indexOf('one')).toBeLessThan(order.lastIndexOf('many'))
  })

  test('what is more than may wait is not answered, and the connection is closed after the rest', async () => {
    const { socket, statuses, heard } = opens(line('/api/status').repeat(3 * waitingRequests.most))
    await closed(socket)
    expect(statuses().length).toBeGreaterThanOrEqual(waitingRequests.most)
    expect(statuses().length).toBeLessThan(2 * waitingRequests.most)
    expect(heard().match(/Connection: close/gi)).toHaveLength(1)
  })

  test('an address whose connection sent more than may wait opens no other for a while; others do', async () => {
    const before = opens(line('/api/status'))
    await expect.poll(before.statuses).toEqual([200])
    await closed(opens(line('/api/status').repeat(3 * waitingRequests.most)).socket)
    const next = opens(line('/api/status'))
    await closed(next.socket)
    expect(next.statuses()).toEqual([])
    before.socket.write(line('/api/status'))
    await expect.poll(() => before.statuses().length).toBe(2)
    const other = opens(line('/api/status'), '127.0.0.2')
    await expect.poll(other.statuses).toEqual([200])
  })

  test('a proxy opens connections whatever one of them carried', async () => {
    await server.close()
    await open({ TRUSTED_PROXIES: '1' })
    await closed(opens(line('/api/status').repeat(3 * waitingRequests.most)).socket)
    const { statuses } = opens(line('/api/status'))
    await expect.poll(() => statuses().length).toBe(1)
  })

  test('refusals of the budget of an account close a connection, too', async () => {
    const { statuses, socket } = opens(line('/api/user/rooms').repeat(tiers.general))
    await expect.poll(() => statuses().length).toBe(tiers.general)
    socket.write(line('/api/user/rooms').repeat(50))
    await closed(socket)
    expect(statuses().slice(tiers.general)).toEqual(Array(refusedRequests.most + 1).fill(429))
  })

  test('who goes on after a few refusals loses the connection, and what it sent behind them is not looked at', async () => {
    await spend()
    const { socket, statuses, heard } = opens(line('/api/status').repeat(50))
    await closed(socket)
    expect(statuses()).toEqual(Array(refusedRequests.most).fill(429))
    expect(heard().match(/Connection: close/gi)).toHaveLength(1)
    expect(await turnedAway()).toBe(refusedRequests.most)
    const alone = opens('')
    for (let one = 1; one <= refusedRequests.most; one++) {
      alone.socket.write(line('/api/status'))
      await expect.poll(() => alone.statuses().length).toBe(one)
    }
    await closed(alone.socket)
  })

  test('a connection of a trusted proxy stays, as others ask over it', async () => {
    await server.close()
    await open({ TRUSTED_PROXIES: '1' })
    await spend(requestsOfAddress.most, '198.51.100.1')
    const from = (address: string) => line('/api/status', [`X-Forwarded-For: ${address}`])
    const { statuses } = opens(from('198.51.100.1').repeat(3 * refusedRequests.most) + from('198.51.100.2'))
    await expect.poll(statuses).toEqual([...Array(3 * refusedRequests.most).fill(429), 200])
  })

  test('a body that is refused is not waited for', async () => {
    await spend()
    const { statuses } = opens(
      line('/api/channels', ['Content-Type: application/json', 'Content-Length: 100000'], 'POST'),
    )
    await expect.poll(statuses).toEqual([429])
  })
})

describe('O66: refused calls count', () => {
  const outcomes = async (count: number, ask: () => Promise<{ status: number }>) => {
    const seen: number[] = []
    for (let one = 0; one < count; one++) seen.push((await ask()).status)
    return seen
  }
  const alike = (first: number, count: number) => [...Array(count).fill(first), 429, 429]

  test('without a session by address, in the tier of what is asked for', async () => {
    const tried = await outcomes(tiers.general + 2, () => call(url, 'GET /api/user/rooms', null))
    expect(tried).toEqual(alike(401, tiers.general))
    const refused = await call(url, 'GET /api/user/rooms', null)
    expect([refused.headers.get('x-ratelimit-limit'), refused.headers.get('x-ratelimit-remaining')]).toEqual([
      '100',
      '0',
    ])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await personAt(url, 'signs in all the same')).token).toBeTruthy()
  })

  test.each([
    ['with a session that is none', 'GET /api/user/rooms', 'nonsense', 401],
    ['that cannot be read', 'GET /api/channels?limit=x', undefined, 400],
    ['of messages', 'POST /api/alpha/messages', undefined, 401],
  ])('%s', async (_what, route, token, status) => {
    const most = route.includes('messages') ? tiers.messaging : tiers.general
    expect(await outcomes(most + 2, () => call(url, route, null, token))).toEqual(alike(status, most))
  })

  test('a sign-in has ten times as many of an address, which are not those of who signs in there', async () => {
    const tried = await outcomes(10 * tiers.auth + 2, () => call(url, 'POST /api/phone/verify-code', {}))
    expect(tried).toEqual(alike(401, 10 * tiers.auth))
    const nonce = await call(url, `GET /api/auth/verify?address=${wallet('unconcerned').address}`, null)
    expect(nonce.status).toBe(200)
  })

  test('what is strict is not spent by a form with mistakes', async () => {
    const who = await personAt(url, 'mistyping')
    const tried = await outcomes(10 * tiers.strict + 2, () => who.rest('POST /api/streams', { title: 7 }))
    expect(tried).toEqual(alike(400, 10 * tiers.strict))
    expect((await who.rest('POST /api/streams', { title: 'Right' })).status).not.toBe(429)
  })

  test('of a door of admins by account', async () => {
    const [nobody, other] = [await personAt(url, 'no admin'), await personAt(url, 'other')]
    const ask = () => nobody.rest('GET /api/admin/users')
    expect(await outcomes(tiers.general + 2, ask)).toEqual(alike(403, tiers.general))
    expect((await other.rest('GET /api/user/rooms')).status).toBe(200)
  })

  test('over a socket in the same bucket', heavy, async () => {
    const wire = await openWire(url, '/streams', {})
    cleanups.push(wire.close)
    const ask = async () => (await wire.askInTime('stream:get', '{}'))?.error?.status
    const seen = []
    for (let one = 0; one < 60; one++) seen.push((await call(url, 'GET /api/user/rooms', null)).status, await ask())
    expect(seen.slice(0, tiers.general)).toEqual(Array(tiers.general).fill(401))
    expect(seen.slice(tiers.general)).toEqual(Array(20).fill(429))
  })
})

describe('O06: the same over a socket', () => {
  test('a connection whose events are refused again and again is closed', heavy, async () => {
    const wire = await openWire(url, '/streams', {})
    const { OPEN } = wire.socket
    const second = () => Math.floor(performance.now() / 1_000)
    while (wire.socket.readyState === OPEN) {
      const now = second()
      await Promise.race([wire.closed, Promise.all(Array.from({ length: 200 }, () => wire.ask('no:such', '{}')))])
      // More packets in one second are another matter.
      await expect.poll(() => second() > now || wire.socket.readyState !== OPEN).toBe(true)
    }
    expect(warned).toEqual(['too many refused events'])
  })
})

describe('O10: a request has one Host', () => {
  const twice = ['Host: localhost', 'host: evil.example']
  test.each([
    ['of the API', 'GET /api/status'],
    ['of the page', 'GET /'],
    ['of media', 'GET /hls/there/index.m3u8'],
    ['of files', 'GET /files/nothing'],
    ['of a method that asks', 'OPTIONS /api/status'],
  ])('%s', async (_what, path) => {
    const unclear = ['localhost, evil.example', 'evil@localhost', 'localhost/evil', 'local host', 'http://localhost']
    for (const hosts of [
      twice,
      ['Host: localhost', 'Host: localhost'],
      ['HOST: ', 'Host: localhost'],
      ...unclear.map((one) => [`Host: ${one}`]),
    ]) {
      const bytes = [`${path} HTTP/1.1`, ...hosts, 'Connection: close', '', ''].join('\r\n')
      expect(await sendBytes(url, bytes)).toMatchObject({
        status: 400,
        headers: { 'x-error-code': 'VALIDATION_ERROR' },
      })
    }
  })

  test.each([
    ['another host', 'http://evil.example'],
    ['another port', 'http://localhost:81'],
    ['a user', 'http://localhost@evil.example'],
    ['a user at this host', 'http://evil.example@localhost'],
    ['another scheme', 'ftp://localhost'],
  ])('O92: not %s in its target', async (_what, site) => {
    for (const path of ['/api/status', '/', '/hls/there/index.m3u8', '/files/nothing', '/socket.io/?EIO=4'])
      for (const method of ['GET', 'OPTIONS']) {
        const bytes = [`${method} ${site}${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', '', ''].join('\r\n')
        expect([path, method, (await sendBytes(url, bytes)).status]).toEqual([path, method, 400])
      }
  })

  test('O92: the host of the target may be this one', async () => {
    for (const target of ['http://localhost/api/status', 'HTTPS://LOCALHOST/api/status', '/api/status']) {
      const bytes = [`GET ${target} HTTP/1.1`, 'Host: localhost', 'Connection: close', '', ''].join('\r\n')
      expect([target, (await sendBytes(url, bytes)).status]).toEqual([target, 200])
    }
  })

  test.each([
    ['Authorization', ['Authorization: Bearer one', 'authorization: Bearer two']],
    ['Content-Type', ['Content-Type: application/json', 'content-type: text/plain']],
  ])('and one %s', async (_what, fields) => {
    for (const path of ['GET /api/status', 'GET /', 'OPTIONS /api/status', 'POST /api/channels']) {
      const bytes = [`${path} HTTP/1.1`, 'Host: localhost', ...fields, 'Connection: close', '', ''].join('\r\n')
      const answer = await sendBytes(url, bytes)
      expect([path, answer.status, answer.headers['x-error-code']]).toEqual([path, 400, 'VALIDATION_ERROR'])
    }
  })

  test.each([
    ['Host', twice],
    ['Authorization', ['Host: localhost', 'Authorization: Bearer one', 'Authorization: Bearer two']],
  ])('of a handshake: %s', async (_what, fields) => {
    const bytes = [
      'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1',
      ...fields,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version: 13',
      '',
      '',
    ].join('\r\n')
    expect((await sendBytes(url, bytes)).status).toBe(400)
  })
})
