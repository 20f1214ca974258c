// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { countsOf } from '#server/domains/rooms/inbox/counts'
import { Members, Mentions } from '#server/domains/rooms/room-state/model'
import { RoomEvents } from '#server/log/model'
import { social } from '#shared/api/moderation/social'
import { inbox, unreadChanged, unreadSnapshot } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import { dmOf, type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import type { Line } from '#test/support/line'
import {
  befriend,
  channelOf,
  groupOf,
  moderates,
  over,
  type Person,
  people,
  person,
  sealed,
} from '#test/support/people'
import { solo } from '#test/support/solo'
import { connect, heard } from '#test/support/wallet'

let server: Booted
let owner: Person
let member: Person
let other: Person
beforeAll(async () => {
  server = await boot({ entry: 'in alpha' })
  ;[owner, member, other] = await people(server, 'owner', 'member', 'other')
  await befriend(owner, other)
})
afterAll(() => server.close())

const isAbout = (room: RoomRef) => (payload: { room: RoomRef }) => roomKey(payload.room) === roomKey(room)
/** What is told first may be before all records are written; it is told again then. */
const changed = (line: Line, room: RoomRef, unread: number, mentions?: number) =>
  line.hears(
    unreadChanged,
    (payload) =>
      isAbout(room)(payload) && payload.unread === unread && (mentions === undefined || payload.mentions === mentions),
  )
const says = async (room: RoomRef, text: string, mentions: Person[] = []) =>
  (
    await owner.does('socket', messages.send, {
      room,
      text,
      mentions: mentions.map(({ account }) => ({ kind: 'user' as const, id: account, start: 0, len: 1 })),
    })
  ).message

test('a connection is told of every room it has: head, mark, unread and mentions, and their sum', async () => {
  const room = await channelOf(owner, member)
  const quiet = await groupOf(owner, member)
  await says(room, 'one')
  const two = await says(room, '@two', [member])
  const { rooms: all, total } = await (await member.socket('/notifications')).hears(unreadSnapshot)
  expect(all.find(isAbout(room))).toEqual({
    room,
    head_seq: two.seq,
    read_seq: 0,
    unread: 2,
    mentions: 1,
    muted_until: null,
    silent: false,
  })
  expect(all.find(isAbout(quiet))).toMatchObject({ unread: 0, mentions: 0 })
  expect(all.some(({ room: { type } }) => type === 'alpha')).toBe(true)
  expect(total).toBe(all.reduce((sum, { unread }) => sum + unread, 0))
})

solo('M36: what somebody blocked says in a shared room is not unread, names nobody and is not previewed', async () => {
  const room = await channelOf(owner, member, other)
  const line = await member.socket('/notifications')
  await line.hears(unreadSnapshot)
  await member.does('rest', social.block, { userAddress: owner.account })
  await says(room, '@one', [member])
  await says(room, 'two')
  await other.does('socket', messages.send, { room, text: 'three' })
  expect(await changed(line, room, 1)).toMatchObject({ mentions: 0 })
  await says(room, '@four', [member])
  const listed = async (who: Person) => (await who.does('rest', inbox.list, {})).rooms.find(({ id }) => id === room.id)
  expect(await listed(member)).toMatchObject({
    unread: 1,
    mentions: 0,
    last_message: { sender_address: owner.account, preview: 'Somebody you have blocked' },
  })
  expect(await listed(other)).toMatchObject({ unread: 3, last_message: { preview: '@four' } })
  const { me } = await member.does('socket', messages.join, { room })
  expect(me.unread).toBe(1)
  expect(await member.does('rest', messages.read, { room, seq: 0 })).toMatchObject({ unread: 1, mentions: 0 })
  await member.does('rest', social.unblock, { userAddress: owner.account })
  expect(await listed(member)).toMatchObject({ unread: 4, mentions: 2, last_message: { preview: '@four' } })
})

solo.each(over)('what one says oneself, over %s, is not unread on any device', async (door) => {
  const room = await channelOf(owner, member)
  const line = await member.socket('/notifications')
  await line.hears(unreadSnapshot)
  await member.does(door, messages.send, { room, text: 'mine' })
  await says(room, 'not mine')
  await member.does(door, messages.send, { room, text: 'mine again' })
  expect(await changed(line, room, 1)).toMatchObject({ mentions: 0 })
  const { rooms: mine } = await member.does(door, inbox.list, {})
  expect(mine.find(({ id }) => id === room.id)).toMatchObject({ unread: 1 })
})

solo.each([
  ['leaves', (room: RoomRef) => member.does('rest', rooms.leave, { room })],
  [
    'is banned from',
    (room: RoomRef) => moderates(owner, { room, action: 'ban', target: member.account, duration: '1h' }),
  ],
])('every device of who %s a room is told of the rooms that are left', async (_how, out) => {
  const room = await channelOf(owner, member)
  await says(room, 'unread')
  const lines = [await member.socket('/notifications'), await member.socket('/notifications')]
  for (const line of lines) expect((await line.hears(unreadSnapshot)).rooms.some(isAbout(room))).toBe(true)
  for (const line of lines) line.forget()
  await out(room)
  for (const line of lines) {
    const { rooms: left, total } = await line.hears(unreadSnapshot)
    expect(left.some(isAbout(room))).toBe(false)
    expect(total).toBe(left.reduce((sum, { unread, silent }) => sum + (silent ? 0 : unread), 0))
  }
})

test('M36: a block and its end change the unread counts of every device at once, in every room', async () => {
  const [room, left] = [await channelOf(owner, member, other), await channelOf(owner, member)]
  await says(room, '@one', [member])
  await says(room, 'two')
  await other.does('socket', messages.send, { room, text: 'three' })
  const gone = { room: left, text: 'Said before they left' }
  await other.does('rest', rooms.join, { room: left })
  await other.does('socket', messages.send, gone)
  await other.does('rest', rooms.leave, { room: left })
  const devices = await Promise.all(server.urls.map((url) => person(server, 'member', url)))
  const lines = await Promise.all([...devices, member].map((device) => device.socket('/notifications')))
  for (const line of lines) await line.hears(unreadSnapshot)
  const expected = async (about: typeof room, counts: object) => {
    for (const line of lines)
      await expect.poll(() => line.all(unreadChanged).filter(isAbout(about)).at(-1)).toMatchObject(counts)
  }
  await member.does('rest', social.block, { userAddress: owner.account })
  await expected(room, { unread: 1, mentions: 0 })
  await member.does('rest', social.unblock, { userAddress: owner.account })
  await expected(room, { unread: 3, mentions: 1 })
  await member.does('rest', social.block, { userAddress: other.account })
  await expected(room, { unread: 2, mentions: 1 })
  await expected(left, { unread: 0 })
  await member.does('rest', social.unblock, { userAddress: other.account })
  await expected(left, { unread: 1 })
})

test('what was just sent is counted at once', async () => {
  const room = await channelOf(owner, member)
  const [node] = server.apps.map((app) => app.node)
  if (!node) throw new Error('No server runs.')
  for (let at = 1; at <= 30; at++) {
    const { seq } = await says(room, `m${at}`)
    const counts = await countsOf(node, member.account, [roomKey(room)])
    expect(counts.get(roomKey(room))).toMatchObject({ head_seq: seq, unread: at })
  }
})

test('every device hears the same full values, of what comes and of what was read on another', async () => {
  const room = await channelOf(owner, member)
  const devices = [await member.socket('/notifications'), await member.socket('/notifications')]
  for (const device of devices) await device.hears(unreadSnapshot)
  for (let at = 1; at <= 3; at++) await says(room, `m${at}`, [member])
  for (const device of devices) expect(await changed(device, room, 3, 3)).toMatchObject({ read_seq: 0 })
  const { read_seq } = await member.does('rest', messages.read, { room, seq: 1_000 })
  for (const device of devices)
    expect(
      await device.hears(unreadChanged, (told) => isAbout(room)(told) && told.read_seq === read_seq),
    ).toMatchObject({ unread: 0, mentions: 0 })
})

test('many messages within a second are told once', async () => {
  const room = await channelOf(owner, member)
  const line = await member.socket('/notifications')
  await line.hears(unreadSnapshot)
  await Promise.all(Array.from({ length: 40 }, (_, at) => says(room, `burst ${at}`)))
  await changed(line, room, 40)
  expect(line.all(unreadChanged).filter(isAbout(room)).length).toBeLessThanOrEqual(5)
})

test.each(over)('N23: over %s counts follow messages as they are now, on every device', async (door) => {
  const room = await channelOf(owner, member)
  const devices = [await member.socket('/notifications'), await member.socket('/notifications')]
  const told = (unread: number, mentions: number) =>
    Promise.all(devices.map((device) => changed(device, room, unread, mentions)))
  const first = await says(room, '@first', [member])
  const second = await says(room, '@second', [member])
  const third = await says(room, 'third')
  await told(3, 2)
  await owner.does(door, messages.edit, { room, id: first.id, text: 'Nobody is named' })
  await told(3, 1)
  await owner.does(door, messages.remove, { room, id: second.id })
  await told(2, 0)
  const named = [{ kind: 'user' as const, id: member.account, start: 0, len: 1 }]
  await owner.does(door, messages.edit, { room, id: third.id, text: '@third', mentions: named })
  await told(2, 1)
  await other.does('rest', rooms.join, { room })
  const loud = await other.does('rest', messages.send, { room, text: '@loud', mentions: named })
  await told(3, 2)
  await moderates(owner, { room, action: 'purge', target: other.account })
  await told(2, 1)
  const { rooms: listed } = await member.does(door, inbox.list, {})
  expect(listed.find(({ id }) => id === room.id)).toMatchObject({ unread: 2, mentions: 1 })
  expect((await member.does(door, messages.read, { room, seq: loud.message.seq })).unread).toBe(0)
})

solo('N23: a poll that is deleted and a room that is archived leave nothing to read', async () => {
  const [room, archived] = [await channelOf(owner, member), await channelOf(owner, member)]
  const line = await member.socket('/notifications')
  const { poll } = await owner.does('rest', polls.create, { room, question: 'Tea?', options: ['yes', 'no'] })
  await changed(line, room, 1)
  await owner.does('rest', polls.remove, { room, pollId: poll.id })
  await changed(line, room, 0)
  await says(archived, '@you', [member])
  await changed(line, archived, 1, 1)
  await owner.does('rest', rooms.archive, { room: archived })
  await changed(line, archived, 0, 0)
  const snapshot = await (await member.socket('/notifications')).hears(unreadSnapshot)
  expect(snapshot.rooms.find(isAbout(archived))).toMatchObject({ unread: 0, mentions: 0 })
})

solo(
  'N05: what changes in many rooms within a second is counted once an account, and no other room with it',
  async () => {
    const listener = await person(server, 'busy')
    const places = await Promise.all(Array.from({ length: 40 }, () => channelOf(owner, listener)))
    for (const room of places) await says(room, 'unread')
    const line = await listener.socket('/notifications')
    await line.hears(unreadSnapshot)
    const toldOfAll = async (said: number) => {
      for (const room of places) await says(room, `m${said}`)
      for (const room of places) await changed(line, room, said + 1)
    }
    await toldOfAll(1)
    const counting = vi.spyOn(RoomEvents, 'countDocuments')
    onTestFinished(() => counting.mockRestore())
    await toldOfAll(2)
    const counted = counting.mock.calls.map(([filter]) => (filter as { room?: string }).room)
    for (const key of places.map(roomKey))
      expect(counted.filter((one) => one === key).length).toBeLessThanOrEqual(8 * server.apps.length)
    expect(line.all(unreadChanged).at(-1)?.total).toBeGreaterThanOrEqual(places.length * 3)
  },
)

solo(
  'a silenced conversation is counted and marked silent, outside the sum; a room that is heard again is in it',
  async () => {
    const room = await channelOf(owner, member)
    await member.does('rest', social.mute, { conversationType: 'channel', conversationId: room.id, duration: '1h' })
    await says(room, 'hush')
    const snapshot = await (await member.socket('/notifications')).hears(unreadSnapshot)
    expect(snapshot.rooms.find(isAbout(room))).toMatchObject({
      unread: 1,
      silent: true,
      muted_until: expect.any(String),
    })
    const heardOf = snapshot.rooms.filter(({ silent }) => !silent)
    expect(snapshot.total).toBe(heardOf.reduce((sum, { unread }) => sum + unread, 0))
    await member.does('rest', social.unmute, { conversationType: 'channel', conversationId: room.id })
    const after = await (await member.socket('/notifications')).hears(unreadSnapshot)
    expect(after.total).toBe(snapshot.total + 1)
  },
)

test('who joins is told from then on; who left, was removed or banned is not', heavy, async () => {
  const room = await channelOf(owner)
  const line = await member.socket('/notifications')
  await line.hears(unreadSnapshot)
  const outs = [
    () => member.does('rest', rooms.leave, { room }),
    () => owner.does('rest', rooms.kick, { room, address: member.account }),
    () => moderates(owner, { room, action: 'ban', target: member.account, duration: '1h' }),
  ]
  for (const out of outs) {
    await member.does('rest', rooms.join, { room })
    line.forget()
    await says(room, 'to members')
    await line.hears(unreadChanged, isAbout(room))
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    await out()
    line.forget()
    await says(room, 'not to you')
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(line.all(unreadChanged).filter(isAbout(room))).toEqual([])
  }
  const { rooms: left } = await (await member.socket('/notifications')).hears(unreadSnapshot)
  expect(left.find(isAbout(room))).toBeUndefined()
})

solo.each([
  ['joined', (_group: RoomRef, room: RoomRef, guest: Person) => guest.does('rest', rooms.join, { room })],
  [
    'one is brought into',
    async ({ id }: RoomRef, _room: RoomRef, guest: Person) => {
      await befriend(owner, guest)
      await owner.does('rest', rooms.addMembers, { id: id ?? '', addresses: [guest.account] })
    },
  ],
] as const)('M67: a room %s is told to every device before anybody speaks there', async (how, enter) => {
  const [group, channel] = [await groupOf(owner), await channelOf(owner)]
  const guest = await person(server, how)
  const room = how === 'joined' ? channel : group
  const lines = [await guest.socket('/notifications'), await guest.socket('/notifications')]
  for (const line of lines) await line.hears(unreadSnapshot)
  await enter(group, channel, guest)
  for (const line of lines) expect(await line.hears(unreadChanged, isAbout(room))).toMatchObject({ unread: 0 })
  expect((await guest.does('rest', inbox.list, {})).rooms.some(({ id }) => id === room.id)).toBe(true)
})

test('the first direct message is told to a connection that was there before the conversation', async () => {
  const room = dmOf(owner.account, other.account)
  const line = await (await person(server, 'other', owner.url)).socket('/notifications')
  await line.hears(unreadSnapshot)
  await owner.does('socket', messages.send, { room, text: sealed() })
  expect(await changed(line, room, 1)).toMatchObject({ silent: false })
})

solo.each([
  ['a conversation', Members, (guest: Person) => dmOf(owner.account, guest.account), { text: sealed() }],
  ['a mention', Mentions, (guest: Person) => channelOf(owner, guest), { text: '@late' }],
] as const)('%s is told although its record is written seconds after the row', async (what, model, roomFor, sent) => {
  const guest = await person(server, 'late', owner.url)
  const room = await roomFor(guest)
  const line = await guest.socket('/notifications')
  await line.hears(unreadSnapshot)
  const isMention = what === 'a mention'
  const write = model.bulkWrite.bind(model) as (...asked: unknown[]) => Promise<never>
  const slow = vi.spyOn(model, 'bulkWrite').mockImplementation(async (...asked: unknown[]) => {
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    return write(...asked)
  })
  try {
    const mentions = isMention ? [{ kind: 'user' as const, id: guest.account, start: 0, len: 5 }] : []
    await owner.does('socket', messages.send, { room, ...sent, mentions })
  } finally {
    slow.mockRestore()
  }
  await line.hears(
    unreadChanged,
    (told) => isAbout(room)(told) && told.unread === 1 && told.mentions === (isMention ? 1 : 0),
  )
})

test('a room joined and a conversation begun on another node are told within a few seconds', async () => {
  const [here, there] = [server.urls[0], server.urls.at(-1)]
  const abroad = await person(server, 'traveller', there)
  const line = await (await person(server, 'traveller', here)).socket('/notifications')
  await line.hears(unreadSnapshot)
  const room = await channelOf(owner, abroad)
  await says(room, 'to the new one')
  const writer = await person(server, 'writer', there)
  const dm = dmOf(writer.account, abroad.account)
  await writer.does('socket', messages.send, { room: dm, text: sealed() })
  for (const one of [room, dm]) expect(await changed(line, one, 1)).toMatchObject({ silent: false })
  await writer.does('socket', messages.send, { room: dm, text: sealed() })
  expect(await changed(line, dm, 2)).toMatchObject({ mentions: 0 })
})

solo.each(over)(
  'the list of rooms over %s shows the same counts, the newest first, and no ciphertext',
  async (door) => {
    const older = await channelOf(owner, member)
    const newer = await channelOf(owner, member)
    const dm = dmOf(owner.account, member.account)
    const plain = await channelOf(owner, member)
    await owner.does('rest', messages.send, { room: plain, text: '[LOCATION]{"lat":2,"lng":2}' })
    await says(older, 'first words', [member])
    await owner.does('rest', messages.send, { room: newer, text: '[LOCATION]{"lat":1,"lng":1}', type: 'location' })
    await owner.does('rest', messages.send, { room: dm, text: sealed() })
    const { rooms: mine } = await member.does(door, inbox.list, {})
    expect(mine.slice(0, 4).map(({ id }) => id)).toEqual([dm.id, newer.id, older.id, plain.id])
    expect(mine[3]).toMatchObject({ last_message: { preview: 'Location' } })
    expect(mine[0]).toMatchObject({ peer: { id: owner.account }, last_message: { preview: 'Direct message' } })
    expect(mine[1]).toMatchObject({ role: 'member', last_message: { preview: 'Location' } })
    expect(mine[2]).toMatchObject({ unread: 1, mentions: 1, last_message: { preview: 'first words' }, is_muted: false })
  },
)

solo('a guest hears nothing', async () => {
  const socket = connect(server.url, '/notifications', '')
  expect(await heard(socket, 'connect_error')).toMatchObject({ data: { code: expect.any(String) } })
  socket.close()
})

solo.each(['channel', 'group'] as const)('M70: who comes to a %s has nothing unread of before', async (kind) => {
  const early = [owner, member] as const
  const room = kind === 'channel' ? await channelOf(...early) : await groupOf(...early)
  await says(room, 'before')
  await says(room, '@late before', [other])
  const counts = async () => {
    const { rooms: listed } = await other.does('rest', inbox.list, {})
    const { unread, mentions } = listed.find((one) => roomKey({ type: one.type, id: one.id }) === roomKey(room)) ?? {}
    return { unread, mentions }
  }
  const line = await other.socket('/notifications')
  await line.hears(unreadSnapshot)
  if (kind === 'channel') await other.does('rest', rooms.join, { room })
  else await owner.does('rest', rooms.addMembers, { id: room.id, addresses: [other.account] })
  const { me } = await other.does('socket', messages.join, { room })
  expect(me.unread).toBe(0)
  await expect.poll(counts).toEqual({ unread: 0, mentions: 0 })
  await says(room, '@late after', [other])
  expect(await changed(line, room, 1, 1)).toMatchObject({ mentions: 1 })
  expect(await counts()).toEqual({ unread: 1, mentions: 1 })
  const [old] = (await member.does('rest', inbox.list, {})).rooms.filter(
    (one) => roomKey({ type: one.type, id: one.id }) === roomKey(room),
  )
  expect(old).toMatchObject({ unread: 3 })

  await other.does('rest', rooms.leave, { room })
  await says(room, 'while away')
  if (kind === 'channel') await other.does('rest', rooms.join, { room })
  else await owner.does('rest', rooms.addMembers, { id: room.id, addresses: [other.account] })
  await expect.poll(counts).toEqual({ unread: 0, mentions: 0 })
})
