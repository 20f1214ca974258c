// Modes: embedded, two-nodes-redis
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { Accounts } from '#server/domains/people/accounts/model'
import { PointEntries } from '#server/domains/people/points/model'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { points, type pointsActions, pointsChanged } from '#shared/api/people/points'
import { profiles } from '#shared/api/people/profiles'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import { codeIn, letterAfter } from '#test/support/letters'
import { befriend, over, type Person, people, person, staysSilent } from '#test/support/people'
import { solo } from '#test/support/solo'
import { call } from '#test/support/wallet'

const { server, root } = await bootWith(['root'], { superAdmins: ['root'] })

let round = 0
let one: Person
let two: Person
beforeEach(async () => {
  round += 1
  ;[one, two] = await people(server, `earning ${round}`, `watching ${round}`)
  return () => {
    vi.restoreAllMocks()
    server.setAhead(0)
  }
})

type Action = (typeof pointsActions)[number]
const claims = (who: Person, action: Action, door: (typeof over)[number] = 'rest') =>
  who.does(door, points.claim, { action })
const held = async (who: Person) => (await who.does('rest', points.balance, {})).balance
const takesName = (who: Person, username = `name_${who.account.slice(2, 12)}`) =>
  who.does('rest', accounts.claimUsername, { username })
const stateOf = async (who: Person, action: Action) =>
  (await who.does('rest', points.get, {})).actions.find((each) => each.action === action)?.state
const given = (amount: number, message: string) => ({ success: true, message, points: amount, state: 'done' })
const again = { success: false, message: 'You have these points already', points: 0, state: 'done' }

let deeds = 0
/** Enters so many points for something great. */
async function earns(who: Person, amount: number) {
  await PointEntries.create({
    _id: `00000000-0000-7000-8000-${String(++deeds).padStart(12, '0')}`,
    wallet_address: who.account,
    claim: 'a great deed',
    points: amount,
    reason: 'A great deed',
    created_at: new Date(),
  })
  expect(await held(who)).toBe(amount)
}

/** Does something in the place of the next write of a sum; `write` is that write. */
function inPlaceOfNextSum(act: (write: () => Promise<unknown>) => unknown) {
  const updateOne = Accounts.updateOne.bind(Accounts)
  const spy = vi.spyOn(Accounts, 'updateOne').mockImplementation(((...given: Parameters<typeof updateOne>) => {
    if (!JSON.stringify(given[1]).includes('"points"')) return updateOne(...given)
    spy.mockRestore()
    return act(async () => updateOne(...given))
  }) as never)
}

describe('points', () => {
  solo.each(over)('over %s: who has none reads zeros', async (door) => {
    expect(await one.does(door, points.get, {})).toEqual({
      points: 0,
      claimed: {},
      history: [],
      actions: [
        { action: 'phone_verified', points: 100, state: 'open' },
        { action: 'email_verified', points: 100, state: 'open' },
        { action: 'five_friends', points: 50, state: 'open' },
        { action: 'ens_primary', points: 50, state: 'unavailable' },
        { action: 'username_claimed', points: 10, state: 'open' },
        { action: 'social_added', points: 10, state: 'open' },
      ],
    })
    expect(await one.does(door, points.balance, {})).toEqual({ address: one.account, balance: 0, lifetime_earned: 0 })
    expect(await one.does(door, points.history, {})).toEqual({ transactions: [] })
    expect(await one.does(door, points.ownRank, {})).toEqual({ entry: null })
  })

  solo.each(over)('over %s: are given once, where what they are for is there', async (door) => {
    const wanted = { success: false, message: 'Take a username first', points: 0, state: 'open' }
    expect(await claims(one, 'username_claimed', door)).toEqual(wanted)
    await takesName(one)
    expect(await stateOf(one, 'username_claimed')).toBe('ready')
    expect(await claims(one, 'username_claimed', door)).toEqual(given(10, 'Username taken'))
    expect(await claims(one, 'username_claimed', door)).toEqual(again)
    await one.does('rest', accounts.releaseUsername, {})
    expect(await claims(one, 'username_claimed', door)).toEqual(again)
    const { history, ...rest } = await one.does(door, points.get, {})
    expect(rest).toMatchObject({ points: 10, claimed: { username_claimed: true } })
    const entry = { id: expect.any(String), reason: 'Username taken', created_at: expect.any(String) }
    expect(history).toEqual([
      { ...entry, wallet_address: one.account, points: 10, metadata: { claim: 'username_claimed' } },
    ])
    expect(await one.does(door, points.history, {})).toEqual({ transactions: [{ ...entry, amount: 10 }] })
    expect((await one.rest('GET /api/auth/session')).body.user).toMatchObject({ points: 10 })
  })

  solo('are given for five friends, and for no fewer', async () => {
    const friends = await people(server, ...[1, 2, 3, 4, 5].map((at) => `friend ${round} ${at}`))
    for (const friend of friends.slice(1)) await befriend(one, friend)
    expect(await claims(one, 'five_friends')).toMatchObject({ points: 0, message: 'Make 5 friends first' })
    await befriend(friends[0] as Person, one)
    expect(await claims(one, 'five_friends')).toEqual(given(50, 'Five friends'))
    expect(await stateOf(friends[0] as Person, 'five_friends')).toBe('open')
  })

  solo('a friend who is blocked is none of the five', async () => {
    const friends = await people(server, ...[1, 2, 3, 4, 5].map((at) => `friend ${round} ${at}`))
    for (const friend of friends) await befriend(one, friend)
    await friends[0]?.does('rest', social.block, { userAddress: one.account })
    expect(await claims(one, 'five_friends')).toMatchObject({ success: false, state: 'open' })
  })

  solo.each(['profile', 'widget'] as const)('are given for a social profile in a %s', async (where) => {
    expect(await claims(one, 'social_added')).toMatchObject({ points: 0, state: 'open' })
    if (where === 'profile')
      await one.does('rest', accounts.updateProfile, { socials: [{ platform: 'github', handle: 'octocat' }] })
    else {
      const widget = { type: 'social_link' as const, size: '1x1' as const }
      await one.does('rest', profiles.arrange, { widgets: [{ ...widget, config: { platform: 'github' } }] })
      expect(await claims(one, 'social_added')).toMatchObject({ points: 0, state: 'open' })
      const config = { platform: 'github', handle: 'octocat' }
      await one.does('rest', profiles.arrange, { widgets: [{ ...widget, config }] })
    }
    expect(await claims(one, 'social_added')).toEqual(given(10, 'Social profile added'))
  })

  solo('a verified number and address are paid as they are verified, and not again by a claim', async () => {
    for (const action of ['phone_verified', 'email_verified'] as const)
      expect(await claims(one, action)).toMatchObject({ points: 0, state: 'open' })
    const email = `earner-${round}@people.test`
    const sends = () => one.rest('POST /api/email/send-code', { email })
    const attached = await one.rest('POST /api/email/verify-code', {
      code: codeIn(await letterAfter(server, email, sends)),
    })
    expect(attached.body).toMatchObject({ pointsAwarded: 100 })
    const phoneNumber = `+1500555${String(7_000 + round)}`
    const texts = () => one.rest('POST /api/phone/send-code', { phoneNumber })
    const verified = await one.rest('POST /api/phone/verify-code', {
      code: codeIn(await letterAfter(server, phoneNumber, texts)),
    })
    expect(verified.body).toMatchObject({ pointsAwarded: 100 })
    for (const action of ['phone_verified', 'email_verified'] as const) expect(await claims(one, action)).toEqual(again)
    expect(await held(one)).toBe(200)
  })

  solo.each(over)('over %s: nothing is given for what this server cannot look for', async (door) => {
    expect(await claims(one, 'ens_primary', door)).toEqual({
      success: false,
      message: 'This server does not look up ENS names',
      points: 0,
      state: 'unavailable',
    })
    expect(await held(one)).toBe(0)
  })

  solo.each(over)('over %s: are claimed for known actions, and by whom they are for', async (door) => {
    for (const action of ['everything', 'daily_2026-01-01', 'toString', undefined, { $ne: '' }])
      expect(await one.refused(door, points.claim, { action } as never)).toMatchObject({ status: 400 })
    await takesName(one)
    const address = one.account
    expect(await two.refused(door, points.claim, { address, action: 'username_claimed' })).toMatchObject({
      status: 403,
    })
    expect(await two.refused(door, points.get, { address })).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect((await call(server.url, 'GET /api/points')).status).toBe(401)
    expect(await held(one)).toBe(0)
  })

  test('of many claims at once, of the same and of others, each is given once', async () => {
    await takesName(one)
    await one.does('rest', accounts.updateProfile, { socials: [{ platform: 'x', handle: 'earner' }] })
    const doors = [one, await person(server, `earning ${round}`, two.url)]
    const tried = Array.from({ length: 24 }, (_, at) => {
      const who = doors[at % 2] as Person
      return at % 3 === 0
        ? who.does('rest', points.claimDaily, {})
        : claims(who, at % 3 === 1 ? 'username_claimed' : 'social_added')
    })
    const amounts = (await Promise.all(tried)).map((answer) => answer.points).filter((amount) => amount > 0)
    expect(amounts.sort()).toEqual([10, 10, 3])
    expect(await held(one)).toBe(23)
    expect((await one.does('rest', points.ownRank, {})).entry?.score).toBe(23)
  })

  solo('what ends between the entry and the sum is neither lost nor doubled', async () => {
    await takesName(one)
    inPlaceOfNextSum(() => {
      throw new Error('The disk is full')
    })
    expect(await one.tries('rest', points.claim, { action: 'username_claimed' })).toMatchObject({ ok: false })
    expect((await Accounts.findOne({ _id: one.account }))?.points).toBe(0)
    expect((await one.does('rest', points.ownRank, {})).entry).toMatchObject({ score: 10 })
    expect(await claims(one, 'username_claimed')).toEqual(again)
    expect(await held(one)).toBe(10)
  })

  solo('of two sums at once the later one stays, whichever is written last', async () => {
    await takesName(one)
    let release = () => {}
    const isHeld = new Promise<void>((resolve) => {
      inPlaceOfNextSum((write) => {
        resolve()
        return new Promise<void>((free) => {
          release = free
        }).then(write)
      })
    })
    const first = claims(one, 'username_claimed')
    await isHeld
    expect(await one.does('rest', points.claimDaily, {})).toMatchObject({ points: 3 })
    release()
    expect(await first).toEqual(given(10, 'Username taken'))
    expect((await Accounts.findOne({ _id: one.account }))?.points).toBe(13)
  })

  solo('what versions before gave without an entry counts once', async () => {
    await Accounts.updateOne({ _id: one.account }, { $set: { points: 100, points_claimed: ['email_verified'] } })
    const { points: held, claimed, history } = await one.does('rest', points.get, {})
    expect({ held, claimed }).toEqual({ held: 100, claimed: { email_verified: true } })
    expect(history).toMatchObject([{ points: 100, reason: 'Email address verified' }])
    expect(await claims(one, 'email_verified')).toEqual(again)
    await takesName(one)
    await claims(one, 'username_claimed')
    expect((await Accounts.findOne({ _id: one.account }))?.points).toBe(110)
  })

  solo('their history is read page by page, newest first', async () => {
    for (const day of [0, 1, 2, 3, 4]) {
      server.setAhead(day * 86_400)
      await one.does('rest', points.claimDaily, {})
    }
    const page = async (before?: string) =>
      (await one.does('rest', points.history, { limit: 2, ...(before && { before }) })).transactions
    const first = await page()
    const second = await page(first.at(-1)?.id)
    const third = await page(second.at(-1)?.id)
    expect([first.length, second.length, third.length]).toEqual([2, 2, 1])
    const stored = await PointEntries.find({ wallet_address: one.account }).sort({ _id: -1 }).lean()
    expect([...first, ...second, ...third].map(({ id }) => id)).toEqual(stored.map(({ _id }) => _id))
    expect(await two.does('rest', points.history, { before: first[0]?.id })).toEqual({ transactions: [] })
    expect(await one.refused('rest', points.history, { before: 'yesterday' })).toMatchObject({
      code: 'INVALID_PARAMETER',
    })
  })

  test('every device of the account is told, wherever it is connected, and nobody else', heavy, async () => {
    const mine = [await one.socket('/notifications'), await one.socket('/notifications', two.url)]
    const theirs = await two.socket('/notifications')
    await one.does('rest', points.claimDaily, {})
    for (const line of mine)
      expect(await line.hears(pointsChanged)).toMatchObject({ points: 3, entry: { points: 3, reason: 'Daily bonus' } })
    await one.does('rest', points.claimDaily, {})
    await staysSilent(theirs, pointsChanged)
    for (const line of mine) expect(line.all(pointsChanged)).toHaveLength(1)
  })
})

describe('the daily bonus', () => {
  const midnightAfter = (now: number) => (Math.floor(now / 86_400_000) + 1) * 86_400_000

  solo.each(over)('over %s: is claimed once a day, and days begin at midnight UTC', async (door) => {
    const nextResetAt = new Date(midnightAfter(Date.now())).toISOString()
    const today = new Date().toISOString().slice(0, 10)
    const daily = () => one.does(door, points.daily, {})
    expect(await daily()).toEqual({ available: true, lastClaimed: null, nextResetAt, points: 3 })
    const claim = () => one.does(door, points.claimDaily, {})
    expect(await claim()).toEqual({ success: true, points: 3, nextClaimAt: nextResetAt })
    const error = 'You have claimed the bonus of today already'
    expect(await claim()).toEqual({ success: false, points: 0, error, nextClaimAt: nextResetAt })
    expect(await daily()).toEqual({ available: false, lastClaimed: today, nextResetAt, points: 3 })
    server.setAhead((midnightAfter(Date.now()) - Date.now()) / 1_000 - 5)
    expect(await claim()).toMatchObject({ success: false })
    server.setAhead((midnightAfter(Date.now()) - Date.now()) / 1_000 + 1)
    expect(await daily()).toMatchObject({ available: true, lastClaimed: today })
    expect(await claim()).toMatchObject({ success: true })
    const { points: sum, claimed } = await one.does(door, points.get, {})
    expect({ sum, claimed }).toEqual({ sum: 6, claimed: {} })
  })
})

describe('the leaderboard', () => {
  solo.each(over)('over %s: has most points first, equal ones at an equal place, by both shapes', async (door) => {
    const [three, four] = await people(server, `ranked ${round} 3`, `ranked ${round} 4`)
    // More than anybody else in this file has.
    const great = round * 1_000
    await earns(one, great)
    await earns(two, great)
    await earns(three, great + 500)
    const username = `first_${round}`
    await three.does('rest', accounts.updateProfile, { username, display_name: 'The first' })
    const { leaderboard, entries, total } = await four.does(door, points.leaderboard, { limit: 3 })
    const order = [one, two].map(({ account }) => account).sort()
    const top = { rank: 1, address: three.account, username }
    expect(leaderboard[0]).toEqual({ ...top, ensName: null, points: great + 500 })
    expect(entries[0]).toEqual({ ...top, display_name: 'The first', avatar_url: null, score: great + 500 })
    expect(leaderboard.map(({ rank }) => rank)).toEqual([1, 2, 2])
    expect(entries.map(({ address }) => address)).toEqual([three.account, ...order])
    expect(total).toBeGreaterThanOrEqual(3)
    expect((await two.does(door, points.ownRank, {})).entry).toMatchObject({ rank: 2, score: great })
    expect((await four.does(door, points.ownRank, {})).entry).toBeNull()
  })

  solo('is for everybody, ten of it where nobody says', async () => {
    await earns(one, 1)
    const { status, body } = await call(server.url, 'GET /api/leaderboard')
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual(['entries', 'leaderboard', 'total'])
    expect(points.leaderboard.output.parse(body).entries.length).toBeLessThanOrEqual(10)
  })

  solo('has nobody who is suspended, and takes no place from others for them', async () => {
    await earns(one, 90)
    await earns(two, 87)
    const listed = async () => (await two.does('rest', points.leaderboard, { limit: 100 })).entries
    const own = async (who: Person) => (await who.does('rest', points.ownRank, {})).entry
    const [before, rank] = [(await listed()).map(({ address }) => address), (await own(two))?.rank ?? 0]
    expect(before).toContain(one.account)
    await root.does('rest', accounts.suspend, { userAddress: one.account, ban: true })
    await expect.poll(async () => (await listed()).map(({ address }) => address)).not.toContain(one.account)
    expect((await own(two))?.rank).toBe(rank - 1)
    expect(await own(one)).toBeNull()
    expect(await one.refused('rest', points.claimDaily, {})).toMatchObject({ code: 'SUSPENDED' })
    expect(await held(one)).toBe(90)
    await root.does('rest', accounts.suspend, { userAddress: one.account, ban: false })
    await expect.poll(async () => (await own(one))?.score).toBe(90)
  })
})
