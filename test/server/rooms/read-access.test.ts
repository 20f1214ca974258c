// Modes: embedded
import { expect, test } from 'vitest'
import { moderation } from '#shared/api/moderation/moderation'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint, officialChannel } from '#test/support/moderation'
import { channelOf, type Door, moderates, outcomeOf, over, type Person, people, say } from '#test/support/people'
import { bodyOf, call } from '#test/support/wallet'

const { server, owner, member, stranger, banned, admin } = await bootWith(
  ['owner', 'member', 'stranger', 'banned', 'admin'],
  { admins: ['admin'] },
)

const rule = (by: Person, room: RoomRef, read_access: 'everyone' | 'signed_in' | 'members', door: Door = 'socket') =>
  by.does(door, moderation.act, { room, action: 'rules', patch: { rules: { read_access } } })

const unsigned: Person['rest'] = (route, body) => call(server.url, route, body)

/** Every way to read a room without writing to it. */
const paths = (id: string, message: string) => ({
  history: `GET /api/rooms/channel/${id}/messages`,
  'the documented history': `GET /api/channels/${id}/messages`,
  events: `GET /api/rooms/channel/${id}/events`,
  'waiting for events': `GET /api/rooms/channel/${id}/events?after_seq=1000&wait=1`,
  members: `GET /api/rooms/channel/${id}/members`,
  'the documented members': `GET /api/channels/${id}/members`,
  pins: `GET /api/rooms/channel/${id}/pins`,
  'the documented pins': `GET /api/channels/${id}/messages/pin`,
  polls: `GET /api/rooms/channel/${id}/polls`,
  'the documented polls': `GET /api/channels/${id}/polls`,
  reactions: `GET /api/rooms/channel/${id}/reactions?messageIds=${message}`,
  rules: `GET /api/chat-rules?chatType=channel&chatId=${id}`,
})
const signedInPaths = (id: string) => ({ search: `GET /api/rooms/channel/${id}/search?query=hello` })
const asked = (room: RoomRef) => ({
  'room:history': { room },
  'room:sync': { room },
  'message:search': { room, query: 'hello' },
  'room:join': { room },
})

async function made(): Promise<{ room: RoomRef & { id: string }; message: string }> {
  const room = await channelOf(owner, member, banned)
  const { id } = await say(member, room, 'hello there')
  await moderates(owner, { room, action: 'ban', target: banned.account })
  return { room, message: id }
}

async function reading(who: Person | null, room: RoomRef & { id: string }, message: string) {
  const read = who ? who.rest : unsigned
  const found: Record<string, unknown> = {}
  const all = { ...paths(room.id, message), ...(who ? signedInPaths(room.id) : {}) }
  for (const [name, path] of Object.entries(all)) {
    const { status, code } = await read(path)
    found[name] = code ?? status
  }
  if (!who) return found
  for (const [event, input] of Object.entries(asked(room))) {
    const answer = await who.ask(event, input)
    found[event] = answer.ok ? 200 : answer.error.code
  }
  return found
}
const all = (found: Record<string, unknown>, answer: unknown) =>
  expect(found).toEqual(Object.fromEntries(Object.keys(found).map((name) => [name, answer])))

test('M09: a public room is public to anybody, also to the banned without a session', async () => {
  const { room, message } = await made()
  all(await reading(null, room, message), 200)
  all(await reading(banned, room, message), 'BANNED')
  const { 'room:join': _, ...read } = await reading(stranger, room, message)
  all(read, 200)
})

test.each(over)('M09: a room for those who are signed in, set over %s, is closed to everybody else', async (door) => {
  const { room, message } = await made()
  await rule(owner, room, 'signed_in', door)
  all(await reading(null, room, message), 'UNAUTHORIZED')
  all(await reading(banned, room, message), 'BANNED')
  all(await reading(member, room, message), 200)
  const { 'room:join': _, ...read } = await reading(stranger, room, message)
  all(read, 200)
  const row = `GET /api/channels/${room.id}`
  expect((await unsigned(row)).status).toBe(401)
  expect((await stranger.rest(row)).status).toBe(200)
})

test('M09: a room for members is read by its members and by who moderates there, and can be joined', async () => {
  const { room, message } = await made()
  await rule(owner, room, 'members')
  all(await reading(null, room, message), 'UNAUTHORIZED')
  all(await reading(stranger, room, message), 'NOT_A_MEMBER')
  all(await reading(banned, room, message), 'BANNED')
  all(await reading(member, room, message), 200)
  const { 'room:join': _, ...read } = await reading(admin, room, message)
  all(read, 200)
  await stranger.does('rest', rooms.join, { room })
  all(await reading(stranger, room, message), 200)
  await stranger.does('rest', rooms.leave, { room })
  all(await reading(stranger, room, message), 'NOT_A_MEMBER')
  expect((await banned.rest(`POST /api/channels/${room.id}/join`)).code).toBe('BANNED')
  await rule(owner, room, 'everyone')
  all(await reading(null, room, message), 200)
})

test('M09: an official room is closed alike, and its moderators still read it', async () => {
  const [judge] = await people(server, 'judge')
  await appoint(admin, null, judge)
  const room = await officialChannel(member)
  const { id } = await say(member, room, 'hello there')
  await rule(admin, room, 'members')
  all(await reading(stranger, room, id), 'NOT_A_MEMBER')
  const { 'room:join': _, ...read } = await reading(judge, room, id)
  all(read, 200)
  await moderates(admin, { room: null, action: 'demote', target: judge.account })
})

test('M09: the list of channels shows closed rooms to those alone who could enter', async () => {
  const { room } = await made()
  const isListed = async (read: Person['rest'], query = '') =>
    JSON.stringify((await bodyOf(read(`GET /api/channels?limit=200${query}`))).channels).includes(room.id)
  const { name } = (await owner.does('rest', rooms.get, { room })).room
  const search = `&search=${encodeURIComponent(name)}`
  for (const [read_access, toGuests] of [
    ['everyone', true],
    ['signed_in', false],
    ['members', false],
    ['everyone', true],
  ] as const) {
    await rule(owner, room, read_access)
    for (const query of ['', search]) {
      await expect.poll(() => isListed(unsigned, query)).toBe(toGuests)
      expect(await isListed(stranger.rest, query)).toBe(true)
    }
  }
})

test('M09: whoever waits for events when a room is closed gets none', async () => {
  const { room } = await made()
  const { head_seq } = await bodyOf(unsigned(`GET /api/rooms/channel/${room.id}/events`))
  const waiting = unsigned(`GET /api/rooms/channel/${room.id}/events?after_seq=${head_seq}&wait=5`)
  await new Promise((resolve) => setTimeout(resolve, 300))
  await rule(owner, room, 'members')
  expect((await waiting).code).toBe('UNAUTHORIZED')
})

test('M09: only who may manage a room closes it, with one of the three words', async () => {
  const { room } = await made()
  const tried = async (who: Person, read_access: unknown) =>
    outcomeOf(await who.ask('mod:act', { room, action: 'rules', patch: { rules: { read_access } } }))
  expect(await tried(member, 'members')).toBe('403 FORBIDDEN')
  for (const wrong of ['nobody', true, null]) expect(await tried(owner, wrong)).toBe('400 VALIDATION_ERROR')
})

test('M09: of a room for members strangers see the card, and nothing of its people or of what is said', async () => {
  const { room } = await made()
  const { name } = (await owner.does('rest', rooms.get, { room })).room
  await appoint(owner, room, member)
  await rule(owner, room, 'members')
  const rows = async (read: Person['rest']) => {
    const one = (await bodyOf(read(`GET /api/channels/${room.id}`))).channel
    const same = (await bodyOf(read(`GET /api/rooms/channel/${room.id}`))).room
    const lists = ['limit=200', `search=${encodeURIComponent(name)}`].map(async (query) =>
      ((await bodyOf(read(`GET /api/channels?${query}`))).channels as { id: string }[]).find(
        ({ id }) => id === room.id,
      ),
    )
    return [one, same, ...(await Promise.all(lists))] as Record<string, unknown>[]
  }
  const card = { name, creator_address: null, owner_address: null, message_count: 0, is_member: false }
  for (const who of [stranger, banned]) for (const row of await rows(who.rest)) expect(row).toMatchObject(card)
  for (const row of await rows(member.rest))
    expect(row).toMatchObject({ name, owner_address: owner.account, message_count: 1, is_member: true })
  expect((await rows(admin.rest))[0]).toMatchObject({ owner_address: owner.account, message_count: 1 })

  const about = (who: Person) =>
    `GET /api/moderation?action=permissions&channelId=${room.id}&userAddress=${who.account}`
  const moderators = `GET /api/moderation?action=moderators&channelId=${room.id}`
  for (const path of [moderators, about(owner), about(member)]) {
    expect((await unsigned(path)).status).toBe(401)
    expect((await stranger.rest(path)).code).toBe('NOT_A_MEMBER')
    expect((await banned.rest(path)).code).toBe('BANNED')
    for (const who of [member, admin]) expect((await who.rest(path)).status).toBe(200)
  }
  for (const who of [stranger, banned])
    expect((await bodyOf(who.rest(about(who)))).permissions).toMatchObject({ isModerator: false })
})
