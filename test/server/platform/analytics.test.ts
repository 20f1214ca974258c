// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Agents } from '#server/domains/agents/agent-state/model'
import { Accounts } from '#server/domains/people/accounts/model'
import { fakeVideo } from '#server/ports/video/fake'
import { calls } from '#shared/api/meetings/calls'
import { friends } from '#shared/api/people/friends'
import { dailyPoints, points } from '#shared/api/people/points'
import { wallet as wallets } from '#shared/api/people/wallet'
import { analytics, type periods } from '#shared/api/platform/analytics'
import { messages } from '#shared/api/rooms/messages'
import { streams } from '#shared/api/streams/streams'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { befriend, channelOf, groupOf, over, type Person, person } from '#test/support/people'
import { call, wallet } from '#test/support/wallet'

let server: Booted
let admin: Person
let ahead = 0
beforeAll(async () => {
  server = await boot({
    environment: { ADMINS: wallet('counts: admin').address, BETA: 'open' },
    services: { video: fakeVideo() },
  })
  admin = await person(server, 'counts: admin')
})
afterAll(() => server.close())

/** As it is after what was counted before is forgotten. */
async function read(period: (typeof periods)[number] = '24h', door: (typeof over)[number] = 'rest', exclude = '') {
  ahead += 61
  server.setAhead(ahead)
  return admin.does(door, analytics.read, { period, exclude })
}

test.each(over)('admins read over %s what there is, and what came', async (door) => {
  const before = (await read('24h', door)).summary
  const who = await person(server, `counts: ${door}`)
  const agent = { userAddress: who.account, name: `Counted ${door}`, personality: 'Calm' }
  expect((await who.rest('POST /api/agents', agent)).status).toBe(200)
  await groupOf(who)
  await channelOf(who)
  await who.does('rest', streams.create, { title: 'Counted' })
  const { summary, timeSeries } = await read('24h', door)
  const more = (name: keyof Omit<typeof summary, 'totalMessages'>) => summary[name] - before[name]
  const grown = [
    'totalUsers',
    'newUsersCount',
    'activeUsers',
    'totalAgents',
    'newAgentsCount',
    'privateAgents',
  ] as const
  expect(Object.fromEntries(grown.map((name) => [name, more(name)]))).toEqual(
    Object.fromEntries(grown.map((name) => [name, 1])),
  )
  for (const name of ['groupsCreated', 'channelsCreated', 'streamsCreated'] as const)
    expect([name, more(name)]).toEqual([name, 1])
  for (const name of [
    'publicAgents',
    'officialAgents',
    'totalPasskeys',
    'totalAgentMessages',
    'knowledgeItemsCount',
  ] as const)
    expect([name, more(name)]).toEqual([name, 0])
  const sum = (name: keyof Omit<(typeof timeSeries)[number], 'date' | 'label'>) =>
    timeSeries.reduce((all, bucket) => all + bucket[name], 0)
  expect([sum('newUsers'), sum('groups'), sum('agents')]).toEqual([
    ...[summary.newUsersCount, summary.groupsCreated, summary.newAgentsCount],
  ])
  expect([sum('points'), sum('invites'), sum('friendRequests')]).toEqual([
    ...[summary.pointsInPeriod, summary.invitesUsed, summary.friendRequestsCount],
  ])
})

test.each(over)('what accounts have and do with each other is counted over %s', async (door) => {
  const before = (await read('24h', door)).summary
  const [one, other, third] = await Promise.all(
    ['one', 'other', 'third'].map((who) => person(server, `${door} ${who}`)),
  )
  if (!one || !other || !third) throw new Error('Nobody came')
  await befriend(one, other)
  await one.does('rest', friends.request, { toAddress: third.account })
  await one.does('rest', wallets.smartWallet, {})
  await Accounts.updateOne({ _id: one.account }, { $set: { beta_access_applied_at: new Date(), beta_access: true } })
  await Accounts.updateOne({ _id: other.account }, { $set: { beta_access_applied_at: new Date() } })
  await Accounts.updateOne({ _id: third.account }, { $set: { public_landing_enabled: true } })
  const { summary } = await read('24h', door)
  const more = Object.entries(summary).map(([name, figure]) => [
    name,
    (figure ?? 0) - (before[name as keyof typeof before] ?? 0),
  ])
  expect(Object.fromEntries(more.filter(([, figure]) => figure !== 0))).toEqual({
    ...{ totalUsers: 3, newUsersCount: 3, activeUsers: 3, publicProfilesCount: 1, usersWithSmartWallet: 1 },
    ...{ betaApplicantsCount: 2, betaApprovedCount: 1, betaPendingCount: 1 },
    ...{ acceptedFriendships: 1, friendRequestsCount: 2 },
  })
})

test('points are summed by what they were given for, and messages of all rooms together', heavy, async () => {
  const before = await read()
  const of = (told: typeof before, wanted: string) =>
    told.pointsBreakdown.find(({ reason }) => reason === wanted)?.points ?? 0
  const who = await person(server, 'counts: points')
  await who.rest('POST /api/username', { username: 'counts_points' })
  expect(await who.does('rest', points.claim, { action: 'username_claimed' })).toMatchObject({ success: true })
  await who.does('rest', points.claimDaily, {})
  const room = await channelOf(who)
  for (const text of ['One', 'Two']) await who.does('rest', messages.send, { room, text })
  const after = await read()
  const more = (name: 'totalPoints' | 'pointsInPeriod') => after.summary[name] - before.summary[name]
  expect([more('totalPoints'), more('pointsInPeriod')]).toEqual([10 + dailyPoints, 10 + dailyPoints])
  expect(of(after, 'Username taken') - of(before, 'Username taken')).toBe(10)
  expect(of(after, 'Daily bonus') - of(before, 'Daily bonus')).toBe(dailyPoints)
  const all = after.pointsBreakdown.reduce((sum, one) => sum + one.points, 0)
  expect(all).toBe(after.summary.totalPoints)
  expect(after.timeSeries.reduce((sum, one) => sum + one.points, 0)).toBe(after.summary.pointsInPeriod)
  const sent = async () => ((await read()).summary.totalMessages ?? 0) - (before.summary.totalMessages ?? 0)
  await expect.poll(sent).toBe(2)
})

test('admins read of each account what can be counted of it, and not its address of e-mail', async () => {
  const [one, other, third] = await Promise.all(['a', 'b', 'c'].map((who) => person(server, `record ${who}`)))
  if (!one || !other || !third) throw new Error('Nobody came')
  await befriend(one, other)
  await befriend(third, one)
  await one.does('rest', friends.request, { toAddress: (await person(server, 'record d')).account })
  await groupOf(one)
  await channelOf(one)
  await channelOf(other, one)
  await one.does('rest', streams.create, { title: 'Counted' })
  await other.does('rest', calls.start, { calleeAddress: one.account, callType: 'audio', status: 'missed' })
  const smart = (await one.does('rest', wallets.smartWallet, {})).smartWalletAddress
  await Accounts.updateOne(
    { _id: one.account },
    { $set: { email: 'record@people.test', email_verified: true, email_updates_opt_in: true } },
  )
  const recordOf = async (who: Person) => {
    const { body } = await admin.rest(`GET /api/admin/users?search=${who.account}`)
    return (body.users as Record<string, unknown>[])[0] ?? {}
  }
  const record = await recordOf(one)
  expect(record).toMatchObject({
    ...{ friends_count: 2, groups_count: 1, channels_joined: 2, total_calls: 1 },
    ...{ streams_created: 1, streams_started: 0, streams_ended: 0 },
    ...{ smart_wallet_address: smart, email_verified: true, email_updates_opt_in: true },
    ...{ subscription_tier: 'free', subscription_expires_at: null },
  })
  expect(JSON.stringify(record)).not.toContain('record@people.test')
  expect(await recordOf(third)).toMatchObject({
    ...{ friends_count: 1, groups_count: 0, channels_joined: 0, total_calls: 0, streams_created: 0 },
    ...{ smart_wallet_address: null, email_verified: false, email_updates_opt_in: false },
  })
})

test('lists name who is first, and how accounts and agents are divided', async () => {
  const [rich, banned] = [await person(server, 'counts: rich'), await person(server, 'counts: banned')]
  await Accounts.updateOne({ _id: rich.account }, { $set: { points: 1_000_000 } })
  await Accounts.updateOne({ _id: banned.account }, { $set: { points: 2_000_000, is_banned: true } })
  const smart = (await rich.does('rest', wallets.smartWallet, {})).smartWalletAddress
  const agent = { userAddress: rich.account, name: 'Found by all', personality: 'Calm', visibility: 'public' }
  const secret = { userAddress: rich.account, name: 'Found by nobody', personality: 'Calm' }
  for (const one of [agent, secret]) expect((await rich.rest('POST /api/agents', one)).status).toBe(200)
  await Agents.updateMany({ owner_address: rich.account }, { $set: { message_count: 1_000_000 } })
  const { summary, ...told } = await read()
  expect(told.topUsers.byPoints[0]).toEqual({ address: rich.account, username: null, points: 1_000_000 })
  expect(told.topAgents.byMessages[0]).toMatchObject({ name: 'Found by all', messageCount: 1_000_000 })
  expect(told.topAgents.byMessages.map(({ name }) => name)).not.toContain('Found by nobody')
  expect(told.recentSmartWalletUsers[0]).toMatchObject({ address: rich.account, smartWalletAddress: smart })
  const sum = (counts: readonly { count: number }[]) => counts.reduce((all, { count }) => all + count, 0)
  expect(sum(told.agentVisibilityBreakdown)).toBe(summary.totalAgents)
  expect(sum(told.walletTypeBreakdown)).toBe(summary.totalUsers)
  expect(told.officialAgentsList.length).toBe(summary.officialAgents)
})

test('kinds of accounts are left out where accounts are counted and listed', async () => {
  const who = await person(server, 'counts: left out')
  await Accounts.updateOne({ _id: who.account }, { $set: { wallet_type: 'email', points: 3_000_000 } })
  const [all, some, nobody] = [
    await read(),
    await read('24h', 'rest', 'email, none'),
    await read('24h', 'socket', 'eoa,passkey,email,humanproof_id,partner_id,none'),
  ]
  const countOf = (type: string) => all.walletTypeBreakdown.find((one) => one.type === type)?.count ?? 0
  expect(countOf('email')).toBe(1)
  expect(some.summary.totalUsers).toBe(all.summary.totalUsers - countOf('email') - countOf('none'))
  expect(all.topUsers.byPoints[0]?.address).toBe(who.account)
  expect(some.topUsers.byPoints.map(({ address }) => address)).not.toContain(who.account)
  expect(some.walletTypeBreakdown.map(({ type }) => type)).not.toContain('email')
  const { totalUsers, newUsersCount, activeUsers, totalAgents } = nobody.summary
  expect([totalUsers, newUsersCount, activeUsers, totalAgents]).toEqual([0, 0, 0, all.summary.totalAgents])
  expect(nobody.timeSeries.every(({ newUsers }) => newUsers === 0)).toBe(true)
  const named = await read('24h', 'rest', ' wallet,, digitalid ,')
  expect(named.walletTypeBreakdown.map(({ type }) => type)).toEqual(['passkey', 'email', 'none'])
  expect(named.summary.totalUsers).toBe(countOf('passkey') + countOf('email') + countOf('none'))
  expect(await admin.refused('rest', analytics.read, { exclude: 'nobody' })).toMatchObject({
    status: 400,
    message: expect.stringContaining('partner_id'),
  })
})

test('who came before a period is in no part of it', async () => {
  const who = await person(server, 'counts: long ago')
  const [week, year] = [await read('7d'), await read('365d')]
  const at = new Date(Date.now() - 60 * 86_400_000)
  await Accounts.updateOne({ _id: who.account }, { $set: { created_at: at, last_login: at } })
  const [weekAfter, yearAfter] = [await read('7d'), await read('365d')]
  expect(weekAfter.summary.newUsersCount).toBe(week.summary.newUsersCount - 1)
  expect(weekAfter.summary.activeUsers).toBe(week.summary.activeUsers - 1)
  expect(weekAfter.summary.totalUsers).toBe(week.summary.totalUsers)
  expect(yearAfter.summary.newUsersCount).toBe(year.summary.newUsersCount)
  const month = at.toISOString().slice(0, 7)
  expect(yearAfter.timeSeries.find(({ label }) => label === month)?.newUsers).toBe(1)
})

test.each([
  ['24h', 24, /^\d\d:00$/],
  ['7d', 7, /^\d{4}-\d\d-\d\d$/],
  ['30d', 30, /^\d{4}-\d\d-\d\d$/],
  ['90d', 13, /^\d{4}-\d\d-\d\d$/],
  ['365d', 12, /^\d{4}-\d\d$/],
] as const)('%s has %i parts without a gap, of which the last holds this moment', async (period, parts, label) => {
  const { timeSeries, startDate, endDate } = await read(period)
  expect([timeSeries.length, timeSeries[0]?.date]).toEqual([parts, startDate])
  const begin = timeSeries.map(({ date }) => Date.parse(date))
  expect(begin).toEqual(begin.toSorted((one, other) => one - other))
  expect(new Set(begin).size).toBe(parts)
  expect(Date.parse(endDate)).toBeGreaterThanOrEqual(begin.at(-1) ?? 0)
  for (const bucket of timeSeries) expect(bucket.label).toMatch(label)
})

test('it is counted once a minute', async () => {
  const { summary, endDate } = await read('30d')
  await person(server, 'counts: later')
  const again = await admin.does('rest', analytics.read, { period: '30d' })
  if (server.urls.length === 1) expect([again.endDate, again.summary]).toEqual([endDate, summary])
  expect((await read('30d')).summary.totalUsers).toBe(summary.totalUsers + 1)
})

test('nobody else reads it, and no other period is known', async () => {
  const who = await person(server, 'counts: nobody')
  for (const door of over) expect((await who.refused(door, analytics.read, {})).code).toBe('FORBIDDEN')
  expect((await call(server.url, 'GET /api/admin/analytics')).status).toBe(401)
  const { status, body } = await admin.rest('GET /api/admin/analytics?period=1h')
  expect([status, body.error]).toEqual([400, expect.stringContaining('24h')])
})
