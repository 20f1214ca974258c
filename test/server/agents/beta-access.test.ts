// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakeVideo } from '#server/ports/video/fake'
import { agents } from '#shared/api/agents/agents'
import { betaAccess } from '#shared/api/agents/beta-access'
import { accounts } from '#shared/api/people/accounts'
import { streams } from '#shared/api/streams/streams'
import { type Booted, boot } from '#test/support/boot'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

let server: Booted
let admin: Person
beforeAll(async () => {
  server = await boot({
    environment: { ADMINS: wallet('admin').address, BETA: 'granted' },
    services: { video: fakeVideo() },
  })
  admin = await person(server, 'admin')
})
afterAll(() => server.close())

let people = 0
const somebody = () => person(server, `tester ${++people}`)
const decide = (who: Person, userAddress: string, updates: object) =>
  who.rest('PATCH /api/admin/users', { userAddress, updates })
const creates = async (who: Person, door: (typeof over)[number] = 'rest') =>
  outcomeOf(await who.tries(door, agents.create, { name: `Of ${who.account}` }))

describe('beta access', () => {
  test.each(over)('is asked for, granted by an admin, and taken back, over %s', async (door) => {
    const who = await somebody()
    const seen = () => who.does(door, betaAccess.get, {})
    expect(await seen()).toEqual({ hasBetaAccess: false, hasApplied: false, appliedAt: null })
    expect(await creates(who, door)).toBe('403 BETA_ACCESS_REQUIRED')
    expect(await who.does(door, betaAccess.apply, {})).toMatchObject({ success: true, applied: true })
    expect(await who.does(door, betaAccess.apply, {})).toMatchObject({ success: true, alreadyApplied: true })
    expect(await seen()).toEqual({ hasBetaAccess: false, hasApplied: true, appliedAt: expect.any(String) })
    expect(await creates(who, door)).toBe('403 BETA_ACCESS_REQUIRED')
    expect((await decide(admin, who.account, { beta_access: true })).body).toEqual({ success: true })
    expect(await seen()).toMatchObject({ hasBetaAccess: true, hasApplied: true })
    expect((await who.rest('GET /api/auth/session')).body.user).toMatchObject({ beta_access: true })
    expect(await who.does(door, betaAccess.apply, {})).toMatchObject({ hasBetaAccess: true })
    expect(await creates(who, door)).toBe('200')
    await decide(admin, who.account, { beta_access: false })
    expect(await seen()).toMatchObject({ hasBetaAccess: false })
  })

  test('is what admins have, and find others by', async () => {
    const [asking, granted] = [await somebody(), await somebody()]
    await asking.does('rest', betaAccess.apply, {})
    await decide(admin, granted.account, { beta_access: true, notes: 'A friend of tea' })
    expect(await admin.does('rest', betaAccess.get, {})).toMatchObject({ hasBetaAccess: true })
    expect(await creates(admin)).toBe('200')
    const found = async (betaAccessFilter: 'has_access' | 'applied' | 'neither') => {
      const { users } = await admin.does('rest', accounts.users, { betaAccessFilter, limit: 100 })
      return new Map(users.map((user) => [user.wallet_address, user]))
    }
    const [has, applied, neither] = [await found('has_access'), await found('applied'), await found('neither')]
    expect(has.get(granted.account)).toMatchObject({ beta_access: true, notes: 'A friend of tea' })
    expect(has.has(asking.account)).toBe(false)
    expect(applied.get(asking.account)).toMatchObject({ beta_access: false, beta_access_applied: true })
    expect(applied.has(granted.account)).toBe(false)
    expect([asking.account, granted.account].some((account) => neither.has(account))).toBe(false)
    expect(neither.has(admin.account)).toBe(true)
  })
})

describe('what admins decide of an account', () => {
  test('is a suspension too, and leaves the rest', async () => {
    const who = await somebody()
    await decide(admin, who.account, { beta_access: true, notes: 'one' })
    await decide(admin, who.account, { is_banned: true, ban_reason: 'Spam' })
    const user = async () => (await admin.does('rest', accounts.users, { search: who.account })).users.at(0)
    await expect.poll(user).toMatchObject({ is_banned: true, ban_reason: 'Spam', beta_access: true, notes: 'one' })
    expect(await creates(who)).toBe('403 SUSPENDED')
    await decide(admin, who.account, { is_banned: false, notes: null })
    await expect.poll(user).toMatchObject({ is_banned: false })
    expect(await creates(who)).toBe('200')
  })

  test('is decided by admins alone, and never of oneself', async () => {
    const [who, other] = [await somebody(), await somebody()]
    expect((await decide(who, other.account, { beta_access: true })).status).toBe(403)
    expect((await decide(who, who.account, { beta_access: true })).status).toBe(403)
    expect((await decide(admin, admin.account, { beta_access: true })).status).toBe(403)
    expect((await decide(admin, admin.account, { is_banned: true })).status).toBe(403)
    const nobody = await decide(admin, `0x${'7'.repeat(40)}`, { beta_access: true })
    expect(nobody).toMatchObject({ status: 404, code: 'USER_NOT_FOUND' })
  })

  test('T12, T20, T22: is nothing else', async () => {
    const who = await somebody()
    await decide(admin, who.account, { role: 'super_admin', points: 1_000, email_verified: true })
    const { users } = await admin.does('rest', accounts.users, { search: who.account })
    expect(users[0]).toMatchObject({ role: 'user', beta_access: false })
    for (const wrong of ['true', 1, { $ne: false }, [true]])
      expect((await decide(admin, who.account, { beta_access: wrong })).status).toBe(400)
    expect((await admin.rest('PATCH /api/admin/users', { userAddress: { $gt: '' }, updates: {} })).status).toBe(400)
  })
})

test.each(over)('who has it records livestreams, and nobody else does, over %s', async (door) => {
  const who = await somebody()
  const opens = async (record: boolean) =>
    outcomeOf(await who.tries(door, streams.create, { title: 'Morning', record }))
  expect(await opens(true)).toBe('403 BETA_ACCESS_REQUIRED')
  expect(await opens(false)).toBe('200')
  const { stream } = await who.does(door, streams.create, {})
  expect(stream.record).toBe(false)
  await who.does(door, streams.end, { id: stream.id })
  await decide(admin, who.account, { beta_access: true })
  expect((await who.does(door, streams.create, { record: true })).stream.record).toBe(true)
})
