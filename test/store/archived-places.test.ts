import { afterAll, beforeAll, expect, test } from 'vitest'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { over, type Person, people } from '#test/support/people'

let server: Booted
beforeAll(async () => {
  server = await boot({ nodes: 1 })
})
afterAll(() => server.close())

// SecantusDB, on which two nodes are tested, keeps entries of a partial index that documents have left; MongoDB removes them.
test.each(over)(
  'the place of an archived room has another room, one for all who found it at once, over %s',
  async (door) => {
    const named = (name: string) => `${name} ${door}`
    const [owner, first, second, third] = await people(
      server,
      named('owner'),
      named('first'),
      named('second'),
      named('third'),
    )
    const place = {
      userLat: door === 'rest' ? 10 : 20,
      userLng: 20,
      radius: 200,
      placeId: `archived_${door}`,
      name: 'Square',
    }
    const found = async (who: Person) => (await who.does(door, rooms.createLocationRoom, place)).room.id
    const former = await found(owner)
    expect(await found(first)).toBe(former)
    await owner.does('rest', rooms.archive, { room: { type: 'location', id: former } })
    const next = new Set(await Promise.all([first, second, third].map(found)))
    expect(next.size).toBe(1)
    expect(next.has(former)).toBe(false)
  },
)
