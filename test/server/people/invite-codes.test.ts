// Modes: embedded
import { afterEach, describe, expect, test } from 'vitest'
import { accounts } from '#shared/api/people/accounts'
import { inviteCodes, invites } from '#shared/api/people/invites'
import { points } from '#shared/api/people/points'
import type { CallOf } from '#shared/kit/contract'
import { bootWith } from '#test/support/boot-with'
import { type Person, people, person } from '#test/support/people'

const { server, admin, other } = await bootWith(['admin', 'other'], {
  entry: 'through the door',
  admins: ['admin', 'other'],
})
afterEach(() => server.setAhead(0))

let made = 0
const somebody = () => person(server, `newcomer ${++made}`)
const makes = async (how: CallOf<typeof inviteCodes.create> = {}) =>
  (await admin.does('rest', inviteCodes.create, how)).code
const listed = async (code: string) =>
  (await admin.does('rest', inviteCodes.list, {})).codes.find((each) => each.code === code)
const redeems = (who: Person, code: string) => who.does('rest', invites.redeem, { code })
const refuses = async (who: Person, code: string) => (await who.refused('rest', invites.redeem, { code })).code
const held = async (who: Person) => (await who.does('rest', points.balance, {})).balance

const userOf = async (who: Person | undefined) =>
  (await admin.does('rest', accounts.users, { search: who?.account ?? '' })).users[0]

describe('a code of admins', () => {
  test('invites as many as it may, and is listed with who used it', async () => {
    const record = await makes({ maxUses: 2, note: 'For the fair' })
    expect(record).toEqual({
      id: expect.any(String),
      code: expect.stringMatching(/^[0-9A-F]{8}$/),
      created_by: admin.account,
      max_uses: 2,
      current_uses: 0,
      expires_at: null,
      is_active: true,
      note: 'For the fair',
      created_at: expect.any(String),
    })
    const { code } = record
    const guests = await Promise.all([1, 2, 3, 4, 5, 6].map(somebody))
    const answers = await Promise.all(guests.map((who) => who.tries('rest', invites.redeem, { code })))
    const invited = guests.filter((_, at) => answers[at]?.ok)
    expect(invited).toHaveLength(2)
    const { usedBy, ...rest } = (await listed(code)) ?? { usedBy: [] }
    expect(rest).toEqual({ ...record, current_uses: 2 })
    expect(usedBy.map(({ used_by }) => used_by).sort()).toEqual(invited.map(({ account }) => account).sort())
  })

  test('gives points to who uses it, and none to the admin', async () => {
    const { code } = await makes({ maxUses: 0 })
    const guests = await Promise.all([1, 2, 3].map(somebody))
    for (const guest of guests) await redeems(guest, code)
    expect(await Promise.all(guests.map(held))).toEqual([100, 100, 100])
    expect(await held(admin)).toBe(0)
    const record = await userOf(guests[0])
    expect(record).toMatchObject({ points: 100, invite_code_used: code, referred_by: null })
    expect(await userOf(admin)).toMatchObject({ points: 0, invites_used: 0 })
    expect((await listed(code))?.current_uses).toBe(3)
    expect(await refuses(admin, code)).toBe('OWN_INVITE')
    expect((await admin.does('rest', invites.list, {})).invites.map((invite) => invite.code)).not.toContain(code)
  })

  test('is good until it expires, is turned off or is deleted', async () => {
    const [guest, invited] = [await somebody(), await somebody()]
    const expiresAt = new Date(Date.now() + 60_000).toISOString()
    const { code, expires_at } = await makes({ maxUses: 0, expiresAt })
    expect(expires_at).toBe(expiresAt)
    await redeems(invited, code)
    server.setAhead(61)
    expect(await refuses(guest, code)).toBe('INVALID_INVITE')
    server.setAhead(0)
    await admin.does('rest', inviteCodes.update, { code, isActive: false, note: null })
    expect(await listed(code)).toMatchObject({ is_active: false, note: null })
    const { codes, total } = await admin.does('rest', inviteCodes.list, { activeOnly: true })
    expect(codes.map((each) => each.code)).not.toContain(code)
    expect(total).toBe(codes.length)
    expect(await refuses(guest, code)).toBe('INVALID_INVITE')
    await admin.does('rest', inviteCodes.update, { code: code.toLowerCase(), isActive: true })
    await admin.does('rest', inviteCodes.remove, { code })
    expect(await listed(code)).toBeUndefined()
    expect(await refuses(guest, code)).toBe('INVALID_INVITE')
    await redeems(invited, code)
    expect(await held(invited)).toBe(100)
  })

  test('may be of words of one’s own, which nobody else’s is', async () => {
    const customCode = 'summer-26'
    expect((await makes({ customCode })).code).toBe('SUMMER-26')
    expect(await admin.refused('rest', inviteCodes.create, { customCode })).toMatchObject({
      status: 400,
      code: 'INVITE_CODE_EXISTS',
    })
    for (const wrong of ['abc', 'a b c d', 'é'.repeat(5), 'x'.repeat(33)])
      expect((await admin.refused('rest', inviteCodes.create, { customCode: wrong })).status).toBe(400)
    await redeems(await somebody(), ' Summer-26 ')
  })

  test('is made once, however often the call is repeated', async () => {
    const input = { idempotency_key: 'the-fair', maxUses: 3 }
    const [first, second] = [await makes(input), await makes(input)]
    expect(second).toEqual(first)
  })

  test('is the business of admins, and there must be one', async () => {
    const who = await somebody()
    const own = (await who.does('rest', invites.list, {})).invites[0]?.code ?? ''
    for (const code of [own, 'NONE-SUCH']) {
      expect((await admin.refused('rest', inviteCodes.update, { code, isActive: false })).code).toBe('NOT_FOUND')
      expect((await admin.refused('rest', inviteCodes.remove, { code })).code).toBe('NOT_FOUND')
    }
    expect((await admin.refused('rest', inviteCodes.update, { code: own })).status).toBe(400)
    for (const [operation, input] of [
      [inviteCodes.list, {}],
      [inviteCodes.create, {}],
      [inviteCodes.update, { code: own, isActive: false }],
      [inviteCodes.remove, { code: own }],
      [inviteCodes.grant, { walletAddress: other.account, additionalInvites: 1 }],
    ] as const)
      expect(await who.refused('rest', operation, input as never)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  })
})

describe('more invites', () => {
  test('are granted by an admin, and become codes', async () => {
    const [who, racing] = await people(server, 'granted', 'granted at once')
    const grant = (walletAddress: string, additionalInvites: number) =>
      admin.does('rest', inviteCodes.grant, { walletAddress, additionalInvites })
    await who.does('rest', invites.list, {})
    expect(await grant(who.account, 3)).toMatchObject({ success: true, newTotal: 8 })
    expect(await who.does('rest', invites.list, {})).toMatchObject({ totalAllocation: 8, available: 8 })
    expect((await who.rest('GET /api/auth/session')).body.user).toMatchObject({ invite_count: 8 })
    const [invited] = await people(server, 'granted to')
    const { code = '' } = (await who.does('rest', invites.list, {})).invites[7] ?? {}
    await redeems(invited, code)
    expect(await userOf(who)).toMatchObject({ points: 100, invite_count: 8, invites_used: 1 })
    expect(await userOf(invited)).toMatchObject({ invite_count: 5, invite_code_used: code, referred_by: who.account })
    const totals = await Promise.all([1, 2, 3, 4, 5].map(async () => (await grant(racing.account, 2)).newTotal))
    expect(totals.sort((one, two) => one - two)).toEqual([7, 9, 11, 13, 15])
  })

  test('are granted to others, who are there, and within bounds', async () => {
    const refused = (walletAddress: string, additionalInvites: number) =>
      admin.refused('rest', inviteCodes.grant, { walletAddress, additionalInvites })
    expect(await refused(admin.account, 1)).toMatchObject({ status: 403 })
    expect(await refused(`0x${'7'.repeat(40)}`, 1)).toMatchObject({ code: 'USER_NOT_FOUND' })
    for (const wrong of [0, -1, 1.5, 1_001, 996])
      expect(await refused(other.account, wrong)).toMatchObject({ status: 400 })
  })
})
