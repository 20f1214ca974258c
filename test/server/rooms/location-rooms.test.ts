// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { Claims, Visits } from '#server/domains/rooms/places/model'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { recheckMembers } from '#server/domains/rooms/rooms/rechecks'
import { unseal } from '#server/kernel/seal'
import { agents } from '#shared/api/agents/agents'
import { moderation } from '#shared/api/moderation/moderation'
import { accounts } from '#shared/api/people/accounts'
import { inbox } from '#shared/api/rooms/inbox'
import { invitations } from '#shared/api/rooms/invitations'
import { places } from '#shared/api/rooms/location-rooms'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { type Booted, boot } from '#test/support/boot'
import { over, type Person, person } from '#test/support/people'
import { call, wallet } from '#test/support/wallet'

let server: Booted
let root: Person
let named = 0
let placed = 0
const someone = () => person(server, `visitor ${++named}`)
const dayMilliseconds = 86_400_000

beforeAll(async () => {
  const environment = { SUPER_ADMINS: wallet('root').address, GATE_RECHECK_MINUTES: '60', VERDICT_STEPS: '15000' }
  server = await boot({ environment })
  root = await person(server, 'root')
})
afterAll(() => server.close())

/** A place of its own, eleven kilometres from the one before. */
const somewhere = () => ({ latitude: 10 + ++placed / 10, longitude: 20 })
const besides = ({ latitude, longitude }: Point, metres: number): Point => ({
  latitude: latitude + metres / 111_195,
  longitude,
})
type Point = ReturnType<typeof somewhere>
const says = ({ latitude, longitude }: Point) => ({ userLat: latitude, userLng: longitude })
const path = (id: string, more = '') => `/api/location-chats/${id}${more}`
const Chat = z.looseObject({ id: z.string(), google_place_id: z.string() })

/** The room of a new place, by its founder, who is there. */
async function roomAt(place: Point, more: object = {}, founder?: Person) {
  const owner = founder ?? (await someone())
  const asked = { name: `Place ${placed}`, radius: 200, ...says(place), ...more }
  const { room } = await owner.does('rest', rooms.createLocationRoom, asked)
  return { owner, room: { type: 'location', id: room.id } as RoomRef & { id: string }, row: room }
}
function node() {
  const app = server.apps[0]
  if (!app) throw new Error('No node')
  return app.node
}
const isMember = async (who: Person, room: RoomRef) => (await who.does('rest', rooms.get, { room })).room.is_member

test('a room of a place says where that is, and that nobody has checked it', async () => {
  const place = somewhere()
  const owner = await someone()
  const asked = { ...says(place), placeId: 'ChIJ_harbour-1', placeName: 'Old harbour', description: 'Boats' }
  const { status, body } = await owner.rest('POST /api/location-chats', asked)
  expect(status).toBe(200)
  expect(body).toMatchObject({ existing: false, ipfs: null })
  expect(Chat.parse(body.chat)).toMatchObject({
    ...{ name: 'Old harbour', description: 'Boats', emoji: '📍', google_place_id: 'ChIJ_harbour-1' },
    ...{ google_place_name: 'Old harbour', latitude: place.latitude, longitude: 20, radius: 500, is_verified: false },
    ...{ creator_address: owner.account, member_count: 1, is_member: true, messaging_type: 'standard' },
    ...{ p2p_symmetric_key: null, google_place_rating: null, google_place_types: [] },
  })
  const other = await someone()
  const again = await other.rest('POST /api/location-chats', { ...asked, name: 'Mine' })
  expect(again.body).toMatchObject({ existing: true, message: expect.any(String), chat: { name: 'Old harbour' } })
  expect(Chat.parse(again.body.chat).id).toBe(Chat.parse(body.chat).id)
})

test.each(over)(
  'over %s, a place without an id of a map is its degrees, and ten founders at once make one room',
  async (door) => {
    const place = somewhere()
    const founders = await Promise.all(Array.from({ length: 10 }, someone))
    const made = await Promise.all(
      founders.map((who) => who.does(door, rooms.createLocationRoom, { name: 'Square', ...says(place) })),
    )
    expect(new Set(made.map(({ room }) => room.id)).size).toBe(1)
    expect(made.filter(({ existing }) => !existing)).toHaveLength(1)
    expect(made[0]?.room.gate).toEqual({
      ...{
        by: 'place',
        place_id: `geo:${Math.round(place.latitude * 10) / 10},20`,
        place_name: 'Square',
        radius_m: 500,
      },
      ...{ latitude: Math.round(place.latitude * 10) / 10, longitude: 20 },
    })
  },
)

test.each(over)('over %s, what is no place, or no position, is refused', async (door) => {
  const who = await someone()
  const asked = { name: 'Nowhere', userLat: 1, userLng: 1 }
  const found = (more: object) => who.refused(door, rooms.createLocationRoom, { ...asked, ...more })
  for (const more of [
    { userLat: 90.001 },
    { userLat: -90.001 },
    { userLng: 180.001 },
    { userLng: Number.NaN },
    { userLat: Number.POSITIVE_INFINITY },
    { userLat: '1; drop' as never },
    { latitude: 1 },
    { longitude: 1 },
    { radius: 49 },
    { radius: 50_001 },
    { radius: 100.5 },
    { placeId: 'geo:1,1' },
    { placeId: '' },
  ])
    expect([more, (await found(more)).status]).toEqual([more, 400])
  for (const position of [{ latitude: 91, longitude: 0 }, { latitude: Number.NaN, longitude: 0 }, { latitude: 1 }])
    expect((await who.refused(door, places.claim, position as never)).code).toBe('VALIDATION_ERROR')
  expect(await Claims.exists({ _id: who.account })).toBeNull()
})

test.each(over)('over %s, a room is founded within a mile of its place', async (door) => {
  const place = somewhere()
  const [far, near] = [await someone(), await someone()]
  const refused = await far.refused(door, rooms.createLocationRoom, {
    ...{ name: 'Far', ...place },
    ...says(besides(place, 1_700)),
  })
  expect(refused).toMatchObject({ code: 'FORBIDDEN', status: 403, details: { distance: 1_710 } })
  const { existing } = await near.does(door, rooms.createLocationRoom, {
    ...{ name: 'Near', ...place },
    ...says(besides(place, 1_500)),
  })
  expect(existing).toBe(false)
  const older = await (await someone()).rest('POST /api/location-chats', {
    ...{ name: 'Far', ...somewhere() },
    ...says(besides(place, 50_000)),
  })
  expect(older.body).toMatchObject({ error: expect.stringContaining('within a mile'), distance: expect.any(Number) })
})

test.each(over)('T82: over %s, who says they are near joins, and who is not is shown why', async (door) => {
  const place = somewhere()
  const { room, row } = await roomAt(place)
  const [near, far, silent] = [await someone(), await someone(), await someone()]
  expect(await silent.refused(door, rooms.join, { room })).toMatchObject({
    code: 'GATE_NOT_PASSED',
    status: 403,
    message: `This room is for people who say they are within 200 m of ${row.name}: say where you are`,
    details: { radius_m: 200, is_claim: true, checked: [] },
  })
  expect(await far.refused(door, rooms.join, { room, position: besides(place, 260) })).toMatchObject({
    code: 'GATE_NOT_PASSED',
    message: expect.stringMatching(/and you say you are 2[5-7]0 m away$/),
    details: { checked: [{ subject: far.account, source: 'what the account says; nothing proves it' }] },
  })
  const { already, answer } = await near.does(door, rooms.join, { room, position: besides(place, 150) })
  expect([already, answer?.text]).toEqual([false, `You said you were within 200 m of ${row.name}`])
  expect(await Promise.all([near, far, silent].map((who) => isMember(who, room)))).toEqual([true, false, false])
})

test.each(over)(
  'over %s, a position is said before as well, counts for five minutes, and is shown by the gate',
  async (door) => {
    const place = somewhere()
    const { room, owner } = await roomAt(place)
    const who = await someone()
    const { counts_until, kept_until } = await who.does(door, places.claim, besides(place, 5_000))
    expect((Date.parse(kept_until) - Date.parse(counts_until)) / 1000).toBe(19 * 3_600 - 300)
    expect(await who.does(door, rooms.gate, { room })).toMatchObject({
      gate: { by: 'place', radius_m: 200 },
      answer: { passed: false, details: { stay_days: 30, distance: expect.any(Number) } },
    })
    server.setAhead(301)
    const late = await who.does(door, rooms.gate, { room })
    server.setAhead(0)
    expect(late.answer).toMatchObject({ passed: false, checked: [] })
    expect(late.answer?.details).not.toHaveProperty('distance')
    expect((await owner.does(door, rooms.gate, { room })).answer).toBeNull()
  },
)

test.each(over)(
  'T82: over %s, nobody is at two distant places at once, and the refused position is not kept',
  async (door) => {
    const [here, there] = [somewhere(), { latitude: -40, longitude: -70 }]
    const { room } = await roomAt(here)
    const who = await someone()
    await who.does(door, places.claim, there)
    const refused = await who.refused(door, rooms.join, { room, position: here })
    expect(refused).toMatchObject({ code: 'POSITION_NOT_PLAUSIBLE', status: 403 })
    expect(Number(refused.retryAfter) % 600).toBe(0)
    expect(await who.refused(door, places.claim, here)).toMatchObject({ code: 'POSITION_NOT_PLAUSIBLE' })
    const found = await who.refused(door, rooms.createLocationRoom, { name: 'Both', ...says(here) })
    expect(found).toMatchObject({ code: 'POSITION_NOT_PLAUSIBLE' })
    await who.does(door, places.claim, besides(there, 900))
    server.setAhead(19 * 3_600)
    await who.does(door, rooms.join, { room, position: here })
    server.setAhead(0)
    expect(await isMember(who, room)).toBe(true)
  },
)

test.each(['first', 'next'])(
  'T82: of six %s positions that are said at once, none is far from another',
  async (which) => {
    const who = await someone()
    if (which === 'next') {
      await who.does('rest', places.claim, { latitude: -60, longitude: 5 })
      server.setAhead(19 * 3_600)
    }
    const said = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        who.tries(at % 2 ? 'rest' : 'socket', places.claim, { latitude: at * 10, longitude: 5 }),
      ),
    )
    server.setAhead(0)
    expect(said.filter(({ ok }) => ok)).toHaveLength(1)
    for (const one of said) if (!one.ok) expect(one.error.code).toBe('POSITION_NOT_PLAUSIBLE')
  },
)

test.each(over)('over %s, who is suspended says no position and founds no room', async (door) => {
  const gone = await someone()
  await root.does('rest', accounts.suspend, { userAddress: gone.account, ban: true })
  const place = somewhere()
  expect((await gone.refused(door, places.claim, place)).code).toBe('SUSPENDED')
  const asked = { name: 'Gone', ...says(place) }
  expect((await gone.refused(door, rooms.createLocationRoom, asked)).code).toBe('SUSPENDED')
  expect(await Claims.exists({ _id: gone.account })).toBeNull()
})

test.each(['block', 'mute'] as const)('what a room is called is judged by the words of action %s', async (action) => {
  const word = `zork${action}`
  const { status } = await root.rest('POST /api/blocked-words', { word, action, scope: 'global' })
  expect(status).toBe(200)
  for (const door of over) {
    const asked = { name: 'Fine', placeName: `The ${word} inn`, ...says(somewhere()) }
    const { code } = await (await someone()).refused(door, rooms.createLocationRoom, asked)
    expect(code).toBe(action === 'block' ? 'BLOCKED_WORD' : 'MESSAGE_REJECTED')
  }
})

test('N01: what a room is called may cost as much as any other text', async () => {
  for (const door of over) {
    const asked = { name: 'ж'.repeat(100), placeName: 'ж'.repeat(100), ...says(somewhere()) }
    expect((await (await someone()).refused(door, rooms.createLocationRoom, asked)).code).toBe('TEXT_TOO_COMPLEX')
  }
})

test('T82: a position is kept rounded and sealed, and is told to nobody', async () => {
  const place = { latitude: 47.123456, longitude: 8.654321 }
  const { room, owner } = await roomAt(place)
  const who = await someone()
  const line = await owner.line()
  await owner.does(line, messages.join, { room })
  await who.does('socket', rooms.join, { room, position: { latitude: 47.123987, longitude: 8.654789 } })
  const heard = await line.follows(room, ({ type }) => type === 'member.joined')
  const stored = await Claims.findOne({ _id: who.account }).lean()
  expect(Object.keys(stored ?? {}).sort()).toEqual(['_id', 'at', 'expires_at', 'position'])
  expect(JSON.stringify(stored)).not.toMatch(/47\.12|8\.65/)
  const kept = unseal(node().settings.sessionKeys, stored?.position ?? '', `position ${who.account}`)
  expect(JSON.parse(kept)).toEqual({ latitude: 47.124, longitude: 8.6548 })
  const told = [
    await owner.does('rest', rooms.members, { room }),
    await owner.does('rest', rooms.get, { room }),
    await owner.rest(`GET ${path(room.id)}`),
    await owner.does('rest', messages.history, { room }),
    heard,
    await Rooms.findOne({ _id: roomKey(room) }).lean(),
    await Visits.find({}).lean(),
  ]
  expect(JSON.stringify(told)).not.toMatch(/47\.123[^5]|47\.124|8\.654[^3]|8\.655/)
})

test('T82: membership ends when somebody has not said to be there for thirty days', async () => {
  const place = somewhere()
  const { room, owner, row } = await roomAt(place)
  const [kept, lost] = [await someone(), await someone()]
  for (const who of [kept, lost]) await who.does('rest', rooms.join, { room, position: place })
  const days = async (count: number, then: () => Promise<unknown>) => {
    server.setAhead((count * dayMilliseconds) / 1000)
    await then()
    server.setAhead(0)
  }
  await days(29, () => recheckMembers(node()))
  expect(await isMember(lost, room)).toBe(true)
  const { modifiedCount } = await Visits.updateOne(
    { _id: `${row.gate?.by === 'place' && row.gate.place_id}|${kept.account}` },
    { $set: { at: new Date(Date.now() + 20 * dayMilliseconds) } },
  )
  expect(modifiedCount).toBe(1)
  await days(31, () => recheckMembers(node()))
  expect(await Promise.all([kept, lost, owner].map((who) => isMember(who, room)))).toEqual([true, false, true])
  expect((await lost.refused('socket', messages.send, { room, text: 'still here' })).code).toBe('NOT_A_MEMBER')
})

test.each(over)('T82: over %s, a link lets in who has said they are near, and nobody else', async (door) => {
  const place = somewhere()
  const { room, owner } = await roomAt(place)
  const { token } = await owner.does('rest', invitations.create, { room })
  const [near, far] = [await someone(), await someone()]
  expect((await far.refused(door, invitations.accept, { token })).code).toBe('GATE_NOT_PASSED')
  await near.does(door, places.claim, place)
  await near.does(door, invitations.accept, { token })
  expect([await isMember(near, room), await isMember(far, room)]).toEqual([true, false])
})

test('rooms are listed by members, around a point, and by place', async () => {
  const place = { latitude: -33.5, longitude: 151 }
  const { room, owner } = await roomAt(place, { placeId: 'ChIJ_list' })
  const { room: next } = await roomAt(besides(place, 3_000))
  const date = await roomAt({ latitude: -17, longitude: 179.99 })
  const listed = async (query: string, who: Person | null = owner) => {
    const route = `GET /api/location-chats${query}` as const
    const { body } = who ? await who.rest(route) : await call(server.url, route)
    const { chats, count } = z.object({ chats: z.array(Chat), count: z.number() }).parse(body)
    expect(count).toBe(chats.length)
    return chats.map(({ id }) => id)
  }
  await (await someone()).does('rest', rooms.join, { room: next, position: besides(place, 3_000) })
  expect(await listed('?lat=-33.5&lng=151')).toEqual([next.id, room.id])
  expect(await listed('?lat=-33.5&lng=151&limit=1')).toEqual([next.id])
  expect(await listed('?lat=-33.5&lng=151&radius=2000', null)).toEqual([room.id])
  expect(await listed('?lat=-17&lng=-179.99&radius=5000')).toEqual([date.room.id])
  expect(await listed('?placeId=ChIJ_list')).toEqual([room.id])
  expect(await listed('?placeId=elsewhere')).toEqual([])
  for (const wrong of ['?lat=1', '?lng=1', '?lat=91&lng=0', '?lat=1&lng=1&radius=0', '?lat=NaN&lng=1'])
    expect([wrong, (await owner.rest(`GET /api/location-chats${wrong}`)).status]).toEqual([wrong, 400])
  for (const door of over)
    expect((await owner.does(door, rooms.listLocationRooms, { lat: -33.5, lng: 151 })).count).toBe(2)
  await owner.does('rest', rooms.archive, { room })
  expect(await listed('?placeId=ChIJ_list')).toEqual([])
})

test('the documented paths join, tell, show members and leave', async () => {
  const place = somewhere()
  const { room, owner } = await roomAt(place)
  const who = await someone()
  const join = (body: object) => who.rest(`POST ${path(room.id, '/join')}`, body)
  expect((await join({})).code).toBe('GATE_NOT_PASSED')
  expect((await join({ userLat: 1 })).status).toBe(400)
  const joined = { success: true, p2p_symmetric_key: null, p2p_content_topic: null }
  expect((await join(says(place))).body).toEqual({ ...joined, alreadyMember: false })
  expect((await join({})).body).toEqual({ ...joined, alreadyMember: true })
  expect((await call(server.url, `POST ${path(room.id, '/join')}`, {})).status).toBe(401)
  expect((await who.rest(`POST ${path('nowhere', '/join')}`, {})).status).toBe(404)
  expect((await who.rest(`GET ${path('nowhere')}`)).status).toBe(404)
  expect((await call(server.url, `GET ${path(room.id)}`)).body).toMatchObject({
    ...{ chat: { id: room.id, member_count: 2 }, isMember: false },
    members: [{ user_address: who.account }, { user_address: owner.account, role: 'owner' }],
  })
  for (const door of over)
    expect(await who.does(door, rooms.locationRoom, { id: room.id })).toMatchObject({ isMember: true })
  expect((await call(server.url, `GET ${path(room.id, '/members?limit=1')}`)).body).toMatchObject({
    ...{ total: 2, hasMore: true, members: [{ user_address: who.account }] },
  })
  expect((await who.rest(`DELETE ${path(room.id, '/join')}`)).body).toEqual({ success: true })
  expect(await isMember(who, room)).toBe(false)
})

test.each(over)(
  'over %s, an official agent is a member of the room of a place, and is not asked where it is',
  async (door) => {
    const { room, row } = await roomAt(somewhere())
    const { agent } = await root.does('rest', agents.create, { name: `Pilot ${door}`, visibility: 'official' })
    const at = { id: agent.id, channelType: 'location' as const, channelId: room.id }
    const { membership } = await root.does(door, agents.joinRoom, at)
    expect(membership).toMatchObject({ channel_type: 'location', channel_id: room.id })
    expect((await root.does(door, agents.memberships, { id: agent.id })).memberships).toMatchObject([
      { channel: null, location_chat: { id: room.id, name: row.name, emoji: '📍' } },
    ])
    await recheckMembers(node())
    expect((await root.does(door, agents.memberships, { id: agent.id })).memberships).toHaveLength(1)
    await root.does(door, agents.leaveRoom, at)
  },
)

test('messages pass the whole verdict, are told oldest first, and are once for each id', async () => {
  const place = somewhere()
  const { room, owner } = await roomAt(place)
  const [member, outsider] = [await someone(), await someone()]
  await member.does('rest', rooms.join, { room, position: place })
  const say = (by: Person, body: object) => by.rest(`POST ${path(room.id, '/messages')}`, body)
  const Sent = z.object({ success: z.literal(true), message: z.looseObject({ id: z.string() }) })
  const first = Sent.parse((await say(member, { content: 'one', wakuMessageId: '0xfe.1' })).body).message
  expect((await say(member, { content: 'one', wakuMessageId: '0xfe.1' })).body).toEqual({
    ...{ success: true, duplicate: true, messageId: first.id },
  })
  const marker = '[LOCATION]{"latitude":1,"longitude":2}'
  const second = Sent.parse((await say(owner, { content: marker, messageType: 'location', replyToId: first.id })).body)
  expect((await say(outsider, { content: 'no' })).code).toBe('NOT_A_MEMBER')
  expect((await call(server.url, `GET ${path(room.id, '/messages')}`)).body).toMatchObject({
    messages: [
      { id: first.id, location_chat_id: room.id, content: 'one', reply_to: null },
      { message_type: 'location', reply_to: first.id, reply_to_message: { id: first.id, content: 'one' } },
    ],
    count: 2,
  })
  await owner.does('rest', rooms.setRole, { room, address: member.account, role: 'moderator' })
  await owner.rest('POST /api/chat-rules', {
    ...{ chatType: 'location', chatId: room.id, rules: { location_sharing_allowed: 'disabled' } },
  })
  const { status } = await outsider.rest(`DELETE ${path(room.id, `/messages?messageId=${first.id}`)}`)
  expect(status).toBe(403)
  const gone = await member.rest(`DELETE ${path(room.id, `/messages?messageId=${second.message.id}`)}`)
  expect(gone.body).toEqual({ success: true })
  expect((await owner.rest(`GET ${path(room.id, '/messages')}`)).body).toMatchObject({ count: 1 })
  await say(member, { content: 'last' })
  for (const door of over)
    expect((await member.does(door, inbox.locationChats, {})).chats).toMatchObject([
      { id: room.id, last_message_preview: 'last', last_message_at: expect.any(String), joined_at: expect.any(String) },
    ])
  expect((await member.rest('GET /api/location-chats/joined')).body).toMatchObject({ chats: [{ id: room.id }] })
  expect((await call(server.url, 'GET /api/location-chats/joined')).status).toBe(401)
})

test('who may not read a room is not shown its members', async () => {
  const place = somewhere()
  const { room, owner } = await roomAt(place)
  const member = await someone()
  await member.does('rest', rooms.join, { room, position: place })
  const shown = async (who: Person) => (await who.does('rest', rooms.locationRoom, { id: room.id })).members.length
  expect(await shown(await someone())).toBe(2)
  await owner.does('socket', moderation.act, { room, action: 'rules', patch: { rules: { read_access: 'members' } } })
  expect(await shown(await someone())).toBe(0)
  expect(await shown(member)).toBe(2)
  expect((await call(server.url, `GET ${path(room.id)}`)).status).toBe(401)
})
