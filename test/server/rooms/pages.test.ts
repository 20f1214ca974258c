// Modes: embedded
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { WebhookDeliveries } from '#server/domains/platform/webhooks/model'
import { Streams } from '#server/domains/streams/streams/model'
import { cursorAt } from '#server/kernel/store/pages'
import { fakeVideo } from '#server/ports/video/fake'
import { webhooks } from '#shared/api/platform/webhooks'
import { rooms } from '#shared/api/rooms/rooms'
import { streams } from '#shared/api/streams/streams'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, type Door, over, type Person, person, say } from '#test/support/people'
import { receiver } from '#test/support/receiver'
import { webOver } from '#test/support/web'

let server: Booted
let reader: Person
let other: Person
let came: Awaited<ReturnType<typeof receiver>>
let hook: string

beforeAll(async () => {
  came = await receiver()
  const video = fakeVideo()
  server = await boot({ services: { video, web: webOver({ 'hooks.test': came.server.port }) } })
  reader = await person(server, 'pages: reader')
  other = await person(server, 'pages: other')
  const room = await channelOf(reader)
  hook = (await reader.does('rest', webhooks.create, { url: 'https://hooks.test/pages', rooms: [room] })).webhook.id
  for (const text of ['one', 'two', 'three', 'four', 'five']) await say(reader, room, text)
  for (let at = 0; at < 5; at++) {
    const owner = await person(server, `pages: owner ${at}`)
    const { stream } = await owner.does('rest', streams.create, { title: `Stream ${at}` })
    video.publish(stream.stream_id ?? '')
    const place = { userLat: 48 + at / 1_000, userLng: 16 }
    await owner.does('rest', rooms.createLocationRoom, { name: `Place ${at}`, ...place })
  }
  await vi.waitFor(
    async () => {
      expect(await Streams.countDocuments({ is_published: true })).toBe(5)
      expect(await WebhookDeliveries.countDocuments({ webhook: hook })).toBe(5)
    },
    { timeout: 20_000, interval: 50 },
  )
}, 60_000)
afterAll(async () => {
  await server.close()
  await came.server.close()
})

interface Page {
  limit: number
  cursor?: string
}
type Read = (who: Person, door: Door, page: Page) => Promise<{ ids: string[]; next: string | null }>
const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)
const lists: Record<string, Read> = {
  async deliveries(who, door, page) {
    const { deliveries, next_cursor } = await who.does(door, webhooks.deliveries, { id: hook, ...page })
    return { ids: idsOf(deliveries), next: next_cursor }
  },
  async streams(who, _door, page) {
    const { streams: found, next_cursor } = await who.does('rest', streams.list, page)
    return { ids: idsOf(found), next: next_cursor }
  },
  async 'who is live'(who, door, page) {
    const { streams: found, next_cursor } = await who.does(door, streams.directory, page)
    return { ids: idsOf(found), next: next_cursor }
  },
  async 'rooms of places'(who, door, page) {
    const { chats, next_cursor } = await who.does(door, rooms.listLocationRooms, page)
    return { ids: idsOf(chats), next: next_cursor }
  },
  async 'rooms around a point'(who, door, page) {
    const { chats, next_cursor } = await who.does(door, rooms.listLocationRooms, { lat: 48, lng: 16, ...page })
    return { ids: idsOf(chats), next: next_cursor }
  },
}

test.each(over.flatMap((door) => Object.keys(lists).map((list) => [list, door] as const)))(
  'N88: %s go on over %s to the end, each once and in order',
  async (list, door) => {
    const read = lists[list] as Read
    const all = await read(reader, door, { limit: 50 })
    expect([all.ids.length, all.next]).toEqual([5, null])
    const turned: string[] = []
    let cursor: string | undefined
    do {
      const page = await read(reader, door, { limit: 2, ...(cursor === undefined ? {} : { cursor }) })
      turned.push(...page.ids)
      cursor = page.next ?? undefined
    } while (cursor !== undefined)
    expect(turned).toEqual(all.ids)
  },
)

test.each(Object.keys(lists))(
  'N88: a cursor of %s is good for that list alone, and is no way to ask for anything',
  async (list) => {
    const read = lists[list] as Read
    const foreign: string[] = []
    for (const [name, another] of Object.entries(lists))
      if (name !== list) foreign.push((await another(reader, 'rest', { limit: 1 })).next ?? 'none')
    const { next } = await read(reader, 'rest', { limit: 1 })
    for (const cursor of [...foreign, '', 'x', `${next}x`])
      await expect(read(reader, 'rest', { limit: 1, cursor }), cursor).rejects.toThrow('INVALID_PARAMETER')
  },
)

test('N88: a cursor of somebody else is refused, and one that names no place of the order', async () => {
  const own = (await other.does('rest', streams.list, { limit: 1 })).next_cursor ?? 'none'
  await expect(lists.streams?.(reader, 'rest', { limit: 1, cursor: own })).rejects.toThrow('INVALID_PARAMETER')
  const places = ['null', '[]', '[1]', '[1,2]', '["a","b"]', '[{"$gt":0},"x"]', '[1.5,"x"]', '[1e20,"x"]', 'x']
  for (const place of places) {
    const cursor = cursorAt('directory all', place)
    await expect(lists['who is live']?.(reader, 'rest', { limit: 1, cursor }), place).rejects.toThrow(
      'INVALID_PARAMETER',
    )
  }
})
