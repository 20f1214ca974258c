// Modes: embedded
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { setEmail } from '#server/domains/people/accounts/emails'
import { Accounts, Passkeys } from '#server/domains/people/accounts/model'
import { Identities } from '#server/domains/people/identity/model'
import { newId } from '#server/kernel/ids'
import { fakePartner } from '#server/ports/partner/fake'
import { identities } from '#shared/api/people/identities'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Person, person } from '#test/support/people'
import { solana, verifySolana } from '#test/support/solana'
import { call, signIn, wallet } from '#test/support/wallet'

let server: Booted
/** One partner at each node. */
const partner = fakePartner('https://partner.example')
const other = fakePartner('https://other.example')
beforeAll(async () => {
  const partners = [partner, other]
  server = await boot({
    entry: 'through the door',
    nodes: 2,
    change: ({ services, ...platform }) => ({
      ...platform,
      services: { ...services, partnerTokens: partners.shift() ?? null },
    }),
  })
})
afterAll(() => server.close())

const enter = async (sub: string) =>
  call(server.url, 'POST /api/auth/partner-id', { token: partner.token({ sub }), isMiniApp: true })
const enterAtOther = async (sub: string) =>
  call(server.urls[1] ?? '', 'POST /api/auth/partner-id', {
    token: other.token({ sub }),
    isMiniApp: true,
  })
const accountAfter = async (answer: ReturnType<typeof enter>) => String((await answer).body.userAddress)
const linkPartner = async (who: Person, sub: string) =>
  who.rest('POST /api/identities/partner', { token: partner.token({ sub }), isMiniApp: true })

describe('M04: a partner founds no account under the id of a wallet', () => {
  const first = wallet('named first').address
  test.each([
    ['an Ethereum address', first],
    ['the same in lower case', first.toLowerCase()],
    ['the same in upper case', first.toUpperCase()],
    ['the same behind an invisible character', `\u200b${first}`],
    ['an id that a passkey could have', `0x${'12'.repeat(20)}`],
    ['a Solana address', solana('named first').address],
    ['a Solana address of 32 characters', '1'.repeat(32)],
  ])('%s', async (_title, sub) => {
    const { status, body } = await enter(sub)
    expect(status).toBe(200)
    expect(body.userAddress).toMatch(/^partner:[0-9a-f]{64}$/)
    expect(await accountAfter(enter(sub))).toBe(body.userAddress)
    const known = await Accounts.countDocuments({ _id: { $in: [sub, sub.toLowerCase()] } })
    expect(known).toBe(0)
  })

  test.each(['email', 'EMAIL', 'humanproof', 'HumanProof', 'worldid', 'partner', 'PARTNER', 'bot', '\u200bemail'])(
    'an id of the kind %s: opens nothing',
    async (kind) => {
      expect(await enter(`${kind}:${'ab'.repeat(32)}`)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    },
  )

  test.each(['\uff10x', '0\uff58'])('full-width characters in a name open nothing: %s', async (start) => {
    expect(await enter(start + first.slice(2))).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  })

  test('the owner of the wallet gets an account that the partner does not open', async () => {
    const account = await accountAfter(enter(wallet('comes later').address))
    const owner = await signIn(server.url, wallet('comes later'))
    expect(owner.answer.body.userAddress).toBe(owner.address)
    expect(await accountAfter(enter(owner.address))).toBe(account)
    const { address } = solana('comes later')
    const other = await accountAfter(enter(address))
    expect((await verifySolana(server.url, solana('comes later'))).body.userAddress).toBe(address)
    expect(await accountAfter(enter(address))).toBe(other)
  })

  test('the wallet itself links the partner: from then on it opens the account of the wallet alone', async () => {
    const before = await enter(wallet('links it').address)
    const me = await person(server, 'links it', server.url)
    expect((await linkPartner(me, me.account)).status).toBe(200)
    expect(await accountAfter(enter(me.account))).toBe(me.account)
    const session = await call(server.url, 'GET /api/auth/session', null, String(before.body.sessionToken))
    expect(session).toMatchObject({ status: 401, code: 'SESSION_NOT_FOUND' })
  })

  test('no other account takes a partner identity by linking it', async () => {
    const account = await accountAfter(enter(wallet('not mine').address))
    const me = await person(server, 'wants it', server.url)
    expect(await linkPartner(me, wallet('not mine').address)).toMatchObject({ status: 409, code: 'CONFLICT' })
    expect(await accountAfter(enter(wallet('not mine').address))).toBe(account)
  })
})

describe('M04: one name at two issuers', () => {
  test('is two accounts, whoever comes first', async () => {
    expect(await accountAfter(enter('twin'))).toBe('twin')
    const other = await accountAfter(enterAtOther('twin'))
    expect(other).toMatch(/^partner:/)
    expect(await accountAfter(enterAtOther('twin'))).toBe(other)
    expect(await accountAfter(enter('twin'))).toBe('twin')
  })

  test('is two accounts for a wallet address too', async () => {
    const sub = `0x${'34'.repeat(20)}`
    expect(await accountAfter(enter(sub))).not.toBe(await accountAfter(enterAtOther(sub)))
  })

  test('at once, one of them has the name', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => accountAfter((at % 2 ? enter : enterAtOther)('race-of-issuers'))),
    )
    const opened = [0, 1].map((at) => new Set(answers.filter((_, index) => index % 2 === at)))
    expect(opened.map(({ size }) => size)).toEqual([1, 1])
    expect(new Set(answers).size).toBe(2)
  })

  test('somebody whose first sign-in ended while this one looked around is let in', async () => {
    expect(await accountAfter(enter('overtaken'))).toBe('overtaken')
    vi.spyOn(Identities, 'findOneAndUpdate').mockReturnValueOnce({ lean: async () => null } as never)
    expect(await accountAfter(enter('overtaken'))).toBe('overtaken')
    vi.restoreAllMocks()
  })

  test('somebody new who comes in many times within milliseconds gets one account, and no refusal', heavy, async () => {
    for (const sub of Array.from({ length: 10 }, (_, at) => `hurried-${at}`)) {
      const token = partner.token({ sub })
      const late = async (milliseconds: number) => {
        await setTimeout(milliseconds)
        return call(server.url, 'POST /api/auth/partner-id', { token, isMiniApp: true })
      }
      const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => late(at)))
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
      expect(new Set(answers.map(({ body }) => body.userAddress)).size).toBe(1)
    }
  })
})

describe('M04: accounts that were made before', () => {
  const stored = async (identifier: string, account: string, wallet_type: string) => {
    await Accounts.create({ _id: account, wallet_type, created_at: new Date(), updated_at: new Date() })
    await Identities.create({ _id: newId(), method: 'alien', identifier, account, created_at: new Date() })
  }

  test('a plain name opens its account as before', async () => {
    await stored('old-member', 'old-member', 'partner_id')
    expect(await accountAfter(enter('old-member'))).toBe('old-member')
    expect(await accountAfter(enterAtOther('old-member'))).not.toBe('old-member')
  })

  test('an account that a partner founded under a wallet is the wallet alone from now on', async () => {
    const { address } = wallet('founded by a partner')
    const id = address.toLowerCase()
    await stored(id, id, 'partner_id')
    const key = { user_address: id, credential_id: newId(), public_key_x: '0x1', public_key_y: '0x1', rp_id: 'x' }
    await Passkeys.create({
      ...key,
      _id: newId(),
      counter: 0,
      user_handle: 'x',
      aaguid: 'x',
      transports: [],
      backed_up: false,
      created_at: new Date(),
    })
    await setEmail(id, 'attacker@example.com', Date.now())
    expect(await accountAfter(enter(address))).toMatch(/^partner:/)

    const owner = await signIn(server.url, wallet('founded by a partner'))
    expect(owner.answer.body).toMatchObject({ userAddress: id, user: { wallet_type: 'eoa', email: null } })
    expect(await Passkeys.countDocuments({ user_address: id })).toBe(0)
    const { body } = await call(server.url, 'GET /api/identities', null, owner.sessionToken)
    expect(body.identities).toMatchObject([{ method: 'wallet', identifier: id, is_original: true }])
    expect(await accountAfter(enter(address))).toMatch(/^partner:/)
  })

  test('a partner that the wallet had linked still opens its account', async () => {
    const me = await person(server, 'linked before', server.url)
    await Identities.create({
      _id: newId(),
      method: 'alien',
      identifier: me.account,
      account: me.account,
      created_at: new Date(),
    })
    expect(await accountAfter(enter(me.account))).toBe(me.account)
    expect((await me.does('rest', identities.list, {})).identities).toHaveLength(2)
  })
})
