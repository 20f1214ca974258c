// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { spellingsOf } from '#server/kernel/http/http-input'
import { objectsIn } from '#server/kernel/invoke'
import { api } from '#shared/api/index'
import { expandRoute, operationsOf } from '#shared/kit/contract'
import { heavy } from '#test/support/heavy'
import { channelOf, type Person, personAt } from '#test/support/people'
import { type ChangedServer, openChangedServer } from './changed-server.ts'
import { jsonRequest, openWire, request, sendBytes } from './wire.ts'

let server: ChangedServer
let me: Person
let poll: string
let channel: string
beforeAll(async () => {
  server = await openChangedServer()
  me = await personAt(server.url, 'mannered')
  channel = (await channelOf(me)).id
  const asked = await me.rest(`POST /api/rooms/channel/${channel}/polls`, {
    question: 'Which?',
    options: ['One', 'Other'],
  })
  poll = (asked.body.poll as { id: string }).id
})
afterAll(() => server.close())

describe('M19: JSON null is no object', () => {
  test.each([
    'POST /api/auth/logout',
    'POST /api/passkey/login/options',
    'POST /api/alpha/join',
    'DELETE /api/username',
    'GET /api/status',
  ])('%s', async (line) => {
    const { status, body } = await sendBytes(server.url, jsonRequest(line, me.token, 'null'))
    expect([status, body]).toEqual([400, expect.stringContaining('VALIDATION_ERROR')])
  })

  test('null is refused over a socket too; an event without a payload has no input', async () => {
    const wire = await openWire(server.url, '/rooms', { token: me.token })
    expect(await wire.ask('room:list', 'null')).toMatchObject({ ok: false, error: { code: 'VALIDATION_ERROR' } })
    expect(await wire.ask('room:list', '')).toMatchObject({ ok: true })
    wire.close()
  })

  test('a request without a body has no input', async () => {
    expect((await me.rest('POST /api/passkey/login/options')).status).toBe(200)
  })
})

describe('M19: every operation with an idempotency key checks the key', () => {
  const keys = ['client_action_id', 'client_msg_id', 'idempotency_key'] as const
  const spelled = operationsOf(api).flatMap(({ name, operation }) => {
    const paths = spellingsOf(operation).map(({ route, schema }) => [route as string, schema] as const)
    const all = operation.socket ? [...paths, [operation.socket as string, operation.input] as const] : paths
    return all.map(([path, schema]) => ({ name, path, schema, key: operation.idempotency?.key }))
  })
  const keyed = spelled.flatMap(({ name, path, schema, key }) =>
    keys
      .filter((field) => field === key || objectsIn(schema).some(({ shape }) => field in shape))
      .map((field) => [name, path, field, schema] as const),
  )

  test.each(keyed)('%s at %s: %s', (_name, _path, field, schema) => {
    for (const key of ['', ' ', 'with space', 'x'.repeat(129), 'é', '{"$gt":""}', 7, {}, [], null, true]) {
      for (const object of objectsIn(schema)) {
        const { error } = object.safeParse({ [field]: key })
        expect([key, error?.issues.some(({ path }) => path[0] === field)]).toEqual([key, true])
      }
    }
  })

  test('the list of operations under test is not empty, over both doors', () => {
    expect(keyed.filter(([, path]) => path.startsWith('/')).length).toBeGreaterThan(5)
    expect(keyed.length).toBeGreaterThan(20)
  })
})

describe('M19: a malformed idempotency key is refused on every path and over both doors', () => {
  const malformed = ['', ' ', 'with space', 'x'.repeat(129), 'é', '{"$gt":""}']
  const paths = () => [
    `POST /api/rooms/channel/${channel}/polls/${poll}/vote`,
    `POST /api/channels/${channel}/polls/${poll}/vote`,
  ]
  test('in the body', async () => {
    for (const path of paths())
      for (const client_action_id of [...malformed, 7, {}, [], null, true]) {
        const { status } = await me.rest(path, { optionIndex: 0, client_action_id })
        expect([path, client_action_id, status]).toEqual([path, client_action_id, 400])
      }
  })
  test('in the header', async () => {
    for (const path of paths())
      for (const key of malformed.filter((one) => one.trim() !== '' && one !== 'é')) {
        const { status } = await me.rest(path, { optionIndex: 0 }, { 'idempotency-key': key })
        expect([path, key, status]).toEqual([path, key, 400])
      }
  })
  test('over the socket', async () => {
    const wire = await openWire(server.url, '/rooms', { token: me.token })
    const room = { type: 'channel', id: channel }
    for (const client_action_id of malformed) {
      const vote = JSON.stringify({ room, pollId: poll, optionIndex: 0, client_action_id })
      expect(await wire.ask('poll:vote', vote)).toMatchObject({ ok: false, error: { status: 400 } })
    }
    wire.close()
  })
})

describe('M19: the older paths of moderation accept an idempotency key', () => {
  const target = `0x${'ab'.repeat(20)}`
  const chat = () => ({ chatType: 'channel', chatId: channel })
  const legacy = (action: string, more: object) =>
    ['POST /api/moderation', { action, channelId: channel, targetAddress: target, ...more }] as const
  const acts = (): (readonly [line: string, input: object])[] => [
    legacy('promote-mod', { canPin: true }),
    legacy('demote-mod', {}),
    legacy('mute-user', { duration: '1h' }),
    legacy('unmute-user', {}),
    ['POST /api/moderation', { action: 'delete-message', channelId: channel, messageId: 'x' }],
    ['POST /api/moderation', { action: 'pin-message', channelId: channel, messageId: 'x', shouldPin: true }],
    ['POST /api/chat-rules', { ...chat(), rules: { links_allowed: 'disabled' } }],
    ['POST /api/chat-rules/ban', { ...chat(), action: 'ban', targetAddress: target }],
    ['POST /api/chat-rules/ban', { ...chat(), action: 'unban', targetAddress: target }],
    [`POST /api/channels/${channel}/ban`, { userAddress: target }],
    [`DELETE /api/channels/${channel}/ban`, { userAddress: target }],
    ['POST /api/blocked-words', { ...chat(), scope: 'room', word: 'unwanted' }],
  ]

  test('a malformed key is refused', async () => {
    for (const [line, input] of acts()) {
      const told = [line, input, (await me.rest(line, input, { 'idempotency-key': 'with space' })).status]
      expect(told).toEqual([line, input, 400])
    }
  })

  test('the same act with the same key is done once', async () => {
    const entries = async () =>
      (await me.rest(`GET /api/moderation?action=mod-log&channelId=${channel}&limit=100`)).body.logs as unknown[]
    const unlisted = acts().filter(([, input]) => !('messageId' in input))
    for (const [index, [line, input]] of unlisted.entries()) {
      const key = { 'idempotency-key': `older-path-${index}` }
      const first = await me.rest(line, input, key)
      const after = await entries()
      const again = await me.rest(line, input, key)
      expect([line, input, first.status, again.status]).toEqual([line, input, 200, 200])
      expect((await entries()).length).toBe(after.length)
    }
  })
})

test('M19: 405 names the methods of the path', async () => {
  const paths: [line: string, allow: string][] = [
    ['PUT /api/status', 'GET, HEAD, OPTIONS'],
    ['DELETE /api/auth/logout', 'POST, OPTIONS'],
    ['PATCH /api/auth/verify', 'GET, POST, HEAD, OPTIONS'],
    ['PUT /api/username', 'DELETE, GET, HEAD, OPTIONS, POST'],
    [`DELETE /api/channels/${channel}`, 'GET, HEAD, OPTIONS, PATCH'],
  ]
  const sorted = (text = '') => text.split(', ').sort()
  for (const [line, allow] of paths) {
    const { status, headers } = await sendBytes(server.url, request(line))
    expect([line, status, sorted(headers.allow)]).toEqual([line, 405, sorted(allow)])
  }
  expect((await sendBytes(server.url, request('PUT /api/nowhere'))).headers).not.toHaveProperty('allow')
})

test.each(['/files/channel/nothing.png', '/docs', '/docs/openapi.json', '/docs/rest.md', '/dev/mail.json'])(
  'N88: %s is read alone, and says so by 405',
  async (path) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, headers } = await sendBytes(server.url, request(`${method} ${path}`))
      expect([method, status, headers.allow]).toEqual([method, 405, 'GET, HEAD, OPTIONS'])
    }
    const read = await sendBytes(server.url, request(`GET ${path}`))
    expect([200, 404]).toContain(read.status)
    expect((await sendBytes(server.url, request(`POST ${path}/nothing/here`))).status).toBe(
      path.startsWith('/files') ? 405 : 404,
    )
  },
)

test('N88: every path has the methods that its 405 names, and answers 405 to all others', heavy, async () => {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
  const routes = operationsOf(api).flatMap(({ operation }) =>
    spellingsOf(operation).flatMap(({ route }) => expandRoute(route)),
  )
  const wrong: unknown[] = []
  for (const path of new Set(routes.map((route) => route.path))) {
    const own = routes.flatMap((route) => (route.path === path ? [route.method as string] : []))
    const has = new Set([...own, ...(own.includes('GET') ? ['HEAD'] : [])])
    const there = path.replace(/:type/, 'channel').replace(/:[a-zA-Z_]+/g, channel)
    for (const method of methods) {
      if (has.has(method)) continue
      const { status, headers } = await sendBytes(server.url, request(`${method} ${there}`))
      const allowed = (headers.allow ?? '').split(', ').sort()
      if (status !== 405 || String(allowed) !== String([...has, 'OPTIONS'].sort()))
        wrong.push([method, there, status, allowed])
    }
  }
  expect(wrong).toEqual([])
})

test('M31: a page of an allowed origin may send the headers that clients of older servers send', async () => {
  const names = [
    'X-API-Key',
    'X-Address',
    'X-User-Address',
    'X-Wallet-Address',
    'Authorization',
    'Content-Type',
    'Idempotency-Key',
  ]
  const preflight = [
    'Origin: http://localhost:3000',
    'Access-Control-Request-Method: POST',
    `Access-Control-Request-Headers: ${names.join(',')}`,
  ]
  const { status, headers } = await sendBytes(server.url, request('OPTIONS /api/channels', preflight))
  const allowed = (headers['access-control-allow-headers'] ?? '').toLowerCase().split(', ')
  expect([status, names.filter((name) => !allowed.includes(name.toLowerCase()))]).toEqual([204, []])
  const claimed = { 'x-address': '0x0000000000000000000000000000000000000001', 'x-api-key': 'anything' }
  expect((await me.rest('GET /api/auth/session', null, claimed)).body).toMatchObject({ userAddress: me.account })
})
