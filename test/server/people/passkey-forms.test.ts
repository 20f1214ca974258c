// Modes: embedded
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Accounts } from '#server/domains/people/accounts/model'
import { type Ceremony, PasskeyChallenges, Passkeys } from '#server/domains/people/passkeys/model'
import { firstPasskeyOf } from '#server/domains/people/passkeys/passkeys'
import { Authenticator, coseKey, site } from '#test/support/authenticator'
import { type Booted, boot } from '#test/support/boot'
import { beginLogin, beginRegistration, enrol, post, signInBy } from '#test/support/passkeys'
import { call } from '#test/support/wallet'

const chromiumOrigin = 'http://localhost:44703'
let server: Booted
let url: string
beforeAll(async () => {
  server = await boot({ environment: { WEBAUTHN_ORIGINS: `${site.origin},${chromiumOrigin}` } })
  url = server.url
})
afterAll(() => server.close())

const get = (path: string, token?: string) => call(url, `GET /api/passkey/${path}`, null, token)

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
