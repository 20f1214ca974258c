// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setEmail } from '#server/domains/people/accounts/emails'
import { email as emailApi } from '#shared/api/people/email'
import { friends } from '#shared/api/people/friends'
import { phone } from '#shared/api/people/phone'
import { type Booted, boot } from '#test/support/boot'
import { codeIn, letterAfter } from '#test/support/letters'
import { beginRegistration, enrol } from '#test/support/passkeys'
import { type Person, person } from '#test/support/people'
import { call } from '#test/support/wallet'

let server: Booted
beforeAll(async () => {
  server = await boot({ entry: 'through the door' })
})
afterAll(() => server.close())

const post = (path: string, body: object, token?: string, headers = {}) =>
  call(server.url, `POST /api/${path}`, body, token, headers)

async function attach(who: Person, email: string) {
  const letter = await letterAfter(server, email, () => who.rest('POST /api/email/send-code', { email }))
  return who.rest('POST /api/email/verify-code', { code: codeIn(letter) })
}

async function enter(email: string) {
  const letter = await letterAfter(server, email, () => post('email/login/send-code', { email }))
  const { body } = await post('email/login/verify', { email, code: codeIn(letter) })
  return { account: String(body.walletAddress), token: String(body.sessionToken), body }
}

const recoveryCode = (email: string) =>
  letterAfter(server, email, () => post('passkey/recover/email', { email })).then(codeIn)

describe('M10: an identity that was taken elsewhere opens nothing', () => {
  test('an address that another account has proved since opens that one, and never again the one it founded', async () => {
    const email = 'moved@people.test'
    const founder = await enter(email)
    expect((await post('email/remove', {}, founder.token)).status).toBe(200)
    const taker = await person(server, 'taker of an address')
    expect((await attach(taker, email)).status).toBe(200)
    expect((await enter(email)).account).toBe(taker.account)
    await taker.does('rest', emailApi.remove, {})
    const after = await enter(email)
    expect([founder.account, taker.account]).not.toContain(after.account)
    expect((await enter(email)).account).toBe(after.account)
    const ways = await call(server.url, 'GET /api/identities', null, founder.token)
    expect(ways.body.identities).toEqual([])
  })

  test('nor where the other account gave it up for another address', async () => {
    const email = 'moved-on@people.test'
    const founder = await enter(email)
    await post('email/remove', {}, founder.token)
    const taker = await person(server, 'taker and giver')
    await attach(taker, email)
    await attach(taker, 'moved-on-2@people.test')
    expect([founder.account, taker.account]).not.toContain((await enter(email)).account)
  })

  test('a session of the old account is not restored by the address', async () => {
    const email = 'restored@people.test'
    const founder = await enter(email)
    await post('email/remove', {}, founder.token)
    const taker = await person(server, 'taker before restoring')
    await attach(taker, email)
    await taker.does('rest', emailApi.remove, {})
    const body = { email, address: founder.account, token: founder.token }
    expect(await post('email/restore-session', body)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  })

  test('a recovery code that was sent before the address moved recovers nothing', async () => {
    const email = 'recovers@people.test'
    const { userAddress, sessionToken } = await enrol(server.url)
    await setEmail(userAddress, email, Date.now())
    const code = await recoveryCode(email)
    await post('email/remove', {}, sessionToken)
    expect(await post('passkey/recover/email/verify', { email, code })).toMatchObject({ code: 'INVALID_CODE' })

    await setEmail(userAddress, email, Date.now())
    const second = await recoveryCode(email)
    await post('email/remove', {}, sessionToken)
    await attach(await person(server, 'taker of a recovery'), email)
    expect(await post('passkey/recover/email/verify', { email, code: second })).toMatchObject({ code: 'INVALID_CODE' })
  })

  test('nor does a recovery token that was given before', async () => {
    const email = 'recovers-late@people.test'
    const { userAddress, sessionToken, key } = await enrol(server.url)
    await setEmail(userAddress, email, Date.now())
    const token = async () => {
      const { body } = await post('passkey/recover/email/verify', { email, code: await recoveryCode(email) })
      return String(body.recoveryToken)
    }
    const [unused, begun] = [await token(), await token()]
    const { challenge } = await beginRegistration(server.url, { recoveryToken: begun })
    await post('email/remove', {}, sessionToken)
    expect(await post('passkey/register/options', { recoveryToken: unused })).toMatchObject({ status: 400 })
    const answer = await post('passkey/register/verify', { credential: key.create(challenge), recoveryToken: begun })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    const { body } = await call(server.url, 'GET /api/passkey/credentials', null, sessionToken)
    expect(body.credentials).toHaveLength(1)
  })
})

describe('M13: no operation reveals who has an address or a number', () => {
  test('adding an address or a number in use is answered as adding a free one, until the code is proved', async () => {
    const [owner, other] = [await person(server, 'owner of contacts'), await person(server, 'asker of contacts')]
    await attach(owner, 'in-use@people.test')
    const used = await other.rest('POST /api/email/send-code', { email: 'in-use@people.test' })
    const free = await other.rest('POST /api/email/send-code', { email: 'free@people.test' })
    expect([used.status, used.body]).toEqual([free.status, free.body])
    const letter = await letterAfter(server, 'in-use@people.test', () =>
      other.rest('POST /api/email/send-code', { email: 'in-use@people.test' }),
    )
    const wrong = codeIn(letter) === '000000' ? '000001' : '000000'
    expect(await other.rest('POST /api/email/verify-code', { code: wrong })).toMatchObject({ code: 'INVALID_CODE' })
    expect(await other.rest('POST /api/email/verify-code', { code: codeIn(letter) })).toMatchObject({
      status: 400,
      code: 'EMAIL_IN_USE',
    })

    await addNumber(owner, '+15005551234')
    const texts = [
      await other.rest('POST /api/phone/send-code', { phoneNumber: '+15005551234' }),
      await other.rest('POST /api/phone/send-code', { phoneNumber: '+15005551235' }),
    ].map(({ status, body }) => [status, { ...body, expiresAt: '' }])
    expect(texts[0]).toEqual(texts[1])
  })

  test('a number is looked up by friends, by its owner, and by everybody where the owner allows it', async () => {
    const [owner, friend, stranger] = await Promise.all(
      ['numbered', 'friend of numbered', 'stranger to numbered'].map((name) => person(server, name)),
    )
    if (!owner || !friend || !stranger) throw new Error('Nobody came')
    const number = '+15005554321'
    await addNumber(owner, number)
    const found = async (who: Person) => (await who.does('rest', phone.lookup, { phone: number })).data
    const whose = { wallet_address: owner.account, phone_number: number, verified: true }
    expect(await found(stranger)).toBeNull()
    expect(await found(owner)).toEqual(whose)
    const { id: requestId } = await friend.does('rest', friends.request, { toAddress: owner.account })
    expect(await found(friend)).toBeNull()
    await owner.does('rest', friends.accept, { requestId })
    expect(await found(friend)).toEqual(whose)
    await owner.rest('PATCH /api/user/profile', { findable_by_phone: true })
    expect(await found(stranger)).toEqual(whose)
    await owner.rest('PATCH /api/user/profile', { findable_by_phone: false })
    expect(await found(stranger)).toBeNull()
    expect((await stranger.rest('POST /api/phone/lookup', { phone: number })).body).toEqual(
      (await stranger.rest('POST /api/phone/lookup', { phone: '+15005550000' })).body,
    )
  })

  async function addNumber(who: Person, number: string) {
    const letter = await letterAfter(server, number, () =>
      who.rest('POST /api/phone/send-code', { phoneNumber: number }),
    )
    expect((await who.rest('POST /api/phone/verify-code', { code: codeIn(letter) })).status).toBe(200)
  }
})
