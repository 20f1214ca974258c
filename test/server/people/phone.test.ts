// Modes: embedded
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { codeSeconds } from '#server/domains/people/identity/codes'
import { social } from '#shared/api/moderation/social'
import { friends } from '#shared/api/people/friends'
import { phone } from '#shared/api/people/phone'
import { type Booted, boot } from '#test/support/boot'
import { codeIn, letterAfter } from '#test/support/letters'
import { type Person, person } from '#test/support/people'

let server: Booted
beforeAll(async () => {
  server = await boot()
})
afterAll(() => server.close())
afterEach(() => server.setAhead(0))

let numbers = 0
const newNumber = () => `+1500555${String(++numbers).padStart(4, '0')}`
const send = (who: Person, phoneNumber: string) => who.rest('POST /api/phone/send-code', { phoneNumber })
const verify = (who: Person, code: string, walletAddress = who.account) =>
  who.rest('POST /api/phone/verify-code', { walletAddress, code })
const codeTo = async (who: Person, number: string) => codeIn(await letterAfter(server, number, () => send(who, number)))
const status = async (who: Person) => (await who.rest('GET /api/phone/status')).body

async function verified(who: Person, number: string): Promise<void> {
  expect((await verify(who, await codeTo(who, number))).status).toBe(200)
}

describe('a phone number', () => {
  test.each([
    '+49 30 1234567;ext=1',
    '+49 30 1234567,,1',
    '+49 30 1234567 ext. 1',
    '+49 30 1234567 x1',
    '+49 30 1234567#1',
    '+49 30 1234567*1',
    'tel:+49301234567',
    '+49 (0)30 1234567',
    '+49 30 1234567 +1',
    '+49 30 1234567 & 8',
    '+4915112345678\n1',
    '+4915112345678\t1',
    '+4915112345678\u20281',
    '+4915112345678/9',
    '+49151\u202e12345678',
    '+49151\u200b12345678',
    '\u202e+4915112345678\u202c',
    '+4915112345678 (9)',
    '+49 (030) 1234567',
    '+49 151 (1234 5678',
    '+49 151 --12345678',
  ])('O02: that is another one, or more than one, is refused: %s', async (written) => {
    const who = await person(server, 'extends')
    expect(await send(who, written)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('Invalid phone number') },
    })
    expect((await who.rest('POST /api/phone/lookup', { phone: written })).status).toBe(400)
    expect(await status(who)).toEqual({ phoneNumber: null, verified: false })
  })

  test.each([
    '+44\u00a020\u20117946\u20130103',
    '\u202d+44 20 7946 0103\u202c',
    '+44-20-7946.0103',
    '+44 (20) 7946 - 0103',
    '(+44) 2079460103\n',
  ])('O02: is read with the signs that people write within one: %s', async (written) => {
    const who = await person(server, `writes ${written}`)
    expect((await send(who, written)).status).toBe(200)
    expect(await status(who)).toMatchObject({ phoneNumber: '+442079460103' })
  })

  test.each([
    ['(500) 555-9001', '+15005559001'],
    ['1 500 555 9002', '+15005559002'],
    ['+44 20 7946 0003', '+442079460003'],
  ])('%s is verified as %s', async (written, number) => {
    const who = await person(server, `phone-${number}`)
    let expiresAt = ''
    const letter = await letterAfter(server, number, async () => {
      const answer = await send(who, written)
      expect(answer.body).toMatchObject({ success: true, message: 'Verification code sent' })
      expiresAt = String(answer.body.expiresAt)
    })
    expect(letter.kind).toBe('sms')
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + (codeSeconds - 60) * 1_000)
    expect(await status(who)).toEqual({ phoneNumber: number, verified: false })
    const answer = await verify(who, codeIn(letter))
    expect(answer.body).toMatchObject({ success: true, phoneNumber: number, pointsAwarded: 100 })
    expect(await status(who)).toEqual({ phoneNumber: number, verified: true })
    expect((await verify(who, '000000')).body).toMatchObject({ success: true, phoneNumber: number })
  })

  test('a new request takes the place of the number and clears that it was verified', async () => {
    const who = await person(server, 'phone-mover')
    const [first, second] = [newNumber(), newNumber()]
    await verified(who, first)
    const code = await codeTo(who, second)
    expect(await status(who)).toEqual({ phoneNumber: second, verified: false })
    const answer = await verify(who, code)
    expect(answer.body).toMatchObject({ phoneNumber: second, pointsAwarded: 0 })
  })

  test('a number that another account has verified is refused, at both steps', async () => {
    const [first, second] = [await person(server, 'phone-first'), await person(server, 'phone-second')]
    const number = newNumber()
    const code = await codeTo(second, number)
    await verified(first, number)
    expect(await verify(second, code)).toMatchObject({ status: 409, code: 'PHONE_IN_USE' })
    expect(await verify(second, await codeTo(second, number))).toMatchObject({ status: 409, code: 'PHONE_IN_USE' })
  })

  test('it is found by its number once it is verified, and not after it was removed', async () => {
    const [who, other] = [await person(server, 'phone-found'), await person(server, 'phone-finder')]
    const number = newNumber()
    await who.rest('PATCH /api/user/profile', { findable_by_phone: true })
    const found = async () => (await other.rest('POST /api/phone/lookup', { phone: number })).body
    await codeTo(who, number)
    expect(await found()).toEqual({ data: null })
    await verified(who, number)
    expect(await found()).toEqual({ data: { wallet_address: who.account, phone_number: number, verified: true } })
    expect((await who.rest('POST /api/phone/remove', { walletAddress: who.account })).body).toMatchObject({
      success: true,
    })
    expect(await found()).toEqual({ data: null })
    expect(await status(who)).toEqual({ phoneNumber: null, verified: false })
  })
})

describe('the numbers of friends', () => {
  const numbersOf = async (who: Person, addresses: readonly string[]) =>
    (await who.does('rest', phone.friends, { addresses: [...addresses] })).phones
  const befriend = async (who: Person, whom: Person) => {
    const { id: requestId } = await who.does('rest', friends.request, { toAddress: whom.account })
    await whom.does('rest', friends.accept, { requestId })
  }

  test('are given where they are verified; everybody else is left out alike', async () => {
    const who = await person(server, 'phone-social')
    const [friend, silent, unverified, asked, stranger] = [
      await person(server, 'phone-friend'),
      await person(server, 'phone-silent'),
      await person(server, 'phone-unverified'),
      await person(server, 'phone-asked'),
      await person(server, 'phone-stranger'),
    ]
    const number = newNumber()
    await verified(friend, number)
    await codeTo(unverified, newNumber())
    for (const one of [who, asked, stranger]) await verified(one, newNumber())
    await befriend(who, friend)
    for (const one of [silent, unverified]) await befriend(one, who)
    await who.does('rest', friends.request, { toAddress: asked.account })
    const everybody = [who, friend, silent, unverified, asked, stranger].map(({ account }) => account)
    const unknown = [`0x${'9'.repeat(40)}`, 'constructor']
    expect(await numbersOf(who, [...everybody, ...unknown, friend.account])).toEqual({ [friend.account]: number })
    const spelled = friend.account.toUpperCase().replace('0X', '0x')
    expect(await numbersOf(who, [spelled])).toEqual({ [friend.account]: number })
    expect(await numbersOf(who, [])).toEqual({})
    expect(await numbersOf(stranger, everybody)).toEqual({})
  })

  test('are gone with the number, with the friendship, and with a block', async () => {
    const [who, friend] = [await person(server, 'phone-parting'), await person(server, 'phone-parted')]
    const number = newNumber()
    await verified(friend, number)
    await befriend(who, friend)
    const known = { [friend.account]: number }
    expect(await numbersOf(who, [friend.account])).toEqual(known)
    await friend.rest('POST /api/phone/remove', {})
    expect(await numbersOf(who, [friend.account])).toEqual({})
    await verified(friend, number)
    expect(await numbersOf(who, [friend.account])).toEqual(known)
    await friend.does('rest', friends.removeByAddress, { friendAddress: who.account })
    expect(await numbersOf(who, [friend.account])).toEqual({})
    await befriend(who, friend)
    await friend.does('rest', social.block, { userAddress: who.account })
    expect(await numbersOf(who, [friend.account])).toEqual({})
  })

  test.each([
    ['no list', {}],
    ['what is no address', { addresses: ['0x1'] }],
    ['more than five hundred', { addresses: Array.from({ length: 501 }, (_, at) => `partner:${at}`) }],
  ])('are not told for %s', async (_title, body) => {
    const who = await person(server, 'phone-asking')
    expect(await who.rest('POST /api/phone/friends', body)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  test('are told for as many as five hundred', async () => {
    const who = await person(server, 'phone-asking')
    const addresses = Array.from({ length: 500 }, (_, at) => `partner:${at}`)
    expect(await numbersOf(who, addresses)).toEqual({})
  })
})

describe('a code for a phone', () => {
  test('there must be one', async () => {
    const who = await person(server, 'phone-none')
    expect(await verify(who, '123456')).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    const code = await codeTo(who, newNumber())
    await who.rest('POST /api/phone/remove', {})
    expect(await verify(who, code)).toMatchObject({ status: 404 })
  })

  test('it is good for ten minutes', async () => {
    const who = await person(server, 'phone-late')
    const code = await codeTo(who, newNumber())
    server.setAhead(codeSeconds)
    expect(await verify(who, code)).toMatchObject({ status: 410, code: 'PHONE_CODE_EXPIRED' })
  })

  test('five tries are judged', async () => {
    const who = await person(server, 'phone-guesser')
    const code = await codeTo(who, newNumber())
    const wrong = code === '000000' ? '111111' : '000000'
    for (let tried = 0; tried < 5; tried++)
      expect(await verify(who, wrong)).toMatchObject({ status: 400, code: 'INVALID_CODE' })
    expect(await verify(who, code)).toMatchObject({ status: 400, code: 'TOO_MANY_ATTEMPTS' })
  })

  test('of fifty parallel tries one verifies, and points are given once', async () => {
    const who = await person(server, 'phone-parallel')
    const code = await codeTo(who, newNumber())
    const answers = await Promise.all(Array.from({ length: 50 }, () => verify(who, code)))
    expect(answers.filter(({ body }) => body.pointsAwarded === 100)).toHaveLength(1)
  })

  test('nobody asks or answers for another account', async () => {
    const [victim, attacker] = [await person(server, 'phone-victim'), await person(server, 'phone-attacker')]
    const phoneNumber = newNumber()
    const body = { walletAddress: victim.account, phoneNumber }
    expect((await attacker.rest('POST /api/phone/send-code', body)).status).toBe(403)
    const code = await codeTo(victim, phoneNumber)
    expect((await verify(attacker, code, victim.account)).status).toBe(403)
    expect((await verify(attacker, code)).status).toBe(404)
  })

  test.each(['', '12', 'nobody', '+0 500 555 0000', '1'.repeat(16), '+1500555000\n1'.repeat(4)])(
    '%j is no number',
    async (number) => {
      const who = await person(server, 'phone-wrong')
      expect((await send(who, number)).status).toBe(400)
    },
  )
})
