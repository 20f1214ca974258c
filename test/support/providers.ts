import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { z } from 'zod'

/** The current behaviour of a provider: correct, or one of the failures of such services. */
export type Mood = 'well' | 'failing' | 'silent' | 'junk' | 'endless' | 'elsewhere' | 'lost'

export interface Provider {
  url: string
  /** Bodies it was asked with, in order. */
  asked: unknown[]
  mood: Mood
  close(): Promise<void>
}

type Answers = (
  path: string,
  body: unknown,
  bearer: string | undefined,
  method: string | undefined,
) => Answer | Promise<Answer>

interface Answer {
  status: number
  body: unknown
  headers?: Record<string, string>
}

export async function openProvider(answers: Answers): Promise<Provider> {
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const provider: Provider = {
    url: `http://127.0.0.1:${port}`,
    asked: [],
    mood: 'well',
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return provider

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request)
    provider.asked.push(body)
    if (provider.mood === 'silent') return
    if (provider.mood === 'failing') return void response.writeHead(500).end('{"code":"server_error","detail":"no"}')
    if (provider.mood === 'junk') return void response.writeHead(200).end('<html>welcome</html>')
    if (provider.mood === 'elsewhere') return void response.writeHead(302, { location: `${provider.url}/other` }).end()
    if (provider.mood === 'endless') return void response.writeHead(200).end(`"${'x'.repeat(2_000_000)}"`)
    const bearer = request.headers.authorization?.replace('Bearer ', '')
    const { status, body: told, headers } = await answers(request.url ?? '', body, bearer, request.method)
    // The request is done, and its answer is lost.
    if (provider.mood === 'lost') return void response.destroy()
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(told))
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const text = Buffer.concat(parts).toString()
  if (request.headers['content-type']?.startsWith('application/x-www-form-urlencoded'))
    return Object.fromEntries(new URLSearchParams(text))
  return text === '' ? null : JSON.parse(text)
}

const Asked = z.object({ action: z.string(), nullifier_hash: z.string(), proof: z.string(), signal_hash: z.string() })

/** A service that verifies human proofs. A proof that contains `bad` does not hold; one with `other` is answered for another action. */
export async function openProofProvider(): Promise<Provider> {
  return openProvider((_path, body) => {
    const asked = Asked.safeParse(body)
    if (!asked.success) return { status: 400, body: { code: 'invalid', detail: 'This is no proof.' } }
    const { action, nullifier_hash, proof } = asked.data
    if (proof.includes('bad'))
      return { status: 400, body: { code: 'invalid_proof', detail: 'The proof does not hold.', attribute: null } }
    const verified = proof.includes('other') ? 'another-action' : action
    return {
      status: 200,
      body: { success: true, action: verified, nullifier_hash, created_at: '2026-01-01T00:00:00Z' },
    }
  })
}

let proofs = 0
/** A new proof by somebody, for any action. */
export const humanProof = (nullifier_hash: string, change = {}) => ({
  action: 'any',
  signal: '',
  proof: `0xproof${++proofs}`,
  merkle_root: '0x01',
  nullifier_hash,
  ...change,
})

/** A service that sells coins: one token for each purchase, to clients with its key; without a key, to everybody. */
export const openOnrampProvider = (opened: object = { token: 'a-purchase' }, shop?: { key: string }) =>
  openProvider((_path, _body, bearer) =>
    !shop || bearer === shop.key ? { status: 200, body: opened } : { status: 401, body: { message: 'secret words' } },
  )

export const partnerIssuer = 'https://partner.example'
export const partnerAudience = 'plaza-test'
/** Which tokens of the partner are for us. */
export const partnerRules = { PARTNER_ISSUER: partnerIssuer, PARTNER_AUDIENCE: partnerAudience }

/** A partner that publishes its keys and signs tokens with the newest. */
export async function openPartner() {
  let made = 0
  const keys: { kid: string; jwk: JWK; sign: (claims: JWTPayload, header?: object) => Promise<string> }[] = []
  const provider = await openProvider(() => ({ status: 200, body: { keys: keys.map(({ jwk }) => jwk) } }))
  const jwks = () => ({ keys: keys.map(({ jwk }) => jwk) })

  /** From now on tokens are signed by a new key; the keys before are withdrawn. */
  async function rotate(alg: 'EdDSA' | 'ES256' | 'RS256' = 'EdDSA'): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
    const kid = `key-${++made}`
    const jwk = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }
    const sign = (claims: JWTPayload, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid, ...header }).sign(privateKey)
    keys.splice(0, keys.length, { kid, jwk, sign })
  }

  await rotate()
  const now = () => Math.floor(Date.now() / 1000)
  return Object.assign(provider, {
    rotate,
    jwks,
    /** A token that is good for ten minutes, unless its claims say otherwise. */
    token: (claims: JWTPayload, header?: object): Promise<string> => {
      const [newest] = keys
      if (!newest) throw new Error('There is no key')
      return newest.sign({ iss: partnerIssuer, aud: partnerAudience, iat: now(), exp: now() + 600, ...claims }, header)
    },
  })
}

const Hash = z.string().regex(/^0x[0-9a-f]{64}$/)
const PaymentAsked = z.object({
  x402Version: z.number(),
  paymentPayload: z.object({
    x402Version: z.number(),
    payload: z.object({ authorization: z.object({ nonce: Hash }), signature: z.string() }),
  }),
  paymentRequirements: z.looseObject({ scheme: z.literal('exact'), network: z.string(), payTo: z.string() }),
})

/** A facilitator of payments that charges each authorization once. `reason` is why it refuses, null while it does not. */
export async function openFacilitator() {
  const charged: string[] = []
  const says = { charged, reason: null as string | null, status: 200, answer: null as object | null }
  const provider: Provider & typeof says = Object.assign(
    await openProvider((path, body) => {
      const asked = PaymentAsked.safeParse(body)
      if (!asked.success) return { status: 400, body: { error: 'malformed' } }
      const { nonce } = asked.data.paymentPayload.payload.authorization
      const { reason: errorReason, status, answer } = provider
      if (answer) return { status, body: answer }
      if (path === '/verify')
        return { status, body: errorReason ? { isValid: false, invalidReason: errorReason } : { isValid: true } }
      const refused = charged.includes(nonce) ? 'invalid_exact_evm_nonce_already_used' : errorReason
      if (refused) return { status, body: { success: false, errorReason: refused, transaction: '' } }
      charged.push(nonce)
      return { status, body: { success: true, transaction: `0x${'ab'.repeat(32)}` } }
    }),
    says,
  )
  return provider
}

interface Written {
  id: string
  summary: string
}

/** Plays Google. Its client is `client` with `a secret`, and its code `good` works once. Each new access ends the last one. */
export async function openCalendarProvider(busy: readonly { start: string; end: string }[]) {
  let tokens = 0
  const events = new Map<string, Written>()
  const says = { events, revoked: [] as string[], scope: null as string | null, isEnded: false, paths: [] as string[] }
  const idToken = ['{"alg":"none"}', '{"email":"ada@example.test"}', '']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')
  const provider: Provider & typeof says = Object.assign(
    await openProvider((path, body, bearer, method) => {
      provider.paths.push(`${method} ${path}`)
      const form = z.record(z.string(), z.unknown()).catch({}).parse(body)
      if (path === '/token') return token(form)
      if (path === '/revoke') {
        provider.revoked.push(String(form.token))
        return { status: provider.isEnded ? 400 : 200, body: {} }
      }
      if (bearer !== `access-${tokens}` || provider.isEnded) return { status: 401, body: { error: 'secret words' } }
      if (path === '/api/freeBusy') return { status: 200, body: { calendars: { primary: { busy } } } }
      return event(path, form, method)
    }),
    says,
  )
  return provider

  function token(form: Record<string, unknown>): Answer {
    if (form.client_id !== 'client' || form.client_secret !== 'a secret')
      return { status: 401, body: { error: 'invalid_client' } }
    const isGood =
      form.grant_type === 'refresh_token'
        ? form.refresh_token === 'refresh-1' && !provider.isEnded
        : form.code === 'good' && form.code_verifier === 'verifier' && form.redirect_uri === 'https://plaza.test/back'
    if (!isGood) return { status: 400, body: { error: 'invalid_grant', error_description: 'secret words' } }
    const access = { access_token: `access-${++tokens}`, expires_in: 3_599, token_type: 'Bearer' }
    if (form.grant_type === 'refresh_token') return { status: 200, body: access }
    const scopes = ['freebusy', 'events.owned'].map((name) => `https://www.googleapis.com/auth/calendar.${name}`)
    const scope = provider.scope ?? ['openid', 'email', ...scopes].join(' ')
    return { status: 200, body: { ...access, refresh_token: 'refresh-1', scope, id_token: idToken } }
  }

  function event(path: string, form: Record<string, unknown>, method: string | undefined): Answer {
    const [, id = ''] = /^\/api\/calendars\/primary\/events(?:\/(\w+))?\?sendUpdates=none$/.exec(path) ?? []
    if (method === 'DELETE') return { status: events.delete(id) ? 204 : 410, body: null }
    const { id: given, summary } = form as unknown as Written
    if (events.has(given)) return { status: 409, body: {} }
    events.set(given, { id: given, summary })
    return { status: 200, body: { id: given } }
  }
}
