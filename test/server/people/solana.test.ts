// Modes: embedded
import { readFileSync } from 'node:fs'
import { base58 } from '@scure/base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { isSignatureValid, readSolanaMessage, writeSolanaMessage } from '#server/domains/people/identity/index'
import { type Booted, boot } from '#test/support/boot'
import { signedBySolana, solana, verifySolana } from '#test/support/solana'
import { call } from '#test/support/wallet'

let server: Booted
let url: string
beforeAll(async () => {
  server = await boot()
  url = server.url
})
afterAll(() => server.close())

const Vector = z.object({
  address: z.string(),
  input: z.object({ nonce: z.string(), chainId: z.string() }),
  message: z.string(),
  signatureBase58: z.string(),
  negative: z.object({
    malleableSPlusL: z.string(),
    flippedBit: z.string(),
    smallOrderAddress: z.string(),
    smallOrderSignature: z.string(),
  }),
})
const vector = Vector.parse(JSON.parse(readFileSync('test/vectors/siws.json', 'utf8')))
const post = (body: object) => call(url, 'POST /api/auth/verify-solana', body)

describe('the message of another implementation', () => {
  const key = base58.decode(vector.address)
  const { malleableSPlusL, flippedBit, smallOrderAddress, smallOrderSignature } = vector.negative

  test('is read, and its signature holds', () => {
    const { nonce, chainId } = vector.input
    expect(readSolanaMessage(vector.message)).toMatchObject({ address: vector.address, nonce, chainId })
    expect(isSignatureValid(key, vector.message, vector.signatureBase58)).toBe(true)
  })

  test.each([
    ['a flipped bit', key, flippedBit],
    ['the other form of a signature', key, malleableSPlusL],
    ['a key of small order, whose signature fits every message', base58.decode(smallOrderAddress), smallOrderSignature],
    ['a signature that is too short', key, base58.encode(new Uint8Array(63))],
    ['no base58', key, '0OIl'],
    ['a very long one', key, '2'.repeat(4_000)],
  ])('T33: %s does not hold', (_title, by, signature) => {
    expect(isSignatureValid(by, vector.message, signature)).toBe(false)
  })

  test('one we wrote is read back', () => {
    const fields = { domain: 'a.example', address: vector.address, uri: 'https://a.example', nonce: 'abcdefgh1' }
    const issuedAt = new Date(0).toISOString()
    for (const statement of ['Hello.', undefined])
      expect(readSolanaMessage(writeSolanaMessage({ ...fields, statement, issuedAt }))).toMatchObject(fields)
  })
})

describe('signing in with a Solana wallet', () => {
  test('a signed message begins a session of the address, in the case it is written in', async () => {
    const who = solana('first')
    const { status, body, headers } = await verifySolana(url, who)
    expect(status).toBe(200)
    expect(body).toMatchObject({ success: true, verified: true, authenticated: true, userAddress: who.address })
    expect(body.user).toMatchObject({ wallet_address: who.address, chain: 'solana' })
    expect(headers.get('set-cookie')).toContain(`app_session=${body.sessionToken}`)
    const session = await call(url, 'GET /api/auth/session', null, String(body.sessionToken))
    expect(session.body).toMatchObject({ userAddress: who.address, authMethod: 'solana' })
    expect((await verifySolana(url, who)).body.user).toEqual(body.user)
  })

  test('the message has the lines of the standard, and no chain', async () => {
    const who = solana('lines')
    const { message } = await signedBySolana(url, who)
    const lines = message.split('\n')
    expect(lines[0]).toMatch(/^\S+ wants you to sign in with your Solana account:$/)
    expect(lines[1]).toBe(who.address)
    expect(message).not.toContain('Chain ID')
  })

  test('the key may be sent as publicKey, and two that differ are refused', async () => {
    const { address: publicKey, ...signed } = await signedBySolana(url, solana('public key'))
    expect((await post({ ...signed, publicKey })).status).toBe(200)
    const both = await signedBySolana(url, solana('public key'))
    expect(await post({ ...both, publicKey: solana('other').address })).toMatchObject({ code: 'VALIDATION_ERROR' })
    expect(await post(signed)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  test.each([
    ['no address', ''],
    ['a letter that base58 has not', `?address=${'0'.repeat(44)}`],
    ['an address in lower case, which is another one or none', `?address=${solana('case').address.toLowerCase()}`],
    ['too few bytes', `?address=${base58.encode(new Uint8Array(31).fill(255))}`],
    ['a wallet of another chain', `?address=0x${'ab'.repeat(20)}`],
  ])('no message for %s', async (_title, query) => {
    const answer = await call(url, `GET /api/auth/verify-solana${query}`)
    expect(answer).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  const time = '2020-01-01T00:00:00.000Z'
  test.each([
    ['another domain', (m: string) => m.replace(/^\S+/, 'evil.example'), 'INVALID_DOMAIN', 401],
    ['another URI', (m: string) => m.replace(/URI: \S+/, 'URI: https://evil.example'), 'INVALID_DOMAIN', 401],
    ['another chain', (m: string) => m.replace('Nonce:', 'Chain ID: mars\nNonce:'), 'CHAIN_NOT_SUPPORTED', 400],
    ['another version', (m: string) => m.replace('Version: 1', 'Version: 2'), 'INVALID_SIGNATURE', 401],
    ['an unknown nonce', (m: string) => m.replace(/Nonce: \w+/, 'Nonce: abcdefgh12345678'), 'INVALID_NONCE', 401],
    ['a second nonce', (m: string) => `${m}\nNonce: abcdefgh12345678`, 'INVALID_SIGNATURE', 401],
    ['fields in the statement', (m: string) => m.replace('Sign', 'x\n\nURI: http://a\nSign'), 'INVALID_SIGNATURE', 401],
    ['a line end after it', (m: string) => `${m}\n`, 'INVALID_SIGNATURE', 401],
    ['other line ends', (m: string) => m.replaceAll('\n', '\r\n'), 'INVALID_SIGNATURE', 401],
    ['an expiration that has passed', (m: string) => `${m}\nExpiration Time: ${time}`, 'NONCE_EXPIRED', 401],
    ['a time to come', (m: string) => `${m}\nNot Before: 2999-01-01T00:00:00Z`, 'INVALID_SIGNATURE', 401],
    ['no time at all', (m: string) => `${m}\nExpiration Time: 2999-99-99T99:99:99Z`, 'NONCE_EXPIRED', 401],
    [
      'another address',
      (m: string) => m.replace(/\n\w{40,44}\n/, `\n${solana('b').address}\n`),
      'INVALID_SIGNATURE',
      401,
    ],
  ] as const)('a message with %s is refused', async (_title, change, code, status) => {
    expect(await post(await signedBySolana(url, solana('changes'), change))).toMatchObject({ status, code })
  })

  test('what a wallet adds of the layout is read: a chain, an expiration to come', async () => {
    const added = (m: string) =>
      `${m.replace('Nonce:', 'Chain ID: solana:mainnet\nNonce:')}\nExpiration Time: 2999-01-01T00:00:00Z`
    expect((await post(await signedBySolana(url, solana('wallet adds'), added))).status).toBe(200)
  })

  test('T33: a signature of somebody else is refused and leaves the nonce usable; the nonce is good once', async () => {
    const body = await signedBySolana(url, solana('victim'))
    const signature = solana('thief').sign(body.message)
    expect(await post({ ...body, signature })).toMatchObject({ status: 401, code: 'INVALID_SIGNATURE' })
    expect((await post(body)).status).toBe(200)
    expect(await post(body)).toMatchObject({ status: 401, code: 'INVALID_NONCE' })
  })
})
