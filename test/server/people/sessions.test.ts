// Modes: embedded, two-nodes, two-nodes-redis
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Sessions } from '#server/domains/people/identity/model'
import { sessions } from '#shared/api/people/sessions'
import { sessionEnded, sessionExpiring } from '#shared/kit/connection'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { follow } from '#test/support/line'
import { type Person, person } from '#test/support/people'
import { solo } from '#test/support/solo'
import { freshDatabaseUri } from '#test/support/test-servers'
import { call, connect, sessionStatus, signIn, wallet } from '#test/support/wallet'

const refresh = (token: string) => call(server.url, 'POST /api/auth/session', { refreshToken: token })
const devices = async (who: Person) => (await who.does('rest', sessions.list, {})).sessions
const idOf = async (token: string) => JSON.parse(atob(token.split('.')[1] ?? '')).jti as string

let server: Booted
describe('devices', () => {
  beforeAll(async () => {
    server = await boot({ entry: 'through the door' })
  })
  afterAll(() => server.close())

  solo('each is one row, however often it was refreshed, and the calling one is marked', async () => {
    const me = await person(server, 'two devices')
    const phone = await signIn(server.url, wallet('two devices'), { 'user-agent': 'A phone' })
    const fresh = await refresh(phone.refreshToken)
    await refresh(String(fresh.body.refreshToken))
    const listed = await devices(me)
    expect(listed).toHaveLength(2)
    expect(listed.filter(({ is_current }) => is_current)).toHaveLength(1)
    const first = await Sessions.findOne({ user_address: me.account, user_agent: 'A phone' }).lean()
    const phoneRow = listed.find(({ is_current }) => !is_current)
    expect(phoneRow).toMatchObject({ auth_method: 'wallet', created_at: first?.created_at.toISOString() })
    for (const { ip_address, expires_at, last_used_at } of listed) {
      expect(ip_address).toMatch(/127\.0\.0\.1|::1/)
      expect(Date.parse(expires_at)).toBeGreaterThan(Date.now())
      expect(Date.parse(last_used_at)).toBeLessThanOrEqual(Date.now() + 1_000)
    }
    const seenByPhone = await call(server.url, 'GET /api/auth/sessions', null, String(fresh.body.sessionToken))
    expect(seenByPhone.body.sessions).toEqual(
      listed.map((one) => expect.objectContaining({ id: one.id, is_current: !one.is_current })),
    )
  })

  solo(
    'N83: a bearer that is not good is refused where anybody may read; a cookie that is not good reads as nobody',
    async () => {
      const { sessionToken } = await signIn(server.url, wallet('signs out'))
      await call(server.url, 'POST /api/auth/logout', {}, sessionToken)
      const reads = ['GET /api/channels', 'GET /api/rooms/alpha/messages', 'GET /api/public/streams']
      for (const token of [sessionToken, 'nonsense', `${sessionToken}x`])
        for (const read of reads)
          expect([read, (await call(server.url, read, null, token)).status]).toEqual([read, 401])
      for (const read of reads)
        expect([
          read,
          (await call(server.url, read, null, undefined, { cookie: `app_session=${sessionToken}` })).status,
        ]).toEqual([read, 200])
      const again = await signIn(server.url, wallet('signs out'), { authorization: `Bearer ${sessionToken}` })
      expect(await sessionStatus(server.url, again.sessionToken)).toBe(200)
    },
  )

  solo('one that can neither call nor be refreshed any more is not shown', async () => {
    const me = await person(server, 'old device')
    await signIn(server.url, wallet('old device'), { 'user-agent': 'Old' })
    await Sessions.updateOne(
      { user_address: me.account, user_agent: 'Old' },
      { $set: { expires_at: new Date(0), refreshed_at: new Date(0) } },
    )
    expect(await devices(me)).toHaveLength(1)
  })

  test('ending one ends all it was refreshed to, with its sockets, within a second on every node', async () => {
    const me = await person(server, 'lost phone')
    const phone = await signIn(server.url, wallet('lost phone'))
    const fresh = String((await refresh(phone.refreshToken)).body.sessionToken)
    const lines = server.urls.flatMap((url) =>
      [phone.sessionToken, fresh].map((t) => follow(connect(url, '/rooms', t))),
    )
    await Promise.all(lines.map((line) => line.hears('session:ready')))
    const mine = await me.line()
    const row = (await devices(me)).find(({ is_current }) => !is_current)
    await me.does('rest', sessions.end, { id: row?.id ?? '' })
    const started = Date.now()
    for (const line of lines) expect(await line.hears(sessionEnded)).toEqual({ code: 'SESSION_NOT_FOUND' })
    expect(Date.now() - started).toBeLessThan(10_000)
    for (const token of [phone.sessionToken, fresh]) expect(await sessionStatus(server.url, token)).toBe(401)
    expect(await sessionStatus(server.url, me.token)).toBe(200)
    expect(mine.socket.connected).toBe(true)
    expect(await devices(me)).toHaveLength(1)
  })

  solo('ending the own one signs out here, and clears the cookie', async () => {
    const { sessionToken } = await signIn(server.url, wallet('leaver here'))
    const answer = await call(server.url, `DELETE /api/auth/sessions/${await idOf(sessionToken)}`, null, sessionToken)
    expect(answer.headers.get('set-cookie')).toMatch(/^app_session=;.*Max-Age=0/)
    expect(await sessionStatus(server.url, sessionToken)).toBe(401)
  })

  test('ending all others leaves the calling one', async () => {
    const me = await person(server, 'all others')
    const others = await Promise.all([1, 2, 3].map(() => signIn(server.url, wallet('all others'))))
    const line = follow(connect(server.url, '/notifications', others[0]?.sessionToken ?? ''))
    await line.hears('session:ready')
    await me.does('rest', sessions.endOthers, {})
    await line.hears(sessionEnded)
    for (const { sessionToken, refreshToken } of others) {
      expect(await sessionStatus(server.url, sessionToken)).toBe(401)
      expect((await refresh(refreshToken)).status).toBe(401)
    }
    expect(await sessionStatus(server.url, me.token)).toBe(200)
    expect(await devices(me)).toHaveLength(1)
  })

  solo("somebody else's looks like one that is not there, and goes on", async () => {
    const [me, other] = [await person(server, 'intruder'), await person(server, 'intruded')]
    const theirs = await idOf(other.token)
    const refused = await me.refused('rest', sessions.end, { id: theirs })
    expect(refused).toEqual(await me.refused('rest', sessions.end, { id: 'nothing-like-it' }))
    expect(refused).toMatchObject({ code: 'NOT_FOUND', status: 404 })
    expect(await sessionStatus(server.url, other.token)).toBe(200)
  })

  test(
    'a session tells its sockets five minutes before its end, and ends at its end, on every node',
    heavy,
    async () => {
      const soon = await signIn(server.url, wallet('expiring soon'))
      const later = await signIn(server.url, wallet('expiring later'))
      const lasting = async (token: string, milliseconds: number) => {
        const expires_at = new Date(Date.now() + milliseconds)
        await Sessions.updateOne({ _id: await idOf(token) }, { $set: { expires_at } })
      }
      await lasting(soon.sessionToken, 4_000)
      await lasting(later.sessionToken, 300_000 + 2_500)
      const lines = server.urls.map((url) => ({
        soon: follow(connect(url, '/rooms', soon.sessionToken)),
        later: follow(connect(url, '/rooms', later.sessionToken)),
      }))
      const began = Date.now()
      for (const line of lines) {
        const { in_s } = await line.soon.hears(sessionExpiring)
        expect(in_s).toBeLessThanOrEqual(4)
        await line.later.hears('session:ready')
        expect(line.later.all(sessionExpiring)).toEqual([])
      }
      for (const line of lines) {
        expect((await line.later.hears(sessionExpiring)).in_s).toBeGreaterThanOrEqual(298)
        expect(await line.soon.hears(sessionEnded)).toEqual({ code: 'SESSION_EXPIRED' })
        await line.soon.hears('disconnect')
      }
      expect(Date.now() - began).toBeLessThan(6_000)
      expect(await sessionStatus(server.url, soon.sessionToken)).toBe(401)
    },
  )

  test('a refreshed session carries the socket on beyond the end of the first', async () => {
    const { sessionToken } = await signIn(server.url, wallet('carried on'))
    const line = follow(connect(server.url, '/rooms', sessionToken))
    await line.hears('session:ready')
    const fresh = await call(server.url, 'POST /api/auth/session', {}, sessionToken)
    await line.socket.timeout(5_000).emitWithAck('session:refresh', { token: fresh.body.sessionToken })
    const brief = follow(connect(server.url, '/rooms', sessionToken))
    await brief.hears('session:ready')
    await Sessions.deleteOne({ _id: await idOf(sessionToken) })
    expect(await sessionStatus(server.url, sessionToken)).toBe(401)
    const ack = await line.socket.timeout(5_000).emitWithAck('session:refresh', { token: fresh.body.sessionToken })
    expect(ack).toMatchObject({ ok: true })
    brief.socket.close()
  })
})

describe('the ring of session keys', () => {
  const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`
  const kidOf = (token: string) => JSON.parse(atob(token.split('.')[0] ?? '')).kid as string

  test('a new first key signs nobody out; a key that was taken away does', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'plaza-keys-'))
    const uri = freshDatabaseUri()
    const store = { DATA_DIR: directory, ...(uri ? { MONGODB_URI: uri } : {}) }
    const opened = async (...keys: string[]) => {
      server = await boot({
        entry: 'through the door',
        nodes: 1,
        environment: { ...store, SESSION_KEYS: keys.join(',') },
      })
    }
    await opened(key('one', 1))
    const old = await signIn(server.url, wallet('key holder'))
    expect(kidOf(old.sessionToken)).toBe('one')
    await server.close()

    await opened(key('two', 2), key('one', 1))
    expect(await sessionStatus(server.url, old.sessionToken)).toBe(200)
    const fresh = await call(server.url, 'POST /api/auth/session', { refreshToken: old.refreshToken })
    expect(kidOf(String(fresh.body.sessionToken))).toBe('two')
    expect(await sessionStatus(server.url, String(fresh.body.sessionToken))).toBe(200)
    await server.close()

    await opened(key('two', 2))
    const gone = await call(server.url, 'GET /api/auth/session', null, old.sessionToken)
    expect(gone).toMatchObject({ status: 401, code: 'SESSION_INVALID' })
    expect(await sessionStatus(server.url, String(fresh.body.sessionToken))).toBe(200)
    await server.close()
    rmSync(directory, { recursive: true, force: true })
  }, 60_000)
})
