// Modes: embedded
import { readFileSync } from 'node:fs'
import { SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { Nonces } from '#server/domains/people/identity/model'
import { roomSettings } from '#server/domains/rooms/rooms/settings'
import type { Node } from '#server/kernel/context'
import { hashSignal } from '#server/ports/human-proof/world-id'
import { partnerByKeys } from '#server/ports/partner/jwks'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Person, person } from '#test/support/people'
import { humanProof, openPartner, openProofProvider, partnerRules } from '#test/support/providers'
import { call, signIn, wallet } from '#test/support/wallet'

let server: Booted
let url: string
let provider: Awaited<ReturnType<typeof openProofProvider>>
let partner: Awaited<ReturnType<typeof openPartner>>
let root: Person
beforeAll(async () => {
  provider = await openProofProvider()
  partner = await openPartner()
  server = await boot({
    entry: 'through the door',
    environment: {
      WORLDID_BASE_URL: provider.url,
      WORLDID_APP_ID: 'app_test',
      WORLDID_ACTION: 'sign-in',
      PARTNER_JWKS_URL: `${partner.url}/keys`,
      ...partnerRules,
      PARTNER_CHANNEL: 'partners',
      SUPER_ADMINS: wallet('root').address,
    },
  })
  url = server.url
  root = await person(server, 'root')
})
beforeEach(() => {
  provider.mood = 'well'
  partner.mood = 'well'
})
afterAll(async () => {
  await server.close()
  await provider.close()
  await partner.close()
})

const nodeOf = ({ apps }: Booted) => apps[0]?.node as Node

const proofOf = (nullifier_hash: string, change = {}) =>
  humanProof(nullifier_hash, { action: 'sign-in', signal: 'hello', ...change })
const prove = (body: object, path = '/api/auth/humanproof-id') => call(url, `POST ${path}`, body)
const Signal = z.object({ signal: z.string(), expires_at: z.string() })
const newSignal = async () => Signal.parse((await call(url, 'GET /api/auth/humanproof-id')).body).signal

describe('signing in with a human proof', () => {
  test('a proof that the provider verifies begins a session; the account is the human, not the proof', async () => {
    const { status, body, headers } = await prove(proofOf('0xABCD', { verification_level: 'device' }))
    expect(status).toBe(200)
    expect(body).toMatchObject({
      success: true,
      authenticated: true,
      userAddress: 'worldid:0xabcd',
      nullifier_hash: '0xabcd',
      verification_level: 'device',
      user: { wallet_address: 'worldid:0xabcd', wallet_type: 'humanproof_id' },
    })
    expect(headers.get('set-cookie')).toContain(`app_session=${body.sessionToken}`)
    const session = await call(url, 'GET /api/auth/session', null, String(body.sessionToken))
    expect(session.body).toMatchObject({ authMethod: 'worldid', userAddress: 'worldid:0xabcd' })
    expect((await prove(proofOf('0xabcd'), '/api/auth/world-id')).body.user).toEqual(body.user)
  })

  test('the provider is asked what was sent, with the signal hashed and the configured level', async () => {
    const proof = proofOf('0x77', { signal: 'my_signal' })
    await prove(proof)
    expect(provider.asked.at(-1)).toEqual({
      action: 'sign-in',
      proof: proof.proof,
      merkle_root: '0x01',
      nullifier_hash: '0x77',
      verification_level: 'orb',
      signal_hash: '0x001578ed0de47522ad0b38e87031739c6a65caecc39ce3410bf3799e756a220f',
    })
  })

  const Vectors = z.object({ signalHash: z.array(z.object({ signal: z.string(), hash: z.string() })) })
  const { signalHash } = Vectors.parse(JSON.parse(readFileSync('test/vectors/worldid.json', 'utf8')))
  test.each(signalHash)('the signal "$signal" is hashed as other implementations do', ({ signal, hash }) => {
    expect(hashSignal(signal)).toBe(hash)
  })

  test.each([
    ['the provider refuses', { proof: '0xbad' }, 400, 'INVALID_SIGNATURE'],
    ['the provider verified for another action', { proof: '0xother' }, 401, 'INVALID_SIGNATURE'],
    ['is for another action', { action: 'vote' }, 401, 'INVALID_SIGNATURE'],
    ['has a signal nobody issued', { signal: 'plaza:abcdefgh12345678' }, 401, 'INVALID_NONCE'],
    ['has no proof', { proof: undefined }, 400, 'VALIDATION_ERROR'],
    ['names an id of another kind', { nullifier_hash: 'x:email:victim' }, 400, 'VALIDATION_ERROR'],
  ])('T37: a proof that %s begins no session', async (_title, change, status, code) => {
    const answer = await prove(proofOf('0x5', change))
    expect(answer).toMatchObject({ status, code })
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  test('a refusal carries what the provider said', async () => {
    const { status, body } = await prove(proofOf('0x5', { proof: '0xbad' }))
    expect(status).toBe(400)
    expect(body).toEqual({
      success: false,
      error: 'Verification failed',
      code: 'INVALID_SIGNATURE',
      reason: 'invalid_proof',
      detail: 'The proof does not hold.',
    })
  })

  test.each([
    ['failing', 502, 'UPSTREAM_ERROR'],
    ['junk', 502, 'UPSTREAM_ERROR'],
    ['endless', 502, 'UPSTREAM_ERROR'],
    ['elsewhere', 502, 'UPSTREAM_ERROR'],
    ['silent', 504, 'TIMEOUT'],
  ] as const)(
    'T37: while the provider is %s nobody is signed in, and the proof is still good after',
    async (mood, status, code) => {
      const proof = proofOf('0x6')
      provider.mood = mood
      const answer = await prove(proof)
      expect(answer).toMatchObject({ status, code })
      expect(answer.headers.get('set-cookie')).toBeNull()
      provider.mood = 'well'
      expect((await prove(proof)).status).toBe(200)
    },
  )

  test('T37: a proof is good once, however it is written', async () => {
    const proof = proofOf('0x8')
    expect((await prove(proof)).status).toBe(200)
    for (const again of [proof, { ...proof, proof: ` ${proof.proof.toUpperCase()}` }, { ...proof, signal: 'other' }])
      expect(await prove(again)).toMatchObject({ status: 401, code: 'INVALID_SIGNATURE' })
  })

  test('T37: a signal of ours is good for one proof', async () => {
    const signal = await newSignal()
    expect((await prove(proofOf('0x9', { signal }))).status).toBe(200)
    expect(await prove(proofOf('0x9', { signal }))).toMatchObject({ status: 401, code: 'INVALID_NONCE' })
    const old = await newSignal()
    await Nonces.updateOne({ _id: old.replace('plaza:', '') }, { $set: { issued_at: new Date(Date.now() - 400_000) } })
    const me = await person(server, 'late linker')
    const late = proofOf('0x9', { signal: old })
    expect(await prove(late)).toMatchObject({ status: 401, code: 'NONCE_EXPIRED' })
    expect(await me.rest('POST /api/identities/humanproof', late)).toMatchObject({ code: 'NONCE_EXPIRED' })
  })

  test('of fifty uses of one proof at once one begins a session; the same of one signal', async () => {
    const proof = proofOf('0xa')
    const byProof = await Promise.all(Array.from({ length: 50 }, () => prove(proof)))
    expect(byProof.filter(({ status }) => status === 200)).toHaveLength(1)
    const signal = await newSignal()
    const bySignal = await Promise.all(Array.from({ length: 50 }, () => prove(proofOf('0xa', { signal }))))
    expect(bySignal.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})

const sso = (body: object, path = '/api/auth/partner-id') => call(url, `POST ${path}`, body)
const tokenFor = (claims: Record<string, unknown>, header?: object) => partner.token(claims, header)

describe('signing in with a partner token', () => {
  test('while the keys cannot be had nobody is signed in', async () => {
    const me = await person(server, 'patient linker')
    const body = { token: await tokenFor({ sub: 'patient' }), isMiniApp: true }
    for (const [mood, status, code] of [
      ['failing', 502, 'UPSTREAM_ERROR'],
      ['junk', 502, 'UPSTREAM_ERROR'],
      ['silent', 504, 'TIMEOUT'],
    ] as const) {
      partner.mood = mood
      expect(await sso(body)).toMatchObject({ status, code })
      expect(await me.rest('POST /api/identities/partner', body)).toMatchObject({ status, code })
    }
    partner.mood = 'well'
    expect((await sso(body)).status).toBe(200)
  })

  test('a token signs in whom it names, and only them', async () => {
    const token = await tokenFor({ sub: 'member-1' })
    const { status, body, headers } = await sso({ partnerAddress: 'Member-1', token })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      success: true,
      authenticated: true,
      partnerAddress: 'member-1',
      alienAddress: 'member-1',
      userAddress: 'member-1',
      user: { wallet_type: 'partner_id' },
    })
    expect(headers.get('set-cookie')).toContain(`app_session=${body.sessionToken}`)
    const session = await call(url, 'GET /api/auth/session', null, String(body.sessionToken))
    expect(session.body).toMatchObject({ authMethod: 'alien', userAddress: 'member-1' })
    const alias = await sso(
      { alienAddress: 'member-1', token: await tokenFor({ sub: 'member-1' }) },
      '/api/auth/alien-id',
    )
    expect(alias.body.user).toEqual(body.user)
  })

  test('an embedded app signs in by the token alone, whatever address stands beside it', async () => {
    const token = await tokenFor({ user_id: 'member-2' })
    const { body } = await sso({ token, isMiniApp: true, partnerAddress: 'member-1' })
    expect(body).toMatchObject({ userAddress: 'member-2', partnerAddress: 'member-2' })
  })

  test('the subject comes before the user id, and a wallet address is written in lower case', async () => {
    const both = await sso({ token: await tokenFor({ sub: 'member-3', user_id: 'member-4' }), isMiniApp: true })
    expect(both.body.userAddress).toBe('member-3')
    const sub = `0x${'AB'.repeat(20)}`
    const { body } = await sso({ token: await tokenFor({ sub }), isMiniApp: true })
    expect(body.partnerAddress).toBe(sub.toLowerCase())
  })

  const past = 1_600_000_000
  test.each([
    ['no token', () => ({}), 400, 'VALIDATION_ERROR', /token is required/],
    ['no three parts', () => ({ token: 'a.b' }), 400, 'VALIDATION_ERROR', /not a signed token/],
    ['nothing to read', () => ({ token: 'a.b.c' }), 400, 'VALIDATION_ERROR', /cannot be read/],
    ['no address', async () => ({ token: await tokenFor({ sub: 'a' }) }), 400, 'VALIDATION_ERROR', /partnerAddress/],
    [
      'a token for somebody else',
      async () => ({ token: await tokenFor({ sub: 'a1' }), partnerAddress: 'b1' }),
      401,
      'UNAUTHORIZED',
      /does not match the claimed address/,
    ],
    [
      'an expired token',
      async () => ({ token: await tokenFor({ sub: 'a1', exp: past }), partnerAddress: 'a1' }),
      401,
      'UNAUTHORIZED',
      /expired/,
    ],
    [
      'an expired token for somebody else: the match is judged first',
      async () => ({ token: await tokenFor({ sub: 'a1', exp: past }), partnerAddress: 'b1' }),
      401,
      'UNAUTHORIZED',
      /does not match/,
    ],
    [
      'a token that names nobody',
      async () => ({ token: await tokenFor({ sub: undefined }), isMiniApp: true }),
      400,
      'VALIDATION_ERROR',
      /names no identifier/,
    ],
    [
      'two addresses that differ',
      async () => ({ token: await tokenFor({ sub: 'a1' }), partnerAddress: 'a1', alienAddress: 'b1' }),
      400,
      'VALIDATION_ERROR',
      /differ/,
    ],
  ])('%s is refused', async (_title, body, status, code, says) => {
    const answer = await sso(await body())
    expect(answer).toMatchObject({ status, code, body: { success: false, error: expect.stringMatching(says) } })
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  test('new keys of the partner are found, and those withdrawn do not count any more', heavy, async () => {
    const old = await tokenFor({ sub: 'member-5' })
    expect((await sso({ token: old, isMiniApp: true })).status).toBe(200)
    await partner.rotate('ES256')
    const token = await tokenFor({ sub: 'member-5' })
    await vi.waitFor(async () => expect((await sso({ token, isMiniApp: true })).status).toBe(200), {
      timeout: 12_000,
      interval: 250,
    })
    expect(await sso({ token: old, isMiniApp: true })).toMatchObject({ status: 401, code: 'INVALID_SIGNATURE' })
  })

  test('partner users are in the channel of the partner; without one they are signed in all the same', async () => {
    const before = await sso({ token: await tokenFor({ sub: 'early' }), isMiniApp: true })
    expect(before.status).toBe(200)
    const { channel } = await root.does('rest', rooms.createChannel, { name: 'Partners', slug: 'partners' })
    const room = { type: 'channel' as const, id: channel.id }
    const { body } = await sso({ token: await tokenFor({ sub: 'late' }), isMiniApp: true })
    const { members } = await root.does('rest', rooms.members, { room })
    expect(members.map(({ user_address }) => user_address)).toContain(String(body.userAddress))
    await root.does('rest', rooms.archive, { room })
    expect((await sso({ token: await tokenFor({ sub: 'later' }), isMiniApp: true })).status).toBe(200)
  })

  test('N10: the slug of an official room is for admins to give', async () => {
    const somebody = await person(server, 'squatter')
    const { channel } = await somebody.does('rest', rooms.createChannel, { name: 'Squat' })
    const room = { type: 'channel' as const, id: channel.id }
    for (const slug of ['partners', 'alpha', 'global', 'plaza', 'plaza-official']) {
      const created = somebody.refused('rest', rooms.createChannel, { name: `Squat ${slug.length}`, slug })
      expect([slug, (await created).message]).toEqual([slug, 'This slug is not allowed'])
      const renamed = somebody.refused('rest', rooms.update, { room, slug })
      expect([slug, (await renamed).message]).toEqual([slug, 'This slug is not allowed'])
    }
  })

  test('N10: a channel that took the slug in an older version receives nobody; one that is named by its id does', async () => {
    const squatter = await person(server, 'early squatter')
    const { channel } = await squatter.does('rest', rooms.createChannel, { name: 'Early', slug: 'early-bird' })
    const room = { type: 'channel' as const, id: channel.id }
    let late = 0
    const joins = async () => {
      const sub = `late-${++late}`
      const { body } = await sso({ token: await tokenFor({ sub }), isMiniApp: true })
      const { members } = await squatter.does('rest', rooms.members, { room })
      return members.some(({ user_address }) => user_address === String(body.userAddress))
    }
    const setting = roomSettings.of(nodeOf(server)) as { partnerChannel: string }
    for (const [named, joined] of [
      ['early-bird', false],
      [channel.id, true],
    ] as const) {
      setting.partnerChannel = named
      expect(await joins()).toBe(joined)
    }
    setting.partnerChannel = 'partners'
  })
})

describe('T38: tokens that the partner did not sign for us', () => {
  const claims = { sub: 'victim', aud: 'plaza-test', iat: 1_700_000_000, exp: 4_000_000_000 }
  const secret = new TextEncoder().encode('a shared secret of thirty-two bytes')
  const forged: [string, () => Promise<string> | string][] = [
    ['unsigned', () => new UnsecuredJWT(claims).encode()],
    ['unsigned under a known key', async () => `${(await tokenFor(claims)).split('.').slice(0, 2).join('.')}.`],
    ['signed by another key', async () => (await openStranger()).token(claims, { kid: 'key-1' })],
    ['with a shared secret', () => new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'key-1' }).sign(secret)],
    [
      'changed',
      async () => (await tokenFor(claims)).replace(/\.[^.]+\./, `.${btoa(JSON.stringify(claims)).replace(/=+$/, '')}.`),
    ],
    ['without an end', () => tokenFor({ ...claims, exp: undefined })],
    ['with an end that is no number', () => tokenFor({ ...claims, exp: 'never' as unknown as number })],
    ['not good yet', () => tokenFor({ ...claims, nbf: 4_000_000_000 })],
    ['for somebody else', () => tokenFor({ ...claims, aud: 'elsewhere' })],
    ['for nobody', () => tokenFor({ ...claims, aud: undefined })],
    ['of another issuer', () => tokenFor({ ...claims, iss: 'https://other.example' })],
    ['of no issuer', () => tokenFor({ ...claims, iss: undefined })],
    ['that names an id of ours', () => tokenFor({ ...claims, sub: `Partner:${'ab'.repeat(32)}` })],
    ['of an unknown key', () => tokenFor(claims, { kid: 'key-0' })],
    ['that names a list', () => tokenFor({ ...claims, sub: undefined, user_id: ['victim'] })],
    ['that names an object', () => tokenFor({ ...claims, sub: undefined, user_id: { $gt: '' } })],
    ['that names a number', () => tokenFor({ ...claims, sub: 7 as unknown as string, user_id: 'victim' })],
    ['that names an e-mail account', () => tokenFor({ ...claims, sub: `email:${'ab'.repeat(32)}` })],
    ['that names a human', () => tokenFor({ ...claims, sub: 'WorldID:0xabcd' })],
    ['that names a bot', () => tokenFor({ ...claims, sub: 'bot:1' })],
    ['that names the house', () => tokenFor({ ...claims, sub: 'plaza' })],
  ]
  const strangers: Awaited<ReturnType<typeof openPartner>>[] = []
  const openStranger = async () => {
    const stranger = await openPartner()
    strangers.push(stranger)
    return stranger
  }
  afterAll(() => Promise.all(strangers.map((stranger) => stranger.close())))

  test.each(forged)('%s', async (_title, forge) => {
    const answer = await sso({ token: await forge(), isMiniApp: true })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  test('one of more than 8 kB is not looked at', async () => {
    const token = await tokenFor({ ...claims, padding: 'x'.repeat(8_000) })
    expect(await sso({ token, isMiniApp: true })).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  test('an account that a wallet made is not opened by naming it', async () => {
    const { address } = await signIn(url, wallet('named by a partner'))
    const answer = await sso({ token: await tokenFor({ sub: address }), isMiniApp: true })
    expect(answer).toMatchObject({ status: 409, code: 'CONFLICT' })
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  const Vector = z.object({ jwks: z.record(z.string(), z.unknown()), tokens: z.record(z.string(), z.string()) })
  const { jwks, tokens } = Vector.parse(JSON.parse(readFileSync('test/vectors/partner-tokens.json', 'utf8')))
  const keys = partnerByKeys(JSON.stringify(jwks), { issuer: undefined, audience: undefined })
  const at = 1_795_165_100_000
  test.each([
    ['sub', { valid: true }],
    ['userIdOnly', { valid: true, claims: { user_id: 'partner-user-7' } }],
    ['noExp', { valid: false, reason: 'refused' }],
    ['expired', { valid: false, reason: 'expired' }],
  ])('tokens of the vectors are judged: %s', async (name, verdict) => {
    expect(await keys.verify(tokens[name] ?? '', at)).toMatchObject(verdict)
  })
})
