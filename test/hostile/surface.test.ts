// Modes: embedded
import zlib, { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { closed } from '#test/support/closed'
import { heavy } from '#test/support/heavy'
import { channelOf, type Person, personAt } from '#test/support/people'
import { dial } from '#test/support/raw-connection'
import { wallet } from '#test/support/wallet'
import { type ChangedServer, openChangedServer, watchProcess } from './changed-server.ts'
import { jsonRequest, openWire, request, sendBytes } from './wire.ts'

const watch = watchProcess()
let server: ChangedServer
let me: Person
let channel: string
beforeAll(async () => {
  server = await openChangedServer()
  me = await personAt(server.url, 'surface')
  channel = (await channelOf(me)).id
})
afterAll(async () => {
  expect(watch.faults).toEqual([])
  watch.stop()
  await server.close()
})

const send = (bytes: Buffer) => sendBytes(server.url, bytes)
const post = (body: string | Buffer, headers: readonly string[] = []) =>
  send(jsonRequest('POST /api/channels', me.token, body, headers))
/** Of a path whose refusals are `{ error: text, code }`. */
const codeOf = (body: string) => {
  const { error, code } = JSON.parse(body) as { error: unknown; code: string }
  return typeof error === 'string' ? code : null
}
const countOf = async () => ((await me.rest('GET /api/channels?limit=200')).body.channels as unknown[]).length

describe('T57: only declared routes answer', () => {
  test.each([
    'GET /metrics',
    'GET /healthz',
    'GET /readyz',
    'GET /api',
    'GET /api/nowhere',
    'GET /.env',
    'GET /.git/config',
    'GET /package.json',
    'GET /server/main.ts',
    'GET /docs/../package.json',
    'GET /docs/%2e%2e/package.json',
    'GET /assets/..%2f..%2fpackage.json',
    'GET /api/rooms/%2e%2e/%2e%2e/nowhere/nothing',
    'POST /docs',
    'PROPFIND /api/status',
    'TRACE /api/status',
    'QUERY /api/status',
    'PUT /api/status',
    'DELETE /api/status',
  ])('%s', async (line) => {
    const { status, body } = await send(request(line))
    expect([400, 404, 405]).toContain(status)
    expect(body).not.toMatch(/"dependencies"|plaza_operations_total|\n\s+at /)
  })

  test('a known path with another method is 405, and a method cannot be smuggled in a header', async () => {
    expect((await send(request('PUT /api/status'))).status).toBe(405)
    const smuggled = await send(
      request('GET /api/auth/logout', ['X-HTTP-Method-Override: POST', `Authorization: Bearer ${me.token}`]),
    )
    expect(smuggled.status).toBe(405)
    expect((await me.rest('GET /api/auth/session')).status).toBe(200)
  })

  test('figures are on the other port alone', async () => {
    expect((await fetch(`${server.opsUrl}/metrics`)).status).toBe(200)
    expect(new URL(server.opsUrl).hostname).toBe('127.0.0.1')
    expect((await fetch(`${server.opsUrl}/api/status`)).status).toBe(404)
  })

  test('N13: that port answers to names of this machine alone, where it listens for it alone', async () => {
    for (const path of ['/metrics', '/healthz', '/readyz'])
      for (const [host, status] of [
        ['127.0.0.1:9464', 200],
        ['localhost', 200],
        ['[::1]:9464', 200],
        ['rebound.example:9464', 421],
        ['localhost.rebound.example', 421],
        ['127.0.0.1.rebound.example', 421],
      ] as const) {
        const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', '', '']
        expect([path, host, (await sendBytes(server.opsUrl, lines.join('\r\n'))).status]).toEqual([path, host, status])
      }
  })
})

describe('T58: headers', () => {
  const ofData = "default-src 'none';frame-ancestors 'none'"
  const expected = {
    'content-security-policy':
      "default-src 'self';script-src 'self';style-src 'self' 'unsafe-inline';img-src 'self' data: blob: http://localhost:3000/files/;media-src 'self' blob: http://localhost:3000/files/;connect-src 'self' ws://localhost:3000 http://localhost:3000/files/;object-src 'none';base-uri 'none';form-action 'self';frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    'referrer-policy': 'no-referrer',
    'strict-transport-security': 'max-age=31536000; includeSubDomains',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    vary: 'Origin',
  }

  test.each([
    ['GET /api/status', 200],
    ['GET /api/channels', 200],
    ['GET /api/rooms/alpha', 200],
    ['GET /api/rooms/alpha/messages', 200],
    ['GET /api/chat-rules?chatType=alpha', 200],
    ['GET /api/username/check?username=somebody', 200],
    ['GET /api/auth/session', 401],
    ['GET /api/user/rooms', 401],
    ['GET /api/admin/users', 401],
    ['POST /api/auth/verify', 400],
    ['POST /api/auth/session', 401],
    ['POST /api/auth/logout', 200],
    ['GET /api/username', 400],
    ['GET /api/rooms/channel/nowhere', 404],
    ['GET /api/nowhere', 404],
    ['GET /nowhere', 404],
    ['PUT /api/status', 405],
    ['GET /api/channels/%E0%A4%A', 400],
    ['GET /docs', 200],
    ['GET /docs/rest.md', 200],
    ['GET /docs/nothing', 404],
    ['GET /socket.io/?EIO=4&transport=polling', 400],
    ['GET /socket.io/', 400],
  ] as const)('%s answers %i with all of them', async (line, status) => {
    const answer = await send(request(line))
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject(
      line.includes(' /api') ? { ...expected, 'content-security-policy': ofData } : expected,
    )
    expect(answer.headers).not.toHaveProperty('x-powered-by')
    expect(answer.headers['x-request-id']).toMatch(/^[\w.-]{1,64}$/)
    if (line.includes(' /api')) expect(answer.headers['cache-control']).toBe('no-store')
    if (line.includes(' /api')) expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  })

  test('a person who follows a link to nowhere gets a page, a program its answer', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
    for (const path of ['/nowhere', '/docs/nothing', '/invite/']) {
      const answer = await fetch(`${server.url}${path}`, { headers: { accept } })
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
      // Where the page is built, it says itself that there is no such page.
      expect(await answer.text()).toMatch(/href="\/"|<div id="page">/)
    }
    const called = await fetch(`${server.url}/api/nowhere`, { headers: { accept } })
    expect([called.status, await called.json()]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }])
  })

  test('so do 413 and 415', async () => {
    for (const answer of [
      await post('x'.repeat(200_000)),
      await send(request('POST /api/channels', ['Content-Type: text/plain', 'Content-Length: 2'], '{}')),
    ]) {
      expect([413, 415]).toContain(answer.status)
      expect(answer.headers).toMatchObject({
        ...expected,
        'content-security-policy': ofData,
        'cache-control': 'no-store',
      })
    }
  })

  test('other origins are told nothing', async () => {
    for (const [origin, allowed] of [
      ['http://localhost:3000', true],
      ['https://evil.example', false],
      ['null', false],
      ['http://localhost:3000.evil.example', false],
      ['HTTP://LOCALHOST:3000', false],
    ] as const) {
      const { headers } = await send(
        request('OPTIONS /api/channels', [`Origin: ${origin}`, 'Access-Control-Request-Method: POST']),
      )
      expect(headers['access-control-allow-origin']).toBe(allowed ? origin : undefined)
      expect(headers['access-control-allow-credentials']).toBe(allowed ? 'true' : undefined)
    }
  })
})

describe('T05: an upgrade that is refused says so', () => {
  const key = ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13']
  const upgrade = (headers: readonly string[]) =>
    Buffer.from(
      [
        'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1',
        'Host: localhost',
        'Connection: Upgrade',
        'Upgrade: websocket',
        ...key,
        ...headers,
        '',
        '',
      ].join('\r\n'),
    )

  test.each([
    ['a foreign origin', ['Origin: https://evil.example']],
    ['two origins', ['Origin: http://localhost:3000', 'Origin: https://evil.example']],
    ['the same origin twice', ['Origin: http://localhost:3000', 'Origin: http://localhost:3000']],
    ['a foreign page without an origin', ['Sec-Fetch-Site: cross-site']],
  ])('%s: 403', async (_title, headers) => {
    expect((await send(upgrade(headers))).status).toBe(403)
  })

  test('polling is not spoken', async () => {
    const { status } = await send(request('GET /socket.io/?EIO=4&transport=polling'))
    expect(status).toBe(400)
    expect(
      (await send(request('POST /socket.io/?EIO=4&transport=polling&sid=x', ['Content-Length: 2'], '40'))).status,
    ).toBe(400)
  })

  test('frames are not compressed, whatever is asked', async () => {
    const wire = await openWire(server.url, '/rooms', { token: me.token })
    expect(wire.socket.extensions).toBe('')
    wire.close()
  })
})

describe('T47: what grows when it is unpacked', () => {
  const megabytes = Buffer.alloc(20_000_000, ' ')
  const bombs: [string, string, Buffer, number][] = [
    ['gzip', 'gzip', gzipSync(megabytes), 413],
    ['deflate', 'deflate', deflateSync(megabytes), 413],
    ['brotli', 'br', brotliCompressSync(Buffer.alloc(5_000_000, ' ')), 413],
    ['twice', 'gzip, gzip', gzipSync(gzipSync(megabytes)), 415],
    ['not what it says', 'gzip', Buffer.from('{}'), 400],
    ['unknown', 'lzma', Buffer.from('{}'), 415],
  ]
  // Node 24 unpacks this one as well.
  const { zstdCompressSync } = zlib as { zstdCompressSync?: (data: Buffer) => Buffer }
  if (zstdCompressSync) bombs.push(['zstd', 'zstd', zstdCompressSync(megabytes), 413])
  test.each(bombs)('%s', async (_title, encoding, body, status) => {
    const answer = await post(body, [`Content-Encoding: ${encoding}`])
    expect(answer.status).toBe(status)
    expect(answer.body).not.toMatch(/zlib|incorrect header|\n\s+at /)
  })

  test('a body that is packed and small is read', async () => {
    const answer = await post(gzipSync('{"name":"Packed"}'), ['Content-Encoding: gzip'])
    expect(answer.status).toBe(200)
  })
})

describe('bodies that are no JSON objects', () => {
  const kB = (count: number, inside: string) => inside + ' '.repeat(count * 1024 - inside.length)
  const bad: [string, string | Buffer][] = [
    ['empty', ''],
    ['null', 'null'],
    ['true', 'true'],
    ['zero', '0'],
    ['text', '"x"'],
    ['list', '[]'],
    ['list of objects', '[{"name":"x"}]'],
    ['empty object', '{}'],
    ['cut off', '{"name"'],
    ['trailing comma', '{"name":"x",}'],
    ['comments', '{"name":"x"/**/}'],
    ['single quotes', "{'name':'x'}"],
    ['NaN', '{"name":NaN}'],
    ['UTF-16', Buffer.from('{"name":"x"}', 'utf16le')],
    ['no UTF-8', Buffer.from([...Buffer.from('{"name":"'), 0xff, 0xfe, 0x22, 0x7d])],
    ['__proto__', '{"name":"x","__proto__":{"polluted":true}}'],
    ['constructor', '{"name":"x","constructor":{"prototype":{"polluted":true}}}'],
    ['deep __proto__', '{"name":"x","a":{"b":[{"__proto__":{"polluted":true}}]}}'],
    ['10,000 keys', JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, 1])))],
    ['nine levels', `{"name":"x","a":${'['.repeat(9)}${']'.repeat(9)}}`],
    ['100 kB of blanks', kB(100, '')],
  ]
  test.each(bad)('%s', async (_title, body) => {
    const before = await countOf()
    const answer = await post(body)
    expect(answer.status).toBe(400)
    expect(codeOf(answer.body)).toBe('VALIDATION_ERROR')
    expect(answer.body).not.toMatch(/JSON at position|SyntaxError|\n\s+at /)
    expect(await countOf()).toBe(before)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('100 kB are read, one byte more is not', async () => {
    expect((await post(kB(100, '{"name":"Exactly"}'))).status).toBe(200)
    const over = await post(`${kB(100, '{"name":"Over"}')} `)
    expect([over.status, codeOf(over.body)]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  })

  test('a field nobody knows has no effect, and the last of two of a name counts', async () => {
    const extra = await post('{"name":"Plain","is_official":true,"member_count":99,"owner_address":"0x0","":1}')
    expect(JSON.parse(extra.body)).toMatchObject({
      channel: { name: 'Plain', is_official: false, owner_address: me.account },
    })
    for (const name of ['$where', 'a.b', '_bsontype'])
      expect(await post(`{"name":"Plain","${name}":1}`)).toMatchObject({ status: 400 })
    const twice = await post('{"name":"First","name":"Second"}')
    expect(JSON.parse(twice.body)).toMatchObject({ channel: { name: 'Second' } })
  })

  test.each([
    ['none', []],
    ['text', ['Content-Type: text/plain']],
    ['UTF-7', ['Content-Type: application/json; charset=utf-7']],
    ['a form', ['Content-Type: application/x-www-form-urlencoded']],
    ['parts without boundary', ['Content-Type: multipart/form-data']],
    ['JSON of another kind', ['Content-Type: application/vnd.api+json']],
  ])('content type: %s', async (_title, type) => {
    const body = '{"name":"Typed"}'
    const headers = [`Authorization: Bearer ${me.token}`, `Content-Length: ${body.length}`, ...type]
    const answer = await send(request('POST /api/channels', headers, body))
    expect(answer.status).toBe(415)
  })
})

describe('requests that are no requests', () => {
  test.each([
    [
      'both lengths',
      'POST /api/channels HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      [400],
    ],
    [
      'two lengths',
      'POST /api/channels HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
      [400],
    ],
    [
      'a chunk of 4 GB',
      'POST /api/channels HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n',
      [400],
    ],
    ['no host', 'GET /api/status HTTP/1.1\r\nConnection: close\r\n\r\n', [200, 400]],
    ['an empty host', 'GET /api/status HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n', [200, 400]],
    ['a foreign host', 'GET /api/status HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n', [200]],
    ['HTTP/1.0', 'GET /api/status HTTP/1.0\r\n\r\n', [200]],
    ['an absolute target', 'GET http://x/api/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', [200]],
    [
      'an absolute target of another host',
      'GET http://evil.example/api/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      [400],
    ],
    ['a header of 64 kB', `GET /api/status HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(65_536)}\r\n\r\n`, [431]],
    [
      '2,000 headers',
      `GET /api/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${'X-A: b\r\n'.repeat(1_500)}\r\n`,
      [200, 431],
    ],
    ['a header without colon', 'GET /api/status HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n', [400]],
    ['no HTTP', 'hello\r\n\r\n', [400]],
  ] as const)('%s', async (_title, bytes, statuses) => {
    const { status } = await sendBytes(server.url, bytes)
    expect(statuses as readonly number[]).toContain(status)
  })

  test.each([
    [
      'two bearers',
      (token: string) => [`Authorization: Bearer ${token}`, 'Authorization: Bearer other'],
      [200, 400, 401],
    ],
    ['an empty bearer', () => ['Authorization: Bearer '], [401]],
    ['two spaces', (token: string) => [`Authorization: Bearer  ${token}`], [200, 401]],
    ['lower case', (token: string) => [`Authorization: bearer ${token}`], [200]],
    ['another scheme', (token: string) => [`Authorization: Basic ${token}`], [401]],
    ['the cookie twice', (token: string) => [`Cookie: app_session=${token}; app_session=${token}`], [400]],
    [
      'cookie and another bearer',
      (token: string) => [`Cookie: app_session=${token}`, 'Authorization: Bearer x'],
      [400],
    ],
    ['a cookie of 8 kB', () => [`Cookie: app_session=${'x'.repeat(8_000)}`], [401]],
    ['a cookie with quotes and percent', () => ['Cookie: app_session="%E0%A4%A"'], [400, 401]],
    ['a token of four parts', () => ['Authorization: Bearer a.b.c.d'], [401]],
    [
      'a forwarded list of 1,000',
      (token: string) => [`Authorization: Bearer ${token}`, `X-Forwarded-For: ${'1.1.1.1,'.repeat(1_000)}`],
      [200],
    ],
  ] as const)('credentials: %s', async (_title, headersOf, statuses) => {
    const { status } = await send(request('GET /api/auth/session', headersOf(me.token)))
    expect(statuses as readonly number[]).toContain(status)
  })
})

describe('T45: those who take their time', () => {
  test('half requests and silent sockets are closed, and others are served meanwhile', {
    ...heavy,
    timeout: 30_000,
  }, async () => {
    const started = Date.now()
    const half = Array.from({ length: 500 }, () => {
      const socket = dial(server.url)
      socket.on('error', () => undefined).on('data', () => undefined)
      socket.write('GET /api/status HTTP/1.1\r\nHost: x\r\nX-Slow: ')
      return closed(socket).then(() => Date.now() - started)
    })
    const silent = Array.from({ length: 300 }, async () => {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`)
      await closed(socket)
      return Date.now() - started
    })
    const served: number[] = []
    for (let at = 0; at < 20; at++) {
      const asked = performance.now()
      expect((await fetch(`${server.url}/api/status`)).status).toBe(200)
      served.push(performance.now() - asked)
    }
    expect(Math.max(...served)).toBeLessThan(2_000)
    expect(Math.max(...(await Promise.all(half)))).toBeLessThan(10_000)
    expect(Math.max(...(await Promise.all(silent)))).toBeLessThan(15_000)
  })

  test('a body that stops half way holds up nobody', async () => {
    const socket = dial(server.url)
    socket.on('error', () => undefined)
    socket.write(
      `POST /api/channels HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${me.token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name":`,
    )
    expect((await fetch(`${server.url}/api/status`)).status).toBe(200)
    socket.destroy()
    expect(await countOf()).toBeGreaterThan(0)
  })
})

test('T57: what only admins may do is refused to others', async () => {
  const ban = { userAddress: wallet('x').address, ban: true }
  expect((await me.rest('POST /api/admin/ban', ban)).status).toBe(403)
  expect((await me.rest(`GET /api/rooms/channel/${channel}`)).status).toBe(200)
})
