import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { setEmail } from '#server/domains/accounts/emails'
import { Accounts } from '#server/domains/accounts/model'
import { OneTimeCodes } from '#server/domains/identity/model'
import { issueChallenge, takeChallenge } from '#server/domains/passkeys/challenges'
import { type Ceremony, PasskeyChallenges, Passkeys, RecoveryTokens } from '#server/domains/passkeys/model'
import { firstPasskeyOf } from '#server/domains/passkeys/passkeys'
import { Authenticator, coseKey, site } from '#test/support/authenticator'
import { type Booted, boot } from '#test/support/boot'
import { beginLogin, beginRegistration, enrol, post, signInBy } from '#test/support/passkeys'
import { call, signIn, wallet } from '#test/support/wallet'

const chromiumOrigin = 'http://localhost:44703'
let server: Booted
let url: string
beforeAll(async () => {
  server = await boot({
    environment: { WEBAUTHN_ORIGINS: `${site.origin},${chromiumOrigin}`, SUPER_ADMINS: wallet('root').address },
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

describe('the shapes of a body', () => {
  const base64 = (text: string) => Buffer.from(text, 'base64url').toString('base64')
  const hex = (text: string) => `0x${Buffer.from(text, 'base64url').toString('hex')}`
  const list = (text: string) => [...Buffer.from(text, 'base64url')]

  type New = ReturnType<Authenticator['create']>
  const news: [string, (credential: New, key: Authenticator) => object][] = [
    ['the credential', (credential) => ({ credential })],
    [
      'the credential as JSON, with its key',
      (one, key) => ({ credential: JSON.stringify(one), publicKey: key.publicKey }),
    ],
    ['raw, with the two parts', (one, key) => ({ ...raw(key), attestation: one.response })],
    ['raw, with the two parts as JSON', (one, key) => ({ ...raw(key), attestation: JSON.stringify(one.response) })],
    ['raw, with the whole credential', (one, key) => ({ ...raw(key), attestation: one })],
    [
      'raw, with the attestation alone',
      ({ response: { attestationObject: attestation, clientDataJSON } }, key) => ({
        ...raw(key),
        attestation,
        clientDataJSON,
      }),
    ],
    ['padded base64', (one) => ({ credential: spelt(one, base64) })],
    ['hex', (one) => ({ credential: spelt(one, hex) })],
    ['lists of numbers', (one) => ({ credential: spelt(one, list) })],
  ]
  const raw = (key: Authenticator) => ({
    credentialId: key.credentialId,
    publicKeyX: key.publicKey.x,
    publicKeyY: key.publicKey.y,
  })
  const spelt = ({ id, rawId, response, ...rest }: New, spell: (text: string) => unknown) => ({
    ...rest,
    id: spell(id),
    rawId: spell(rawId),
    response: {
      clientDataJSON: spell(response.clientDataJSON),
      attestationObject: spell(response.attestationObject),
    },
  })

  test.each(news)('registers: %s', async (_title, body) => {
    const key = new Authenticator()
    const { challenge } = await beginRegistration(url)
    const made = await post(url, 'register/verify', { ...body(key.create(challenge), key), challenge })
    expect(made).toMatchObject({ status: 200, body: { credentialId: key.credentialId } })
    expect(await Passkeys.findOne({ credential_id: key.credentialId }).lean()).toMatchObject({
      public_key_x: key.publicKey.x,
      public_key_y: key.publicKey.y,
    })
  })

  type Used = ReturnType<Authenticator['get']>
  const flat = ({ id, response: { clientDataJSON, authenticatorData, signature } }: Used) => ({
    credentialId: id,
    clientDataJSON,
    authenticatorData,
    signature,
  })
  const spelled = (used: Used, spell: (text: string) => unknown) =>
    Object.fromEntries(Object.entries(flat(used)).map(([name, text]) => [name, spell(text)]))
  const uses: [string, (used: Used) => object][] = [
    ['the credential', (credential) => ({ credential })],
    ['the credential as JSON', (one) => ({ credential: JSON.stringify(one) })],
    ['raw', flat],
    ['raw, padded base64', (one) => spelled(one, base64)],
    ['raw, hex', (one) => spelled(one, hex)],
    ['raw, lists of numbers', (one) => spelled(one, list)],
  ]
  let known: Authenticator
  beforeAll(async () => {
    known = (await enrol(url)).key
  })

  test.each(uses)('signs in: %s', async (_title, body) => {
    const used = known.get(await beginLogin(url))
    expect(await post(url, 'login/verify', body(used))).toMatchObject({
      status: 200,
      body: { userAddress: known.account },
    })
  })

  test('signs in with r and s side by side instead of DER', async () => {
    for (let at = 0; at < 8; at++) expect((await signInBy(url, known, { signature: sideBySide })).status).toBe(200)
  })

  test.each([
    ['register/verify', {}],
    ['register/verify', { credentialId: 'abcd' }],
    ['register/verify', { credentialId: 'abcd', attestation: 'abcd' }],
    ['login/verify', {}],
    ['login/verify', { credentialId: 'abcd' }],
    ['login/verify', { credentialId: 'abcd', authenticatorData: 'abcd' }],
    ['login/verify', { credentialId: 'abcd', authenticatorData: 'abcd', clientDataJSON: 'abcd' }],
  ])('says what is missing: %s %j', async (path, body) => {
    expect(await post(url, path, body)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })
})

/** A DER signature as r and s of 32 bytes each. */
function sideBySide(der: Buffer): Buffer {
  const length = der[3] ?? 0
  const parts = [der.subarray(4, 4 + length), der.subarray(6 + length)]
  return Buffer.concat(parts.map((part) => Buffer.concat([Buffer.alloc(32), part]).subarray(-32)))
}

describe('an authenticator that does not fit', () => {
  const key = new Authenticator()
  const off = Buffer.from(key.y.map((byte, at) => (at === 31 ? byte ^ 1 : byte)))
  test.each([
    [
      'another algorithm',
      {
        cose: new Map<number, number | Buffer>([
          [1, 2],
          [3, -35],
          [-1, 1],
          [-2, key.x],
          [-3, key.y],
        ]),
      },
    ],
    [
      'another kind of key',
      {
        cose: new Map<number, number | Buffer>([
          [1, 1],
          [3, -8],
          [-1, 6],
          [-2, key.x],
        ]),
      },
    ],
    [
      'another curve',
      {
        cose: new Map<number, number | Buffer>([
          [1, 2],
          [3, -7],
          [-1, 2],
          [-2, key.x],
          [-3, key.y],
        ]),
      },
    ],
    ['a point off the curve', { cose: coseKey(key.x, off) }],
    ['a coordinate too short', { cose: coseKey(key.x.subarray(1), key.y) }],
    ['an unknown attestation', { fmt: 'mine' }],
    ['a certificate to be fetched', { fmt: 'packed', attStmt: new Map([['x5c', [Buffer.of(1)]]]) }],
    ['no credential at all', { flags: 0x05 }],
    ['data that is cut off', { authData: (bytes: Buffer) => bytes.subarray(0, 30) }],
  ])('is refused: %s', async (_title, ways) => {
    const { challenge } = await beginRegistration(url)
    const refused = await post(url, 'register/verify', { credential: key.create(challenge, ways) })
    expect(refused).toMatchObject({ status: 400, code: 'INVALID_AUTHENTICATOR' })
    expect(await Passkeys.findOne({ credential_id: key.credentialId }).lean()).toBeNull()
  })
})

test('what is known already, or made elsewhere, is not stored', async () => {
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
  expect(refused).toMatchObject({ status: 403, body: { error: 'A bot has no passkeys' } })
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
  test('by either path and either id; what it began ends, what removes it goes on', async () => {
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

describe('recovery', () => {
  const Letters = z.object({ letters: z.array(z.object({ to: z.string(), text: z.string() })) })
  /** The code of the newest letter to an address. */
  const codeFor = (email: string): Promise<string> =>
    vi.waitFor(async () => {
      const { letters } = Letters.parse(await (await fetch(`${url}/dev/mail.json`)).json())
      const letter = letters.find(({ to }) => to === email.toLowerCase())
      return z.string().parse(letter?.text.match(/\b\d{6}\b/)?.[0])
    })
  const withEmail = async () => {
    const made = await enrol(url)
    const email = `${made.userAddress}@example.com`
    await setEmail(made.userAddress, email, Date.now())
    return { ...made, email }
  }
  const tokenFor = async (email: string, more: object = {}) => {
    await post(url, 'recover/email', { email })
    return post(url, 'recover/email/verify', { email, code: await codeFor(email), ...more })
  }

  test('by e-mail gives a token for one new passkey of the account', async () => {
    const { email, userAddress } = await withEmail()
    const proved = await tokenFor(email.toUpperCase())
    expect(proved.body).toMatchObject({
      userAddress,
      recoveryToken: expect.stringMatching(/^([A-HJ-NP-Z2-9]{4}-){2}[A-HJ-NP-Z2-9]{4}$/),
      expiresIn: 600,
    })
    const recoveryToken = String(proved.body.recoveryToken)
    const options = await post(url, 'register/options', { recoveryToken })
    expect(options.body).toMatchObject({ isRecoveryFlow: true, userAddress, excludeCredentials: [] })
    const { key } = await enrol(url, new Authenticator(), { recoveryToken: recoveryToken.toLowerCase() })
    expect(await signInBy(url, key)).toMatchObject({ status: 200, body: { userAddress } })
    const again = await post(url, 'register/options', { recoveryToken })
    expect(again).toMatchObject({ status: 400, code: 'INVALID_PARAMETER' })
  })

  test('answers alike for an address that nobody has', async () => {
    const { email } = await withEmail()
    const [known, unknown] = [
      await post(url, 'recover/email', { email }),
      await post(url, 'recover/email', { email: 'nobody@example.com' }),
    ]
    expect(unknown.body).toEqual(known.body)
    for (const address of [email, 'nobody@example.com']) {
      const guess = () => post(url, 'recover/email/verify', { email: address, code: '000000' })
      for (let tries = 0; tries < 5; tries++) expect(await guess()).toMatchObject({ status: 400, code: 'INVALID_CODE' })
      expect(await guess()).toMatchObject({ status: 400, code: 'TOO_MANY_ATTEMPTS' })
    }
  })

  test('a passkey that is lost here names the account it made, for the owner of its e-mail alone', async () => {
    const { key, email, userAddress } = await withEmail()
    await Passkeys.deleteOne({ credential_id: key.credentialId })
    const refused = await signInBy(url, key)
    expect(refused).toMatchObject({ status: 400, code: 'RESCUE_AVAILABLE' })
    expect(refused.body).toMatchObject({
      error: 'rescue_available',
      rescueAddress: userAddress,
      rescueToken: expect.any(String),
      requiresEmailVerification: true,
      maskedEmail: '0***@e***.com',
    })
    const recoveryToken = String(refused.body.rescueToken)
    const rescue = { recoveryToken, isRescue: true }
    expect(await post(url, 'register/options', rescue)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    await tokenFor(email, { rescueToken: recoveryToken })
    const { userAddress: rescued } = await enrol(url, new Authenticator(), { recoveryToken })
    expect(rescued).toBe(userAddress)
  })

  test('a token is of one account, of one challenge, and used up by one of many', async () => {
    const { email } = await withEmail()
    const recoveryToken = String((await tokenFor(email)).body.recoveryToken)
    const other = await enrol(url)
    expect(await post(url, 'register/options', { recoveryToken, userAddress: other.userAddress })).toMatchObject({
      status: 403,
    })
    const plain = await beginRegistration(url)
    const late = { credential: new Authenticator().create(plain.challenge), recoveryToken }
    expect(await post(url, 'register/verify', late)).toMatchObject({ status: 400, code: 'INVALID_PARAMETER' })
    const tries = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { challenge } = await beginRegistration(url, { recoveryToken })
        return () => post(url, 'register/verify', { credential: new Authenticator().create(challenge), recoveryToken })
      }),
    )
    const answers = await Promise.all(tries.map((attempt) => attempt()))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'INVALID_PARAMETER')).toHaveLength(19)
  })

  test('a token ends after ten minutes, as a code does', async () => {
    const { email } = await withEmail()
    const { recoveryToken } = (await tokenFor(email)).body
    await RecoveryTokens.updateMany({}, { $set: { valid_until: new Date(Date.now() - 1) } })
    expect(await post(url, 'register/options', { recoveryToken })).toMatchObject({ code: 'INVALID_PARAMETER' })
    await post(url, 'recover/email', { email })
    await OneTimeCodes.updateMany({}, { $set: { expires_at: new Date(Date.now() - 1) } })
    const late = await post(url, 'recover/email/verify', { email, code: '000000' })
    expect(late).toMatchObject({ status: 400, code: 'CODE_EXPIRED' })
  })
})

describe('what other implementations made', () => {
  const read = (name: string): unknown => JSON.parse(readFileSync(`test/vectors/webauthn-${name}.json`, 'utf8'))
  const issued = (ceremony: Ceremony, challenge: string, user_handle = 'YWRh') =>
    PasskeyChallenges.create({
      _id: challenge,
      ceremony,
      user_address: null,
      user_handle,
      issued_at: new Date(),
      used: false,
      expires_at: new Date(Date.now() + 900_000),
    })

  const Body = z.record(z.string(), z.unknown())
  const Vector = z.object({
    publicKeyX: z.string(),
    publicKeyY: z.string(),
    registration: z.object({ challenge: z.string(), bodyFull: Body, bodyRaw: Body }),
    login: z.object({ challenge: z.string(), bodyFull: Body, bodyRaw: Body }),
  })

  test.each(['bodyFull', 'bodyRaw'] as const)('the software authenticator: %s', async (shape) => {
    const { publicKeyX, publicKeyY, registration, login } = Vector.parse(read('software'))
    await issued('register', registration.challenge)
    const made = await post(url, 'register/verify', registration[shape])
    expect(made.status).toBe(200)
    expect((await get('credential', String(made.body.sessionToken))).body).toMatchObject({ publicKeyX, publicKeyY })
    await issued('login', login.challenge)
    expect((await post(url, 'login/verify', login[shape])).body).toMatchObject({ userAddress: made.body.userAddress })
    await Passkeys.deleteOne({ user_address: String(made.body.userAddress) })
    await Accounts.deleteOne({ _id: String(made.body.userAddress) })
    await PasskeyChallenges.deleteMany({ _id: { $in: [registration.challenge, login.challenge] } })
  })

  test('Chromium', async () => {
    const Captured = z.object({
      publicKeyX: z.string(),
      publicKeyY: z.string(),
      registrationOptions: z.object({ challenge: z.string(), user: z.object({ id: z.string() }) }),
      registrationResponse: Body,
      authenticationOptions: z.object({ challenge: z.string() }),
      authenticationResponse: Body,
      newCounter: z.number(),
    })
    const captured = Captured.parse(read('chromium'))
    const { challenge, user } = captured.registrationOptions
    await issued('register', challenge, user.id)
    const made = await post(url, 'register/verify', { credential: captured.registrationResponse })
    expect(made.body).toMatchObject({ verified: true, backedUp: true })
    await issued('login', captured.authenticationOptions.challenge)
    const used = await post(url, 'login/verify', { credential: captured.authenticationResponse })
    expect(used.body).toMatchObject({ userAddress: made.body.userAddress })
    expect(await firstPasskeyOf(String(made.body.userAddress))).toMatchObject({
      public_key_x: captured.publicKeyX,
      public_key_y: captured.publicKeyY,
      counter: captured.newCounter,
    })
  })
})
