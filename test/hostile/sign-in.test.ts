// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Sessions } from '#server/domains/people/identity/model'
import { newServiceToken } from '#server/domains/people/identity/sessions'
import type { Platform } from '#server/platform'
import { heavy } from '#test/support/heavy'
import { loggerInto } from '#test/support/logged'
import { humanProof, openPartner, openProofProvider, partnerRules } from '#test/support/providers'
import { signedBySolana, solana, verifySolana } from '#test/support/solana'
import { begin, call, sessionStatus, signed, signIn, wallet } from '#test/support/wallet'
import { type ChangedServer, openChangedServer } from './changed-server.ts'

let server: ChangedServer
let url: string
let provider: Awaited<ReturnType<typeof openProofProvider>>
let partner: Awaited<ReturnType<typeof openPartner>>
const lines: string[] = []
let standsAt: number | null = null

/** A clock that a test can stop where it likes, and a logger that remembers. */
const changed = (platform: Platform): Platform => ({
  ...platform,
  database: { ...platform.database, now: () => standsAt ?? platform.database.now() },
  logger: loggerInto(lines),
})

beforeAll(async () => {
  provider = await openProofProvider()
  partner = await openPartner()
  server = await openChangedServer(
    {
      WORLDID_BASE_URL: provider.url,
      WORLDID_APP_ID: 'app_test',
      PARTNER_JWKS: JSON.stringify(partner.jwks()),
      ...partnerRules,
      SUPER_ADMINS: wallet('root').address,
    },
    changed,
  )
  url = server.url
})
afterAll(async () => {
  await server.close()
  await provider.close()
  await partner.close()
})

const sso = async (sub: string) => ({ token: await partner.token({ sub }), isMiniApp: true })
const cookieOf = (token: unknown) => ({ cookie: `app_session=${token}` })

/** Each way in of these pages, for somebody of this name. */
const waysIn: [string, string, (name: string) => Promise<object>][] = [
  ['a Solana wallet', 'POST /api/auth/verify-solana', (name) => signedBySolana(url, solana(name))],
  [
    'a human proof',
    'POST /api/auth/humanproof-id',
    async (name) => humanProof(`0x${Buffer.from(name).toString('hex')}`),
  ],
  ['a partner token', 'POST /api/auth/partner-id', sso],
]

describe.each(waysIn)('%s', (_way, route, bodyFor) => {
  test('T01: a planted session is not taken over, and ends', async () => {
    const planted = await signIn(url, wallet('attacker'))
    const victim = await call(url, route, await bodyFor('victim'), undefined, cookieOf(planted.sessionToken))
    expect(victim.status).toBe(200)
    expect(victim.body.sessionToken).not.toBe(planted.sessionToken)
    expect(victim.body.userAddress).not.toBe(planted.address)
    expect(await sessionStatus(url, planted.sessionToken)).toBe(401)
  })

  test('T02: neither the proof nor the token is stored', async () => {
    const { body } = await call(url, route, await bodyFor('stored'))
    const record = await Sessions.findOne({ user_address: String(body.userAddress) }).lean()
    expect(JSON.stringify(record)).not.toContain(String(body.sessionToken))
    await Sessions.deleteOne({ _id: record?._id ?? '' })
    expect(await sessionStatus(url, body.sessionToken)).toBe(401)
  })

  test('T06: a foreign page signs nobody in, whatever it says it sends', async () => {
    const body = await bodyFor('foreign-page')
    const foreign = await call(url, route, body, undefined, { origin: 'https://evil.example' })
    expect(foreign).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    const [method = '', path = ''] = route.split(' ')
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const answer = await fetch(url + path, { method, headers: { 'content-type': type }, body: JSON.stringify(body) })
      expect(answer.status).toBe(415)
    }
    expect((await call(url, route, body)).status).toBe(200)
  })
})

test.each(waysIn.slice(0, 2))(
  'T32, T37: of fifty sign-ins at once by %s one succeeds',
  async (_way, route, bodyFor) => {
    const body = await bodyFor('racer')
    const answers = await Promise.all(Array.from({ length: 50 }, () => call(url, route, body)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(49).fill(401)])
  },
  60_000,
)

describe('ids and codes of other shapes', () => {
  const ownAddress = wallet('mixed case').address
  test('class 110: the own address in any case is the same account', async () => {
    const body = await signed(url, wallet('mixed case'))
    const upper = { ...body, address: `0X${body.address.slice(2).toUpperCase()}` }
    expect((await call(url, 'POST /api/auth/verify', upper)).body.userAddress).toBe(ownAddress.toLowerCase())
  })

  test.each([
    ['class 112: 39 digits', `0x${'a'.repeat(39)}`],
    ['class 112: 41 digits', `0x${'a'.repeat(41)}`],
    ['class 115: a name', 'victim.eth'],
    ['class 116: an e-mail account', 'email:abc'],
    ['class 117: the e-mail account of somebody', `email:${'ab'.repeat(32)}`],
    ['class 118: a human', 'worldid:0xabcd'],
    ['class 119: letters that base58 has not', `${'0OIl'.repeat(11)}`],
    ['class 82: an operator', '[object Object]'],
  ])('%s is no wallet of either kind', async (_class, address) => {
    for (const path of ['verify', 'verify-solana']) {
      const query = new URLSearchParams({ address })
      const begun = await call(url, `GET /api/auth/${path}?${query}`)
      expect(begun).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
      const body = { address, message: 'x', signature: '0x12' }
      expect(await call(url, `POST /api/auth/${path}`, body)).toMatchObject({ status: 400 })
    }
  })

  test.each([
    ['class 121: a uuid without dashes', '0193c3f4aaaa7bbb8cccddddddddddd0'],
    ['class 122: in upper case', '0193C3F4-AAAA-7BBB-8CCC-DDDDDDDDDDD0'],
    ['class 123: the nil uuid', '00000000-0000-0000-0000-000000000000'],
    ['class 127: an ObjectId', '507f1f77bcf86cd799439011'],
    ['class 128: twelve characters', 'abcdefghijkl'],
  ])('%s names no session and no identity', async (_class, id) => {
    const { sessionToken } = await signIn(url, wallet('id tester'))
    for (const path of ['auth/sessions', 'identities'])
      expect(await call(url, `DELETE /api/${path}/${id}`, null, sessionToken)).toMatchObject({
        status: 404,
        code: 'NOT_FOUND',
      })
  })

  test('class 126: an ended session is not ended again', async () => {
    const [here, there] = [await signIn(url, wallet('ends twice')), await signIn(url, wallet('ends twice'))]
    const { jti } = JSON.parse(atob(there.sessionToken.split('.')[1] ?? ''))
    const end = () => call(url, `DELETE /api/auth/sessions/${jti}`, null, here.sessionToken)
    expect([(await end()).status, (await end()).status]).toEqual([200, 404])
  })

  test('class 258: a proof before its message was asked for is refused', async () => {
    const who = solana('too early')
    const { message } = await signedBySolana(url, solana('not early'))
    const own = message.replace(solana('not early').address, who.address)
    const body = { address: who.address, message: own, signature: who.sign(own) }
    expect(await call(url, 'POST /api/auth/verify-solana', body)).toMatchObject({ status: 401, code: 'INVALID_NONCE' })
  })

  test('class 259: a proof twice is refused the second time', async () => {
    const body = await signedBySolana(url, solana('twice'))
    const statuses = [
      await call(url, 'POST /api/auth/verify-solana', body),
      await call(url, 'POST /api/auth/verify-solana', body),
    ]
    expect(statuses.map(({ status }) => status)).toEqual([200, 401])
  })
})

test('T39: the path may be spelled as one likes, the bucket is one', async () => {
  const spellings = ['/API/Auth/Verify-Solana', '/api/auth/verify-solana/', '/api/auth/verify-solana']
  const remaining: number[] = []
  for (const path of spellings) {
    const answer = await fetch(`${url}${path}?address=${solana('spelled').address}`)
    remaining.push(Number(answer.headers.get('x-ratelimit-remaining')))
  }
  expect(remaining).toEqual([remaining[0], Number(remaining[0]) - 1, Number(remaining[0]) - 2])
})

describe('T41: no answer reveals who has an account', () => {
  const median = (values: number[]) => values.sort((one, other) => one - other)[values.length >> 1] ?? 0
  const timed = async (act: () => Promise<unknown>) => {
    const started = performance.now()
    await act()
    return performance.now() - started
  }

  test('a message for a known wallet and for an unknown one look alike and take as long', async () => {
    const [known, unknown] = [solana('known'), solana('unknown')]
    await verifySolana(url, known)
    const shape = async (who: typeof known) =>
      (await signedBySolana(url, who)).message
        .replace(who.address, 'A')
        .replace(/Nonce: \w+/, 'N')
        .replace(/Issued At: \S+/, 'T')
    expect(await shape(known)).toBe(await shape(unknown))
    const times: { known: number[]; unknown: number[] } = { known: [], unknown: [] }
    const ask = (who: typeof known) => timed(() => fetch(`${url}/api/auth/verify-solana?address=${who.address}`))
    for (let round = 0; round < 200; round++) {
      times.known.push(await ask(known))
      times.unknown.push(await ask(unknown))
    }
    const [one, other] = [median(times.known), median(times.unknown)]
    expect(Math.abs(one - other)).toBeLessThan(Math.max(1, 0.2 * Math.max(one, other)))
  })

  test('a wrong signature is refused alike for both', async () => {
    const refused = async (who: ReturnType<typeof wallet>) => {
      const { address, message } = { address: who.address, ...(await begin(url, who)) }
      const signature = await wallet('thief').signMessage({ message })
      const { status, body } = await call(url, 'POST /api/auth/verify', { address, message, signature })
      return { status, body }
    }
    await signIn(url, wallet('known'))
    expect(await refused(wallet('known'))).toEqual(await refused(wallet('unknown')))
  })

  test("a session, an identity or a token of somebody else's looks like one that is not there", async () => {
    const [me, other] = [await signIn(url, wallet('asker')), await signIn(url, wallet('owner'))]
    const listed = await call(url, 'GET /api/auth/sessions', null, other.sessionToken)
    const [theirs] = listed.body.sessions as { id: string }[]
    const answers = await Promise.all(
      [theirs?.id, crypto.randomUUID()].map((id) =>
        call(url, `DELETE /api/auth/sessions/${id}`, null, me.sessionToken),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([404, 404])
    expect(answers[0]?.body).toEqual(answers[1]?.body)
  })
})

test('T42: no token, signature, proof or nonce is written down, and no refusal repeats one', async () => {
  const solanaBody = await signedBySolana(url, solana('canary'))
  const walletBody = await signed(url, wallet('canary'))
  const proof = humanProof('0xca', { proof: '0xproof-canary-5ecret' })
  const partnerBody = await sso('canary')
  const secrets = [solanaBody.signature, walletBody.signature, proof.proof, partnerBody.token]
  secrets.push(...[solanaBody.message, walletBody.message].map((message) => /Nonce: (\w+)/.exec(message)?.[1] ?? '?'))
  const bodies: [string, object][] = [
    ['POST /api/auth/verify', walletBody],
    ['POST /api/auth/verify-solana', solanaBody],
    ['POST /api/auth/humanproof-id', proof],
    ['POST /api/auth/partner-id', partnerBody],
  ]
  for (const [route, body] of bodies) {
    const { body: answer } = await call(url, route, body)
    secrets.push(String(answer.sessionToken), String(answer.refreshToken))
    const refused = await call(url, route, { ...body, message: 'x', nullifier_hash: '!', isMiniApp: false })
    expect(refused.status).toBe(400 + Number(refused.status === 401))
    for (const secret of secrets) expect(JSON.stringify(refused.body)).not.toContain(secret)
  }
  for (const mood of ['failing', 'junk'] as const) {
    provider.mood = mood
    await call(url, 'POST /api/auth/humanproof-id', { ...proof, nullifier_hash: '0xcb' })
  }
  provider.mood = 'well'
  const root = await signIn(url, wallet('root'))
  const token = await call(
    url,
    'POST /api/admin/service-tokens',
    { name: 'Canary', scopes: ['identity:read'] },
    root.sessionToken,
  )
  secrets.push(String(token.body.token))
  expect(await sessionStatus(url, token.body.token)).toBe(200)
  await call(url, 'GET /api/admin/service-tokens', null, String(token.body.token))
  const told = lines.join('\n')
  const figures = await (await fetch(`${server.opsUrl}/metrics`)).text()
  expect(lines.length).toBeGreaterThan(20)
  expect(secrets.filter((secret) => secret.length < 8)).toEqual([])
  for (const secret of secrets) {
    expect(told).not.toContain(secret)
    expect(figures).not.toContain(secret)
  }
})

test('T59: tokens of bots never repeat, and are long enough', heavy, () => {
  const tokens = Array.from({ length: 10_000 }, newServiceToken)
  expect(new Set(tokens).size).toBe(10_000)
  for (const token of tokens) expect(Buffer.from(token.slice('plaza_'.length), 'base64url')).toHaveLength(32)
})

describe('T67: time runs out exactly', () => {
  test.each([
    [299_900, 200, null],
    [300_100, 401, 'NONCE_EXPIRED'],
  ])('a message that is %d milliseconds old', async (age, status, code) => {
    for (const [route, body] of [
      ['POST /api/auth/verify', await signed(url, wallet('clock'))],
      ['POST /api/auth/verify-solana', await signedBySolana(url, solana('clock'))],
    ] as const) {
      const issued = Date.parse(/Issued At: (\S+)/.exec(body.message)?.[1] ?? '')
      standsAt = issued + age
      const answer = await call(url, route, body)
      standsAt = null
      expect(answer).toMatchObject({ status, code })
    }
  })

  test('a signal for a human proof', async () => {
    for (const [age, status] of [
      [299_900, 200],
      [300_100, 401],
    ] as const) {
      const { body } = await call(url, 'GET /api/auth/humanproof-id')
      const expires = Date.parse(String(body.expires_at))
      const proof = humanProof('0x67', { signal: body.signal })
      standsAt = expires - 300_000 + age
      expect((await call(url, 'POST /api/auth/humanproof-id', proof)).status).toBe(status)
      standsAt = null
    }
  })

  test('a partner token, to the second it names', async () => {
    const exp = Math.floor(Date.now() / 1000) + 100
    const body = { token: await partner.token({ sub: 'clock', exp }), isMiniApp: true }
    standsAt = exp * 1000 - 1_000
    expect((await call(url, 'POST /api/auth/partner-id', body)).status).toBe(200)
    standsAt = exp * 1000
    expect(await call(url, 'POST /api/auth/partner-id', body)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    standsAt = null
  })
})
