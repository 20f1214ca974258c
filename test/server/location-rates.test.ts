// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { places } from '#shared/api/places'
import { rooms } from '#shared/api/rooms'
import { type Booted, boot } from '#test/support/boot'
import { over, person } from '#test/support/people'

let server: Booted
beforeAll(async () => {
  server = await boot({ environment: { RATE_LIMIT_SCALE: '1' } })
})
afterAll(() => server.close())

test.each(over)('T82: over %s, a position is said six times in two minutes, however it is said', async (door) => {
  const who = await person(server, `teller ${door}`)
  const at = (steps: number) => ({ latitude: 50 + steps / 10_000, longitude: 8 })
  const { latitude: userLat, longitude: userLng } = at(0)
  const { room } = await who.does(door, rooms.createLocationRoom, { name: 'Square', userLat, userLng })
  for (let steps = 1; steps < 6; steps++) await who.does(door, places.claim, at(steps))
  const limited = { code: 'RATE_LIMIT_EXCEEDED', status: 429, retryAfter: 120 }
  expect(await who.refused(door, places.claim, at(6))).toMatchObject(limited)
  const again = { room: { type: 'location', id: room.id }, position: at(0) } as const
  expect(await who.refused(door, rooms.join, again)).toMatchObject(limited)
  expect(await who.refused(door, rooms.createLocationRoom, { name: 'Next', userLat, userLng })).toMatchObject(limited)
})
