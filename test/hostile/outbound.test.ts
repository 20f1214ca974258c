// Modes: embedded
import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guardedWeb, isPublic } from '#server/ports/web/guarded'
import type { WebRequest } from '#server/ports/web/port'
import { badUrls, plainHttp, spaced } from '#test/support/bad-urls'
import { localServer, loopbackTls, somewherePublic, tlsWebOver, webOver } from '#test/support/web'

/** URLs of the classes 140 to 160, none of which may be asked. */
const long = `https://site.test/${'p'.repeat(2_000_000)}`
const refused = Object.entries({ ...badUrls, 'white space': spaced, 'plain HTTP': plainHttp, '2 MB': [long] })

const secret = 'the canary was asked'
let canary: Awaited<ReturnType<typeof localServer>>
let site: Awaited<ReturnType<typeof localServer>>
let other: Awaited<ReturnType<typeof localServer>>
let last: { url: string | undefined; method: string | undefined; headers: NodeJS.Dict<string | string[]> }[] = []

beforeAll(async () => {
  canary = await localServer((_request, response) => response.end(secret))
  other = await localServer((request, response) => {
    last.push({ url: request.url, method: request.method, headers: request.headers })
    response.end('other')
  })
  site = await localServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://site.test')
    last.push({ url: request.url, method: request.method, headers: request.headers })
    const to = searchParams.get('to') ?? ''
    if (pathname === '/redirect') response.writeHead(Number(searchParams.get('by') ?? 302), { location: to }).end()
    else if (pathname === '/loop') response.writeHead(302, { location: '/loop' }).end()
    else if (pathname === '/gzip') response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    else if (pathname === '/odd') response.writeHead(200, { 'content-encoding': 'zstd' }).end('?')
    else if (pathname === '/broken') response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip')
    else if (pathname === '/endless') {
      const timer = setInterval(() => response.write('x'.repeat(60_000)), 1)
      response.on('close', () => clearInterval(timer))
    } else if (pathname === '/drip') {
      const timer = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(timer))
    } else if (pathname === '/headers') response.writeHead(200, { 'x-long': 'x'.repeat(1_000_000) }).end()
    else response.end('site')
  })
})
afterAll(() => Promise.all([canary.close(), site.close(), other.close()]))

const bomb = gzipSync(Buffer.alloc(100_000_000))
const ask = (path: string, request?: WebRequest) =>
  webOver({ 'site.test': site.port, 'other.test': other.port }).ask(`https://site.test${path}`, request)
const refusal = async (asked: Promise<unknown>) =>
  asked.then(
    () => null,
    ({ code, message }: { code: string; message: string }) => ({ code, message }),
  )
const upstream = { code: 'UPSTREAM_ERROR', message: 'An outside service failed.' }

describe('T15: what is asked of URLs that people name', () => {
  test.each(refused)('%s is refused before anything is asked', async (_what, urls) => {
    const web = webOver({ 'site.test': canary.port }, { resolve: async () => [somewherePublic] })
    for (const url of urls) {
      expect([url, (await refusal(web.ask(url)))?.code]).toEqual([url, 'INVALID_PARAMETER'])
      expect(() => web.check(url)).toThrow()
    }
    expect(canary.hits).toBe(0)
  })

  test.each([
    'https://site.test',
    'https://site.test:443/',
    'HTTPS://SITE.test:8443/a?b',
    'https://93.184.216.34/',
    'https://münchen.test/',
    'https://[2606:2800:220:1::1]/',
  ])('%s may be asked', (url) => expect(webOver({}).check(url).protocol).toBe('https:'))

  test('a name in another script is shown as what it is', () =>
    expect(webOver({}).check('https://аpple.test/').hostname).toBe('xn--pple-43d.test'))

  test.each([
    ['inward', ['127.0.0.1']],
    ['to metadata', ['169.254.169.254']],
    ['to a public and a private address', [somewherePublic, '10.0.0.1']],
    ['to a public address and a mapped one', [somewherePublic, '::ffff:127.0.0.1']],
    ['nowhere', []],
  ])(
    'a host that leads %s is not dialled, and the answer says no more than of a closed port',
    async (_where, addresses) => {
      let dialled = 0
      const dial = () => {
        dialled++
        return Promise.reject(new Error('Closed'))
      }
      const web = webOver({}, { resolve: async () => addresses, dial })
      expect(await refusal(web.ask('https://site.test/'))).toEqual(upstream)
      expect(dialled).toBe(0)
      const closed = webOver({ 'site.test': 1 })
      expect(await refusal(closed.ask('https://site.test/'))).toEqual(upstream)
    },
  )

  test('a host that leads elsewhere once it was checked is dialled where it was checked', async () => {
    const answers = [[somewherePublic], ['127.0.0.1']]
    const dialled: (readonly string[])[] = []
    const web = webOver(
      {},
      {
        resolve: async () => answers.shift() ?? ['127.0.0.1'],
        dial: (addresses) => {
          dialled.push(addresses)
          return Promise.reject(new Error('Closed'))
        },
      },
    )
    for (let at = 0; at < 5; at++) expect(await refusal(web.ask('https://site.test/'))).toEqual(upstream)
    expect(dialled).toEqual([[somewherePublic]])
  })

  test.each([
    'https://127.0.0.1/',
    'http://site.test/',
    'http://other.test/',
    'file:///etc/passwd',
    'gopher://site.test/',
    '//127.0.0.1/',
    'https://user@other.test/',
    'https://other.test:22/',
    'https://[::1]/',
    'https://localhost/',
  ])('a redirect to %s is not followed', async (to) => {
    const before = [other.hits, canary.hits]
    expect(await refusal(ask(`/redirect?to=${encodeURIComponent(to)}`))).toEqual(upstream)
    expect([other.hits, canary.hits]).toEqual(before)
  })

  test('a redirect to a host that leads inward is not followed', async () => {
    const web = webOver(
      { 'site.test': site.port },
      { resolve: async (host) => [host === 'site.test' ? somewherePublic : '127.0.0.1'] },
    )
    expect(await refusal(web.ask(`https://site.test/redirect?to=https://inward.test:8443/`))).toEqual(upstream)
    expect(canary.hits).toBe(0)
  })

  test('a redirect is followed three times, and a loop ends', async () => {
    expect(await refusal(ask('/loop'))).toEqual(upstream)
    const once = (to: string) => `/redirect?to=${encodeURIComponent(to)}`
    expect((await ask(once(once(once('/end'))))).url).toBe('https://site.test/end')
    expect(await refusal(ask(once(once(once(once('/end'))))))).toEqual(upstream)
  })

  test.each([302, 307])('a redirect by %s to another host carries no header of the caller', async (by) => {
    last = []
    const headers = { Authorization: 'Bearer a key', 'X-Api-Key': 'a key', Cookie: 'a=key' }
    const answer = await ask(`/redirect?by=${by}&to=https://other.test/`, { headers, body: '{}' })
    expect(answer.url).toBe('https://other.test/')
    expect(last.map(({ method }) => method)).toEqual(['POST', by === 307 ? 'POST' : 'GET'])
    expect(JSON.stringify(last[0]?.headers)).toContain('a key')
    expect(JSON.stringify(last[1]?.headers)).not.toContain('key')
  })

  test('a redirect within the host keeps them', async () => {
    last = []
    await ask('/redirect?to=/end', { headers: { authorization: 'Bearer a key' } })
    expect(last[1]?.headers.authorization).toBe('Bearer a key')
  })

  test.each(['/gzip', '/endless', '/headers', '/odd', '/broken'])('%s ends with a refusal', async (path) => {
    expect(await refusal(ask(path))).toEqual(upstream)
  })

  test('a body that comes a byte at a time ends at the deadline', async () => {
    expect(await refusal(ask('/drip', { timeoutMilliseconds: 300 }))).toMatchObject({ code: 'TIMEOUT' })
  })

  test('what sends no HTTP ends with a refusal', async () => {
    const junk = createTcpServer((socket) => socket.on('error', () => undefined).end('SSH-2.0-OpenSSH\r\n')).listen(
      0,
      '127.0.0.1',
    )
    await once(junk, 'listening')
    const { port } = junk.address() as AddressInfo
    expect(await refusal(webOver({ 'site.test': port }).ask('https://site.test/'))).toEqual(upstream)
    junk.close()
  })

  test('the certificate must be that of the host', async () => {
    const server = createTlsServer({ key: loopbackTls, cert: loopbackTls }, (_request, response) =>
      response.end('well'),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const web = tlsWebOver({ 'site.test': port, 'stranger.test': port })
    expect((await web.ask('https://site.test/')).status).toBe(200)
    expect(await refusal(web.ask('https://stranger.test/'))).toEqual(upstream)
    server.closeAllConnections()
    server.close()
  })

  test('no proxy of the environment is asked', async () => {
    const proxy = `http://127.0.0.1:${canary.port}`
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'HTTP_PROXY']) process.env[name] = proxy
    expect((await ask('/')).status).toBe(200)
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'HTTP_PROXY']) delete process.env[name]
    expect(canary.hits).toBe(0)
  })

  test('where hosts are listed, no other is asked', () => {
    const web = guardedWeb(['site.test', '*.docs.test'])
    for (const url of ['https://site.test/', 'https://a.docs.test/']) expect(web.check(url).href).toBe(url)
    for (const url of ['https://docs.test/', 'https://evildocs.test/', 'https://a.site.test/'])
      expect(() => web.check(url)).toThrow('may ask')
  })

  test('addresses of the public internet are told from all others', () => {
    expect(
      ['1.1.1.1', '93.184.216.34', '2606:4700::1111', '2a00:1450::1'].filter((address) => !isPublic(address)),
    ).toEqual([])
    const inner = [
      '127.0.0.1',
      '::ffff:8.8.8.8',
      '64:ff9b::808:808',
      'fe80::1%eth0',
      '::1',
      'example.com',
      '',
      '3fff::1',
    ]
    expect(inner.filter(isPublic)).toEqual([])
  })
})
