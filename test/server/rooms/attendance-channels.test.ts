// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { Accounts } from '#server/domains/people/accounts/model'
import { Members, Rooms } from '#server/domains/rooms/room-state/model'
import { recheckMembers } from '#server/domains/rooms/rooms/rechecks'
import { scriptedAttendance } from '#server/ports/attendance/scripted'
import { fakeWeb } from '#server/ports/web/fake'
import { attendance } from '#shared/api/rooms/attendance'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import { type Booted, boot } from '#test/support/boot'
import { moderates, over, type Person, people, person } from '#test/support/people'
import { pngOf } from '#test/support/pictures'
import { solo } from '#test/support/solo'
import { call, wallet } from '#test/support/wallet'

const imageOf = (id: number) => `https://tokens.example/${id}.png`
/** An event of which the provider has no image. */
const plainEvent = 61
const event = (id: number, name = `Meeting ${id}`) => ({ id, name, imageUrl: id === plainEvent ? null : imageOf(id) })
const about = { description: null, logoImageUrl: null, bannerImageUrl: null, year: 2026 }
const script = scriptedAttendance({
  events: Array.from({ length: plainEvent }, (_, at) => event(at + 1)),
  collections: [
    { ...about, id: 7, title: 'Evenings', dropIds: [41, 42] },
    { ...about, id: 8, title: 'Mornings', dropIds: [43, 44] },
  ],
})
const web = fakeWeb({ 'https://images.example/a.png': { body: pngOf() } })
let server: Booted
let founder: Person
let named = 0
let nextEvent = 0
const someone = () => person(server, `attender ${++named}`)

beforeAll(async () => {
  server = await boot({
    services: { attendance: script, web },
    environment: { ATTENDANCE_RECHECK: 'on', SUPER_ADMINS: wallet('root').address },
  })
  ;[founder] = await people(server, 'founder')
})
beforeEach(() => {
  script.away = null
})
afterAll(() => server.close())

/** The next event of which the founder holds a token. */
function newEvent(): number {
  nextEvent++
  script.mint(founder.account, nextEvent)
  return nextEvent
}
const create = (who: Person, body: object) => who.rest('POST /api/channels', body)
async function newChannel(eventId = newEvent()) {
  const { channel } = await founder.does('rest', rooms.createChannel, {
    attendanceEventId: eventId,
    attendanceEventName: `Meeting ${eventId}`,
  })
  return { ...channel, eventId, room: { type: 'channel', id: channel.id } as const }
}
const join = (who: Person, { id }: { id: string }, body: object = { userAddress: who.account }) =>
  who.rest(`POST /api/channels/${id}/join`, body)

test('M01: no channel of an event is made with a blocked word', async () => {
  const root = await person(server, 'root')
  await moderates(root, { room: null, action: 'word_add', patch: { word: 'zorkmid', word_action: 'block' } })
  const attendanceEventId = newEvent()
  for (const said of [
    { attendanceEventName: 'A Zorkmid evening' },
    { attendanceEventName: 'An evening', description: 'Zorkmid for all' },
  ]) {
    const { status, body } = await create(founder, { attendanceEventId, ...said })
    expect([said, status, body.code]).toEqual([said, 403, 'BLOCKED_WORD'])
  }
  expect(await Rooms.countDocuments({ 'gate.event_id': attendanceEventId })).toBe(0)
})

test('the channel of an event has the documented defaults, is p2p, and is one of its founder; its token is called what the provider calls it', async () => {
  const eventId = newEvent()
  const { status, body } = await create(founder, {
    attendanceEventId: eventId,
    attendanceEventName: ' Spring\u0000\nmeeting \u202e',
    attendanceImageUrl: 'https://elsewhere.example/a.png',
    messagingType: 'standard',
    creatorAddress: founder.account,
  })
  expect(status).toBe(200)
  expect(body.channel).toMatchObject({
    name: 'Attendance: Spring meeting',
    description: 'Community channel for holders of this attendance token.',
    emoji: '🎟️',
    category: 'events',
    icon_url: imageOf(eventId),
    attendance_event_id: eventId,
    attendance_event_name: `Meeting ${eventId}`,
    attendance_image_url: imageOf(eventId),
    attendance_collection_id: null,
    messaging_type: 'p2p',
    creator_address: founder.account,
    member_count: 1,
    is_active: true,
    is_member: true,
  })
  const { p2p_symmetric_key, p2p_content_topic, id } = body.channel as Record<string, string>
  expect(Buffer.from(String(p2p_symmetric_key), 'base64')).toHaveLength(32)
  expect(p2p_content_topic).toBe(`/plaza/1/channel-attendance-spring-me-${String(id).slice(0, 8)}/proto`)
})

test.each([
  ['both an event and a collection', { attendanceEventId: 1, attendanceCollectionId: 7 }],
  ['an event 0', { attendanceEventId: 0 }],
  ['an event -1', { attendanceEventId: -1 }],
  ['an event 1.5', { attendanceEventId: 1.5 }],
  ['an event in a string', { attendanceEventId: '1' }],
  ['an event 2^31', { attendanceEventId: 2 ** 31 }],
  ['an event and a collection in other words', { poapEventId: 1, attendanceCollectionId: 7 }],
  ['an event 0 in other words', { poapEventId: 0 }],
  ['an image that is no text', { attendanceEventId: 1, attendanceImageUrl: 7 }],
  ['p2p without either', { name: 'A plain one', messagingType: 'p2p' }],
  ['waku without either', { name: 'A plain one', messagingType: 'waku' }],
])('a channel is not made of %s', async (_title, body) => {
  expect(await create(founder, body)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
})

test.each(['javascript:alert(1)', 'http://images.example/a.png', '', null])(
  'an image that is none on the web (%s) is left out: the icon is that of the provider',
  async (attendanceImageUrl) => {
    const attendanceEventId = newEvent()
    const { status, body } = await create(founder, { attendanceEventId, attendanceImageUrl })
    expect([status, body.channel]).toMatchObject([200, { icon_url: imageOf(attendanceEventId) }])
  },
)

solo('O69: the image that is given is the icon where the provider shows none, as a copy here', async () => {
  script.mint(founder.account, plainEvent)
  const said = { attendanceEventId: plainEvent, attendanceImageUrl: 'https://images.example/a.png' }
  const { body } = await create(founder, said)
  const { icon_url, attendance_image_url } = body.channel as Record<string, string>
  expect(icon_url).toMatch(/\/files\/media\/icon\/.+\.png$/)
  expect(attendance_image_url).toBe(icon_url)
})

test('the channel of an event is made, found and shown by the other names of its fields, too', async () => {
  const poapEventId = newEvent()
  const said = { poapEventId, poapEventName: 'Other names', poapImageUrl: imageOf(poapEventId), messagingType: 'waku' }
  const { status, body } = await create(founder, said)
  expect([status, body.channel]).toMatchObject([
    200,
    { name: 'Attendance: Other names', attendance_event_id: poapEventId, messaging_type: 'p2p' },
  ])
  expect(await create(founder, { attendanceEventId: poapEventId })).toMatchObject({ status: 400 })
  const { id } = body.channel as { id: string }
  const found = await call(server.url, `GET /api/channels?poapEventId=${poapEventId}`)
  expect(found).toMatchObject({ status: 200, body: { channel: { id } } })
  expect((await call(server.url, 'GET /api/channels?poapEventId=x')).status).toBe(400)
  expect((await call(server.url, 'GET /api/channels?poapCollectionId=999')).body).toEqual({ channel: null })
  const names = { poap_event_id: poapEventId, poap_event_name: `Meeting ${poapEventId}` }
  const card = await call(server.url, `GET /api/public/channels/${id}`)
  expect(card).toMatchObject({ status: 200, body: { channel: names } })
})

test('T54: of fifty who make the channel of an event at once, one does, and the others are told which it is', async () => {
  const eventId = newEvent()
  const makers = await Promise.all(Array.from({ length: 5 }, someone))
  for (const maker of makers) script.mint(maker.account, eventId)
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) =>
      create(makers[at % 5] as Person, { attendanceEventId: eventId, attendanceEventName: 'The race' }),
    ),
  )
  const won = answers.filter(({ status }) => status === 200)
  expect(won).toHaveLength(1)
  const existingChannelId = (won[0]?.body.channel as { id: string } | undefined)?.id ?? ''
  for (const { status, body } of answers.filter((answer) => answer !== won[0]))
    expect([status, body]).toEqual([
      400,
      {
        error: 'A channel for this attendance token already exists',
        code: 'VALIDATION_ERROR',
        existingChannelId,
      },
    ])
  expect(await Rooms.countDocuments({ 'gate.event_id': eventId })).toBe(1)
})

test('events that share a name have a channel each', async () => {
  const [first, second] = [newEvent(), newEvent()]
  const name = (answer: Awaited<ReturnType<typeof create>>) => (answer.body.channel as { name: string }).name
  const made = (id: number) => create(founder, { attendanceEventId: id, attendanceEventName: 'x'.repeat(300) })
  expect(name(await made(first))).toBe(`Attendance: ${'x'.repeat(88)}`)
  const told = name(await made(second))
  expect([told.length, told.endsWith(`x (#${second})`)]).toEqual([100, true])
})

test('T53: who does not hold the token neither makes the channel nor joins it, whatever they say', async () => {
  const channel = await newChannel()
  const outsider = await someone()
  expect(await create(outsider, { attendanceEventId: newEvent(), attendanceEventName: 'Mine' })).toMatchObject({
    status: 403,
    code: 'GATE_NOT_PASSED',
  })
  expect((await join(outsider, channel, { userAddress: founder.account })).status).toBe(403)
  const refused = await join(outsider, channel)
  expect(refused).toMatchObject({
    status: 403,
    code: 'GATE_NOT_PASSED',
    body: {
      error: `You need the attendance token “Meeting ${channel.eventId}” to join this channel, and must hold it in your wallet`,
    },
  })
  const { checked } = refused.body as { checked: { subject: string; result: string; cached_age_s: number }[] }
  expect(checked[0]).toMatchObject({ subject: outsider.account, result: 'does not hold it', cached_age_s: 0 })
  expect(JSON.stringify(refused.body)).not.toContain('p2p_symmetric_key')
})

test('who holds the token joins and is given the key; a second time they are a member already', async () => {
  const channel = await newChannel()
  const holder = await someone()
  script.mint(holder.account, channel.eventId)
  const { p2p_symmetric_key, p2p_content_topic } = channel
  const answer = await join(holder, channel)
  expect([answer.status, answer.body]).toEqual([
    200,
    { success: true, channelName: channel.name, p2p_symmetric_key, p2p_content_topic },
  ])
  expect(await join(holder, channel)).toMatchObject({
    status: 400,
    body: { error: 'Already a member of this channel' },
  })
})

test('O62: a room is joined after the session key of then is gone, without its shared key', async () => {
  const channel = await newChannel()
  const holder = await someone()
  script.mint(holder.account, channel.eventId)
  await Rooms.updateOne({ id: channel.id }, { $set: { p2p_key: 'gone.AAAA' } })
  const answer = await join(holder, channel)
  expect(answer).toMatchObject({ status: 200, body: { success: true } })
  expect(answer.body).not.toHaveProperty('p2p_symmetric_key')
})

test.each(over)('who is banned is told the key of a p2p room no more, over %s', async (door) => {
  const channel = await newChannel()
  const holder = await someone()
  script.mint(holder.account, channel.eventId)
  await join(holder, channel)
  await moderates(founder, { room: channel.room, action: 'ban', target: holder.account })
  expect(await holder.refused(door, rooms.sharedKey, { room: channel.room })).toMatchObject({ code: 'BANNED' })
})

test.each(over)(
  'the key of a p2p room is told to its members alone over %s, in no list, and is not stored in clear',
  async (door) => {
    const channel = await newChannel()
    const holder = await someone()
    script.mint(holder.account, channel.eventId)
    expect(await holder.refused(door, rooms.sharedKey, { room: channel.room })).toMatchObject({ code: 'NOT_A_MEMBER' })
    await join(holder, channel)
    const { p2p_symmetric_key } = await holder.does(door, rooms.sharedKey, { room: channel.room })
    expect(p2p_symmetric_key).toBe(channel.p2p_symmetric_key)
    const shown = await Promise.all([
      holder.rest(`GET /api/channels/${channel.id}`),
      holder.rest('GET /api/channels?limit=200'),
      holder.rest(`GET /api/channels?attendanceEventId=${channel.eventId}`),
      holder.rest(`GET /api/attendance/events-with-channels?address=${holder.account}`),
    ])
    for (const { status, body } of shown) {
      expect(status).toBe(200)
      expect(JSON.stringify(body)).not.toContain(p2p_symmetric_key)
    }
    expect(JSON.stringify(await Rooms.findOne({ id: channel.id }).lean())).not.toContain(p2p_symmetric_key)
    const nowhere = { type: 'channel', id: crypto.randomUUID() } as const
    expect(await holder.refused(door, rooms.sharedKey, { room: nowhere })).toMatchObject({ code: 'ROOM_NOT_FOUND' })
    const { channel: plain } = await founder.does('rest', rooms.createChannel, { name: `Plain ${door}` })
    const room = { type: 'channel', id: plain.id } as const
    expect(await founder.refused(door, rooms.sharedKey, { room })).toMatchObject({ code: 'NOT_FOUND' })
  },
)

test('the token may be held by the stored smart account', async () => {
  const channel = await newChannel()
  const holder = await someone()
  const smart = `0x${String(named).padStart(40, '8')}`
  await Accounts.updateOne({ _id: holder.account }, { $set: { smart_wallet_address: smart } })
  const { body } = await join(holder, channel)
  expect((body.checked as { subject: string }[]).map(({ subject }) => subject)).toEqual([holder.account, smart])
  const another = await newChannel()
  script.mint(smart, another.eventId)
  expect(await holder.does('rest', rooms.recheckGate, { room: another.room })).toMatchObject({
    answer: { passed: true },
  })
  expect(await join(holder, another)).toMatchObject({ status: 200 })
})

test('where the provider says no to the event, its whole list is looked through', async () => {
  const channel = await newChannel()
  const holder = await someone()
  script.mint(holder.account, channel.eventId)
  const { holds } = script
  script.holds = async () => false
  expect(await join(holder, channel)).toMatchObject({ status: 200 })
  script.holds = holds
})

test.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)(
  'T53: nobody joins while the provider is away (%s), and it poisons nothing',
  async (away) => {
    const channel = await newChannel()
    const holder = await someone()
    script.mint(holder.account, channel.eventId)
    script.away = away
    expect(await join(holder, channel)).toMatchObject({ code: away })
    expect(await create(holder, { attendanceEventId: newEvent() })).toMatchObject({ code: away })
    script.away = null
    expect(await join(holder, channel)).toMatchObject({ status: 200 })
  },
)

test('a token that is minted after a refusal lets its holder in after a recheck', async () => {
  const channel = await newChannel()
  const holder = await someone()
  await join(holder, channel)
  script.mint(holder.account, channel.eventId)
  expect(await join(holder, channel)).toMatchObject({ code: 'GATE_NOT_PASSED' })
  await holder.does('socket', rooms.recheckGate, { room: channel.room })
  expect(await join(holder, channel)).toMatchObject({ status: 200 })
})

test('the channel of a collection lets in who holds a token of any of its events, and is one', async () => {
  const holder = await someone()
  script.mint(holder.account, 42)
  const collection = { attendanceCollectionId: 7, attendanceCollectionName: 'Evenings' }
  expect(await create(founder, collection)).toMatchObject({ code: 'GATE_NOT_PASSED' })
  const { body } = await create(holder, collection)
  expect(body.channel).toMatchObject({
    name: 'Attendance: Evenings',
    attendance_collection_id: 7,
    attendance_collection_name: 'Evenings',
    attendance_event_id: null,
    messaging_type: 'p2p',
  })
  const channel = body.channel as { id: string }
  const late = await someone()
  script.mint(late.account, 41)
  expect(await create(late, collection)).toMatchObject({ status: 400, body: { existingChannelId: channel.id } })
  const listed = await late.does('rest', attendance.collectionsForUser, { address: late.account })
  expect(listed.collections).toMatchObject([{ id: 7, channel: { id: channel.id, is_member: false } }])
  expect(await join(late, channel)).toMatchObject({ status: 200 })
  expect(await late.does('socket', attendance.channel, { attendanceCollectionId: 7 })).toMatchObject({
    channel: { id: channel.id, is_member: true },
  })
})

test('the channel of an event is looked up, and told with the events of an address while it is active', async () => {
  const channel = await newChannel()
  const { eventId } = channel
  const path = `GET /api/channels?attendanceEventId=${eventId}`
  const own = await founder.rest(`${path}&userAddress=${founder.account}&alsoAddresses=${founder.account}`)
  expect(own.body.channel).toMatchObject({ id: channel.id, attendance_event_id: eventId, is_member: true })
  expect((await call(server.url, path)).body.channel).toMatchObject({ id: channel.id, is_member: false })
  expect((await call(server.url, 'GET /api/channels?attendanceEventId=2000000000')).body).toEqual({ channel: null })
  expect((await call(server.url, `${path}&attendanceCollectionId=7`)).status).toBe(400)
  expect((await call(server.url, 'GET /api/channels?attendanceEventId=x')).status).toBe(400)
  expect(await (await someone()).rest(`${path}&userAddress=${founder.account}`)).toMatchObject({ status: 403 })
  const address = `0x${String(eventId).padStart(40, '6')}`
  script.mint(address, eventId)
  const seenBy = async (who: Person, more = {}) =>
    (await who.does('rest', attendance.eventsWithChannels, { address, ...more })).events[0]?.channel
  expect(await seenBy(founder)).toMatchObject({ id: channel.id, is_member: true })
  const another = await someone()
  expect(await seenBy(another, { memberAddress: founder.account })).toMatchObject({ is_member: false })
  await founder.does('rest', rooms.archive, { room: channel.room })
  expect(await seenBy(founder)).toBeNull()
  expect((await call(server.url, path)).body).toEqual({ channel: null })
})

// MongoDB frees the key of a unique index whose field is unset; the store that plays it in tests does not.
solo(
  'an archived channel makes room for another of its event, however often, and says still what it was of',
  async () => {
    const first = await newChannel()
    const { eventId } = first
    const holder = await someone()
    script.mint(holder.account, eventId)
    await join(holder, first)
    let last: { id: string; name: string } = first
    const names = new Set([last.name])
    for (let round = 0; round < 3; round++) {
      await founder.does('rest', rooms.archive, { room: { type: 'channel', id: last.id } })
      const said = { attendanceEventId: eventId, attendanceEventName: `Meeting ${eventId}` }
      last = (await founder.does('rest', rooms.createChannel, said)).channel
      names.add(last.name)
      expect((await create(holder, said)).body).toMatchObject({ existingChannelId: last.id })
    }
    expect(names.size).toBe(4)
    await holder.does('rest', rooms.leave, { room: first.room })
    const { room } = await founder.does('rest', rooms.get, { room: first.room })
    expect(room).toMatchObject({ is_active: false, attendance_event_id: eventId, gate: { event_id: eventId } })
    expect(JSON.stringify(room)).not.toContain('"was"')
    const listed = await founder.does('rest', attendance.channel, { attendanceEventId: eventId })
    expect(listed.channel?.id).toBe(last.id)
  },
)

solo('a channel that an older version has archived makes room, too', async () => {
  const { eventId, id, room } = await newChannel()
  await founder.does('rest', rooms.archive, { room })
  const gate = { by: 'attendance', event_id: eventId, name: `Meeting ${eventId}`, image_url: imageOf(eventId) }
  await Rooms.updateOne({ id }, { $set: { gate } })
  expect(await create(founder, { attendanceEventId: eventId })).toMatchObject({ status: 200 })
  expect((await Rooms.findOne({ id }).lean())?.gate).toMatchObject({ was: { event_id: eventId } })
})

test('the icon of the channel of an event stays that of the event', async () => {
  const { id } = await newChannel()
  const locked = { status: 403, body: { error: 'The icon of an attendance channel is that of its token' } }
  const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  for (const route of [`POST /api/channels/${id}/icon`, `DELETE /api/channels/${id}/icon`])
    expect(await founder.rest(route, { image, mimeType: 'image/png' })).toMatchObject(locked)
  const patch = { icon_url: 'https://example.org/other.png' }
  expect(await founder.rest(`PATCH /api/channels/${id}`, patch)).toMatchObject(locked)
  expect(await founder.rest(`PATCH /api/channels/${id}`, { emoji: '🎈' })).toMatchObject({ status: 200 })
})

test('what is said in a p2p room is read by its members alone', async () => {
  const channel = await newChannel()
  const outsider = await someone()
  expect(await outsider.refused('socket', messages.history, { room: channel.room })).toMatchObject({
    code: 'NOT_A_MEMBER',
  })
})

const isMember = async (who: Person, id: string) =>
  (await who.does('rest', rooms.get, { room: { type: 'channel', id } })).room.is_member
async function recheck({ id }: { id: string }) {
  await Rooms.updateOne({ id }, { $set: { gate_checked_at: new Date(0).toISOString() } })
  await recheckMembers(server.apps[0]?.node ?? expect.fail())
}
/** New holders of a token of an event, who have joined. */
async function holders({ id }: { id: string }, eventId: number, count: number) {
  const joined = await Promise.all(Array.from({ length: count }, someone))
  for (const who of joined) {
    script.mint(who.account, eventId)
    expect(await join(who, { id })).toMatchObject({ status: 200 })
  }
  return joined as [Person, Person, ...Person[]]
}
const giveAway = async (who: Person, eventId: number) =>
  script.transfer(who.account, (await someone()).account, eventId)

test('P24: who gave the token away is taken out by the re-check, and nobody is while the provider is away', async () => {
  const channel = await newChannel()
  const [holder, keeper] = await holders(channel, channel.eventId, 2)
  await giveAway(holder, channel.eventId)
  script.away = 'UPSTREAM_ERROR'
  await recheck(channel)
  expect(await isMember(holder, channel.id)).toBe(true)
  script.away = null
  await recheck(channel)
  expect([await isMember(holder, channel.id), await isMember(keeper, channel.id)]).toEqual([false, true])
})

test('who gave the token of a collection away is taken out, whatever the provider has said just before', async () => {
  const collector = await someone()
  script.mint(collector.account, 43)
  const { channel } = await collector.does('rest', rooms.createChannel, { attendanceCollectionId: 8 })
  const [holder, keeper] = await holders(channel, 44, 2)
  await giveAway(holder, 44)
  await recheck(channel)
  expect([await isMember(holder, channel.id), await isMember(keeper, channel.id)]).toEqual([false, true])
})

test('a member of whom the provider says nothing stays, and keeps nobody else from being asked again', async () => {
  const channel = await newChannel()
  const joined = await holders(channel, channel.eventId, 4)
  const asked = await Members.find({ room: `channel:${channel.id}`, is_active: true }).lean()
  const first = asked.find(({ user_address }) => user_address !== founder.account)
  const unknown = joined.find(({ account }) => account === first?.user_address) ?? expect.fail()
  const gone = joined.filter((who) => who !== unknown)
  for (const who of gone) await giveAway(who, channel.eventId)
  const holds = script.holds
  onTestFinished(() => void Object.assign(script, { holds }))
  script.holds = async (address, eventId) => {
    if (address.toLowerCase() === unknown.account) throw new AppError('UPSTREAM_ERROR')
    return holds(address, eventId)
  }
  await recheck(channel)
  expect(await Promise.all(gone.map((who) => isMember(who, channel.id)))).toEqual(gone.map(() => false))
  expect(await isMember(unknown, channel.id)).toBe(true)
})
