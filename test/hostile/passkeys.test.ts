// Modes: embedded
import { generateKeyPairSync } from 'node:crypto'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '#server/config'
import { setEmail } from '#server/domains/people/accounts/emails'
import { Accounts } from '#server/domains/people/accounts/model'
import { Sessions } from '#server/domains/people/identity/model'
import { Passkeys } from '#server/domains/people/passkeys/model'
import { AuditLines } from '#server/kernel/store/model'
import { Authenticator, coseKey, type Ways } from '#test/support/authenticator'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { beginLogin, beginRegistration, enrol, post, signInBy } from '#test/support/passkeys'
import { call, signIn, wallet } from '#test/support/wallet'

let server: Booted
let url: string
beforeAll(async () => {
  server = await boot()
  url = server.url
})
afterAll(() => server.close())

const failed = { status: 401, code: 'PASSKEY_VERIFICATION_FAILED' }
const fifty = <Answer>(ask: (at: number) => Promise<Answer>) =>
  Promise.all(Array.from({ length: 50 }, (_, at) => ask(at)))
const other = (at: number) => server.urls[at % server.urls.length] ?? url

describe('T34: takeover of an account by a passkey', () => {
  test("a key of the attacker under the victim's credential id changes nothing", async () => {
    const { key } = await enrol(url)
    const before = await Passkeys.findOne({ credential_id: key.credentialId }).lean()
    const { challenge } = await beginRegistration(url)
    const attacker = new Authenticator(key.id)
    const refused = await post(url, 'register/verify', { credential: attacker.create(challenge) })
    expect(refused).toMatchObject({ status: 409, code: 'PASSKEY_ALREADY_REGISTERED' })
    expect(await Passkeys.findOne({ credential_id: key.credentialId }).lean()).toEqual(before)
    expect(await signInBy(url, attacker)).toMatchObject(failed)
    expect((await signInBy(url, key)).status).toBe(200)
  })

  test('nor where the passkey is gone and its account is left', async () => {
    const { key } = await enrol(url)
    await Passkeys.deleteOne({ credential_id: key.credentialId })
    const attacker = new Authenticator(key.id)
    const { sessionToken: token } = await signIn(url, wallet('attacker'))
    for (const signedIn of [undefined, token]) {
      const { challenge } = await beginRegistration(url, {}, signedIn)
      const refused = await post(url, 'register/verify', { credential: attacker.create(challenge) }, signedIn)
      expect(refused).toMatchObject({ status: 409, code: 'PASSKEY_ALREADY_REGISTERED' })
    }
    expect(await signInBy(url, attacker)).toMatchObject({ status: 404, code: 'PASSKEY_NOT_FOUND' })
  })

  test('a known account takes no passkey from somebody who is not signed in to it', async () => {
    const victim = await signIn(url, wallet('victim'))
    const named = { userAddress: victim.address }
    const { sessionToken: token } = await signIn(url, wallet('attacker'))
    expect(await post(url, 'register/options', named)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    expect(await post(url, 'register/options', named, token)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    const { challenge } = await beginRegistration(url)
    const credential = new Authenticator().create(challenge)
    expect(await post(url, 'register/verify', { credential, ...named })).toMatchObject({ status: 401 })
    expect(await post(url, 'register/verify', { credential, ...named }, token)).toMatchObject({ status: 403 })
    expect(await Passkeys.countDocuments({ user_address: victim.address })).toBe(0)
  })

  test('a challenge serves only who asked for it', async () => {
    const [one, two] = [await signIn(url, wallet('asks')), await signIn(url, wallet('takes'))]
    const use = async (asked: string | undefined, used: string | undefined) => {
      const { challenge } = await beginRegistration(url, {}, asked)
      return post(url, 'register/verify', { credential: new Authenticator().create(challenge) }, used)
    }
    expect(await use(one.sessionToken, two.sessionToken)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await use(undefined, two.sessionToken)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await use(one.sessionToken, undefined)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    expect(await Passkeys.countDocuments({ user_address: { $in: [one.address, two.address] } })).toBe(0)
  })

  test('a loose key that is not the attested one is refused', async () => {
    const key = new Authenticator()
    const { x, y } = new Authenticator().publicKey
    for (const loose of [{ publicKey: { x, y: key.publicKey.y } }, { publicKeyX: key.publicKey.x, publicKeyY: y }]) {
      const { challenge } = await beginRegistration(url)
      const refused = await post(url, 'register/verify', { credential: key.create(challenge), ...loose })
      expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    }
    expect(await Passkeys.countDocuments({ credential_id: key.credentialId })).toBe(0)
  })

  test('an id that is not the attested one is refused', async () => {
    const [key, decoy] = [new Authenticator(), new Authenticator()]
    const { challenge } = await beginRegistration(url)
    const credential = { ...key.create(challenge), id: decoy.credentialId, rawId: decoy.credentialId }
    expect(await post(url, 'register/verify', { credential })).toMatchObject(failed)
  })

  test('no passkey signs another account in', async () => {
    const [mine, yours] = [await enrol(url), await enrol(url)]
    expect(await signInBy(url, mine.key, {}, { userAddress: yours.userAddress })).toMatchObject(failed)
    const credential = mine.key.get(await beginLogin(url))
    expect(await post(url, 'login/verify', { credential, userAddress: yours.userAddress })).toMatchObject(failed)
    expect(await signInBy(url, mine.key, { userHandle: 'c29tZWJvZHk' })).toMatchObject(failed)
    const handle = await Passkeys.findOne({ credential_id: mine.credentialId }).lean()
    expect((await signInBy(url, mine.key, { userHandle: handle?.user_handle ?? '' })).status).toBe(200)
  })

  test('a credential id alone rescues nothing', async () => {
    const { key, userAddress } = await enrol(url)
    await setEmail(userAddress, `${userAddress}@example.com`, Date.now())
    await Passkeys.deleteOne({ credential_id: key.credentialId })
    const { body } = await signInBy(url, new Authenticator(key.id))
    const rescue = { recoveryToken: body.rescueToken, isRescue: true }
    expect(await post(url, 'register/options', rescue)).toMatchObject({ status: 403 })
    expect(JSON.stringify(body)).not.toContain(`${userAddress}@`)
  })
})

describe('T35: what an assertion must hold', () => {
  const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex')
  /** A DER signature of these numbers. */
  const der = (r: Buffer, s: Buffer) => {
    const part = (value: Buffer) => Buffer.concat([Buffer.of(2, value.length), value])
    const both = Buffer.concat([part(r), part(s)])
    return Buffer.concat([Buffer.of(0x30, both.length), both])
  }
  const positive = (value: Buffer) => Buffer.concat([Buffer.of(0), value])
  const partsOf = (bytes: Buffer): [Buffer, Buffer] => {
    const length = bytes[3] ?? 0
    return [bytes.subarray(4, 4 + length), bytes.subarray(6 + length)]
  }
  const strange = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const otherCurve = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey

  const spoilt: [string, Ways][] = [
    ['an origin that only begins like ours', { origin: 'http://localhost:3000.evil.com' }],
    ['an origin that only ends like ours', { origin: 'http://evil-localhost:3000' }],
    ['another port', { origin: 'http://localhost:3001' }],
    ['another scheme', { origin: 'https://localhost:3000' }],
    ['an origin with a slash', { origin: 'http://localhost:3000/' }],
    ['an origin in capitals', { origin: 'HTTP://LOCALHOST:3000' }],
    ['no origin', { origin: 'null' }],
    ['a frame of another site', { crossOrigin: true }],
    ['a frame that says whose it is', { crossOrigin: true, topOrigin: 'http://evil.com' }],
    ['a top origin without a frame', { topOrigin: 'http://localhost:3000' }],
    ['the type of a registration', { type: 'webauthn.create' }],
    ['a type of nothing', { type: '' }],
    ['another relying party', { rpId: 'evil.com' }],
    ['the relying party with a port', { rpId: 'localhost:3000' }],
    ['nobody present', { flags: 0x04 }],
    ['no flags', { flags: 0 }],
    ['backed up and not fit for it', { flags: 0x11 }],
    ['bytes after the data', { authData: (bytes) => Buffer.concat([bytes, Buffer.of(0)]) }],
    ['data cut short', { authData: (bytes) => bytes.subarray(0, 36) }],
    ['the key of somebody else', { key: strange }],
    ['a key of another curve', { key: otherCurve }],
    ['bytes after the signature', { signature: (bytes) => Buffer.concat([bytes, Buffer.of(0)]) }],
    ['a signature cut short', { signature: (bytes) => bytes.subarray(0, -1) }],
    [
      'one bit of the signature',
      { signature: (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.of((bytes.at(-1) ?? 0) ^ 1)]) },
    ],
    ['r is zero', { signature: (bytes) => der(Buffer.of(0), partsOf(bytes)[1]) }],
    ['s is zero', { signature: (bytes) => der(partsOf(bytes)[0], Buffer.of(0)) }],
    ['r is the order', { signature: (bytes) => der(positive(order), partsOf(bytes)[1]) }],
    ['s is the order', { signature: (bytes) => der(partsOf(bytes)[0], positive(order)) }],
    ['r and s swapped', { signature: (bytes) => der(partsOf(bytes)[1], partsOf(bytes)[0]) }],
    ['r and s both zero, side by side', { signature: () => Buffer.alloc(64) }],
    [
      'r written longer than it is',
      { signature: (bytes) => der(Buffer.concat([Buffer.alloc(2), partsOf(bytes)[0]]), partsOf(bytes)[1]) },
    ],
    ['no signature to speak of', { signature: () => Buffer.of(0) }],
  ]
  let key: Authenticator
  beforeAll(async () => {
    key = (await enrol(url)).key
  })

  test.each(spoilt)('%s', async (_title, ways) => {
    expect(await signInBy(url, key, ways)).toMatchObject(failed)
  })

  test('an origin of a list is told where the passkeys of this site are at home', async () => {
    const { body } = await signInBy(url, key, { origin: 'http://127.0.0.1:1' })
    expect(body.error).toBe('Passkeys of this site belong to localhost. Open it at http://localhost:3000.')
  })

  test('a challenge of a registration, of another, and one that was not the answer to what the body says', async () => {
    const { challenge } = await beginRegistration(url)
    expect(await post(url, 'login/verify', { credential: key.get(challenge) })).toMatchObject(failed)
    const login = await beginLogin(url)
    expect(await post(url, 'register/verify', { credential: new Authenticator().create(login) })).toMatchObject(failed)
    const [one, two] = [await beginLogin(url), await beginLogin(url)]
    expect(await post(url, 'login/verify', { credential: key.get(one), challenge: two })).toMatchObject(failed)
    expect(await post(url, 'login/verify', { credential: key.get(login.toLowerCase()) })).toMatchObject(failed)
  })

  test('two megabytes of client data', async () => {
    const credential = key.get(await beginLogin(url))
    const clientDataJSON = 'A'.repeat(2_000_000)
    const huge = { ...credential, response: { ...credential.response, clientDataJSON } }
    expect((await post(url, 'login/verify', { credential: huge })).status).toBe(413)
    const large = { ...credential, response: { ...credential.response, clientDataJSON: 'A'.repeat(50_000) } }
    expect(await post(url, 'login/verify', { credential: large })).toMatchObject({
      status: 400,
      code: 'VALIDATION_ERROR',
    })
  })

  test('a counter that does not go on is refused, and noted', async () => {
    const { key: counting, userAddress } = await enrol(url)
    expect((await signInBy(url, counting, { counter: 5 })).status).toBe(200)
    for (const counter of [5, 4, 0]) expect(await signInBy(url, counting, { counter })).toMatchObject(failed)
    expect(await Passkeys.findOne({ user_address: userAddress }).lean()).toMatchObject({ counter: 5 })
    expect((await signInBy(url, counting, { counter: 6 })).status).toBe(200)
    const refusals = { operation: 'passkeys.login', outcome: 'PASSKEY_VERIFICATION_FAILED' }
    await expect.poll(() => AuditLines.countDocuments(refusals)).toBeGreaterThanOrEqual(3)
  })

  test('of two copies that count alike one gets in', async () => {
    const { key: counting } = await enrol(url)
    const answers = await fifty((at) => signInBy(other(at), counting, { counter: 7 }))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test.each([
    ['an origin', { origin: 'http://evil.com' }],
    ['a frame', { crossOrigin: true }],
    ['a type', { type: 'webauthn.get' }],
    ['a relying party', { rpId: 'evil.com' }],
    ['nobody present', { flags: 0x44 }],
    ['bytes after the key', { authData: (bytes: Buffer) => Buffer.concat([bytes, Buffer.of(0)]) }],
    ['a statement where none is', { attStmt: new Map([['sig', Buffer.of(1)]]) }],
    [
      'a signature of another key',
      {
        fmt: 'packed',
        attStmt: new Map<string, number | Buffer>([
          ['alg', -7],
          ['sig', Buffer.alloc(70)],
        ]),
      },
    ],
  ])('a registration with a spoilt part: %s', async (_title, ways) => {
    const { challenge } = await beginRegistration(url)
    const refused = await post(url, 'register/verify', { credential: new Authenticator().create(challenge, ways) })
    expect([400, 401]).toContain(refused.status)
    expect(['PASSKEY_VERIFICATION_FAILED', 'INVALID_AUTHENTICATOR']).toContain(refused.code)
  })
})

test.each([
  ['WEBAUTHN_RP_ID', 'https://example.com'],
  ['WEBAUTHN_RP_ID', 'example.com:443'],
  ['WEBAUTHN_ORIGINS', 'https://example.com/'],
  ['WEBAUTHN_ORIGINS', 'https://example.com,example.org'],
])('the start stops where %s is %s', (name, value) => {
  expect(() => readConfig({ NODE_ENV: 'test', DATA_DIR: tmpdir(), [name]: value })).toThrow(name)
})

describe('fifty at once', () => {
  test('one challenge signs in once, however often its assertion is sent', heavy, async () => {
    const { key, userAddress } = await enrol(url)
    const credential = key.get(await beginLogin(url))
    const before = await Sessions.countDocuments({ user_address: userAddress })
    const answers = await fifty((at) => post(other(at), 'login/verify', { credential }))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'PASSKEY_VERIFICATION_FAILED')).toHaveLength(49)
    expect(await Sessions.countDocuments({ user_address: userAddress })).toBe(before + 1)
  })

  test('one challenge registers once', async () => {
    const key = new Authenticator()
    const credential = key.create((await beginRegistration(url)).challenge)
    const answers = await fifty((at) => post(other(at), 'register/verify', { credential }))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await Passkeys.countDocuments({ credential_id: key.credentialId })).toBe(1)
  })

  test('one passkey is linked to one account, however many ask for it', heavy, async () => {
    const key = new Authenticator()
    const people = await Promise.all(['one', 'two', 'three', 'four', 'five'].map((name) => signIn(url, wallet(name))))
    const answers = await fifty(async (at) => {
      const token = people[at % people.length]?.sessionToken
      const { challenge } = await beginRegistration(url, {}, token)
      return post(other(at), 'register/verify', { credential: key.create(challenge) }, token)
    })
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'PASSKEY_ALREADY_REGISTERED')).toHaveLength(49)
    expect(await Accounts.findOne({ _id: key.account }).lean()).toBeNull()
  })
})

describe('T41: who has a passkey', () => {
  const askedOf = async (userAddress: string) => {
    const { status, body } = await post(url, 'login/options', { userAddress })
    return { status, body }
  }

  test('cannot be told from the options of a sign-in', async () => {
    const { userAddress } = await enrol(url)
    const { address } = await signIn(url, wallet('has no passkey'))
    const shapeOf = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(shapeOf)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shapeOf(one)]))
          : typeof value
    const real = await askedOf(userAddress)
    for (const unknown of [address, wallet('nobody at all').address.toLowerCase(), 'email:nobody']) {
      const decoy = await askedOf(unknown)
      expect(shapeOf(decoy)).toEqual(shapeOf(real))
      expect(decoy.body.allowCredentials).toEqual((await askedOf(unknown)).body.allowCredentials)
    }
  })

  test('and a decoy opens nothing', async () => {
    const userAddress = wallet('nobody at all').address.toLowerCase()
    const { body } = await askedOf(userAddress)
    const [decoy] = body.allowCredentials as [{ id: string }]
    const key = new Authenticator(Buffer.from(decoy.id, 'base64url'))
    const refused = await post(url, 'login/verify', { credential: key.get(String(body.challenge)) })
    expect(refused).toMatchObject({ status: 404, code: 'PASSKEY_NOT_FOUND' })
  })
})

describe('bytes that are none', () => {
  test.each([
    ['white space', 'QUJD REVG'],
    ['a length no base64 has', 'QUJDR'],
    ['padding in the middle', 'QU==JD'],
    ['odd hex', '0xabc'],
    ['nothing', ''],
    ['a megabyte', 'A'.repeat(60_000)],
    ['a number', 7],
    ['numbers beyond a byte', [256]],
    ['an object', { length: 1e9 }],
  ])('a credential id of %s', async (_title, id) => {
    const { challenge } = await beginRegistration(url)
    const credential = { ...new Authenticator().create(challenge), id }
    expect(await post(url, 'register/verify', { credential })).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  test.each([31, 33])('a coordinate of %i bytes', async (length) => {
    const key = new Authenticator()
    const { challenge } = await beginRegistration(url)
    const publicKey = { x: `0x${'ab'.repeat(length)}`, y: key.publicKey.y }
    const refused = await post(url, 'register/verify', { credential: key.create(challenge), publicKey })
    expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  test('a coordinate with more about the key than belongs there', async () => {
    const key = new Authenticator()
    const { challenge } = await beginRegistration(url)
    const credential = key.create(challenge, { cose: coseKey(key.x, key.y, [[-1, 3]]) })
    expect(await post(url, 'register/verify', { credential })).toMatchObject({ status: 400 })
  })

  test.each(['register/options', 'register/verify', 'login/options', 'login/verify'])('GET of %s', async (path) => {
    expect(await call(url, `GET /api/passkey/${path}`)).toMatchObject({ status: 405, code: 'METHOD_NOT_ALLOWED' })
  })
})
