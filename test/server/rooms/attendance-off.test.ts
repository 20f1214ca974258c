// Modes: embedded
import { expect, test } from 'vitest'
import { scriptedAttendance } from '#server/ports/attendance/scripted'
import { rooms } from '#shared/api/rooms/rooms'
import { openAttendanceProvider } from '#test/support/attendance'
import { boot } from '#test/support/boot'
import { person } from '#test/support/people'
import { call } from '#test/support/wallet'

const address = `0x${'12'.repeat(20)}`
const script = scriptedAttendance({
  events: [{ id: 1, name: 'Zebra walk', imageUrl: null }],
  collections: [
    { id: 7, title: 'Walks', dropIds: [1], description: null, logoImageUrl: null, bannerImageUrl: null, year: null },
  ],
  everybody: [1],
})
const get = (url: string, path: string) => call(url, `GET /api/attendance/${path}`)

test('T53: without a provider everything is empty, nobody joins, and it is said', async () => {
  const server = await boot({ services: { attendance: null } })
  const error = 'integration not configured'
  const answers = [
    [`scan?address=${address}`, { error, events: [] }],
    [`events-with-channels?address=${address}`, { error, events: [] }],
    ['collections', { error, collections: [], nextCursor: null }],
    ['collections/7', { error }],
    [`collections-for-user?address=${address}`, { error, collections: [] }],
  ] as const
  for (const [path, body] of answers) {
    const answer = await get(server.url, path)
    expect([answer.status, answer.body]).toEqual([200, body])
  }
  expect((await get(server.url, 'scan')).status).toBe(400)
  const who = await person(server, 'one')
  for (const asked of [{ attendanceEventId: 1 }, { attendanceCollectionId: 7 }])
    expect(await who.refused('rest', rooms.createChannel, asked)).toMatchObject({
      status: 403,
      message: expect.stringContaining('Attendance verification is not configured'),
    })
  await server.close()
})

test('the provider of the configuration is asked, and where its collections are only where that is said', async () => {
  const provider = await openAttendanceProvider(script, 'a key')
  const environment = { ATTENDANCE_API_BASE: provider.url, ATTENDANCE_API_KEY: 'a key' }
  const configured = await boot({ nodes: 1, environment })
  expect((await get(configured.url, `scan?address=${address}`)).body).toEqual({
    events: [{ eventId: 1, eventName: 'Zebra walk', imageUrl: null }],
  })
  expect((await get(configured.url, 'collections')).body).toMatchObject({ error: 'integration not configured' })
  await configured.close()
  const whole = await boot({ nodes: 1, environment: { ...environment, ATTENDANCE_COMPASS_URL: provider.compassUrl } })
  expect((await get(whole.url, 'collections?query=walk')).body).toMatchObject({ collections: [{ title: 'Walks' }] })
  await whole.close()
  await provider.close()
})
