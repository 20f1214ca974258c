// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { places } from '#shared/api/rooms/location-rooms'
import { rooms } from '#shared/api/rooms/rooms'
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

test('O91: every hundred rooms that are looked through cost as much as a call', async () => {
  const [founder, reader] = [await person(server, 'model'), await person(server, 'reader')]
  const { room } = await founder.does('rest', rooms.createLocationRoom, { name: 'Hall', userLat: -30.1, userLng: 30.1 })
  const template = await Rooms.findOne({ _id: `location:${room.id}` }).lean()
  const copies = Array.from({ length: 999 }, (_, at) => ({
    ...{ ...template, _id: `location:copy-${at}`, id: `copy-${at}`, place_id: `copy-${at}` },
  }))
  await Rooms.insertMany(copies)
  const statuses: number[] = []
  while (statuses.length < 12)
    statuses.push((await reader.rest('GET /api/location-chats?lat=-30.3&lng=30.3&radius=1000')).status)
  expect(statuses.filter((status) => status === 200).length).toBe(10)
  expect(statuses.at(-1)).toBe(429)
})

test('O91: rooms of places are founded ten times an hour by one account, and sixty from one address', async () => {
  const here = { userLat: 51, userLng: 9 }
  const founds = (name: string, at: number) => ({ name: 'Corner', placeId: `corner_${name}_${at}`, ...here })
  const one = await person(server, 'founder')
  for (let at = 0; at < 6; at++) await one.does('rest', rooms.createLocationRoom, founds('one', at))
  server.setAhead(121)
  for (let at = 6; at < 10; at++) await one.does('rest', rooms.createLocationRoom, founds('one', at))
  const refused = await one.refused('rest', rooms.createLocationRoom, founds('one', 10))
  expect(refused).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', status: 429 })
  expect(Number(refused.retryAfter)).toBeGreaterThan(3_000)
  expect((await one.does('rest', rooms.createLocationRoom, founds('one', 0))).existing).toBe(true)
  const statuses: number[] = []
  for (let nth = 0; nth < 12; nth++) {
    const who = await person(server, `founder ${nth}`)
    for (let at = 0; at < 5; at++)
      statuses.push((await who.rest('POST /api/rooms/location', founds(`${nth}`, at))).status)
  }
  server.setAhead(0)
  // The tests above and this one have founded twelve.
  expect(statuses.filter((status) => status === 200)).toHaveLength(48)
  expect(statuses.at(-1)).toBe(429)
})
