import { importJWK, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakePush } from '#server/ports/push/fake'
import { newPrivateKey, type Push, publicKeyOf } from '#server/ports/push/port'
import { webPush } from '#server/ports/push/web-push'
import { pushBrowser } from '#test/support/push-browser'
import { localServer, webOver } from '#test/support/web'

/** How the service answers at each path. */
const statuses: Readonly<Record<string, number>> = {
  '/taken': 201,
  '/gone': 410,
  '/unknown': 404,
  '/refused': 403,
  '/elsewhere': 307,
  '/busy': 429,
  '/failing': 500,
}
const at = (path: string) => `https://push.test${path}`

interface Received {
  path: string
  headers: NodeJS.Dict<string | string[]>
  body: Buffer
}
const received: Received[] = []
let service: Awaited<ReturnType<typeof localServer>>
beforeAll(async () => {
  service = await localServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const path = request.url ?? ''
    received.push({ path, headers: request.headers, body: Buffer.concat(parts) })
    response.writeHead(statuses[path] ?? 201, { location: at('/taken') }).end()
  })
})
afterAll(() => service.close())

const privateKey = newPrivateKey()
const subject = 'mailto:door@plaza.test'
const hosts = ['push.test', '*.push.test']
const real = () => webPush({ privateKey, subject, hosts }, webOver({ 'push.test': service.port }))
function faked(): Push {
  const push = fakePush()
  for (const [path, mood] of [
    ['/gone', 'gone'],
    ['/unknown', 'gone'],
    ['/refused', 'refused'],
    ['/elsewhere', 'refused'],
    ['/busy', 'UPSTREAM_ERROR'],
    ['/failing', 'UPSTREAM_ERROR'],
  ] as const)
    push.moods.set(at(path), mood)
  return push
}

const message = { text: '{"title":"Hellö"}', topic: 'a_topic', seconds: 60, urgency: 'high' as const }
const { subscription } = pushBrowser(at('/taken'))

describe.each([
  ['the fake', faked],
  ['Web Push', real],
])('the port of push, by %s', (_name, open) => {
  test('gives a browser a message, and says where it is subscribed no more', async () => {
    const push = open()
    expect(await push.send(subscription, message)).toBe('sent')
    for (const path of ['/gone', '/unknown'])
      expect(await push.send({ ...subscription, endpoint: at(path) }, message), path).toBe('gone')
    for (const path of ['/refused', '/elsewhere'])
      expect(await push.send({ ...subscription, endpoint: at(path) }, message), path).toBe('refused')
  })

  test('throws where the service fails, and where nobody waits for it any more', async () => {
    const push = open()
    for (const path of ['/busy', '/failing'])
      await expect(push.send({ ...subscription, endpoint: at(path) }, message), path).rejects.toMatchObject({
        code: 'UPSTREAM_ERROR',
      })
    await expect(push.send(subscription, message, AbortSignal.abort('over'))).rejects.toBe('over')
  })

  test.each([
    'http://push.test/1',
    'https://push.test:8443/1',
    'https://push.test:444/1',
    'https://somebody@push.test/1',
    'https://push.test@127.0.0.1/1',
    'https://127.0.0.1/1',
    'https://[::1]/1',
    'https://apush.test/1',
    'https://push.test.evil.test/1',
    'https://evil.test/push.test',
    '//push.test/1',
    'push.test',
  ])('T63: asks nobody at %s', async (endpoint) => {
    const before = received.length
    expect(() => open().check({ ...subscription, endpoint })).toThrow('push service')
    await expect(open().send({ ...subscription, endpoint }, message)).rejects.toMatchObject({
      code: 'INVALID_PARAMETER',
    })
    expect(received.length).toBe(before)
  })

  test.each([
    ['p256dh', Buffer.alloc(65, 4).toString('base64url')],
    ['p256dh', Buffer.alloc(65).toString('base64url')],
    ['p256dh', ''],
    ['auth', Buffer.alloc(15).toString('base64url')],
    ['auth', ''],
  ])('takes no browser whose %s is %s', (field, value) => {
    expect(() => open().check({ ...subscription, [field]: value })).toThrow(field)
  })
})

test('the browser alone reads what it is given, and the service learns how long to keep it', async () => {
  const browser = pushBrowser(at('/taken'))
  await real().send(browser.subscription, message)
  const { headers, body } = received.at(-1) as Received
  expect(browser.read(body)).toBe(message.text)
  expect(() => pushBrowser(at('/taken')).read(body)).toThrow()
  expect(body.toString('latin1')).not.toContain('title')
  expect(headers).toMatchObject({
    ttl: '60',
    topic: 'a_topic',
    urgency: 'high',
    'content-encoding': 'aes128gcm',
    'content-type': 'application/octet-stream',
    'content-length': String(body.length),
  })
})

test('the service knows by its signature who asks: the server whose key the browser has', async () => {
  const push = real()
  await push.send(subscription, message)
  const { headers } = received.at(-1) as Received
  const [, token = '', key = ''] = /^vapid t=([^,]+), k=(.+)$/.exec(String(headers.authorization)) ?? []
  expect(key).toBe(push.publicKey)
  const point = Buffer.from(key, 'base64url')
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  }
  const { payload } = await jwtVerify(token, await importJWK(jwk, 'ES256'), { audience: 'https://push.test' })
  expect(payload.sub).toBe(subject)
  expect((payload.exp ?? 0) * 1_000 - Date.now()).toBeLessThanOrEqual(86_400_000)
})

test('a redirect of the service is not followed', async () => {
  const before = received.length
  await real().send({ ...subscription, endpoint: at('/elsewhere') }, message)
  expect(received.slice(before).map(({ path }) => path)).toEqual(['/elsewhere'])
})

test('a key has the same public key each time, of 65 bytes', () => {
  for (let made = 0; made < 50; made++) {
    const key = newPrivateKey()
    expect(Buffer.from(key, 'base64url').length).toBe(32)
    expect(Buffer.from(publicKeyOf(key), 'base64url').length).toBe(65)
    expect(publicKeyOf(key)).toBe(publicKeyOf(key))
  }
})
