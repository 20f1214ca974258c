// Modes: embedded
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '#server/config'
import { caretaker } from '#server/demo/agents'
import { startDemo } from '#server/demo/demo'
import { demoRooms } from '#server/domains/rooms/room-state/demo-rooms'
import { Moderators } from '#server/domains/rooms/room-state/model'
import { ConfigError } from '#server/kernel/settings'
import { rooms } from '#shared/api/rooms/rooms'
import { roomOfKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Person, personAt } from '#test/support/people'
import { build, programs } from '#test/support/programs'
import { openProxy } from '#test/support/proxy'
import { freshDatabaseUri } from '#test/support/test-servers'
import { call, wallet } from '#test/support/wallet'
import { request, sendBytes } from './wire.ts'

const never = () => 3_600_000
const nodeOf = ({ apps: [app] }: Booted) => {
  if (!app) throw new Error('There is no node')
  return app.node
}

/** One header is enough, of whichever proxy, load balancer, tunnel or network of delivery. */
const addedByProxies = [
  'Forwarded: for=203.0.113.7',
  'Via: 1.1 proxy',
  'CDN-Loop: cloudflare',
  'X-Forwarded: for=203.0.113.7',
  'X-Forwarded-For: 203.0.113.7',
  'X-Forwarded-Host: chat.example',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Port: 443',
  'X-Forwarded-Server: edge',
  'X-Forwarded-Client-Cert: Hash=00',
  'X-Original-Forwarded-For: 203.0.113.7',
  'X-Original-URL: /',
  'X-Original-Host: chat.example',
  'X-Originating-IP: 203.0.113.7',
  'X-Real-IP: 203.0.113.7',
  'X-Remote-IP: 203.0.113.7',
  'X-Remote-Addr: 203.0.113.7',
  'X-Client-IP: 203.0.113.7',
  'X-Cluster-Client-IP: 203.0.113.7',
  'X-ProxyUser-IP: 203.0.113.7',
  'X-Scheme: https',
  'X-Request-Start: t=1700000000000',
  'X-Amzn-Trace-Id: Root=1-5759e988-bd862e3fe1be46a994272793',
  'X-Amz-Cf-Id: abc',
  'X-Appengine-User-IP: 203.0.113.7',
  'X-Arr-Log-Id: 1',
  'X-Azure-ClientIP: 203.0.113.7',
  'X-Cloud-Trace-Context: 1/2;o=1',
  'X-Envoy-External-Address: 203.0.113.7',
  'X-Nf-Client-Connection-IP: 203.0.113.7',
  'X-Sucuri-ClientIP: 203.0.113.7',
  'X-Varnish: 1',
  'X-Vercel-Id: fra1',
  'True-Client-IP: 203.0.113.7',
  'Client-IP: 203.0.113.7',
  'Proxy-Client-IP: 203.0.113.7',
  'WL-Proxy-Client-IP: 203.0.113.7',
  'Akamai-Origin-Hop: 1',
  'Ali-CDN-Real-IP: 203.0.113.7',
  'CF-Connecting-IP: 203.0.113.7',
  'CF-Ray: 1',
  'CloudFront-Viewer-Address: 203.0.113.7:1',
  'DO-Connecting-IP: 203.0.113.7',
  'Fastly-Client-IP: 203.0.113.7',
  'Fly-Client-IP: 203.0.113.7',
  'Incap-Client-IP: 203.0.113.7',
  'Tailscale-User-Login: someone@example.com',
]

describe('M03: development powers are for this very machine', () => {
  let server: Booted
  let me: Person
  beforeAll(async () => {
    server = await boot({ nodes: 1, environment: { DEMO: 'on' } })
    me = await personAt(server.url, 'at home')
    await call(server.url, 'POST /api/email/login/send-code', { email: 'secret@people.test' })
  })
  afterAll(() => server.close())

  const port = () => new URL(server.url).port
  const disguises: [how: string, headers: (port: string) => string[], line?: string][] = [
    ['a name that leads here (DNS rebinding)', (at) => [`Host: evil.example:${at}`]],
    ['a name that begins as ours', () => ['Host: localhost.evil.example']],
    ['a name that ends as ours', () => ['Host: evil-localhost']],
    ['an address of elsewhere', () => ['Host: 192.0.2.1']],
    ['any address', () => ['Host: 0.0.0.0']],
    ['no name', () => ['Host: ']],
    ['a page of elsewhere', (at) => [`Host: localhost:${at}`, 'Origin: https://evil.example']],
    ['a page without an origin', (at) => [`Host: localhost:${at}`, 'Origin: null']],
    ['a page of another server on this machine', (at) => [`Host: localhost:${at}`, 'Origin: http://localhost:1']],
    [
      'a page by another of the names of this machine',
      (at) => [`Host: localhost:${at}`, `Origin: http://127.0.0.1:${at}`],
    ],
    ['a page in another scheme', (at) => [`Host: localhost:${at}`, `Origin: https://localhost:${at}`]],
    ...addedByProxies.map((header): [string, (at: string) => string[]] => [
      `passed on, with ${header}`,
      (at) => [`Host: localhost:${at}`, header],
    ]),
    [
      'passed on, with an address that looks like ours',
      (at) => [`Host: localhost:${at}`, 'X-Forwarded-For: 127.0.0.1'],
    ],
  ]
  const raw = (line: string, headers: readonly string[], version = '1.1') =>
    sendBytes(
      server.url,
      Buffer.from([`${line} HTTP/${version}`, 'Connection: close', ...headers, '', ''].join('\r\n')),
    )

  test.each(disguises)('%s: no letters, no rights, no word of a demo', async (_how, headersOf) => {
    const headers = headersOf(port())
    for (const path of ['/dev/mail', '/dev/mail.json', '/DEV/mail.json', '/dev/mail.json/']) {
      const { status, body } = await raw(`GET ${path}`, headers)
      expect([path, status]).toEqual([path, 404])
      expect(body).not.toContain('secret@people.test')
    }
    const grant = await raw('POST /api/demo/moderator', [...headers, `Authorization: Bearer ${me.token}`])
    expect(grant.status).toBe(404)
    const { body } = await raw('GET /api/status', headers)
    expect(JSON.parse(body)).toMatchObject({ demo: false, mailbox: null, phone_mailbox: null })
    expect(await Moderators.countDocuments({ user_address: me.account })).toBe(0)
  })

  test('a proxy on this machine that says nothing of its clients speaks HTTP/1.0, which is not believed', async () => {
    expect((await raw('GET /dev/mail.json', [`Host: localhost:${port()}`], '1.0')).status).toBe(404)
  })

  test.each([['localhost'], ['127.0.0.1'], ['[::1]'], ['LOCALHOST']])('by the name %s, all of it', async (name) => {
    const headers = [`Host: ${name}:${port()}`]
    expect((await raw('GET /dev/mail.json', headers)).body).toContain('secret@people.test')
    expect(JSON.parse((await raw('GET /api/status', headers)).body)).toMatchObject({ demo: true, mailbox: '/dev/mail' })
    const sent = [...headers, `Authorization: Bearer ${(await personAt(server.url, `asks ${name}`)).token}`]
    for (const page of [[], [`Origin: http://${name}:${port()}`]])
      expect((await raw('POST /api/demo/moderator', [...sent, ...page])).status).toBe(200)
  })
})

describe('M03: development powers are for no proxy', () => {
  test('through a proxy, trusted or not', heavy, async () => {
    for (const environment of [{}, { TRUSTED_PROXIES: '1' }, { TRUSTED_PROXIES: '127.0.0.1' }]) {
      const own = await boot({ nodes: 1, environment: { DEMO: 'on', ...environment } })
      const proxy = await openProxy(own.url)
      const there = await personAt(proxy.url, 'a stranger')
      expect((await fetch(`${proxy.url}/dev/mail.json`)).status).toBe(404)
      expect((await there.rest('POST /api/demo/moderator')).status).toBe(404)
      expect((await fetch(`${own.url}/dev/mail.json`)).status).toBe(200)
      await proxy.close()
      await own.close()
    }
  })
})

describe('M03: what lets others in ends the demo, or the start', () => {
  const key = `1:${Buffer.alloc(32).toString('base64')}`
  const open: [string, Record<string, string>, 'HOST' | 'PUBLIC_URL'][] = [
    ['a public name', { PUBLIC_URL: 'https://chat.example' }, 'PUBLIC_URL'],
    ['a name that looks like this machine', { PUBLIC_URL: 'http://localhost.example' }, 'PUBLIC_URL'],
    ['an address of a private network', { PUBLIC_URL: 'http://192.168.1.7:3000' }, 'PUBLIC_URL'],
    ['all addresses', { HOST: '0.0.0.0' }, 'HOST'],
    ['all addresses of IPv6', { HOST: '::' }, 'HOST'],
    ['one address', { HOST: '192.0.2.1' }, 'HOST'],
    ['production in a container', { HOST: '0.0.0.0', NODE_ENV: 'production', SESSION_KEYS: key }, 'HOST'],
  ]
  test.each(open)('%s', (_what, environment, named) => {
    const config = readConfig(environment)
    const { demo, mail, sms, facilitator } = config
    expect({ demo, mail: mail.url, sms: sms.url, payments: facilitator.url }).toEqual({ demo: false })
    const powers = { DEMO: 'on', MAIL_URL: 'captured', SMS_URL: 'captured', X402_FACILITATOR_URL: 'simulated' }
    for (const [power, value] of Object.entries(powers)) {
      const asked = () => readConfig({ ...environment, [power]: value })
      expect(asked).toThrow(ConfigError)
      expect(asked).toThrow(
        environment.NODE_ENV && power === 'DEMO'
          ? /^DEMO=on is not for production/
          : new RegExp(`^${power}=.*${named}`),
      )
    }
  })

  test('DEMO=on in production stops the start wherever it listens', () => {
    expect(() => readConfig({ NODE_ENV: 'production', SESSION_KEYS: key, DEMO: 'on' })).toThrow('not for production')
  })

  test('on this machine the demo and the mailbox are there without a word', () => {
    for (const environment of [
      {},
      { HOST: 'localhost' },
      { HOST: '::1' },
      { PUBLIC_URL: 'http://127.0.0.1:3000' },
      { PORT: '4000' },
    ])
      expect(readConfig(environment)).toMatchObject({
        demo: true,
        mail: { url: 'captured' },
        sms: { url: 'captured' },
        facilitator: { url: 'simulated' },
      })
  })

  test('the start says so in one sentence', heavy, () => {
    build()
    const directory = mkdtempSync(join(tmpdir(), 'plaza-open-'))
    const env = { ...process.env, DATA_DIR: directory, PUBLIC_URL: 'https://chat.example', DEMO: 'on' }
    const { status, stderr } = spawnSync(process.execPath, [programs.main], { env, encoding: 'utf8' })
    rmSync(directory, { recursive: true, force: true })
    expect(stderr.trim()).toBe(
      'DEMO=on is for this machine alone, but PUBLIC_URL lets others in: leave out one of them.',
    )
    expect(status).toBe(1)
  })
})

describe('M03: the rooms of the demo are apart', () => {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-demo-'))
  const uri = freshDatabaseUri()
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  const start = (environment: Record<string, string>) =>
    boot({ nodes: 1, environment: { DATA_DIR: directory, ...(uri ? { MONGODB_URI: uri } : {}), ...environment } })
  const rights = async (who: Person, room: string) => {
    const { type, id } = roomOfKey(room)
    const { body } = await who.rest(
      `GET /api/moderation?action=permissions&userAddress=${who.account}${type === 'channel' ? `&channelId=${id}` : ''}`,
    )
    if (!body.permissions) throw new Error(JSON.stringify(body))
    return (body.permissions as { isModerator: boolean }).isModerator
  }

  test('rights of the demo end at its rooms, and with it', heavy, async () => {
    const admin = wallet('the admin').address.toLowerCase()
    const shown = await start({ DEMO: 'on', ADMINS: admin })
    const demo = await startDemo(nodeOf(shown), never)
    const visitor = await personAt(shown.url, 'a visitor')
    const owner = await personAt(shown.url, 'an owner')
    const channel = (await owner.does('rest', rooms.createChannel, { name: 'Owned' })).channel.id
    expect((await visitor.rest('POST /api/demo/moderator')).status).toBe(200)
    for (const room of demoRooms.filter((key) => key !== 'alpha')) expect(await rights(visitor, room)).toBe(true)
    expect(await rights(visitor, `channel:${channel}`)).toBe(false)
    expect((await visitor.rest('POST /api/blocked-words', { word: 'anything', scope: 'global' })).status).toBe(403)
    const given = { user_address: { $in: [visitor.account, caretaker] }, is_active: true }
    expect(await Moderators.countDocuments(given)).toBe(2 * demoRooms.length)
    demo.stop()
    await shown.close()

    const real = await start({ DEMO: 'off', ADMINS: admin })
    const back = await personAt(real.url, 'a visitor')
    expect(await Moderators.countDocuments(given)).toBe(0)
    for (const room of demoRooms.filter((key) => key !== 'alpha')) expect(await rights(back, room)).toBe(false)
    expect((await back.rest('POST /api/demo/moderator')).status).toBe(404)
    const { body } = await back.rest('GET /api/channels')
    expect((body.channels as { name: string }[]).map(({ name }) => name)).toEqual(['Owned'])
    await real.close()
  })
})

describe('M63: pages of this machine go by its name', () => {
  let server: Booted
  beforeAll(async () => {
    build()
    server = await boot({ nodes: 1 })
  })
  afterAll(() => server.close())
  const html = ['Accept: text/html,application/xhtml+xml,*/*;q=0.8']
  const ask = (line: string, host: string, headers: readonly string[] = html) =>
    sendBytes(
      server.url,
      Buffer.from([`${line} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers, '', ''].join('\r\n')),
    )

  test.each([
    ['GET /', '127.0.0.1:3000', 'http://localhost:3000/'],
    ['GET /?a=1&b=%0d%0aSet-Cookie:x', '127.0.0.1:3000', 'http://localhost:3000/?a=1&b=%0d%0aSet-Cookie:x'],
    ['GET /docs', '127.0.0.1', 'http://localhost/docs'],
    ['GET //evil.example', '[::1]:80', 'http://localhost:80//evil.example'],
    ['HEAD /', '127.0.0.1:3000', 'http://localhost:3000/'],
  ])('%s at %s moves', async (line, host, location) => {
    const { status, headers } = await ask(line, host)
    expect([status, headers.location]).toEqual([302, location])
  })

  test.each([
    ['GET /', 'localhost:3000', html],
    ['GET /', '127.0.0.1.evil.example', html],
    ['GET /', '127.0.0.1:3000', ['Accept: */*']],
    ['GET /', '127.0.0.1:3000', [...html, 'X-Forwarded-For: 203.0.113.7']],
    ['GET /api/status', '127.0.0.1:3000', html],
    ['GET http://evil.example/', '127.0.0.1:3000', html],
    ['POST /', '127.0.0.1:3000', html],
  ])('%s at %s with %j stays', async (line, host, headers) => {
    expect((await ask(line, host, headers)).status).not.toBe(302)
  })
})

test('M63: a site with a name of its own moves nothing', async () => {
  const own = await boot({ nodes: 1, environment: { PUBLIC_URL: 'http://127.0.0.1:3000' } })
  expect((await sendBytes(own.url, request('GET /', ['Accept: text/html']))).status).not.toBe(302)
  await own.close()
})

test('N89: in production all that the start prints is lines of JSON', heavy, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-print-'))
  const { MONGODB_URI: _, REDIS_URL: __, ...inherited } = process.env
  const production = {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://plaza.example',
    SESSION_KEYS: `1:${Buffer.alloc(32).toString('base64')}`,
  }
  const env = { ...inherited, ...production, PORT: '0', OPS_PORT: '0', DATA_DIR: directory }
  const child = spawn(process.execPath, [programs.main], { env })
  let printed = ''
  child.stdout.on('data', (chunk) => (printed += chunk))
  try {
    await expect.poll(() => printed, { timeout: 30_000 }).toContain('Plaza is open: ')
    const lines = printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string })
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 30, time: expect.any(String), parts: expect.any(Array) }),
    )
  } finally {
    child.kill()
    await once(child, 'close')
    rmSync(directory, { recursive: true, force: true })
  }
})

test('M63: the start prints localhost', heavy, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-print-'))
  const { MONGODB_URI: _, REDIS_URL: __, ...inherited } = process.env
  const env = { ...inherited, PORT: '0', OPS_PORT: '0', DATA_DIR: directory, DEMO: 'off' }
  const child = spawn(process.execPath, [programs.main], { env })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
  try {
    await expect.poll(() => printed, { timeout: 30_000 }).toMatch(/Plaza is open: http:\/\/localhost:\d+\n[\s\S]*demo/)
    expect(printed).not.toContain('127.0.0.1')
  } finally {
    child.kill()
    await once(child, 'close')
    rmSync(directory, { recursive: true, force: true })
  }
})
