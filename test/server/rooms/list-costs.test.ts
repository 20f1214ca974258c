// Modes: embedded
import { beforeAll, expect, test } from 'vitest'
import { RoomFacts, Rooms } from '#server/domains/rooms/room-state/model'
import { roomTerms } from '#server/domains/rooms/room-state/search-index'
import { storePlaceCells } from '#server/domains/rooms/rooms/location-rooms'
import { newId } from '#server/kernel/ids'
import { social } from '#shared/api/moderation/social'
import { inbox } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { cellOf } from '#shared/kit/earth'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { channelOf, moderates, say } from '#test/support/people'
import { readsOf } from '#test/support/store-reads'

const { server, owner, member } = await bootWith(['owner', 'member'])

const many = 20
const all: (RoomRef & { id: string })[] = []
beforeAll(async () => {
  for (let at = 0; at < many; at++) all.push(await channelOf(owner, member))
  for (const room of all) await say(owner, room, 'Hello')
}, 60_000)

const list = async () => (await member.does('rest', inbox.list, { limit: 100 })).rooms
const inList = async ({ id }: { id: string }) => (await list()).find((room) => room.id === id)

/** A membership, a mark, and what says who asks. */
const ofARoom = 2
const ofACall = 20

test('O04: a list reads of a room that has not changed no more than what is the caller’s own', async () => {
  await list()
  expect(await readsOf(list)).toBeLessThan(many * ofARoom + ofACall)
  const channels = () => member.does('rest', rooms.list, { joined: true })
  await channels()
  expect(await readsOf(channels)).toBeLessThan(many * ofARoom + ofACall)
  const [room] = all
  if (!room) throw new Error('No room')
  await say(owner, room, 'More')
  expect(await readsOf(list)).toBeLessThan(many * ofARoom + 2 * ofACall)
})

test('O04: a list shows each change of a room at once', async () => {
  const room = await channelOf(owner, member)
  await expect.poll(() => inList(room)).toMatchObject({ unread: 0, last_message: null, role: 'member' })
  const { id, seq } = await say(owner, room, 'One', {
    mentions: [{ kind: 'user', id: member.account, start: 0, len: 3 }],
  })
  await expect.poll(() => inList(room)).toMatchObject({ unread: 1, mentions: 1, last_message: { preview: 'One' } })
  await owner.does('rest', messages.edit, { room, id, text: 'Two', mentions: [] })
  await expect.poll(() => inList(room)).toMatchObject({ unread: 1, mentions: 0, last_message: { preview: 'Two' } })
  await member.does('rest', social.block, { userAddress: owner.account })
  await expect
    .poll(() => inList(room))
    .toMatchObject({ unread: 0, last_message: { preview: 'Somebody you have blocked', sender_name: null } })
  await member.does('rest', social.unblock, { userAddress: owner.account })
  await expect.poll(() => inList(room)).toMatchObject({ unread: 1, last_message: { preview: 'Two' } })
  await member.does('rest', messages.read, { room, seq })
  expect(await inList(room)).toMatchObject({ unread: 0, read_seq: seq })
  await owner.does('rest', messages.remove, { room, id })
  await expect.poll(() => inList(room)).toMatchObject({ last_message: { preview: 'Message deleted' } })
  const name = `Renamed ${process.pid}`
  await owner.does('rest', rooms.update, { room, name })
  await expect.poll(() => inList(room)).toMatchObject({ name })
  const seen = async () => (await member.does('rest', rooms.list, { joined: true })).channels
  expect((await seen()).find((one) => one.id === room.id)).toMatchObject({ name, is_member: true, member_count: 2 })
  await moderates(owner, { room, action: 'ban', target: member.account })
  await expect.poll(() => inList(room)).toBeUndefined()
  expect((await seen()).map((one) => one.id)).not.toContain(room.id)
})

test('O04: a search of channels reads those with its word, and of a word of many the largest alone', async () => {
  const template = await Rooms.findOne({ _id: `channel:${all[0]?.id}` }).lean()
  const named = (name: string, at: number) => {
    const id = newId()
    const fields = {
      _id: `channel:${id}`,
      id,
      name,
      unique_name: `${name} ${at}`,
      member_count: at,
      terms: roomTerms({ name }),
    }
    const { slug: _, ...copied } = template ?? {}
    return { ...copied, ...fields }
  }
  const others = Array.from({ length: 1_200 }, (_, at) => named(`Common ${at}`, at))
  await Rooms.insertMany([...others, named('Aardvark', 1)])
  const search = async (words: string) => (await owner.does('rest', rooms.list, { search: words, limit: 50 })).channels
  let found: { name: string }[] = []
  const reads = (words: string) =>
    readsOf(async () => {
      found = await search(words)
    })
  expect(await reads('aardvark')).toBeLessThan(60)
  expect(found.map(({ name }) => name)).toEqual(['Aardvark'])
  expect(await reads('zebra')).toBeLessThan(60)
  expect(found).toEqual([])
  await search('common')
  expect(await reads('common')).toBeLessThan(200)
  expect(found.slice(0, 2).map(({ name }) => name)).toEqual(['Common 1199', 'Common 1198'])
})

test.each([
  ['/api/channels', 'channel'],
  ['/api/token-chats', 'token'],
] as const)(
  'O04: %s reads for guests those that it looks through, however many are closed elsewhere',
  async (path, type) => {
    const { slug: _, ...template } = (await Rooms.findOne({ _id: `channel:${all[0]?.id}` }).lean()) ?? {}
    const gate = {
      ...{ by: 'balance', chain_id: 1, token_address: `0x${'70'.repeat(20)}`, token_name: 'Tea', token_symbol: 'TEA' },
      ...{ token_decimals: 18, min_balance: '1' },
    }
    const made = async (name: string, many: number, members: number) => {
      const rows = Array.from({ length: many }, (_, at) => {
        const id = newId()
        const own = { _id: `${type}:${id}`, type, id, name: `${name} ${at}`, unique_name: `${type} ${name} ${at}` }
        return { ...template, ...own, ...(type === 'token' && { gate }), member_count: members - at }
      })
      await Rooms.insertMany(rows)
      return rows.map(({ _id }) => _id)
    }
    const guests = async (query = '') => {
      const answer = await (await fetch(`${server.url}${path}?${query}`)).json()
      const { channels, chats }: { channels?: { name: string }[]; chats?: { name: string }[] } = answer
      return (channels ?? chats ?? []).map(({ name }) => name)
    }
    const close = (rooms: readonly string[], read_access: string) =>
      RoomFacts.insertMany(rooms.map((room) => ({ _id: `${room}|rules`, room, value: { read_access } })))
    await close(
      Array.from({ length: 600 }, (_, at) => `${type}:elsewhere-${at}`),
      'members',
    )
    const names = (await made('For guests', 45, 8_000)).map((_, at) => `For guests ${at}`)
    await close(await made('For members', 60, 9_000), 'members')
    await close(await made('Signed in', 60, 8_900), 'signed_in')
    const ofGuests = (found: readonly string[]) => found.filter((name) => /^(For|Signed) /.test(name))
    expect(ofGuests(await guests('limit=60')).slice(0, names.length)).toEqual(names)
    expect(await readsOf(() => guests('limit=60'))).toBeLessThan(700)
    if (type === 'token') return
    const paged: string[] = []
    for (let offset = 0; offset < 60; offset += 7) paged.push(...(await guests(`limit=7&offset=${offset}`)))
    expect(ofGuests(paged)).toEqual(names)
  },
)

test('O91: a list of places reads those near a point, however many there are elsewhere or closed', async () => {
  const here = { latitude: 47.25, longitude: 8.25 }
  const { room } = await owner.does('rest', rooms.createLocationRoom, {
    ...{ name: 'Square', placeId: 'ChIJ_square' },
    ...{ userLat: here.latitude, userLng: here.longitude },
  })
  const template = await Rooms.findOne({ _id: `location:${room.id}` }).lean()
  const at = (latitude: number, longitude: number) => {
    const id = newId()
    const gate = { by: 'place', place_id: `geo:${id}`, place_name: 'Else', latitude, longitude, radius_m: 500 }
    const own = { place_id: gate.place_id, place_cell: cellOf(gate), member_count: 9 }
    return { ...template, _id: `location:${id}`, id, gate, ...own }
  }
  const elsewhere = Array.from({ length: 1_500 }, (_, nth) => at(47.25, -90 + nth / 100))
  await Rooms.insertMany([...elsewhere, ...Array.from({ length: 1_200 }, () => at(-20.3, 30.3))])
  const closed = Array.from({ length: 500 }, (_, nth) => ({
    ...{ _id: `channel:closed-${nth}|rules`, room: `channel:closed-${nth}` },
    value: { read_access: 'members' },
  }))
  await RoomFacts.insertMany(closed)
  const readsOfList = async (query: string, token: string | null = owner.token) => {
    let found: { chats: { id: string }[]; next_cursor: string | null } = { chats: [], next_cursor: null }
    const headers = token === null ? {} : { authorization: `Bearer ${token}` }
    const reads = await readsOf(async () => {
      found = await (await fetch(`${server.url}/api/location-chats?${query}`, { headers })).json()
    })
    return { reads, ids: found.chats.map(({ id }) => id), next: found.next_cursor }
  }
  const near = `lat=${here.latitude}&lng=${here.longitude}&radius=50000`
  for (const token of [owner.token, null])
    for (const query of [near, 'placeId=ChIJ_square', `${near}&placeId=ChIJ_square`]) {
      const { reads, ids, next } = await readsOfList(query, token)
      expect([query, ids, next]).toEqual([query, [room.id], null])
      expect(reads).toBeLessThan(60)
    }
  expect((await readsOfList('limit=20', null)).reads).toBeLessThan(200)
  const beside = await readsOfList('lat=-20.1&lng=30.1&radius=1000')
  expect(beside.reads).toBeLessThan(1_100)
  expect(beside).toMatchObject({ ids: [], next: expect.any(String) })
  const last = await readsOfList(`lat=-20.1&lng=30.1&radius=1000&cursor=${beside.next}`)
  expect(last).toMatchObject({ ids: [], next: null })
  expect(last.reads).toBeLessThan(400)
})

test('O91: rooms of places of older versions are found once their cells are stored', async () => {
  const { room } = await member.does('rest', rooms.createLocationRoom, {
    name: 'Quay',
    userLat: -60.2,
    userLng: 179.99,
  })
  await Rooms.updateOne({ _id: `location:${room.id}` }, { $unset: { place_cell: '' } })
  const around = () => member.does('rest', rooms.listLocationRooms, { lat: -60.2, lng: -179.99, radius: 5_000 })
  expect((await around()).count).toBe(0)
  await storePlaceCells()
  expect((await around()).chats.map(({ id }) => id)).toEqual([room.id])
})
