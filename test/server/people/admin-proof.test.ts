// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fakeChain } from '#server/ports/chain/fake'
import { accounts } from '#shared/api/people/accounts'
import { identities } from '#shared/api/people/identities'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Person, person } from '#test/support/people'
import { begin, call, signed, signIn, type Wallet, wallet } from '#test/support/wallet'

interface Signed {
  address: string
  message: string
  signature: string
}

const [admin, demoted, suspended, contract] = [
  wallet('proofs: admin'),
  wallet('proofs: demoted'),
  wallet('proofs: suspended'),
  wallet('proofs: a contract'),
]
const Begun = z.object({ message: z.string(), nonce: z.string() })
let server: Booted

const admins = [admin, demoted, suspended, contract].map(({ address }) => address).join(',')
const environment = { ADMINS: admins, SUPER_ADMINS: wallet('proofs: root').address }

/** What a wallet signs to administer; `change` may spoil the message before it is signed. */
async function proofOf(who: Wallet, change = (message: string) => message): Promise<Signed> {
  const { body } = await call(server.url, `GET /api/admin/verify?address=${who.address}`)
  const message = change(Begun.parse(body).message)
  return { address: who.address, message, signature: await who.signMessage({ message }) }
}

const headersOf = ({ address, message, signature }: Signed) => ({
  'x-admin-address': address,
  'x-admin-signature': signature,
  'x-admin-message': Buffer.from(encodeURIComponent(message)).toString('base64'),
})
const list = (headers: object, token?: string) => call(server.url, 'GET /api/admin/admins', null, token, headers)
const show = async (proof: Signed) => list(headersOf(proof))
const verify = (proof: Signed) => call(server.url, 'POST /api/admin/verify', proof)

describe('a message that an admin has signed', () => {
  const chain = fakeChain(1)
  let root: Person
  beforeAll(async () => {
    server = await boot({ entry: 'through the door', environment, services: { chains: new Map([[1, chain]]) } })
    root = await person(server, 'proofs: root')
  })
  afterAll(() => server.close())

  test('is as good as a session for what admins do, over and over, and begins none', async () => {
    const proof = await proofOf(admin)
    const target = (await person(server, 'proofs: target')).account
    for (const ban of [true, false]) {
      const asked = { userAddress: target, ban }
      const answer = await call(server.url, 'POST /api/admin/ban', asked, undefined, headersOf(proof))
      expect(answer.body).toEqual({ success: true, banned: ban })
      expect(answer.headers.get('set-cookie')).toBeNull()
    }
    expect((await show(proof)).status).toBe(200)
    expect((await call(server.url, 'GET /api/auth/session', null, undefined, headersOf(proof))).status).toBe(401)
  })

  test('is verified by a path of its own, which says who it proves', async () => {
    const proof = await proofOf(admin)
    const proven = { success: true, isAdmin: true, isSuperAdmin: false, address: admin.address.toLowerCase() }
    for (const answer of [await verify(proof), await verify(proof)])
      expect(answer).toMatchObject({ status: 200, body: proven })
    expect((await verify(await proofOf(wallet('proofs: root')))).body).toEqual({
      ...proven,
      isSuperAdmin: true,
      address: root.account,
    })
    expect((await show(proof)).status).toBe(200)
  })

  test('of somebody else is 403', async () => {
    const proof = await proofOf(wallet('proofs: anybody'))
    for (const answer of [await verify(proof), await show(proof)])
      expect(answer).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  })

  test('of an admin who was demoted, or is suspended, is 403', async () => {
    const proofs = [await proofOf(demoted), await proofOf(suspended)]
    for (const proof of proofs) expect((await show(proof)).status).toBe(200)
    await root.does('rest', accounts.revokeAdmin, { address: demoted.address })
    await root.does('rest', accounts.suspend, { userAddress: suspended.address, ban: true })
    for (const proof of proofs)
      for (const answer of [await verify(proof), await show(proof)])
        expect(answer).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  })

  test('ends where the account signs out everywhere, or everywhere else', async () => {
    for (const end of ['POST /api/auth/logout', 'DELETE /api/auth/sessions']) {
      const proof = await proofOf(admin)
      expect((await show(proof)).status).toBe(200)
      const { rest } = await person(server, 'proofs: admin')
      expect((await rest(end, {})).status).toBe(200)
      expect(await verify(proof)).toMatchObject({ status: 401, code: 'NONCE_EXPIRED' })
      expect(await show(proof)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
      expect((await show(await proofOf(admin))).status).toBe(200)
    }
  })

  test('acts for the account that the wallet opens', async () => {
    const linked = wallet('proofs: linked')
    const before = await proofOf(linked)
    expect((await show(before)).status).toBe(403)
    await root.does('rest', identities.linkWallet, await signed(root.url, linked))
    expect((await verify(before)).body).toMatchObject({ isSuperAdmin: true, address: root.account })
  })

  const other = wallet('proofs: other')
  const madeUp = 'Nonce: 0123456789abcdef'
  const by = async (signer: Wallet, { address, message }: Signed) => {
    return { address, message, signature: await signer.signMessage({ message }) }
  }
  const ofAddress = ({ address }: Wallet, proof: Signed) =>
    by(admin, { ...proof, address, message: proof.message.replace(proof.address, address) })
  const spoilt: readonly [string, string, () => Promise<Signed>][] = [
    ['of another signer', 'INVALID_SIGNATURE', async () => by(other, await proofOf(admin))],
    ['with other words', 'INVALID_SIGNATURE', () => proofOf(admin, (text) => text.replace('Administer', 'Sign in to'))],
    ['for another domain', 'INVALID_DOMAIN', () => proofOf(admin, (text) => text.replace(/^[^ ]+/, 'evil.example'))],
    ['of another chain', 'CHAIN_NOT_SUPPORTED', () => proofOf(admin, (text) => text.replace(/ID: 1$/m, 'ID: 4242'))],
    ['with a nonce made up', 'INVALID_NONCE', () => proofOf(admin, (text) => text.replace(/^Nonce: .*$/m, madeUp))],
    ['with a later nonce', 'INVALID_NONCE', () => proofOf(admin, (text) => text.replace(/^Nonce: 0/m, 'Nonce: 1'))],
    ['with the nonce of another wallet', 'INVALID_NONCE', async () => ofAddress(admin, await proofOf(other))],
    ['of a sign-in', 'INVALID_SIGNATURE', () => signed(server.url, admin)],
  ]

  test.each(spoilt)('%s proves nothing', async (_title, code, make) => {
    const proof = await make()
    const status = code === 'CHAIN_NOT_SUPPORTED' ? 400 : 401
    expect(await verify(proof)).toMatchObject({ status, code })
    expect(await show(proof)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    expect(await list(headersOf(proof), root.token)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  })

  test('signs nobody in', async () => {
    const proof = await proofOf(admin)
    expect(await call(server.url, 'POST /api/auth/verify', proof)).toMatchObject({
      status: 401,
      code: 'INVALID_SIGNATURE',
    })
    const { message } = await begin(server.url, admin)
    expect(message).not.toContain('Administer')
  })

  test('is 401 in headers that do not go together or cannot be read, whatever session is beside them', async () => {
    const headers = headersOf(await proofOf(admin))
    const wrong = [
      ...Object.keys(headers).map((name) => ({ ...headers, [name]: '' })),
      { ...headers, 'x-admin-message': '%%%' },
      { ...headers, 'x-admin-message': Buffer.from('%E0%A4%A').toString('base64') },
      { ...headers, 'x-admin-address': other.address },
      { ...headers, 'x-admin-signature': '0x12' },
    ]
    for (const one of wrong)
      for (const token of [undefined, root.token])
        expect(await list(one, token)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    expect((await list({ 'x-admin-message': '' }, root.token)).status).toBe(200)
  })

  test('goes with a session of the same account alone', async () => {
    const headers = headersOf(await proofOf(admin))
    const { sessionToken } = await signIn(server.url, admin)
    expect((await list(headers, sessionToken)).status).toBe(200)
    expect(await list(headers, root.token)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    expect((await list(headers, 'nonsense')).status).toBe(401)
  })

  test('is good beside a cookie that is not, which browsers send by themselves', async () => {
    const headers = headersOf(await proofOf(admin))
    const cookieOf = (token: string) => ({ ...headers, cookie: `app_session=${token}` })
    const { sessionToken } = await signIn(server.url, admin)
    for (const token of ['nonsense', sessionToken]) expect((await list(cookieOf(token))).status).toBe(200)
    expect(await list(cookieOf(root.token))).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    expect((await call(server.url, 'POST /api/auth/logout', {}, sessionToken)).status).toBe(200)
    const anew = headersOf(await proofOf(admin))
    expect((await list({ ...anew, cookie: `app_session=${sessionToken}` })).status).toBe(200)
  })

  test('may be signed by a contract, as a sign-in', async () => {
    const proof = { ...(await proofOf(contract)), signature: '0x1234' }
    expect((await show(proof)).status).toBe(401)
    chain.deploy(contract.address, { accepts: (text, signature) => text === proof.message && signature === '0x1234' })
    expect((await show(proof)).status).toBe(200)
    expect((await verify(proof)).status).toBe(200)
    chain.away = 'UPSTREAM_ERROR'
    expect(await verify(proof)).toMatchObject({ status: 502, code: 'UPSTREAM_ERROR' })
    expect(await show(proof)).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' })
    chain.away = null
  })

  test('is a fresh proof for five minutes, and good for a day', async () => {
    const proof = await proofOf(wallet('proofs: root'))
    const grant = () =>
      call(server.url, 'POST /api/admin/admins', { walletAddress: other.address }, undefined, headersOf(proof))
    expect((await grant()).status).toBe(200)
    server.setAhead(301)
    expect(await grant()).toMatchObject({ status: 403, code: 'REAUTHENTICATION_REQUIRED' })
    server.setAhead(86_390)
    expect((await show(proof)).status).toBe(200)
    server.setAhead(86_401)
    expect(await verify(proof)).toMatchObject({ status: 401, code: 'NONCE_EXPIRED' })
    expect(await show(proof)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  })
})

describe('what verifying costs', () => {
  beforeAll(async () => {
    server = await boot({ entry: 'through the door', environment: { ...environment, RATE_LIMIT_SCALE: '1' } })
  })
  afterAll(() => server.close())

  test('an address shows 120 messages a minute, good or not; sessions are not among them', heavy, async () => {
    const { sessionToken } = await signIn(server.url, admin)
    const proof = await proofOf(admin)
    const wrong = { ...proof, signature: await wallet('proofs: other').signMessage(proof) }
    const statuses: number[] = []
    for (let shown = 0; shown < 61; shown++) statuses.push((await show(wrong)).status, (await show(proof)).status)
    expect(statuses).toEqual([...Array<number[]>(60).fill([401, 200]).flat(), 429, 429])
    const answer = await show(proof)
    expect(answer).toMatchObject({ status: 429, code: 'RATE_LIMIT_EXCEEDED' })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await list({}, sessionToken)).status).toBe(200)
  })
})

describe('what asking chains costs', () => {
  const chain = fakeChain(1)
  beforeAll(async () => {
    const chains = new Map([[1, chain]])
    server = await boot({
      entry: 'through the door',
      environment: { ...environment, RATE_LIMIT_SCALE: '1' },
      services: { chains },
    })
  })
  afterAll(() => server.close())

  test('wrong messages ask ten times a minute; those that a chain has accepted, and those of keys, go on', async () => {
    const [good, key] = [{ ...(await proofOf(contract)), signature: '0x1234' }, await proofOf(admin)]
    const asked: string[] = []
    chain.deploy(contract.address, {
      accepts(text, signature) {
        asked.push(signature)
        return text === good.message && signature === '0x1234'
      },
    })
    const shown = await Promise.all(Array.from({ length: 15 }, () => show(good)))
    expect(shown.map(({ status }) => status)).toEqual(Array(15).fill(200))
    const wrong = await Promise.all(
      Array.from({ length: 20 }, (_, at) => show({ ...good, signature: `0x56${at + 10}` })),
    )
    expect(asked.filter((signature) => signature.startsWith('0x56'))).toHaveLength(9)
    expect(wrong.map(({ status }) => status).sort()).toEqual([...Array(9).fill(401), ...Array(11).fill(429)])
    expect(Number(wrong.find(({ status }) => status === 429)?.headers.get('retry-after'))).toBeGreaterThan(0)
    for (const proof of [good, key]) expect((await show(proof)).status).toBe(200)
    server.setAhead(61)
    expect((await show({ ...good, signature: '0x78' })).status).toBe(401)
  })

  test('a wallet of nobody, and of an admin no more, asks the chain nothing, and is told what a wrong message is', async () => {
    server.setAhead(122)
    const root = await person(server, 'proofs: root')
    const nobody = wallet('proofs: a contract of nobody')
    const asked: string[] = []
    for (const { address } of [contract, nobody])
      chain.deploy(address, {
        accepts(_text, signature) {
          asked.push(`${address} ${signature}`)
          return signature === '0x1234'
        },
      })
    const [good, strange] = [{ ...(await proofOf(contract)), signature: '0x1234' }, await proofOf(nobody)]
    expect((await show(good)).status).toBe(200)
    asked.length = 0
    const wrong = await show({ ...good, signature: '0x5678' })
    for (const signature of ['0x1234', '0x5678']) {
      const { status, body } = await show({ ...strange, signature })
      expect({ status, body }).toEqual({ status: 401, body: wrong.body })
    }
    expect(asked).toEqual([`${contract.address} 0x5678`])
    const more = await Promise.all(
      Array.from({ length: 20 }, (_, at) => show({ ...strange, signature: `0x${at + 10}` })),
    )
    expect(more.map(({ status }) => status).sort()).toEqual([...Array(6).fill(401), ...Array(14).fill(429)])
    expect((await show(good)).status).toBe(200)
    await root.does('rest', accounts.revokeAdmin, { address: contract.address })
    asked.length = 0
    server.setAhead(183)
    expect(await show(good)).toMatchObject({ status: 401, body: wrong.body })
    expect(asked).toEqual([])
  })
})
