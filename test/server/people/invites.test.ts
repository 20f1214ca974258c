// Modes: embedded, two-nodes-redis
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { Accounts } from '#server/domains/people/accounts/model'
import { InviteUses } from '#server/domains/people/invites/model'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { invites } from '#shared/api/people/invites'
import { points, pointsChanged } from '#shared/api/people/points'
import { bootWith } from '#test/support/boot-with'
import { over, type Person, people, person } from '#test/support/people'
import { solo } from '#test/support/solo'
import { call } from '#test/support/wallet'

const { server, root } = await bootWith(['root'], { superAdmins: ['root'] })

let round = 0
let host: Person
let guest: Person
let other: Person
beforeEach(async () => {
  round += 1
  ;[host, guest, other] = await people(server, `inviting ${round}`, `invited ${round}`, `another ${round}`)
  return () => vi.restoreAllMocks()
})

const listOf = (who: Person, door: (typeof over)[number] = 'rest') => who.does(door, invites.list, {})
const codesOf = async (who: Person) => (await listOf(who)).invites.map(({ code }) => code)
const codeOf = async (who: Person, at = 0) => (await codesOf(who))[at] ?? ''
const redeems = (who: Person, code: string, door: (typeof over)[number] = 'rest') =>
  who.does(door, invites.redeem, { code })
const refuses = async (who: Person, code: string, door: (typeof over)[number] = 'rest') =>
  (await who.refused(door, invites.redeem, { code })).code
const held = async (who: Person) => (await who.does('rest', points.balance, {})).balance

describe('invites', () => {
  solo.each(over)('over %s: an account has five codes, the same each time, and its own', async (door) => {
    const { invites: all, ...counts } = await listOf(host, door)
    expect(counts).toEqual({ totalAllocation: 5, used: 0, available: 5 })
    for (const invite of all)
      expect(invite).toEqual({
        id: expect.any(String),
        owner_address: host.account,
        code: expect.stringMatching(/^[0-9A-F]{8}$/),
        used_by: null,
        used_by_name: null,
        used_at: null,
        is_active: true,
        created_at: expect.any(String),
      })
    expect((await listOf(host, door)).invites).toEqual(all)
    const theirs = await codesOf(guest)
    expect(new Set([...all.map(({ code }) => code), ...theirs]).size).toBe(10)
    expect((await host.rest('GET /api/auth/session')).body.user).toMatchObject({ invite_count: 5 })
  })

  test('of many first looks at once, as many are made as were allocated', async () => {
    const again = await person(server, `inviting ${round}`)
    const looks = await Promise.all(Array.from({ length: 20 }, (_, at) => codesOf(at % 2 ? host : again)))
    const known = await codesOf(host)
    expect(known).toHaveLength(5)
    for (const codes of looks) expect(codes).toEqual(known)
  })

  solo.each(over)('over %s: a code invites one person, and both are given points', async (door) => {
    const code = await codeOf(host)
    await guest.does('rest', accounts.claimUsername, { username: `guest_${round}` })
    const answer = { success: true, message: expect.any(String), inviter: host.account }
    expect(await redeems(guest, ` ${code.toLowerCase()} `, door)).toEqual(answer)
    expect(await refuses(other, code, door)).toBe('INVALID_INVITE')
    const { invites: all, ...counts } = await listOf(host, door)
    expect(counts).toEqual({ totalAllocation: 5, used: 1, available: 4 })
    expect(all[0]).toMatchObject({
      used_by: guest.account,
      used_by_name: `guest_${round}`,
      used_at: expect.any(String),
    })
    expect([await held(host), await held(guest), await held(other)]).toEqual([100, 100, 0])
    const stored = await Accounts.findOne({ _id: guest.account })
    expect(stored).toMatchObject({ invite_code_used: code, referred_by: host.account })
  })

  solo('a repeat changes nothing, and an account uses one invite ever', async () => {
    const [first = '', second = ''] = await codesOf(host)
    await redeems(guest, first)
    await redeems(guest, first)
    expect(await refuses(guest, second)).toBe('CONFLICT')
    expect(await refuses(guest, await codeOf(other))).toBe('CONFLICT')
    expect([await held(host), await held(guest), await held(other)]).toEqual([100, 100, 0])
    expect((await listOf(host)).available).toBe(4)
  })

  solo.each(over)(
    'over %s: no code of one’s own, none that there is not, none of who is suspended or blocked',
    async (door) => {
      expect(await refuses(host, await codeOf(host), door)).toBe('OWN_INVITE')
      for (const code of ['00000000', 'constructor', '$ne'])
        expect(await refuses(guest, code, door)).toBe('INVALID_INVITE')
      for (const code of ['', ' ', undefined, { $ne: '' }])
        expect((await guest.refused(door, invites.redeem, { code } as never)).status).toBe(400)
      const code = await codeOf(host)
      expect((await guest.refused(door, invites.redeem, { code, redeemerAddress: other.account })).status).toBe(403)
      await host.does('rest', social.block, { userAddress: guest.account })
      expect(await refuses(guest, code, door)).toBe('INVALID_INVITE')
      await root.does('rest', accounts.suspend, { userAddress: host.account, ban: true })
      await expect.poll(async () => (await Accounts.findOne({ _id: host.account }))?.is_banned).toBe(true)
      expect(await refuses(other, code, door)).toBe('INVALID_INVITE')
      expect([await held(host), await held(guest), await held(other)]).toEqual([0, 0, 0])
    },
  )

  test('of many who use one code at once one is invited', async () => {
    const code = await codeOf(host)
    const guests = await people(server, ...[1, 2, 3, 4, 5, 6].map((at) => `racing ${round} ${at}`))
    const answers = await Promise.all(guests.map((who) => who.tries('rest', invites.redeem, { code })))
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
    const sums = await Promise.all(guests.map(held))
    expect(sums.filter((sum) => sum > 0)).toEqual([100])
    expect(await held(host)).toBe(100)
  })

  test('of many codes that one person uses at once one counts', async () => {
    const codes = [...(await codesOf(host)), ...(await codesOf(other))]
    const again = await person(server, `invited ${round}`, host.url)
    const answers = await Promise.all(
      codes.map((code, at) => (at % 2 ? guest : again).tries('rest', invites.redeem, { code })),
    )
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
    expect(await held(guest)).toBe(100)
    expect((await held(host)) + (await held(other))).toBe(100)
    expect((await listOf(host)).used + (await listOf(other)).used).toBe(1)
  })

  solo.each([
    [1, 'the same call once more'],
    [2, 'a look by who invited'],
    [3, 'the same call once more'],
    [3, 'a look by who invited'],
  ] as const)('what died at its write %d is completed by %s', async (last, by) => {
    const code = await codeOf(host)
    const updateOne = Accounts.updateOne.bind(Accounts)
    let writes = 0
    const spy = vi.spyOn(Accounts, 'updateOne').mockImplementation(((...given: Parameters<typeof updateOne>) => {
      if (!('$max' in (given[1] ?? {})) || ++writes < last) return updateOne(...given)
      spy.mockRestore()
      throw new Error('The disk is full')
    }) as never)
    expect((await guest.tries('rest', invites.redeem, { code })).ok).toBe(false)
    expect(await refuses(other, code)).toBe('INVALID_INVITE')
    expect(await InviteUses.findOne({ _id: guest.account })).toMatchObject({ settled: false })
    if (by === 'a look by who invited') await listOf(host)
    else await redeems(guest, code)
    expect([await held(host), await held(guest)]).toEqual([100, 100])
    expect(await InviteUses.findOne({ _id: guest.account })).toMatchObject({ settled: true })
    await redeems(guest, code)
    expect([await held(host), await held(guest)]).toEqual([100, 100])
    expect((await Accounts.findOne({ _id: host.account }))?.points).toBe(100)
  })

  test('both are told of their points, wherever they are connected', async () => {
    const lines = [await host.socket('/notifications'), await guest.socket('/notifications')]
    await redeems(guest, await codeOf(host))
    for (const line of lines) expect(await line.hears(pointsChanged)).toMatchObject({ points: 100 })
  })

  solo('codes are told to nobody else', async () => {
    await codesOf(host)
    expect((await guest.rest(`GET /api/invites?address=${host.account}`)).status).toBe(403)
    expect((await call(server.url, 'GET /api/invites')).status).toBe(401)
  })
})
