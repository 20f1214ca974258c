// Modes: embedded
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Accounts, Passkeys } from '#server/domains/people/accounts/model'
import { PartnerNames } from '#server/domains/people/federation/model'
import { Identities, Sessions } from '#server/domains/people/identity/model'
import { PasskeyChallenges } from '#server/domains/people/passkeys/model'
import { installation } from '#shared/api/platform/installation'
import { Authenticator } from '#test/support/authenticator'
import { type Booted, boot } from '#test/support/boot'
import { codeFor, letterAfter, linkIn } from '#test/support/letters'
import { beginRegistration, post, signInBy } from '#test/support/passkeys'
import { type Person, person } from '#test/support/people'
import { humanProof, openPartner, openProofProvider, partnerRules } from '#test/support/providers'
import { solana, verifySolana } from '#test/support/solana'
import { call, signed, wallet } from '#test/support/wallet'

let server: Booted
let url: string
let provider: Awaited<ReturnType<typeof openProofProvider>>
let partner: Awaited<ReturnType<typeof openPartner>>
let admin: Person
beforeAll(async () => {
  provider = await openProofProvider()
  partner = await openPartner()
  server = await boot({
    entry: 'through the door',
    environment: {
      ADMINS: wallet('closes').address,
      WORLDID_BASE_URL: provider.url,
      WORLDID_APP_ID: 'app_test',
      WORLDID_ACTION: 'sign-in',
      PARTNER_JWKS_URL: `${partner.url}/keys`,
      ...partnerRules,
    },
  })
  url = server.url
  admin = await person(server, 'closes')
})
afterAll(async () => {
  await server.close()
  await provider.close()
  await partner.close()
})
beforeEach(() => open(true))

const open = (value: boolean) => admin.does('rest', installation.changeSetting, { key: 'registration_open', value })

/** How much is stored of people. */
const stored = () =>
  Promise.all([
    Accounts.countDocuments(),
    Identities.countDocuments(),
    Passkeys.countDocuments(),
    PartnerNames.countDocuments(),
    Sessions.countDocuments(),
    PasskeyChallenges.countDocuments(),
  ])

const refused = {
  status: 403,
  code: 'FORBIDDEN',
  body: { error: 'New accounts are not made here at the moment. Who has one signs in as ever.' },
}

const proofOf = (nullifier_hash: string) => humanProof(nullifier_hash, { action: 'sign-in', signal: 'hello' })
const partnerToken = async (sub: string) => ({ token: await partner.token({ sub }), isMiniApp: true })
const byCode = async (email: string, send: string, verify: string) =>
  call(url, `POST ${verify}`, { email, code: await codeFor(server, email, send) })

const ways: [way: string, tries: (name: string) => ReturnType<typeof call>][] = [
  ['a wallet', async (name) => call(url, 'POST /api/auth/verify', await signed(url, wallet(name)))],
  ['a wallet of Solana', (name) => verifySolana(url, solana(name))],
  ['a human proof', (name) => call(url, 'POST /api/auth/humanproof-id', proofOf(wallet(name).address))],
  ['a partner', async (name) => call(url, 'POST /api/auth/partner-id', await partnerToken(name))],
  [
    'a partner that names a wallet',
    async (name) => call(url, 'POST /api/auth/partner-id', await partnerToken(wallet(name).address)),
  ],
  ['a code', (name) => byCode(`${name}@people.test`, '/api/email/login/send-code', '/api/email/login/verify')],
  [
    'a code of the other path',
    (name) => byCode(`${name}@people.test`, '/api/email/send-code', '/api/email/verify-code'),
  ],
  [
    'a link',
    async (name) => {
      const email = `${name}@people.test`
      const letter = await letterAfter(server, email, () => call(url, 'POST /api/email/login/send-link', { email }))
      return call(url, 'POST /api/email/login/link', { token: linkIn(letter).searchParams.get('token') })
    },
  ],
]

test.each(ways)(
  'where registration is closed, by %s nobody gets an account, and who has one signs in',
  async (way, tries) => {
    const [known, stranger] = ['known', 'stranger'].map((name) => `${name}-${ways.findIndex(([one]) => one === way)}`)
    if (known === undefined || stranger === undefined) throw new Error('There are no names')
    expect((await tries(known)).status).toBe(200)
    await open(false)
    const before = await stored()
    const answer = await tries(stranger)
    expect(answer).toMatchObject(refused)
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(await stored()).toEqual(before)
    expect((await tries(known)).status).toBe(200)
    await open(true)
    expect((await tries(stranger)).status).toBe(200)
  },
)

test('where registration is closed, a passkey is made and kept for those alone who have an account', async () => {
  const [early, another] = [await beginRegistration(url), await beginRegistration(url, {}, admin.token)]
  await open(false)
  const before = await stored()
  expect(await post(url, 'register/options', {})).toMatchObject(refused)
  const credential = new Authenticator().create(early.challenge)
  expect(await post(url, 'register/verify', { credential })).toMatchObject(refused)
  const anew = { credential: new Authenticator().create(another.challenge), isNewAccount: true }
  expect(await post(url, 'register/verify', anew, admin.token)).toMatchObject(refused)
  expect(await stored()).toEqual(before)
  const key = new Authenticator()
  const { challenge } = await beginRegistration(url, {}, admin.token)
  const added = await post(url, 'register/verify', { credential: key.create(challenge) }, admin.token)
  expect(added).toMatchObject({ status: 200, body: { userAddress: admin.account } })
  expect(await signInBy(url, key)).toMatchObject({ status: 200, body: { userAddress: admin.account } })
})
