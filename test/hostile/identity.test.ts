// Modes: embedded, mongodb
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import WebSocket from 'ws'
import { z } from 'zod'
import { Accounts } from '#server/domains/people/accounts/model'
import { Nonces, Sessions } from '#server/domains/people/identity/model'
import { checkNonce, issueNonce } from '#server/domains/people/identity/siwe'
import { newRefreshToken, readToken, signToken } from '#server/domains/people/identity/tokens'
import { boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { begin, call, connect, heard, sessionStatus, signed, signIn, wallet } from '#test/support/wallet'

let server: Awaited<ReturnType<typeof boot>>
let url: string
beforeAll(async () => {
  server = await boot()
  url = server.url
})
afterAll(() => server.close())

const cookieOf = (token: string) => ({ cookie: `app_session=${token}` })

describe('T01: session fixation', () => {
  test('a planted cookie is not taken over, and its session ends', async () => {
    const planted = await signIn(url, wallet('attacker'))
    const victim = await signIn(url, wallet('victim'), cookieOf(planted.sessionToken))
    expect(victim.sessionToken).not.toBe(planted.sessionToken)
    expect(victim.answer.headers.get('set-cookie')).toContain(victim.sessionToken)
    expect(await sessionStatus(url, planted.sessionToken)).toBe(401)
    expect(await sessionStatus(url, victim.sessionToken)).toBe(200)
  })

  test('signing in again with the own cookie ends the old session alone', async () => {
    const elsewhere = await signIn(url, wallet('returner'))
    const old = await signIn(url, wallet('returner'))
    const fresh = await signIn(url, wallet('returner'), cookieOf(old.sessionToken))
    expect(await sessionStatus(url, old.sessionToken)).toBe(401)
    expect(await sessionStatus(url, elsewhere.sessionToken)).toBe(200)
    expect(await sessionStatus(url, fresh.sessionToken)).toBe(200)
  })
})

describe('T02: stored values cannot be used to sign in', () => {
  test('neither a stored hash nor a valid signature without a record is accepted as a token', async () => {
    const { sessionToken, refreshToken, address } = await signIn(url, wallet('dumped'))
    const record = await Sessions.findOne({ user_address: address }).lean()
    const stored = JSON.stringify(record)
    expect(stored).not.toContain(sessionToken)
    expect(stored).not.toContain(refreshToken)
    for (const token of [record?.token_hash ?? '', record?.refresh_hash ?? '']) {
      expect(await sessionStatus(url, token)).toBe(401)
      expect((await call(url, 'POST /api/auth/session', { refreshToken: token })).status).toBe(401)
    }
    await Sessions.deleteOne({ _id: record?._id ?? '' })
    const without = await call(url, 'GET /api/auth/session', null, sessionToken)
    expect(without).toMatchObject({ status: 401, code: 'SESSION_NOT_FOUND' })
  })

  test('a refresh token that comes a second time, later, ends the whole line of sessions', async () => {
    const first = await signIn(url, wallet('robbed'))
    const fresh = await call(url, 'POST /api/auth/session', { refreshToken: first.refreshToken })
    await Sessions.updateOne(
      { user_address: first.address, refreshed_at: { $ne: null } },
      { $set: { refreshed_at: new Date(Date.now() - 11_000) } },
    )
    expect((await call(url, 'POST /api/auth/session', { refreshToken: first.refreshToken })).status).toBe(401)
    expect(await sessionStatus(url, String(fresh.body.sessionToken))).toBe(401)
    expect((await call(url, 'POST /api/auth/session', { refreshToken: fresh.body.refreshToken })).status).toBe(401)
  })
})

describe('T03: forged tokens', () => {
  const Vector = z.object({ hs256SecretHex: z.string(), token: z.string() })
  const vector = Vector.parse(JSON.parse(readFileSync('test/vectors/session-token.json', 'utf8')))
  const secret = Buffer.from(vector.hs256SecretHex, 'hex')
  const keys = [{ id: 'k1', secret }]
  const now = Date.now()
  const iat = Math.floor(now / 1000)
  const claims = { address: '0xab', authMethod: 'wallet' as const, jti: 'a', iat, exp: iat + 600 }
  const made = (payload: object, header: object = {}, key: Uint8Array = secret) =>
    new SignJWT({ iss: 'plaza', aud: 'plaza', ...payload })
      .setProtectedHeader({ alg: 'HS256', kid: 'k1', ...header })
      .sign(key)
  const raw = (text: string) => Buffer.from(text).toString('base64url')

  const forged: [string, () => Promise<string> | string][] = [
    ['alg none', () => new UnsecuredJWT({ iss: 'plaza', aud: 'plaza', ...claims }).encode()],
    ['alg none with a kid', () => `${raw('{"alg":"none","kid":"k1"}')}.${raw(JSON.stringify(claims))}.`],
    ['RS256 in the header', async () => (await made(claims)).replace(/^[^.]+/, raw('{"alg":"RS256","kid":"k1"}'))],
    ['another secret', () => made(claims, {}, Buffer.alloc(32, 1))],
    ['an unknown kid', () => made(claims, { kid: 'null' })],
    ['a kid that is a path', () => made(claims, { kid: '../../dev/null' })],
    ['no kid', () => made(claims, { kid: undefined })],
    ['no exp', () => made({ ...claims, exp: undefined })],
    ['an exp of 1e20', () => made({ ...claims, exp: 1e20 })],
    ['no jti', () => made({ ...claims, jti: undefined })],
    ['another audience', () => made({ ...claims, aud: 'elsewhere' })],
    ['another issuer', () => made({ ...claims, iss: 'elsewhere' })],
    ['a changed payload', async () => (await made(claims)).replace(/\.[^.]+\./, `.${raw('{"address":"0xroot"}')}.`)],
    ['four parts', async () => `${await made(claims)}.x`],
    ['a megabyte', () => 'a'.repeat(1_000_000)],
    ['no issuer: one of the published test vector', () => vector.token],
  ]
  test.each(forged)('%s', async (_title, forge) => {
    const token = await forge()
    await expect(readToken(keys, token, now)).rejects.toMatchObject({ status: 401 })
    if (token.length < 8_000) expect(await sessionStatus(url, token)).toBe(401)
  })

  test('an untouched token is read; an older key still verifies, and the newest signs', async () => {
    const token = await signToken([{ id: 'k2', secret: Buffer.alloc(32, 2) }, ...keys], claims)
    const ring = [
      { id: 'k3', secret: Buffer.alloc(32, 3) },
      { id: 'k2', secret: Buffer.alloc(32, 2) },
    ]
    expect(await readToken(ring, token, now)).toMatchObject(claims)
    await expect(readToken(keys, token, now)).rejects.toMatchObject({ code: 'SESSION_INVALID' })
  })
})

test('T04: signing out by REST closes the sockets of every node within a second', async () => {
  const { sessionToken } = await signIn(url, wallet('watched'))
  const sockets = server.urls.flatMap((node) =>
    ['/rooms', '/notifications'].map((name) => connect(node, name, sessionToken)),
  )
  await Promise.all(sockets.map((socket) => heard(socket, 'session:ready')))
  const closed = Promise.all(sockets.map((socket) => heard(socket, 'disconnect')))
  const started = Date.now()
  await call(url, 'POST /api/auth/logout', null, sessionToken)
  await closed
  expect(Date.now() - started).toBeLessThan(10_000)
})

describe('T05: a foreign page opens no socket', () => {
  const local = () => new URL(url)
  test.each([
    ['foreign', () => 'https://evil.example'],
    ['null', () => 'null'],
    ['a longer host', () => `${url}.evil.example`],
    ['another port', () => `http://${local().hostname}:1`],
    ['another scheme', () => url.replace('http:', 'https:')],
    ['a trailing dot', () => `http://${local().hostname}.:${local().port}`],
    ['a trailing slash', () => `${url}/`],
  ])('origin %s', async (_title, origin) => {
    const { sessionToken } = await signIn(url, wallet('csws'))
    const socket = new WebSocket(`${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`, {
      headers: { origin: origin(), ...cookieOf(sessionToken) },
    })
    const [, response] = await once(socket, 'unexpected-response')
    expect([400, 403]).toContain(response.statusCode)
  })

  test('the own page does', async () => {
    const { sessionToken } = await signIn(url, wallet('csws'))
    const socket = new WebSocket(`${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`, {
      headers: { origin: 'http://localhost:3000', ...cookieOf(sessionToken) },
    })
    await once(socket, 'open')
    socket.terminate()
  })
})

describe('T06: a foreign page changes nothing', () => {
  test('a foreign origin is refused with the cookie, and the session stands', async () => {
    const { sessionToken } = await signIn(url, wallet('csrf'))
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      const foreign = { ...cookieOf(sessionToken), ...headers }
      expect((await call(url, 'POST /api/auth/logout', {}, undefined, foreign)).status).toBe(403)
    }
    expect(await sessionStatus(url, sessionToken)).toBe(200)
  })

  test('JSON that says it is text, or a form, is refused', async () => {
    const { sessionToken } = await signIn(url, wallet('csrf'))
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const headers = { ...cookieOf(sessionToken), 'content-type': type }
      const answer = await fetch(`${url}/api/auth/logout`, { method: 'POST', headers, body: '{}' })
      expect(answer.status).toBe(415)
    }
    expect((await call(url, 'GET /api/auth/logout', null, sessionToken)).status).toBe(405)
    expect(await sessionStatus(url, sessionToken)).toBe(200)
  })
})

describe('T07: nobody speaks for somebody else', () => {
  test.each([
    ['POST /api/username', { username: 'spoken_for' }, 'address'],
    ['DELETE /api/username', {}, 'address'],
    ['PATCH /api/user/profile', { display_name: 'Spoken' }, 'address'],
    ['POST /api/auth/session', {}, 'userAddress'],
  ])('%s', async (route, input, field) => {
    const [me, other] = [await signIn(url, wallet('speaker')), wallet('spoken')]
    const foreign = await call(url, route, { ...input, [field]: other.address }, me.sessionToken)
    expect(foreign).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    const same = { ...input, [field]: ` ${me.address.toUpperCase().replace('0X', '0x')} ` }
    expect((await call(url, route, same, me.sessionToken)).status).toBe(200)
  })
})

test('T12: fields nobody may set are without effect', async () => {
  const body = { ...(await signed(url, wallet('climber'))), role: 'super_admin', isAdmin: true, user: { points: 9 } }
  const { body: answer } = await call(url, 'POST /api/auth/verify', body)
  expect(answer.user).toMatchObject({ role: 'user', points: 0 })
  const extra = {
    display_name: 'Climber',
    role: 'admin',
    is_banned: true,
    user_id: 'x',
    login_count: 99,
    points: 99,
  }
  const changed = await call(url, 'PATCH /api/user/profile', extra, String(answer.sessionToken))
  expect(changed.status).toBe(200)
  const stored = await Accounts.findOne({ _id: String(answer.userAddress) }).lean()
  expect(stored).toMatchObject({ display_name: 'Climber', role: 'user', is_banned: false, login_count: 1, points: 0 })
})

/** Holds back whatever is to be taken once, until so many have come for it. */
function holdUntilAllCome(model: typeof Nonces | typeof Sessions, count: number): void {
  let open = () => {}
  const allHaveCome = new Promise<void>((resolve) => {
    open = resolve
  })
  const take = model.findOneAndUpdate.bind(model) as typeof Nonces.findOneAndUpdate
  let come = 0
  const held = vi.spyOn(model, 'findOneAndUpdate').mockImplementation(((...given: Parameters<typeof take>) => ({
    async lean() {
      come += 1
      if (come === count) open()
      await allHaveCome
      return take(...given).lean()
    },
  })) as never)
  onTestFinished(() => held.mockRestore())
}

test('P10 T32: fifty verifications of one signature at once begin one session', async () => {
  const body = await signed(url, wallet('racer'))
  // Each has found the nonce unused before the first of them uses it.
  holdUntilAllCome(Nonces, 50)
  const answers = await Promise.all(Array.from({ length: 50 }, () => call(url, 'POST /api/auth/verify', body)))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ code }) => code === 'INVALID_NONCE')).toHaveLength(49)
  expect(await Sessions.countDocuments({ user_address: body.address.toLowerCase() })).toBe(1)
})

test('T32: of fifty refreshes with one token at once one succeeds, and its session stands', async () => {
  const { refreshToken } = await signIn(url, wallet('refresh racer'))
  holdUntilAllCome(Sessions, 50)
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => call(url, 'POST /api/auth/session', { refreshToken })),
  )
  const [winner, ...others] = answers.filter(({ status }) => status === 200)
  expect(others).toEqual([])
  expect(await sessionStatus(url, String(winner?.body.sessionToken))).toBe(200)
})

test('T32: a refresh that began before the first was answered, and is judged after it, ends nothing', async () => {
  const { refreshToken } = await signIn(url, wallet('slow racer'))
  const held: (() => void)[] = []
  const take = Sessions.findOneAndUpdate.bind(Sessions)
  const spy = vi.spyOn(Sessions, 'findOneAndUpdate').mockImplementation(((...given: Parameters<typeof take>) => ({
    async lean() {
      await new Promise<void>((go) => held.push(go))
      return take(...given).lean()
    },
  })) as never)
  onTestFinished(() => spy.mockRestore())
  const answers = [1, 2].map(() => call(url, 'POST /api/auth/session', { refreshToken }))
  await expect.poll(() => held.length).toBe(2)
  held[0]?.()
  const first = await Promise.race(answers)
  expect(first.status).toBe(200)
  held[1]?.()
  expect((await Promise.all(answers)).map(({ status }) => status).sort()).toEqual([200, 401])
  expect(await sessionStatus(url, String(first.body.sessionToken))).toBe(200)
})

describe('T41: no answer reveals who has an account', () => {
  test('a message to sign looks the same for the known and the unknown', async () => {
    const known = wallet('known')
    await signIn(url, known)
    const shape = async (who: typeof known) =>
      (await begin(url, who)).message
        .replace(who.address, 'A')
        .replace(/Nonce: \w+/, 'N')
        .replace(/Issued At: \S+/, 'T')
    expect(await shape(known)).toBe(await shape(wallet('unknown')))
  })

  test('a reserved username is answered as a taken one', async () => {
    const [holder, asker] = [await signIn(url, wallet('holder')), await signIn(url, wallet('asker'))]
    await call(url, 'POST /api/username', { username: 'held_name' }, holder.sessionToken)
    const taken = await call(url, 'POST /api/username', { username: 'held_name' }, asker.sessionToken)
    const reserved = await call(url, 'POST /api/username', { username: 'official_name' }, asker.sessionToken)
    expect(taken).toMatchObject({ status: 409, code: 'USERNAME_TAKEN' })
    expect([reserved.status, reserved.body]).toEqual([taken.status, taken.body])
  })
})

test.each([
  ['GET /api/admin/users', null],
  ['GET /api/admin/admins', null],
  ['POST /api/admin/admins', { walletAddress: wallet('x').address }],
  [`DELETE /api/admin/admins?address=${wallet('x').address}`, null],
  [`GET /api/admin/ban?address=${wallet('x').address}`, null],
  ['POST /api/admin/ban', { userAddress: wallet('x').address, ban: true }],
])('T57: %s is for admins', async (route, input) => {
  const { sessionToken } = await signIn(url, wallet('curious'))
  expect(await call(url, route, input)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  expect(await call(url, route, input, sessionToken)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
})

test('T59: nonces and tokens never repeat, and are long enough', heavy, async () => {
  const nonces = await Promise.all(Array.from({ length: 200 }, () => issueNonce('0xab', Date.now())))
  expect(new Set(nonces).size).toBe(200)
  for (const nonce of nonces) expect(nonce).toMatch(/^[A-Za-z0-9]{16,}$/)
  const tokens = Array.from({ length: 10_000 }, newRefreshToken)
  expect(new Set(tokens).size).toBe(10_000)
  for (const token of tokens) expect(Buffer.from(token, 'base64url')).toHaveLength(32)
})

describe('T67: time runs out exactly', () => {
  test('a nonce is good for 300 seconds and not a millisecond more', async () => {
    const at = Date.now()
    const nonce = await issueNonce('0xab', at)
    await expect(checkNonce(nonce, '0xab', at + 299_999)).resolves.toBe(at)
    await expect(checkNonce(nonce, '0xab', at + 300_000)).rejects.toMatchObject({ code: 'NONCE_EXPIRED' })
  })

  test('a session token is good for 7 days', async () => {
    const keys = [{ id: 'k1', secret: Buffer.alloc(32, 7) }]
    const iat = 1_800_000_000
    const exp = iat + 604_800
    const token = await signToken(keys, { address: '0xab', authMethod: 'wallet', jti: 'a', iat, exp })
    await expect(readToken(keys, token, exp * 1000 - 1)).resolves.toMatchObject({ exp })
    await expect(readToken(keys, token, exp * 1000)).rejects.toMatchObject({ code: 'SESSION_EXPIRED' })
  })

  test('a record whose time is up ends the session, whatever its token says', async () => {
    const { sessionToken, address } = await signIn(url, wallet('late'))
    await Sessions.updateOne({ user_address: address }, { $set: { expires_at: new Date(Date.now() - 60_000) } })
    expect(await call(url, 'GET /api/auth/session', null, sessionToken)).toMatchObject({ code: 'SESSION_EXPIRED' })
  })

  test('a refresh token is good for 30 days', async () => {
    const { refreshToken, address } = await signIn(url, wallet('month'))
    await Sessions.updateOne({ user_address: address }, { $set: { refresh_expires_at: new Date(Date.now() - 60_000) } })
    const late = await call(url, 'POST /api/auth/session', { refreshToken })
    expect(late).toMatchObject({ status: 401, code: 'SESSION_EXPIRED' })
  })
})
