// Modes: embedded
import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { codeSeconds, linkSeconds } from '#server/domains/people/identity/codes'
import { type Booted, boot } from '#test/support/boot'
import { codeFor, codeIn, letterAfter, lettersTo, linkIn, signInByEmail } from '#test/support/letters'
import { type Person, person } from '#test/support/people'
import { call, signIn, wallet } from '#test/support/wallet'

let server: Booted
beforeAll(async () => {
  server = await boot({ entry: 'through the door' })
})
afterAll(() => server.close())
afterEach(() => server.setAhead(0))

const idOf = (email: string) => `email:${createHash('sha256').update(email).digest('hex')}`
const post = (path: string, body: object, token?: string) => call(server.url, `POST /api/email/${path}`, body, token)

/** Has verified an address by a code, in the session of a wallet. */
async function attached(who: Person, email: string) {
  const code = codeIn(await letterAfter(server, email, () => post('send-code', { email }, who.token)))
  return post('verify-code', { walletAddress: who.account, code }, who.token)
}

describe('sign-in by a code', () => {
  test.each([
    ['login/send-code', 'login/verify'],
    ['send-code', 'verify-code'],
  ])('%s and %s sign in, in whatever case the address is written', async (send, verify) => {
    const email = `${send.replace('/', '-')}@people.test`
    const letter = await letterAfter(server, email, async () => {
      const answer = await post(send, { email: ` ${email.toUpperCase()} ` })
      expect(answer.body).toEqual({ success: true, message: 'Verification code sent' })
    })
    expect(letter.subject).not.toContain(codeIn(letter))
    const { status, body, headers } = await post(verify, { email: email.toUpperCase(), code: codeIn(letter) })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      success: true,
      authenticated: true,
      email,
      walletAddress: idOf(email),
      userAddress: idOf(email),
      user: { wallet_address: idOf(email), wallet_type: 'email', email, email_verified: true, beta_access: false },
    })
    expect(headers.get('set-cookie')).toContain(`app_session=${String(body.sessionToken)}`)
    const session = await call(server.url, 'GET /api/auth/session', null, String(body.sessionToken))
    expect(session.body).toMatchObject({ userAddress: idOf(email), authMethod: 'email' })
  })

  test('the second sign-in finds the same account', async () => {
    const first = await signInByEmail(server, 'again@people.test')
    const second = await signInByEmail(server, 'again@people.test')
    expect(second.walletAddress).toBe(first.walletAddress)
    expect(second.sessionToken).not.toBe(first.sessionToken)
  })

  test('a code is good once, and a new one voids the one before', async () => {
    const email = 'once@people.test'
    const first = await codeFor(server, email)
    const second = await codeFor(server, email)
    if (first !== second) expect(await post('login/verify', { email, code: first })).toMatchObject({ status: 400 })
    expect((await post('login/verify', { email, code: second })).status).toBe(200)
    const again = await post('verify-code', { email, code: second })
    expect(again).toMatchObject({ status: 400, body: { error: 'Invalid verification code', code: 'INVALID_CODE' } })
  })

  test.each(['login/verify', 'verify-code'])('%s refuses a code after ten minutes', async (verify) => {
    const email = `late-${verify.replace('/', '-')}@people.test`
    const code = await codeFor(server, email)
    server.setAhead(codeSeconds)
    expect(await post(verify, { email, code })).toMatchObject({ status: 400, code: 'CODE_EXPIRED' })
  })

  test.each(['login/verify', 'verify-code'])('%s judges five tries, whatever the sixth is', async (verify) => {
    const email = `five-${verify.replace('/', '-')}@people.test`
    const code = await codeFor(server, email)
    const wrong = code === '000000' ? '111111' : '000000'
    for (let tried = 0; tried < 5; tried++)
      expect(await post(verify, { email, code: wrong })).toMatchObject({ status: 400, code: 'INVALID_CODE' })
    expect(await post(verify, { email, code })).toMatchObject({ status: 400, code: 'TOO_MANY_ATTEMPTS' })
  })

  test('a missing field, or one that is no address, is named', async () => {
    expect((await post('login/send-code', {})).body.error).toBe('Email is required')
    expect((await post('login/send-code', { email: 'nobody' })).body.error).toBe('Invalid email format')
    expect((await post('login/verify', { email: 'a@b.test' })).body.error).toBe('Code is required')
    expect((await post('login/verify', { code: '123456' })).body.error).toBe('Email is required')
    expect((await post('verify-code', { code: '123456' })).body.error).toBe('Email is required')
    expect((await post('login/verify', { email: 'a@b.test', code: '12345' })).status).toBe(400)
  })
})

describe('sign-in by a link', () => {
  const sent = async (email: string, redirect?: string) =>
    linkIn(await letterAfter(server, email, () => post('login/send-link', { email, redirect })))

  test.each(['GET', 'POST'])('%s signs in once', async (method) => {
    const email = `link-${method.toLowerCase()}@people.test`
    const link = await sent(email, '/rooms?x=1')
    expect(link.origin).toBe('http://localhost:3000')
    expect(link.searchParams.get('redirect')).toBe('/rooms?x=1')
    const token = link.searchParams.get('token') ?? ''
    const open = () =>
      method === 'GET' ? call(server.url, `GET /api/email/login/link?token=${token}`) : post('login/link', { token })
    expect(await open()).toMatchObject({
      status: 200,
      body: { authenticated: true, email, walletAddress: idOf(email) },
    })
    expect(await open()).toMatchObject({ status: 401, code: 'INVALID_LINK' })
  })

  test('a link is good for fifteen minutes, and to no other site', async () => {
    const token = (await sent('slow@people.test')).searchParams.get('token')
    server.setAhead(linkSeconds)
    expect(await post('login/link', { token })).toMatchObject({ status: 401, code: 'INVALID_LINK' })
    for (const redirect of ['//evil.test', 'https://evil.test', '/\\evil.test', 'evil'])
      expect((await post('login/send-link', { email: 'slow@people.test', redirect })).status).toBe(400)
  })

  test('a page of elsewhere cannot sign a visitor in', async () => {
    const token = (await sent('visitor@people.test')).searchParams.get('token') ?? ''
    const foreign = { 'sec-fetch-site': 'cross-site' }
    const answer = await call(server.url, `GET /api/email/login/link?token=${token}`, null, undefined, foreign)
    expect(answer).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(answer.headers.get('set-cookie')).toBeNull()
  })
})

describe('an address of an account', () => {
  test('a signed-in account adds one, is given points once, and is signed in by it from then on', async () => {
    const who = await person(server, 'email-adder')
    const email = 'adder@people.test'
    expect((await attached(who, email)).body).toEqual({
      success: true,
      message: expect.any(String),
      email,
      pointsAwarded: 100,
    })
    const { body } = await who.rest('GET /api/auth/session')
    expect(body.user).toMatchObject({ email, email_verified: true, email_updates_opt_in: true, points: 100 })
    expect(await signInByEmail(server, email)).toMatchObject({ walletAddress: who.account })
    expect((await attached(who, 'adder-2@people.test')).body).toMatchObject({ pointsAwarded: 0 })
  })

  test('O85: letters about what is new are not wanted where who verifies an address says so, by each way', async () => {
    const optIn = (body: Record<string, unknown>) =>
      (body.user as { email_updates_opt_in: boolean }).email_updates_opt_in
    for (const [send, verify] of [
      ['login/send-code', 'login/verify'],
      ['send-code', 'verify-code'],
    ] as const) {
      const email = `quiet-${send.replace('/', '-')}@people.test`
      const letter = await letterAfter(server, email, () => post(send, { email }))
      expect(optIn((await post(verify, { email, code: codeIn(letter), updates: false })).body)).toBe(false)
    }
    const who = await person(server, 'email-quiet')
    const letter = await letterAfter(server, 'quiet@people.test', () =>
      who.rest('POST /api/email/send-code', { email: 'quiet@people.test' }),
    )
    await who.rest('POST /api/email/verify-code', { code: codeIn(letter), updates: false })
    expect(optIn((await who.rest('GET /api/user/profile')).body)).toBe(false)
  })

  test('letters about what is new are wanted from then on, until its owner does not want them', async () => {
    const [who, other] = [await person(server, 'email-updates'), await person(server, 'email-updates-other')]
    await attached(who, 'updates@people.test')
    const wants = async (one: Person) => {
      const { body } = await one.rest('GET /api/user/profile')
      return (body.user as { email_updates_opt_in: boolean }).email_updates_opt_in
    }
    const change = (email_updates_opt_in: unknown) =>
      who.rest('PATCH /api/user/profile', { address: who.account, email_updates_opt_in })
    expect(await wants(who)).toBe(true)
    expect((await change(false)).body).toMatchObject({ user: { email_updates_opt_in: false } })
    for (const kept of [null, '']) await change(kept)
    expect(await wants(who)).toBe(false)
    expect((await who.rest('GET /api/auth/session')).body.user).toMatchObject({ email_updates_opt_in: false })
    expect((await change('no')).status).toBe(400)
    const forged = await other.rest('PATCH /api/user/profile', { address: who.account, email_updates_opt_in: true })
    expect(forged).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await wants(who)).toBe(false)
    await change(true)
    expect(await wants(who)).toBe(true)
  })

  test('an address that another account has verified is refused, at both steps', async () => {
    const [first, second] = [await person(server, 'email-first'), await person(server, 'email-second')]
    const email = 'wanted@people.test'
    const code = codeIn(await letterAfter(server, email, () => post('send-code', { email }, second.token)))
    await attached(first, email)
    expect(await post('verify-code', { code }, second.token)).toMatchObject({ status: 400, code: 'EMAIL_IN_USE' })
    expect(await signInByEmail(server, email)).toMatchObject({ walletAddress: first.account })
  })

  test('a code that was sent for one account or address adds nothing to another', async () => {
    const [owner, other] = [await person(server, 'email-owner'), await person(server, 'email-other')]
    const email = 'bound@people.test'
    const send = () => letterAfter(server, email, () => post('send-code', { email }, owner.token))
    const code = codeIn(await send())
    expect(await post('verify-code', { email, code }, other.token)).toMatchObject({ code: 'INVALID_CODE' })
    expect(await post('login/verify', { email, code })).toMatchObject({ code: 'INVALID_CODE' })
    expect(await post('verify-code', { code, email: 'else@people.test' }, owner.token)).toMatchObject({ status: 400 })
    expect((await owner.rest('GET /api/auth/session')).body.user).toMatchObject({ email: null })
  })

  test('nobody acts for an account that is not theirs', async () => {
    const [victim, attacker] = [await person(server, 'email-victim'), await person(server, 'email-attacker')]
    const body = { email: 'attacker@people.test', walletAddress: victim.account }
    expect((await post('send-code', body, attacker.token)).status).toBe(403)
    expect((await post('send-code', body)).status).toBe(401)
    expect((await post('verify-code', { walletAddress: victim.account, code: '123456' })).status).toBe(401)
    expect(await lettersTo(server, body.email)).toEqual([])
  })

  test('one that was removed opens nothing but its own account, and what it had opened is closed', async () => {
    const who = await person(server, 'email-remover')
    const email = 'removed@people.test'
    await attached(who, email)
    const { sessionToken } = await signInByEmail(server, email)
    expect((await post('remove', {}, who.token)).body).toEqual({ success: true })
    expect((await call(server.url, 'GET /api/auth/session', null, sessionToken)).status).toBe(401)
    expect((await who.rest('GET /api/auth/session')).body.user).toMatchObject({ email: null, email_verified: false })
    expect(await signInByEmail(server, email)).toMatchObject({ walletAddress: idOf(email) })
    expect((await post('remove', {})).status).toBe(401)
  })

  test('it opens its own account though that one has added another address since', async () => {
    const email = 'founder@people.test'
    const { sessionToken, walletAddress } = await signInByEmail(server, email)
    const other = 'founder-2@people.test'
    const code = codeIn(await letterAfter(server, other, () => post('send-code', { email: other }, sessionToken)))
    expect((await post('verify-code', { code }, sessionToken)).status).toBe(200)
    expect(await signInByEmail(server, email)).toMatchObject({ walletAddress })
    expect(await signInByEmail(server, other)).toMatchObject({ walletAddress })
  })
})

describe('restoring a session', () => {
  test('knowing an address and its account lets nobody in', async () => {
    const email = 'known@people.test'
    const { walletAddress: address } = await signInByEmail(server, email)
    const answer = await post('restore-session', { email, address })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect((await post('restore-session', { email })).status).toBe(400)
  })

  test('a living session is told so; a token goes on with its own account alone', async () => {
    const email = 'mine@people.test'
    const { sessionToken: token, walletAddress: address } = await signInByEmail(server, email)
    expect((await post('restore-session', { email, address }, token)).body).toMatchObject({
      success: true,
      walletAddress: address,
    })
    const restored = await post('restore-session', { email, address, token })
    expect(restored.body).toMatchObject({ authenticated: true, email, walletAddress: address, user: { email } })
    expect(restored.headers.get('set-cookie')).toContain('app_session=')
    const other = await signIn(server.url, wallet('email-restorer'))
    expect((await post('restore-session', { email, address }, other.sessionToken)).status).toBe(403)
    expect((await post('restore-session', { email, address, token: other.sessionToken })).status).toBe(401)
    expect((await post('restore-session', { email: 'else@people.test', address, token })).status).toBe(401)
    expect((await post('restore-session', { email, address, token: `${token}x` })).status).toBe(401)
  })
})
