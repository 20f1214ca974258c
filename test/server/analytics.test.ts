// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Accounts } from '#server/domains/accounts/model'
import { fakeVideo } from '#server/ports/video/fake'
import { analytics, type periods } from '#shared/api/analytics'
import { streams } from '#shared/api/streams'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, groupOf, over, type Person, person } from '#test/support/people'
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
async function read(period: (typeof periods)[number] = '24h', door: (typeof over)[number] = 'rest') {
  ahead += 61
  server.setAhead(ahead)
  return admin.does(door, analytics.read, { period })
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
  const more = (name: keyof typeof summary) => summary[name] - before[name]
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
  const sum = (name: 'newUsers' | 'groups' | 'agents') => timeSeries.reduce((all, bucket) => all + bucket[name], 0)
  expect([sum('newUsers'), sum('groups'), sum('agents')]).toEqual([
    ...[summary.newUsersCount, summary.groupsCreated, summary.newAgentsCount],
  ])
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
