// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ServiceTokens } from '#server/domains/people/identity/model'
import { runBegun } from '#shared/api/agents/agent-runs'
import { moderation } from '#shared/api/moderation/moderation'
import { friendRequested, friends } from '#shared/api/people/friends'
import { serviceTokens } from '#shared/api/people/service-tokens'
import { messages } from '#shared/api/rooms/messages'
import { access } from '#shared/api/rooms/rooms'
import { sessionEnded } from '#shared/kit/connection'
import { type Booted, boot } from '#test/support/boot'
import { follow, type Line } from '#test/support/line'
import { alpha, type Person, person } from '#test/support/people'
import { solo } from '#test/support/solo'
import { call, connect, signed, wallet } from '#test/support/wallet'

let server: Booted
let url: string
let root: Person
beforeAll(async () => {
  server = await boot({ entry: 'in alpha', environment: { SUPER_ADMINS: wallet('root').address, BETA: 'open' } })
  url = server.url
  root = await person(server, 'root')
})
afterAll(() => server.close())

const made = (scopes: string[], more = {}) =>
  root.does('rest', serviceTokens.create, { name: 'A bot', scopes, ...more })

describe('a service token', () => {
  solo('is shown once, stored as a hash, and speaks for a bot that is marked as one', async () => {
    const { token, serviceToken } = await made(['identity:read', 'messages:write'], { name: 'Weather' })
    expect(serviceToken).toMatchObject({ name: 'Weather', created_by: root.account, last_used_at: null })
    expect(serviceToken.account).toMatch(/^bot:/)
    expect(JSON.stringify(await ServiceTokens.findOne({ _id: serviceToken.id }).lean())).not.toContain(token)
    const { tokens, scopes } = await root.does('rest', serviceTokens.list, {})
    expect(JSON.stringify(tokens)).not.toContain(token)
    expect(tokens.map(({ id }) => id)).toContain(serviceToken.id)
    expect(scopes).toEqual(expect.arrayContaining(['messages:read', 'messages:write', 'moderation:write']))
    const session = await call(url, 'GET /api/auth/session', null, token)
    expect(session.body).toMatchObject({ userAddress: serviceToken.account, authMethod: 'service' })
    const page = await call(url, `GET /api/public/user/${serviceToken.account}`)
    expect(page.body.user).toMatchObject({ name: 'Weather', is_bot: true })
    const shown = await call(url, `GET /api/public/user?address=${root.account}`)
    expect(shown.body.user).toMatchObject({ is_bot: false })
  })

  solo('may do what its scopes name over both doors, and nothing else', async () => {
    const { token, serviceToken } = await made(['messages:read', 'messages:write'])
    const sent = await call(url, 'POST /api/rooms/alpha/messages', { text: 'It rains.' }, token)
    expect(sent.body).toMatchObject({ message: { sender: { id: serviceToken.account, name: 'A bot' } } })
    const line = follow(connect(url, '/rooms', token))
    await line.hears('session:ready')
    const ask = (event: string, input: object) => line.socket.timeout(5_000).emitWithAck(event, input)
    expect(await ask('room:join', { room: alpha })).toMatchObject({ ok: true })
    expect(await ask('message:send', { room: alpha, text: 'Still.' })).toMatchObject({ ok: true })
    const lacking = { code: 'FORBIDDEN', details: { scope: 'moderation:write' } }
    const act = { room: alpha, action: 'mute', target: root.account }
    expect(await ask('mod:act', act)).toMatchObject({ ok: false, error: lacking })
    line.socket.close()
    const refused = await call(url, 'POST /api/channels', { name: 'Bots only' }, token)
    expect(refused).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(JSON.stringify(refused.body)).toContain('rooms:write')
  })

  solo('asking an agent over a socket is writing, and hearing what it says is reading', async () => {
    const { token } = await made(['agents:read'])
    const line = follow(connect(url, '/agents', token))
    await line.hears('session:ready')
    const ask = (event: string, input: object) => line.socket.timeout(5_000).emitWithAck(event, input)
    const asked = await ask('agent:run', { agent_id: 'none', message: 'Hello', client_run_id: 'one' })
    expect(asked).toMatchObject({ ok: false, error: { code: 'FORBIDDEN', details: { scope: 'agents:write' } } })
    expect(await ask('run:resume', { run_id: 'none', after_idx: -1 })).toMatchObject({
      error: { code: 'RUN_NOT_FOUND' },
    })
    line.socket.close()
  })

  solo('N12: it is told events of the domains where it may read, and of no others', async () => {
    const every = (await root.does('rest', serviceTokens.list, {})).scopes
    const bot = (await made(['messages:write'])).serviceToken.account
    const lineOf = async (namespace: string, scopes: string[]) => {
      const { token } = await made(scopes, { account: bot })
      const line = follow(connect(url, namespace, token))
      await line.hears('session:ready')
      return {
        line,
        token,
        ask: (event: string, input: object) => line.socket.timeout(5_000).emitWithAck(event, input),
      }
    }
    const except = (scope: string) => every.filter((one) => one !== scope)
    const rooms = {
      all: await lineOf('/rooms', every),
      less: await lineOf('/rooms', ['messages:read', 'identity:read', 'identity:write']),
    }
    const notes = {
      all: await lineOf('/notifications', every),
      less: await lineOf('/notifications', except('friends:read')),
    }
    const runs = { all: await lineOf('/agents', every), less: await lineOf('/agents', except('agents:read')) }
    const events = ({ line }: { line: Line }) => line.frames.map(({ event }) => event)
    const none = (await made(except('messages:read'), { account: bot })).token

    for (const { ask } of [rooms.all, rooms.less])
      expect(await ask('room:join', { room: alpha })).toMatchObject({ ok: true })
    expect(await rooms.less.ask('session:refresh', { token: none })).toMatchObject({ ok: true })
    rooms.less.line.forget()
    await root.does('rest', messages.send, { room: alpha, text: 'For readers' })
    await rooms.all.line.follows(alpha, ({ type }) => type === 'message.created')
    await root.does('rest', moderation.act, { room: alpha, action: 'mute', target: bot, duration: '1h' })
    await rooms.all.line.hears(access)

    await root.does('rest', friends.request, { toAddress: bot })
    await notes.all.line.hears(friendRequested)

    const { agent } = (await runs.less.ask('agent:create', { name: 'Deaf' })).data
    const asked = await runs.less.ask('agent:run', { agent_id: agent.id, message: 'Hello', client_run_id: 'deaf' })
    expect(asked).toMatchObject({ ok: true })
    await runs.all.line.hears(runBegun)

    const barriers = [{ ...rooms.less, token: none }, notes.less, runs.less]
    for (const { ask, token } of barriers) expect(await ask('session:refresh', { token })).toMatchObject({ ok: true })
    expect(events(rooms.less)).toEqual([])
    expect(events(notes.less)).not.toContain(friendRequested.name)
    expect(events(runs.less)).toEqual(['session:ready'])
    expect(await rooms.less.ask('session:refresh', { token: rooms.less.token })).toMatchObject({ ok: true })
    const sent = await root.does('rest', messages.send, { room: alpha, text: 'Again' })
    await rooms.less.line.follows(alpha, ({ seq }) => seq === sent.message.seq)
    for (const { line } of [...Object.values(rooms), ...Object.values(notes), ...Object.values(runs)])
      line.socket.close()
  })

  solo('without the scope of reading, not even what everybody may read', async () => {
    const { token } = await made(['messages:write'])
    expect(await call(url, 'GET /api/channels', null, token)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    const read = await made(['rooms:read'])
    expect((await call(url, 'GET /api/channels', null, read.token)).status).toBe(200)
  })

  solo('a scope gives no rank: what admins may do takes an admin too', async () => {
    const { token, serviceToken } = await made(['accounts:read', 'serviceTokens:write'])
    expect(await call(url, 'GET /api/admin/users', null, token)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    await root.rest('POST /api/admin/admins', { walletAddress: serviceToken.account })
    expect((await call(url, 'GET /api/admin/users', null, token)).status).toBe(200)
    const another = await call(url, 'POST /api/admin/service-tokens', { name: 'X', scopes: ['rooms:write'] }, token)
    expect(another).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  })

  solo('nobody signs in as a bot: nothing is linked to it, and its token begins no session', async () => {
    const { token } = await made(['identities:write', 'identity:write', 'identity:read', 'sessions:read'])
    const body = await signed(url, wallet('would be a bot'))
    expect(await call(url, 'POST /api/identities/wallet', body, token)).toMatchObject({ code: 'FORBIDDEN' })
    expect((await call(url, 'POST /api/auth/session', {}, token)).status).toBe(401)
    expect((await call(url, 'POST /api/auth/session', { token }, token)).status).toBe(401)
    expect((await call(url, 'POST /api/auth/logout', {}, token)).status).toBe(200)
    expect((await call(url, 'GET /api/auth/session', null, token)).status).toBe(200)
    expect((await call(url, 'GET /api/auth/sessions', null, token)).body).toEqual({ sessions: [] })
  })

  test('revoked, it is over at once on every node, with its sockets', async () => {
    const { token, serviceToken } = await made(['rooms:read'])
    const second = await made(['rooms:read'], { account: serviceToken.account })
    expect(second.serviceToken.account).toBe(serviceToken.account)
    const lines = server.urls.map((node) => follow(connect(node, '/rooms', token)))
    const stays = follow(connect(url, '/rooms', second.token))
    await Promise.all([...lines, stays].map((line) => line.hears('session:ready')))
    await root.does('rest', serviceTokens.revoke, { id: serviceToken.id })
    const started = Date.now()
    for (const line of lines) expect(await line.hears(sessionEnded)).toEqual({ code: 'SESSION_NOT_FOUND' })
    expect(Date.now() - started).toBeLessThan(10_000)
    for (const node of server.urls)
      for (const route of ['GET /api/auth/session', 'GET /api/channels'])
        expect(await call(node, route, null, token)).toMatchObject({ status: 401, code: 'SESSION_NOT_FOUND' })
    expect(stays.socket.connected).toBe(true)
    stays.socket.close()
    const gone = await root.refused('rest', serviceTokens.revoke, { id: serviceToken.id })
    expect(gone).toMatchObject({ code: 'NOT_FOUND' })
  })

  solo('it ends when its days are over', async () => {
    const { token, serviceToken } = await made(['identity:read'], { expiresInDays: 1 })
    const day = 24 * 60 * 60 * 1_000
    const lasts = Date.parse(serviceToken.expires_at) - Date.parse(serviceToken.created_at)
    expect(lasts).toBe(day)
    await ServiceTokens.updateOne({ _id: serviceToken.id }, { $set: { expires_at: new Date(Date.now() - 60_000) } })
    expect((await call(url, 'GET /api/auth/session', null, token)).status).toBe(401)
    const { tokens } = await root.does('rest', serviceTokens.list, {})
    expect(tokens.map(({ id }) => id)).not.toContain(serviceToken.id)
  })
})

describe('making one', () => {
  solo('is refused for a person, for a bot that is not there, and for a scope that is not there', async () => {
    for (const account of [root.account, 'bot:nobody'])
      expect(
        await root.refused('rest', serviceTokens.create, { name: 'X', scopes: ['rooms:read'], account }),
      ).toMatchObject({ code: 'USER_NOT_FOUND' })
    const unknown = await root.refused('rest', serviceTokens.create, { name: 'X', scopes: ['everything:write'] })
    expect(unknown).toMatchObject({ code: 'VALIDATION_ERROR', message: 'There is no scope everything:write' })
  })

  solo.each([
    ['POST /api/admin/service-tokens', { name: 'X', scopes: ['rooms:read'] }],
    ['GET /api/admin/service-tokens', null],
    ['DELETE /api/admin/service-tokens/x', null],
  ])('T57: %s is for admins', async (route, input) => {
    const user = await person(server, 'curious')
    expect(await call(url, route, input)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    expect(await user.rest(route, input)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  })

  solo('a text in the form of a token is refused', async () => {
    const { token } = await made(['identity:read'])
    for (const forged of [`${token}x`, token.slice(0, -1), 'plaza_', `plaza_${'A'.repeat(43)}`])
      expect((await call(url, 'GET /api/auth/session', null, forged)).status).toBe(401)
  })
})

solo('M14: a bot passes for nobody, and may speak for the service', async () => {
  const named = (name: string) =>
    call(url, 'POST /api/admin/service-tokens', { name, scopes: ['rooms:read'] }, root.token)
  const someone = await person(server, 'somebody with a name')
  await someone.rest('POST /api/username', { username: 'paula_bell' })
  for (const name of ['paula_bell', 'Paula Bell', 'PauIa BeIl', '@paula_bell', 'Bot\u200b', 'Bot\u202e', 'Bot ✅'])
    expect(await named(name), name).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  for (const name of ['Plaza Support', 'Pauia Bell', 'Moderator']) expect((await named(name)).status, name).toBe(200)
})
