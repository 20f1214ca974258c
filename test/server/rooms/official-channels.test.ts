// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { ensureOfficialChannels } from '#server/domains/rooms/rooms/index'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { over, type Person, person } from '#test/support/people'
import { call } from '#test/support/wallet'

let server: Booted
const listed = async (url = server.url) => rooms.list.output.parse((await call(url, 'GET /api/channels')).body).channels
const begins = () => Promise.all(server.apps.map(({ node }) => ensureOfficialChannels(node)))

describe('a new installation', () => {
  let who: Person
  beforeAll(async () => {
    server = await boot({ environment: { OFFICIAL_CHANNELS: 'on' } })
    who = await person(server, 'comes first')
  })
  afterAll(() => server.close())
  beforeEach(() => begins())

  test('begins with 16 official channels, which are of nobody, on every node', async () => {
    for (const url of server.urls) {
      const channels = await listed(url)
      expect(channels).toHaveLength(16)
      expect(new Set(channels.map(({ name }) => name)).size).toBe(16)
      for (const channel of channels) expect(channel).toMatchObject({ is_official: true, creator_address: null })
    }
  })

  test('makes them once, however many nodes begin, and those that are there stay as they are', async () => {
    await Rooms.updateOne({ slug: 'music' }, { $set: { is_active: false } })
    await Rooms.deleteMany({ slug: { $in: ['art', 'games'] } })
    await begins()
    expect(await Rooms.countDocuments({ type: 'channel', access_level: 'public' })).toBe(16)
    expect((await listed()).map(({ name }) => name)).not.toContain('Music')
    await Rooms.updateOne({ slug: 'music' }, { $set: { is_active: true } })
  })

  test.each(over)('lets people into them by name, and nobody take their names, over %s', async (door) => {
    const room = { type: 'channel', id: 'general' } as const
    await who.does(door, rooms.join, { room })
    await who.does(door, messages.send, { room, text: 'Is anybody here?' })
    expect((await who.does('rest', messages.history, { room })).messages[0]?.content).toBe('Is anybody here?')
    for (const name of ['General', 'GENERAL', 'G\u0435neral'])
      expect(await who.refused('rest', rooms.createChannel, { name })).toMatchObject({ code: 'VALIDATION_ERROR' })
    expect(await who.refused('rest', rooms.archive, { room })).toMatchObject({ code: 'FORBIDDEN' })
    await who.does(door, rooms.leave, { room })
  })

  test('has one more for its staff, which no list shows to others', async () => {
    expect(await Rooms.find({ type: 'channel', access_level: 'staff' }).lean()).toMatchObject([{ name: 'Team' }])
    expect((await listed()).map(({ name }) => name)).not.toContain('Team')
  })

  test('that somebody has founded a channel in gets none any more', async () => {
    await who.does('rest', rooms.createChannel, { name: 'Our own' })
    await Rooms.deleteOne({ slug: 'events' })
    await begins()
    expect((await listed()).map(({ name }) => name)).not.toContain('Events')
  })
})

describe('an installation that is told to', () => {
  beforeAll(async () => {
    server = await boot({ environment: { OFFICIAL_CHANNELS: 'off' } })
  })
  afterAll(() => server.close())

  test('begins with no channel', async () => expect(await listed()).toEqual([]))
})
