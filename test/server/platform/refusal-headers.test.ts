// Modes: embedded
import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorHeaders } from '#shared/errors'
import { request, sendBytes } from '#test/hostile/wire'
import { type Booted, boot } from '#test/support/boot'
import { type Person, person } from '#test/support/people'

let server: Booted
let alice: Person
beforeAll(async () => {
  server = await boot()
  alice = await person(server, 'alice')
})
afterAll(() => server.close())

const channel = 'channel/0195c2de-0000-7abc-8def-0123456789ab'
const json = { 'content-type': 'application/json' }
const foreign = { origin: 'https://elsewhere.example' }
const long = JSON.stringify({ text: 'x'.repeat(101 * 1024) })

interface Case {
  what: string
  route: string
  init?: RequestInit
  is: [status: number, code: string, shape: string]
}

const cases: Case[] = [
  {
    what: 'an operation that answers in code',
    route: `GET /api/rooms/${channel}/events`,
    is: [404, 'ROOM_NOT_FOUND', 'coded'],
  },
  { what: 'one that answers in text', route: 'GET /api/username/check', is: [400, 'VALIDATION_ERROR', 'text'] },
  {
    what: 'another spelling',
    route: 'GET /api/channels/0195c2de-0000-7abc-8def-0123456789ab',
    is: [404, 'ROOM_NOT_FOUND', 'text'],
  },
  { what: 'a path that is not there', route: 'GET /api/nowhere', is: [404, 'NOT_FOUND', 'coded'] },
  { what: 'a method that is not there', route: 'DELETE /api/status', is: [405, 'METHOD_NOT_ALLOWED', 'coded'] },
  {
    what: 'a body that is too long, of a path in text',
    route: 'POST /api/username',
    init: { headers: json, body: long },
    is: [413, 'PAYLOAD_TOO_LARGE', 'text'],
  },
  {
    what: 'a body that is too long, of a path in code',
    route: `POST /api/rooms/${channel}/messages`,
    init: { headers: json, body: long },
    is: [413, 'PAYLOAD_TOO_LARGE', 'coded'],
  },
  {
    what: 'a body of another type',
    route: 'POST /api/username',
    init: { headers: { 'content-type': 'text/plain' }, body: 'x' },
    is: [415, 'UNSUPPORTED_MEDIA_TYPE', 'text'],
  },
  {
    what: 'a page of elsewhere',
    route: 'POST /api/username',
    init: { headers: foreign },
    is: [403, 'FORBIDDEN', 'text'],
  },
]

describe('N85: a refusal says its code and its shape in its headers', () => {
  test.each(cases)('$what', async ({ route, init = {}, is }) => {
    const [method = '', path = ''] = route.split(' ')
    const answer = await fetch(server.url + path, {
      method,
      ...init,
      headers: { ...(is[0] === 403 ? {} : { authorization: `Bearer ${alice.token}` }), ...init.headers },
    })
    const [code, shape] = [errorHeaders.code, errorHeaders.shape].map((name) => answer.headers.get(name))
    expect([answer.status, code, shape]).toEqual(is)
    const body = await answer.json()
    expect(body).toMatchObject(
      shape === 'text' ? { error: expect.any(String), code } : { success: false, error: { code } },
    )
  })

  test('a page that is not there has a code and no shape', async () => {
    const answer = await fetch(`${server.url}/nowhere/at/all`, { headers: { accept: 'text/html' } })
    expect([answer.status, answer.headers.get(errorHeaders.code), answer.headers.get(errorHeaders.shape)]).toEqual([
      404,
      'NOT_FOUND',
      null,
    ])
  })

  test('a refused handshake has a code', async () => {
    const url = `${server.url}/socket.io/?EIO=4&transport=websocket`
    const headers = { ...foreign, Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' }
    const answered = new Promise<IncomingMessage>((resolve, reject) =>
      get(url, { headers }, resolve).on('error', reject),
    )
    const { statusCode, headers: told } = await answered
    expect([statusCode, told['x-error-code']]).toEqual([403, 'FORBIDDEN'])
  })

  const unreadable: [what: string, bytes: string, answer: [status: number, code: string]][] = [
    ['no request', 'nonsense\r\n\r\n', [400, 'VALIDATION_ERROR']],
    [
      'two lengths',
      'POST /api/status HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      [400, 'VALIDATION_ERROR'],
    ],
    ['long headers', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(65_536)}\r\n\r\n`, [431, 'PAYLOAD_TOO_LARGE']],
    [
      'another expectation',
      'GET /api/status HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: tea\r\n\r\n',
      [417, 'VALIDATION_ERROR'],
    ],
  ]
  test.each(unreadable)('what cannot be read has a code: %s', async (_what, bytes, is) => {
    const { status, headers } = await sendBytes(server.url, bytes)
    expect([status, headers['x-error-code']]).toEqual(is)
  })

  test('who asks for another protocol where none is spoken is answered as anybody', async () => {
    const asks = (protocol: string) => [
      'Connection: Upgrade, HTTP2-Settings',
      `Upgrade: ${protocol}`,
      'HTTP2-Settings: AAMAAABk',
    ]
    for (const protocol of ['websocket', 'h2c']) {
      const read = request('GET /api/status', asks(protocol)).toString().replace('Connection: close\r\n', '')
      const dialled = await sendBytes(
        server.url,
        `${read}GET /api/nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      )
      expect([protocol, dialled.status, dialled.body]).toEqual([protocol, 200, expect.stringContaining('HTTP/1.1 404')])
    }
    const body = JSON.stringify({ username: 'upgraded_1' })
    const sent = [
      ...asks('h2c'),
      `Authorization: Bearer ${alice.token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]
    expect((await sendBytes(server.url, request('POST /api/username', sent, body))).status).toBe(200)
  })

  test('who asks for another protocol by more headers than can be read again is refused, and no body is taken for a request', async () => {
    const body = request('GET /api/status', []).toString()
    const many = Array.from({ length: 1_000 }, () => 'a:')
    const sent = ['Connection: Upgrade', 'Upgrade: h2c', ...many, `Content-Length: ${body.length}`]
    const answer = await sendBytes(server.url, request('POST /api/username', sent, body))
    expect([answer.status, answer.headers['x-error-code']]).toEqual([431, 'PAYLOAD_TOO_LARGE'])
    expect(answer.body).not.toContain('HTTP/1.1')
  })

  test('what is done has neither; pages of ours may read both', async () => {
    const answer = await fetch(`${server.url}/api/status`, { headers: { origin: 'http://localhost:3000' } })
    expect(answer.status).toBe(200)
    const exposed = answer.headers.get('access-control-expose-headers')?.split(', ')
    for (const name of Object.values(errorHeaders)) {
      expect(answer.headers.get(name)).toBeNull()
      expect(exposed).toContain(name)
    }
  })
})
