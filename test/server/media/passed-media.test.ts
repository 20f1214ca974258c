// Modes: embedded
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Logger } from '#server/kernel/operate/logger'
import { fakeVideo } from '#server/ports/video/fake'
import type { MediaOrigin } from '#server/ports/video/port'
import { AppError } from '#shared/errors'
import { type Booted, boot } from '#test/support/boot'

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown
const usual: Answer = (_request, response) => void response.writeHead(404).end()
let answer = usual
const seen: IncomingMessage[] = []
const lines: string[] = []
const engine = createServer((request, response) => {
  seen.push(request)
  void answer(request, response)
})
let origin: MediaOrigin | null = null
const originOf = async (id: string) => {
  if (id.startsWith('nowhere-')) throw new AppError('NOT_FOUND')
  return origin
}
let server: Booted

/** Keeps what is logged of requests. */
function noted(logger: Logger): Logger {
  const note = (line: object) => void lines.push(JSON.stringify(line))
  return { ...logger, info: note, warn: note, error: note }
}

beforeAll(async () => {
  engine.listen(0, '127.0.0.1')
  await once(engine, 'listening')
  origin = { host: '127.0.0.1', port: (engine.address() as AddressInfo).port, headers: {} }
  server = await boot({
    nodes: 1,
    environment: { RATE_LIMIT_SCALE: '1', TRUSTED_PROXIES: '1' },
    services: { video: { ...fakeVideo(), originOf } },
    change: (platform) => ({ ...platform, logger: noted(platform.logger) }),
  })
})
afterEach(() => {
  answer = usual
  seen.length = 0
})
afterAll(async () => {
  await server.close()
  engine.closeAllConnections()
  engine.close()
})

const ask = (path: string, init?: RequestInit) => fetch(server.url + path, { redirect: 'manual', ...init })
const offer = (key: string, body = 'v=0', headers: Record<string, string> = {}) =>
  ask(`/webrtc/${key}`, { method: 'POST', body, headers: { 'content-type': 'application/sdp', ...headers } })

describe('media is passed on', () => {
  test('as it is asked and answered, for pages of every site', async () => {
    answer = (_request, response) =>
      void response
        .writeHead(206, {
          'cache-control': 'public, max-age=300',
          'content-range': 'bytes 2-3/9',
          'content-type': 'video/mp4',
        })
        .end('ab')
    const got = await ask('/hls/seen/index.m3u8?_HLS_msn=4&_HLS_part=2', {
      headers: { range: 'bytes=2-3', origin: 'https://elsewhere.test' },
    })
    expect([got.status, await got.text(), seen[0]?.url]).toEqual([
      206,
      'ab',
      '/hls/seen/index.m3u8?_HLS_msn=4&_HLS_part=2',
    ])
    expect(seen[0]?.headers.range).toBe('bytes=2-3')
    expect(Object.fromEntries(got.headers)).toMatchObject({
      'cache-control': 'public, max-age=300',
      'content-range': 'bytes 2-3/9',
      'content-type': 'video/mp4',
      'access-control-allow-origin': '*',
    })
  })

  test('with an offer, its answer and where its end is asked for, below the address that was asked', async () => {
    answer = async (asked, response) => {
      const body = (await asked.toArray()).join('')
      response.writeHead(201, { location: '/webrtc/session', 'content-type': 'application/sdp' }).end(`${body}!`)
    }
    const got = await offer('key', 'v=0', { origin: 'https://elsewhere.test' })
    expect([got.status, await got.text(), got.headers.get('location')]).toEqual([201, 'v=0!', '/webrtc/session'])
    answer = (asked, response) => void response.writeHead(200, { 'x-method': asked.method }).end()
    for (const method of ['DELETE', 'OPTIONS', 'HEAD', 'PATCH'])
      expect((await ask('/webrtc/session', { method })).headers.get('x-method')).toBe(method)
  })

  test('without cookies, keys and addresses of who asks', async () => {
    answer = (_request, response) => void response.writeHead(200, { 'set-cookie': 'a=b' }).end()
    const got = await ask('/recordings/one.mp4', {
      headers: { cookie: 'session=secret', authorization: 'Bearer secret', 'x-forwarded-for': '10.0.0.1' },
    })
    expect(got.headers.get('set-cookie')).toBeNull()
    expect(JSON.stringify(seen[0]?.rawHeaders)).not.toMatch(/secret|10\.0\.0\.1/)
  })

  test('not at other paths', async () => {
    for (const path of [
      '/hls/seen',
      '/hls/a/b/c',
      '/hls/../x/y',
      '/recordings/one.txt',
      '/webrtc/',
      `/webrtc/${'a'.repeat(65)}`,
    ])
      await ask(path)
    expect(seen).toEqual([])
  })

  test('but no long body', async () => {
    expect((await offer('key', 'a'.repeat(64 * 1024 + 1))).status).toBe(413)
    expect(seen).toEqual([])
  })

  test('and what nobody reads any more is not asked for any longer', async () => {
    const ended = new Promise<void>((resolve) => {
      answer = (_request, response) => void response.once('close', resolve)
    })
    const gone = request(`${server.url}/hls/seen/index.m3u8`).end()
    gone.on('error', () => undefined)
    await expect.poll(() => seen.length).toBe(1)
    gone.destroy()
    await ended
  })

  test('at the pace of who reads', async () => {
    const chunk = Buffer.alloc(2 ** 20)
    let written = 0
    answer = (_request, response) => {
      const write = () => {
        while (written < 200 && response.write(chunk)) written++
        written++
        if (written < 200) response.once('drain', write)
      }
      write()
    }
    const slow = request(`${server.url}/recordings/one.mp4`).end()
    const [reply] = (await once(slow, 'response')) as [IncomingMessage]
    reply.pause()
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(written).toBeLessThan(50)
    slow.destroy()
  })

  test('for more at one address than may hold other requests', async () => {
    const held: ServerResponse[] = []
    answer = (_request, response) => void held.push(response)
    const waiting = Array.from({ length: 80 }, (_, index) => ask(`/hls/seen/index.m3u8?_HLS_msn=${index}`))
    await expect.poll(() => held.length).toBe(80)
    for (const response of held) response.end('there')
    expect(await Promise.all(waiting.map(async (one) => (await one).text()))).toEqual(waiting.map(() => 'there'))
  })
})

test('while it is away, who asks is told to come again', async () => {
  const there = origin
  for (const away of [null, { host: '127.0.0.1', port: 1, headers: {} }]) {
    origin = away
    const got = await ask('/hls/seen/index.m3u8', { headers: { origin: 'https://elsewhere.test' } })
    expect([got.status, got.headers.get('retry-after')]).toEqual([503, '2'])
    expect(got.headers.get('access-control-allow-origin')).toBe('*')
  }
  origin = there
})

test('a stream key, the address of a file or an archive, the token of a call and the code of a meeting are in no line of the log, however the path is spelled', async () => {
  for (const path of [
    '/webrtc/0a0b0c0d-key',
    '/webrtc/0a0b%30c0d-key',
    '/WEBRTC/0a0b0c0d-key',
    '//webrtc/0a0b0c0d-key/more',
    '/files/media/channel/0a0b0c0d-key.png',
    '/join/0a0b0c0d-key',
    '/archives/0a0b0c0d-key',
    '/api/scheduling/join/0a0b0c0d-key',
    '/api/rooms/0c0DEK/people/somebody',
  ])
    await ask(path, { method: 'POST' })
  await expect.poll(() => lines.filter((line) => line.includes('***')).length).toBeGreaterThanOrEqual(9)
  expect(lines.filter((line) => /0c0d-key|%30c0d|0c0DEK/.test(line))).toEqual([])
})

test('stream keys are not guessed: of those that are none an address is told of 20 in a minute, and who has one publishes', async () => {
  const known: Readonly<Record<string, number>> = { 'a-key': 201, 'a-playback': 406, full: 503 }
  answer = (asked, response) => {
    const status = asked.method === 'POST' ? (known[asked.url?.split('/')[2] ?? ''] ?? 404) : 200
    response.writeHead(status).end()
  }
  for (let times = 0; times < 25; times++) expect((await offer('a-playback')).status).toBe(406)
  const guesses = await Promise.all(Array.from({ length: 50 }, (_, guess) => offer(`guess-${guess}`)))
  const statuses = guesses.map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([404, 429]))
  expect(statuses.filter((status) => status === 404).length).toBeLessThanOrEqual(20)
  expect((await offer('a-key')).status).toBe(201)
  expect((await offer('full')).status).toBe(503)
  expect((await ask('/webrtc/a-key', { method: 'HEAD' })).status).toBe(200)
  expect((await ask('/webrtc/a-session', { method: 'DELETE' })).status).toBe(200)
  // Offers of all kinds are limited for less time than who was lost may take to come back.
  const many = await Promise.all(Array.from({ length: 100 }, () => offer('a-key')))
  const late = many.find(({ status }) => status === 429)
  expect(Number(late?.headers.get('retry-after'))).toBeLessThan(30)
})

test.each([
  ['that nobody has', 'guess'],
  ['of a host that there is none', 'nowhere-guess'],
])('names %s are counted as guesses, offered to and ended alike', async (_, guess) => {
  const from = { 'x-forwarded-for': `10.6.0.${guess.length}` }
  const tries = Array.from({ length: 30 }, (_one, at) =>
    at % 2 === 0
      ? offer(`${guess}-${at}`, 'v=0', from)
      : ask(`/webrtc/${guess}-${at}`, { method: 'DELETE', headers: from }),
  )
  const statuses = (await Promise.all(tries)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([404, 429]))
  expect(statuses.filter((status) => status === 404).length).toBeLessThanOrEqual(20)
})

test('O68: what nobody publishes, and what is not there, is refused in words and by a code', async () => {
  answer = (asked, response) => {
    const isIdle = asked.url?.includes('idle')
    response.writeHead(asked.method === 'POST' ? 406 : 404, isIdle ? { 'x-media-refused': 'not live' } : {}).end()
  }
  const idle = 'STREAM_NOT_LIVE'
  for (const [refused, status, code] of [
    [await ask('/hls/a-idle/index.m3u8'), 404, idle],
    [await ask('/hls/a-idle/1.m4s'), 404, idle],
    [await offer('a-idle', 'v=0', { 'x-forwarded-for': '10.8.0.1' }), 406, idle],
    [await ask('/hls/a-other/index.m3u8'), 404, 'NOT_FOUND'],
    [await ask('/recordings/a-other.mp4'), 404, 'NOT_FOUND'],
  ] as const) {
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([status, code])
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    expect(refused.headers.get('x-media-refused')).toBeNull()
    expect(await refused.json()).toMatchObject({ success: false, error: { code, message: expect.any(String) } })
  }
})

test.each(['guess', 'nowhere-guess'])(
  'an offer to %s, which is no key, is refused in words and by a code',
  async (name) => {
    const from = { 'x-forwarded-for': `10.7.0.${name.length}` }
    const refused = await offer(name, 'v=0', from)
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([404, 'INVALID_STREAM_KEY'])
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    expect(await refused.json()).toMatchObject({ success: false, error: { code: 'INVALID_STREAM_KEY' } })
    const ended = await ask(`/webrtc/${name}`, { method: 'DELETE', headers: from })
    expect([ended.status, ended.headers.get('x-error-code')]).toEqual([404, 'NOT_FOUND'])
  },
)

test('offers say by whom they are, in a name that is no address and that nobody gives themselves', async () => {
  for (const address of ['10.6.1.1', '10.6.1.1', '10.6.1.2'])
    await offer('key', 'v=0', { 'x-forwarded-for': address, 'x-media-client': 'mine' })
  const names = seen.map(({ headers }) => headers['x-media-client'])
  expect(new Set(names).size).toBe(2)
  expect(names[0]).toBe(names[1])
  for (const name of names) expect(name).toMatch(/^[\w-]{43}$/)
})

describe('a webhook of the provider', () => {
  const call = (body: string, signature: string) =>
    fetch(`${server.url}/api/webhooks/video`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'livepeer-signature': signature },
      body,
    })

  test('is given with its bytes as they came, and refused where the provider says so', async () => {
    const heard: string[] = []
    const webhook = async (body: Buffer, headers: Readonly<Record<string, string | string[] | undefined>>) => {
      if (headers['livepeer-signature'] !== 'good') throw new AppError('UNAUTHORIZED')
      heard.push(String(body))
    }
    const all = server.apps.map((app) => app.node.services)
    const before = all.map(({ video }) => video)
    for (const services of all) services.video = { ...fakeVideo(), webhook }
    expect((await call('{ "event":  "stream.started" }', 'good')).status).toBe(204)
    expect((await call('{}', 'bad')).status).toBe(401)
    expect((await call('x'.repeat(70_000), 'good')).status).toBe(413)
    expect(heard).toEqual(['{ "event":  "stream.started" }'])
    for (const [at, services] of all.entries()) services.video = before[at] ?? null
  })

  test('is taken by nothing where the provider calls nobody', async () => {
    expect((await call('{}', 'good')).status).toBe(405)
  })
})
