// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { setEmail } from '#server/domains/people/accounts/emails'
import { Accounts } from '#server/domains/people/accounts/model'
import { PasskeyChallenges, Passkeys } from '#server/domains/people/passkeys/model'
import { firstPasskeyOf } from '#server/domains/people/passkeys/passkeys'
import { issueChallenge, takeChallenge } from '#server/domains/people/passkeys/registration'
import { Authenticator } from '#test/support/authenticator'
import { type Booted, boot } from '#test/support/boot'
import { beginLogin, beginRegistration, enrol, post, signInBy } from '#test/support/passkeys'
import { call, signIn, wallet } from '#test/support/wallet'

let server: Booted
let url: string
beforeAll(async () => {
  server = await boot({
    environment: { SUPER_ADMINS: wallet('root').address },
  })
  url = server.url
})
afterAll(() => server.close())

const get = (path: string, token?: string) => call(url, `GET /api/passkey/${path}`, null, token)
const remove = (query: string, token: string) => call(url, `DELETE /api/passkey/${query}`, null, token)
const Listed = z.object({ credentials: z.array(z.looseObject({ id: z.string(), credentialId: z.string() })) })
const listed = async (token: string, query = '') =>
  Listed.parse((await get(`credentials${query}`, token)).body).credentials

describe('a new account', () => {
  test('is made by a passkey, and the passkey signs in to it again', async () => {
    const key = new Authenticator()
    const options = (await post(url, 'register/options', { userAddress: key.account, displayName: 'Ada' })).body
    expect(options).toMatchObject({
      rpId: 'localhost',
      isRecoveryFlow: false,
      userAddress: key.account,
      user: { name: 'Ada', displayName: 'Ada' },
      pubKeyCredParams: [{ alg: -7, type: 'public-key' }],
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      attestation: 'none',
      options: { challenge: options.challenge, rp: { id: 'localhost', name: 'Plaza' }, user: options.user },
    })
    const made = await post(url, 'register/verify', { credential: key.create(String(options.challenge)) })
    expect(made.status).toBe(200)
    expect(made.body).toMatchObject({
      success: true,
      verified: true,
      authenticated: true,
      credentialId: key.credentialId,
      backedUp: true,
      userAddress: key.account,
      user: { wallet_address: key.account, wallet_type: 'passkey' },
    })
    expect(made.headers.get('set-cookie')).toContain(String(made.body.sessionToken))
    const again = await signInBy(url, key, {}, { userAddress: key.account })
    expect(again).toMatchObject({ status: 200, body: { userAddress: key.account, credentialId: key.credentialId } })
    const session = await call(url, 'GET /api/auth/session', null, String(again.body.sessionToken))
    expect(session.body).toMatchObject({ userAddress: key.account, authMethod: 'passkey' })
  })

  test('is signed in to by whichever passkey the device has, and with no store of answers on the way', async () => {
    const { key } = await enrol(url)
    const options = await post(url, 'login/options', {})
    expect(options.headers.get('cache-control')).toBe('no-store')
    expect(options.body).toMatchObject({ allowCredentials: [], timeout: 120_000, userVerification: 'preferred' })
    const { challenge } = options.body
    expect(options.body.options).toEqual({ ...options.body, options: undefined, useDevicePasskey: undefined })
    expect(await post(url, 'login/verify', { credential: key.get(String(challenge)), challenge })).toMatchObject({
      status: 200,
      body: { userAddress: key.account },
    })
    const device = await post(url, 'login/options', { userAddress: key.account, useDevicePasskey: true })
    expect(device.body).toMatchObject({ allowCredentials: [], useDevicePasskey: true })
  })

  test('may be asked for by who is signed in to another', async () => {
    const { sessionToken } = await enrol(url)
    const key = new Authenticator()
    const { challenge } = await beginRegistration(url, {}, sessionToken)
    const made = await post(
      url,
      'register/verify',
      { credential: key.create(challenge), isNewAccount: true },
      sessionToken,
    )
    expect(made.body).toMatchObject({ userAddress: key.account })
  })
})

test('a passkey that is registered already, or made for another site, is not stored', async () => {
  const { key } = await enrol(url)
  const again = key.create((await beginRegistration(url)).challenge)
  expect(await post(url, 'register/verify', { credential: again })).toMatchObject({
    status: 409,
    code: 'PASSKEY_ALREADY_REGISTERED',
  })
  const { challenge } = await beginRegistration(url)
  const elsewhere = new Authenticator().create(challenge, { origin: 'http://localhost:3000.evil.com' })
  const refused = { status: 401, code: 'PASSKEY_VERIFICATION_FAILED' }
  expect(await post(url, 'register/verify', { credential: elsewhere })).toMatchObject(refused)
  const right = new Authenticator().create(challenge)
  expect(await post(url, 'register/verify', { credential: right })).toMatchObject(refused)
})

test('a bot has no passkeys', async () => {
  const { sessionToken } = await signIn(url, wallet('root'))
  const asked = { name: 'Courier', scopes: ['passkeys:write'] }
  const { body } = await call(url, 'POST /api/admin/service-tokens', asked, sessionToken)
  const refused = await post(url, 'register/options', {}, String(body.token))
  expect(refused.status).toBe(403)
})

describe('several passkeys', () => {
  test('are listed newest first, and each signs in', async () => {
    const { key: first, sessionToken } = await enrol(url, new Authenticator(), { displayName: 'Phone' })
    const { key: second, userAddress } = await enrol(url, new Authenticator(), { token: sessionToken })
    expect(userAddress).toBe(first.account)
    expect(await listed(sessionToken)).toMatchObject([
      { credentialId: `${second.credentialId.slice(0, 20)}...`, isWalletKey: false, walletKeyStatus: 'not_owner' },
      { deviceName: 'Phone', isWalletKey: true, walletKeyStatus: 'safe_not_deployed', lastUsedAt: null },
    ])
    expect(await signInBy(url, second, {}, { userAddress: first.account })).toMatchObject({
      body: { userAddress: first.account },
    })
    const [latest] = await listed(sessionToken, '?includeKeys=true')
    expect(latest).toMatchObject({
      credentialId: second.credentialId,
      publicKeyX: second.publicKey.x,
      publicKeyY: second.publicKey.y,
      safeSignerAddress: null,
      lastUsedAt: expect.any(String),
    })
    const options = await post(url, 'login/options', { userAddress: first.account })
    expect(options.body.allowCredentials).toEqual(
      [second, first].map(({ credentialId: id }) => ({ id, type: 'public-key', transports: ['internal', 'hybrid'] })),
    )
    const excluded = await post(url, 'register/options', {}, sessionToken)
    expect(excluded.body.excludeCredentials).toHaveLength(2)
  })

  test('the one that was used last is told to a session of a passkey', async () => {
    const { key, sessionToken } = await enrol(url)
    expect((await get('credential', sessionToken)).body).toMatchObject({
      credentialId: key.credentialId,
      publicKeyX: key.publicKey.x,
      publicKeyY: key.publicKey.y,
      safeSignerReady: true,
      safeSignerAddress: expect.stringMatching(/^0x/),
    })
    const { sessionToken: other } = await signIn(url, wallet('no passkey'))
    expect(await get('credential', other)).toMatchObject({ status: 400, code: 'INVALID_PARAMETER' })
    await Passkeys.deleteOne({ credential_id: key.credentialId })
    expect(await get('credential', sessionToken)).toMatchObject({ status: 404, code: 'PASSKEY_NOT_FOUND' })
  })

  test('the first of an account stays its first, however many come at once', async () => {
    const { sessionToken: token, address } = await signIn(url, wallet('many at once'))
    const keys = await Promise.all(Array.from({ length: 8 }, () => enrol(url, new Authenticator(), { token })))
    const first = await firstPasskeyOf(address)
    expect(keys.map(({ credentialId }) => credentialId)).toContain(first?.credential_id)
    expect(await Passkeys.countDocuments({ first_of: address })).toBe(1)
    expect(await Passkeys.countDocuments({ user_address: address })).toBe(8)
  })
})

describe('removing a passkey', () => {
  test('by either path and either id; sessions it began end, the calling one stays', async () => {
    const { sessionToken: token } = await enrol(url)
    const made = await Promise.all(Array.from({ length: 4 }, () => enrol(url, new Authenticator(), { token })))
    const [one, two, three, four] = made.map(({ credentialId }) => credentialId)
    const ids = new Map((await listed(token, '?includeKeys=true')).map(({ id, credentialId }) => [credentialId, id]))
    expect(await remove(`credential?id=${ids.get(String(one))}`, token)).toMatchObject({ body: { success: true } })
    expect((await remove(`credentials?id=${ids.get(String(two))}`, token)).status).toBe(200)
    expect((await remove(`credential?credentialId=${three}`, token)).status).toBe(200)
    const byBody = await call(url, 'DELETE /api/passkey/credential', { id: ids.get(String(four)) }, token)
    expect(byBody.status).toBe(200)
    expect(await listed(token)).toHaveLength(1)
    for (const { sessionToken, key } of made) {
      expect((await call(url, 'GET /api/auth/session', null, sessionToken)).status).toBe(401)
      expect(await signInBy(url, key)).toMatchObject({ status: 404, code: 'PASSKEY_NOT_FOUND' })
    }
    expect((await call(url, 'GET /api/auth/session', null, token)).status).toBe(200)
  })

  test('never the one that controls the smart account, which is also the last way in', async () => {
    const { key, sessionToken: token } = await enrol(url)
    await enrol(url, new Authenticator(), { token })
    const first = await Passkeys.findOne({ credential_id: key.credentialId }).lean()
    expect(await remove(`credential?id=${first?._id}`, token)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect((await signInBy(url, key)).status).toBe(200)
  })

  test('any of an account that has a wallet', async () => {
    const { sessionToken: token } = await signIn(url, wallet('wallet first'))
    const { credentialId } = await enrol(url, new Authenticator(), { token })
    expect((await remove(`credential?credentialId=${credentialId}`, token)).status).toBe(200)
    expect(await listed(token)).toEqual([])
  })

  test('never one of somebody else, nor one that is not named', async () => {
    const [mine, yours] = [await enrol(url), await enrol(url)]
    const theirs = await Passkeys.findOne({ credential_id: yours.credentialId }).lean()
    for (const query of [`id=${theirs?._id}`, `credentialId=${yours.credentialId}`, 'id=nothing'])
      expect(await remove(`credential?${query}`, mine.sessionToken)).toMatchObject({ code: 'PASSKEY_NOT_FOUND' })
    expect(await remove('credential', mine.sessionToken)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })
})

describe('the kind of wallet', () => {
  const kindOf = async (token: string) =>
    z
      .object({ user: z.object({ wallet_type: z.string() }) })
      .parse((await call(url, 'GET /api/auth/session', null, token)).body).user.wallet_type

  test('of an account with a wallet stays', async () => {
    const { sessionToken: token } = await signIn(url, wallet('stays eoa'))
    const { sessionToken } = await enrol(url, new Authenticator(), { token })
    expect(await kindOf(sessionToken)).toBe('eoa')
  })

  test.each([
    { wallet_type: 'email' },
    { wallet_type: 'humanproof_id' },
    { wallet_type: 'partner_id' },
    { wallet_type: 'eoa', chain: 'solana' },
  ])('of any other becomes a passkey, whose key the first stays: %j', async (kind) => {
    const { sessionToken: token, address } = await signIn(url, wallet(`was ${JSON.stringify(kind)}`))
    await Accounts.updateOne({ _id: address }, { $set: { chain: null, ...kind } })
    const { key, sessionToken } = await enrol(url, new Authenticator(), { token })
    expect(await kindOf(sessionToken)).toBe('passkey')
    await enrol(url, new Authenticator(), { token })
    expect(await firstPasskeyOf(address)).toMatchObject({
      public_key_x: key.publicKey.x,
      public_key_y: key.publicKey.y,
    })
  })
})

describe('challenges', () => {
  const age = (milliseconds: number) =>
    PasskeyChallenges.updateMany({ used: false }, { $set: { issued_at: new Date(Date.now() - milliseconds) } })

  test('expire after five minutes, and that is told apart from unknown', async () => {
    const { key } = await enrol(url)
    const [login, { challenge }] = [await beginLogin(url), await beginRegistration(url)]
    await age(300_100)
    const late = { status: 401, code: 'CHALLENGE_EXPIRED' }
    expect(await post(url, 'login/verify', { credential: key.get(login) })).toMatchObject(late)
    const made = new Authenticator().create(challenge)
    expect(await post(url, 'register/verify', { credential: made })).toMatchObject(late)
    const unknown = key.get(Buffer.alloc(32, 1).toString('base64url'))
    expect(await post(url, 'login/verify', { credential: unknown })).toMatchObject({
      status: 401,
      code: 'PASSKEY_VERIFICATION_FAILED',
    })
  })

  test('live to the millisecond', async () => {
    const now = 1_900_000_000_000
    const issue = () => issueChallenge({ ceremony: 'login', user_address: null }, now)
    await expect(takeChallenge('login', await issue(), now + 299_999)).resolves.toMatchObject({ used: false })
    await expect(takeChallenge('login', await issue(), now + 300_000)).rejects.toMatchObject({
      code: 'CHALLENGE_EXPIRED',
    })
  })
})

test('check-migration says whether an account has passkeys here', async () => {
  const { key, sessionToken } = await enrol(url)
  const check = async (body: object, token?: string) => (await post(url, 'check-migration', body, token)).body
  const mine = { userAddress: key.account }
  expect(await check(mine)).toMatchObject({
    ...mine,
    hasNewCredentials: true,
    newCredentialsCount: 1,
    needsMigration: false,
    userExists: true,
    hasVerifiedEmail: false,
    status: 'MIGRATED',
  })
  await setEmail(key.account, `${key.account}@example.com`, Date.now())
  expect(await check(mine)).toMatchObject({ hasVerifiedEmail: false })
  expect(await check(mine, sessionToken)).toMatchObject({ hasVerifiedEmail: true })
  const nobody = { userAddress: wallet('nobody here').address.toLowerCase() }
  expect(await check({ ...nobody, hasOldCredentials: true })).toMatchObject({
    needsMigration: true,
    userExists: false,
    status: 'NEEDS_MIGRATION',
  })
  expect(await check(nobody)).toMatchObject({ hasNewCredentials: false, status: 'NO_PASSKEY' })
  expect(await post(url, 'check-migration', {})).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
})
