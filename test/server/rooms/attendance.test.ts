// Modes: embedded
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { scriptedAttendance } from '#server/ports/attendance/scripted'
import { attendance as contract } from '#shared/api/rooms/attendance'
import { type Booted, boot } from '#test/support/boot'
import { over, type Person, people } from '#test/support/people'
import { call } from '#test/support/wallet'

const events = [
  { id: 1, name: 'Zebra walk', imageUrl: 'https://example.org/z.png' },
  { id: 2, name: 'Ant parade', imageUrl: null },
  { id: 3, name: null, imageUrl: null },
]
const about = { description: null, logoImageUrl: null, bannerImageUrl: null, year: 2026 }
const collections = [
  { ...about, id: 7, title: 'Walks', dropIds: [1, 2] },
  { ...about, id: 8, title: 'Others', dropIds: [3] },
]
const walks = { ...about, id: 7, title: 'Walks', dropsCount: 2 }
const others = { ...about, id: 8, title: 'Others', dropsCount: 1 }
const shown = [
  { eventId: 2, eventName: 'Ant parade', imageUrl: null },
  { eventId: 3, eventName: 'Event #3', imageUrl: null },
  { eventId: 1, eventName: 'Zebra walk', imageUrl: 'https://example.org/z.png' },
]
const none = `0x${'0'.repeat(39)}1`
let made = 0
/** An address that nobody has asked about yet. */
const newAddress = () => `0x${String(++made).padStart(40, '5')}`

const script = scriptedAttendance({ events, collections })
let server: Booted
let one: Person
let another: Person
beforeAll(async () => {
  server = await boot({ services: { attendance: script } })
  ;[one, another] = await people(server, 'one', 'another')
  for (const id of [1, 2, 3]) script.mint(one.account, id)
})
beforeEach(() => {
  script.away = null
})
afterAll(() => server.close())

const get = (path: string, url = server.url) => call(url, `GET /api/attendance/${path}`)
const asked = (question: string) => script.asked.filter((one) => one === question).length

describe('the scan of an address', () => {
  test('tells its events by name, to everybody', async () => {
    expect(await get(`scan?address=${one.account}`)).toMatchObject({ status: 200, body: { events: shown } })
    expect((await get(`scan?address=${none}`)).body).toEqual({ events: [] })
    expect((await get('scan?address=email:abc')).body).toEqual({ events: [] })
  })

  test.each(over)('is the same over %s', async (door) => {
    expect(await another.does(door, contract.scan, { address: one.account })).toEqual({ events: shown })
  })

  test.each(['scan', 'scan?address=', 'scan?other=1'])('is refused without an address: %s', async (path) => {
    const { status, body } = await get(path)
    expect([status, body.error]).toEqual([400, 'address query parameter is required'])
  })

  test('is refused for what is no address', async () => {
    expect((await get('scan?address=0x12')).status).toBe(400)
    expect((await get(`scan?address=${one.account}&address=${none}`)).status).toBe(400)
  })

  test('asks the provider once for all who ask at the same time, and again for nobody after', async () => {
    const address = newAddress()
    script.mint(address, 1)
    await Promise.all(Array.from({ length: 20 }, () => get(`scan?address=${address}`)))
    await get(`scan?address=${address.toUpperCase().replace('0X', '0x')}`)
    expect(asked(`events ${address}`)).toBe(1)
  })

  test.each(over)('takes the name of a wallet, which the provider knows, over %s', async (door) => {
    const name = `somebody.${door}.eth`
    script.mint(name, 2)
    expect(await another.does(door, contract.scan, { address: `Somebody.${door}.eth` })).toEqual({ events: [shown[0]] })
    const { events: found } = await another.does(door, contract.eventsWithChannels, { addresses: `${name},${none}` })
    expect(found).toMatchObject([{ eventId: 2 }])
    expect(asked(`events ${name}`)).toBe(1)
  })

  test('asks the provider nothing of what is neither a wallet nor a name of one', async () => {
    const before = script.asked.length
    for (const address of ['email:abc', 'email:a@b.eth', 'passkey', '.eth', 'a..eth', 'a.e'])
      await get(`scan?address=${encodeURIComponent(address)}`)
    expect(script.asked).toHaveLength(before)
  })

  test('is had by the other name of its path, too, as the other lists are', async () => {
    for (const path of [
      `scan?address=${one.account}`,
      `events-with-channels?address=${one.account}`,
      'collections',
      'collections/7',
      `collections-for-user?address=${one.account}`,
    ]) {
      const other = await call(server.url, `GET /api/poap/${path}`)
      expect([path, other.status, other.body]).toEqual([path, 200, (await get(path)).body])
    }
  })

  test.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)(
    'T53: a provider away (%s) is told with no event, and poisons nothing',
    async (away) => {
      const [known, fresh] = [newAddress(), newAddress()]
      for (const address of [known, fresh]) script.mint(address, 2)
      await get(`scan?address=${known}`)
      script.away = away
      expect(await get(`scan?address=${fresh}`)).toMatchObject({
        status: 200,
        body: { error: 'Failed to fetch', events: [] },
      })
      expect((await get(`scan?address=${known}`)).body).toEqual({ events: [shown[0]] })
      script.away = null
      expect((await get(`scan?address=${fresh}`)).body).toEqual({ events: [shown[0]] })
    },
  )
})

describe('events with their channels', () => {
  test('of several addresses are each there once; where one got no answer the others count, and it is said', async () => {
    const [first, second, third] = [newAddress(), newAddress(), newAddress()]
    script.mint(first, 1)
    for (const id of [1, 2]) script.mint(second, id)
    const both = [shown[0], shown[2]].map((event) => ({ ...event, channel: null }))
    expect((await get(`events-with-channels?addresses=${first},%20${second},${first}`)).body).toEqual({ events: both })
    script.away = 'UPSTREAM_ERROR'
    expect((await get(`events-with-channels?addresses=${first},${third}`)).body).toEqual({
      events: [both[1]],
      error: 'Failed to fetch',
    })
    expect((await get(`events-with-channels?address=${third}`)).body).toEqual({ events: [], error: 'Failed to fetch' })
  })

  test.each([
    ['none', ''],
    ['both', `address=${none}&addresses=${none}`],
    ['an empty list', 'addresses=,'],
    ['something else in the list', `addresses=${none},0x12`],
    ['three hundred', `addresses=${Array.from({ length: 300 }, newAddress).join(',')}`],
    ['eleven', `addresses=${Array.from({ length: 11 }, newAddress).join(',')}`],
    ['something else as a member', `address=${none}&memberAddress=0x12`],
  ])('are refused for %s', async (_title, query) => {
    for (const path of ['events-with-channels', 'collections-for-user'])
      expect((await get(`${path}?${query}`)).status).toBe(400)
  })

  test.each(over)('are the same over %s', async (door) => {
    const { events: found } = await one.does(door, contract.eventsWithChannels, { address: one.account })
    expect(found).toEqual(shown.map((event) => ({ ...event, channel: null })))
    const many = Array.from({ length: 200 }, newAddress).join(',')
    for (const asked of [{}, { addresses: many }])
      expect(await one.refused(door, contract.eventsWithChannels, asked)).toMatchObject({ code: 'VALIDATION_ERROR' })
  })
})

describe('collections', () => {
  test('come by pages, until there is no next', async () => {
    expect((await get('collections')).body).toEqual({ collections: [others, walks], nextCursor: null })
    expect((await get('collections?limit=1')).body).toEqual({ collections: [others], nextCursor: '1' })
    expect((await get('collections?limit=1&offset=2')).body).toEqual({ collections: [], nextCursor: null })
    expect((await get('collections?query=walk')).body).toEqual({ collections: [walks], nextCursor: null })
    for (const query of ['limit=0', 'offset=-1', 'offset=1.5', `query=${'x'.repeat(101)}`])
      expect((await get(`collections?${query}`)).status, query).toBe(400)
  })

  test('are told one by one with the ids of their events', async () => {
    expect((await get('collections/7')).body).toEqual({ ...walks, dropIds: [1, 2] })
    expect(await get('collections/9')).toMatchObject({ status: 404, body: { error: 'Collection not found' } })
    for (const id of ['0', '-1', 'abc', '1.5', '99999999999']) expect((await get(`collections/${id}`)).status).toBe(400)
  })

  test('of somebody are those that they hold a token of', async () => {
    const address = newAddress()
    script.mint(address, 3)
    expect((await get(`collections-for-user?address=${address}`)).body).toEqual({
      collections: [{ ...others, canJoin: true, channel: null }],
    })
    expect((await get(`collections-for-user?address=${none}`)).body).toEqual({ collections: [] })
  })

  test('T53: are empty while the provider is away, and it is said', async () => {
    script.away = 'TIMEOUT'
    const error = 'Failed to fetch'
    expect((await get('collections?offset=5')).body).toEqual({ collections: [], nextCursor: null, error })
    expect((await get('collections/8')).body).toEqual({ error })
    expect((await get(`collections-for-user?address=${newAddress()}`)).body).toEqual({ collections: [], error })
    script.away = null
    expect((await get('collections/8')).body).toEqual({ ...others, dropIds: [3] })
  })

  test.each(over)('are the same over %s', async (door) => {
    expect(await one.does(door, contract.collections, { query: 'walk' })).toEqual({
      collections: [walks],
      nextCursor: null,
    })
    expect(await one.does(door, contract.collection, { id: '7' })).toEqual({ ...walks, dropIds: [1, 2] })
    expect(await one.refused(door, contract.collection, { id: '9' })).toMatchObject({ code: 'NOT_FOUND' })
    const own = await one.does(door, contract.collectionsForUser, { addresses: one.account })
    expect(own.collections.map(({ id, canJoin }) => [id, canJoin])).toEqual([
      [8, true],
      [7, true],
    ])
  })
})
