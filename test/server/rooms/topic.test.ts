// Modes: embedded
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accounts } from '#shared/api/people/accounts'
import { inbox } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { dmOf } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, groupOf, listenTo, moderates, over, type Person, people } from '#test/support/people'
import { call, wallet } from '#test/support/wallet'

let server: Booted
let root: Person
let owner: Person
let moderator: Person
let member: Person
let outsider: Person
let channel: RoomRef & { id: string }

beforeAll(async () => {
  server = await boot({ entry: 'in alpha', environment: { SUPER_ADMINS: wallet('root').address } })
  ;[root, owner, moderator, member, outsider] = await people(server, 'root', 'owner', 'moderator', 'member', 'outsider')
})
afterAll(() => server.close())

beforeEach(async () => {
  channel = await channelOf(owner, moderator, member)
  await owner.does('rest', rooms.setRole, { room: channel, address: moderator.account, role: 'moderator' })
})

const topicFor = async (who: Person, room: RoomRef) => (await who.does('rest', rooms.get, { room })).room.topic
const listen = async (who: Person, room: RoomRef) => listenTo(who, room, await who.socket('/rooms'))
const rules = (patch: object) => moderates(owner, { room: channel, action: 'rules', patch: { rules: patch } })

describe.each(over)('over %s', (door) => {
  const set = (who: Person, topic: string | null, room: RoomRef = channel, more: object = {}) =>
    who.does(door, rooms.setTopic, { room, topic, ...more })
  const codeOf = async (who: Person, topic: string | null, room: RoomRef = channel) =>
    (await who.refused(door, rooms.setTopic, { room, topic })).code

  test('owner and moderators set the topic, which everybody in the room hears and every card shows', async () => {
    const line = await listen(member, channel)
    expect((await set(owner, '  Apples and pears ')).room).toMatchObject({ id: channel.id, topic: 'Apples and pears' })
    expect((await set(moderator, 'Only pears')).room.topic).toBe('Only pears')
    const told = await line.follows(channel, ({ data }) => 'topic' in data && data.topic === 'Only pears')
    expect(told).toMatchObject({ type: 'room.topic_changed', actor: { id: moderator.account, role: 'moderator' } })
    expect(told.data).toEqual({ topic: 'Only pears' })
    expect(line.log(channel).map(({ data }) => data)).toMatchObject([{ topic: 'Apples and pears' }, told.data])
    const { events } = await member.does('rest', messages.sync, { room: channel, after_seq: told.seq - 1 })
    expect(events).toEqual([told])
    expect(await topicFor(outsider, channel)).toBe('Only pears')
    const { room } = await member.does('rest', rooms.get, { room: channel })
    expect(room.updated_at).toBe(told.at)
    const mine = (await member.does('rest', inbox.list, {})).rooms.find(({ id }) => id === channel.id)
    expect(mine?.topic).toBe('Only pears')
    const { channels } = await outsider.does('rest', rooms.list, { search: room.name })
    expect(channels.find(({ id }) => id === channel.id)?.topic).toBe('Only pears')
  })

  test.each([null, '', '  \u00a0 '])('%j takes the topic away', async (nothing) => {
    await set(owner, 'Something')
    const line = await listen(member, channel)
    expect((await set(owner, nothing)).room.topic).toBeNull()
    expect((await line.follows(channel, ({ data }) => 'topic' in data)).data).toEqual({ topic: null })
  })

  test('has its place in groups and in alpha, and none in a direct conversation', async () => {
    const group = await groupOf(owner, member)
    expect((await set(owner, 'Among us', group)).room.topic).toBe('Among us')
    expect(await codeOf(member, 'Mine', group)).toBe('FORBIDDEN')
    expect(await codeOf(outsider, 'Mine', group)).toBe('ROOM_NOT_FOUND')
    expect((await set(root, `For everybody over ${door}`, { type: 'alpha', id: null })).room.topic).toMatch(/^For/)
    const dm = dmOf(owner.account, member.account)
    await owner.does('rest', rooms.openDm, { recipientAddress: member.account })
    for (const who of [owner, member]) expect(await codeOf(who, 'Between us', dm)).toBe('FORBIDDEN')
    for (const who of [outsider, root]) expect(await codeOf(who, 'Between you', dm)).toBe('ROOM_NOT_FOUND')
    expect(await topicFor(owner, dm)).toBeNull()
  })

  test('is refused to members, outsiders, the banned and the suspended, and in an archived room', async () => {
    await set(owner, 'Stays')
    expect(await codeOf(member, 'Mine')).toBe('FORBIDDEN')
    expect(await codeOf(outsider, 'Mine')).toBe('FORBIDDEN')
    expect(await codeOf(owner, 'Mine', { ...channel, id: '018f0000-0000-7000-8000-000000000000' })).toBe(
      'ROOM_NOT_FOUND',
    )
    await root.does('rest', accounts.suspend, { userAddress: owner.account, ban: true })
    expect(await codeOf(owner, 'Mine')).toBe('SUSPENDED')
    await root.does('rest', accounts.suspend, { userAddress: owner.account, ban: false })
    await moderates(owner, { room: channel, action: 'ban', target: moderator.account })
    expect(await codeOf(moderator, 'Mine')).toBe('BANNED')
    await owner.does('rest', rooms.archive, { room: channel })
    expect(await codeOf(owner, 'Mine')).toBe('ROOM_ARCHIVED')
    expect(await topicFor(outsider, channel)).toBe('Stays')
  })

  test('a moderator who is muted sets none and takes none away', async () => {
    await set(owner, 'Stays')
    await moderates(owner, { room: channel, action: 'mute', target: moderator.account, duration: '1h' })
    for (const topic of ['Said all the same', null]) {
      const refused = await moderator.refused(door, rooms.setTopic, { room: channel, topic })
      expect(refused).toMatchObject({ code: 'MUTED', status: 403, details: { until: expect.any(String) } })
    }
    expect(await topicFor(member, channel)).toBe('Stays')
    await moderates(owner, { room: channel, action: 'unmute', target: moderator.account })
    expect((await set(moderator, 'Heard again')).room.topic).toBe('Heard again')
  })

  test('a former moderator cannot set the topic', async () => {
    await set(moderator, 'Before')
    await owner.does('rest', rooms.setRole, { room: channel, address: moderator.account, role: 'member' })
    expect(await codeOf(moderator, 'After')).toBe('FORBIDDEN')
    expect(await topicFor(member, channel)).toBe('Before')
  })

  test('is one line of at most 250 characters that turns nothing around and can be seen', async () => {
    await set(owner, 'é'.repeat(250))
    const hostile = [
      'a'.repeat(251),
      'two\nlines',
      'two\u2028lines',
      'two\u2029lines',
      'two\u0085lines',
      'tab\tbed',
      'turned \u202e around',
      '\u2067',
      '\u200b',
      '\u2800',
    ]
    for (const topic of [...hostile, 'null\u0000', 'half \ud800'])
      expect(await codeOf(owner, topic)).toBe('VALIDATION_ERROR')
    for (const topic of [7, true, ['a'], { $ne: null }, undefined])
      expect(await codeOf(owner, topic as never)).toBe('VALIDATION_ERROR')
    expect(await topicFor(member, channel)).toBe('é'.repeat(250))
  })

  test('is judged by the blocked words of the room and of everywhere, and by who may post links', async () => {
    const word = `quince${process.pid}${door}`
    const block = (room: RoomRef | null, by: Person, word_action: 'block' | 'mute', own: string) =>
      moderates(by, { room, action: 'word_add', patch: { word: own, word_action } })
    await block(channel, owner, 'block', `${word}here`)
    await block(null, root, 'block', `${word}everywhere`)
    await block(channel, owner, 'mute', `${word}silently`)
    expect(await codeOf(owner, `All about ${word}here`)).toBe('BLOCKED_WORD')
    expect(await codeOf(owner, `All about ${word}everywhere`)).toBe('BLOCKED_WORD')
    expect(await codeOf(owner, `All about ${word}silently`)).toBe('MESSAGE_REJECTED')
    await rules({ links_allowed: 'disabled' })
    const refused = await owner.refused(door, rooms.setTopic, { room: channel, topic: 'See https://example.com' })
    expect(refused).toMatchObject({ code: 'LINKS_NOT_ALLOWED', verdict: { ok: false, rule: { id: 'links_allowed' } } })
    expect(await topicFor(member, channel)).toBeNull()
    await rules({ links_allowed: 'mods_only' })
    expect((await set(moderator, 'See https://example.com')).room.topic).toBe('See https://example.com')
    // What was set before stays, and can be taken away.
    await rules({ links_allowed: 'disabled' })
    expect((await set(owner, null)).room.topic).toBeNull()
  })

  test('a repeat changes nothing again, and its key does nothing else', async () => {
    const line = await listen(member, channel)
    const client_action_id = `topic ${door}`.replace(' ', ':')
    for (const _ of [1, 2]) await set(owner, 'Once', channel, { client_action_id })
    await set(moderator, 'Once')
    await set(owner, 'Twice')
    await line.follows(channel, ({ data }) => 'topic' in data && data.topic === 'Twice')
    expect(line.log(channel).map(({ data }) => data)).toEqual([{ topic: 'Once' }, { topic: 'Twice' }])
    const { message } = await owner.does('socket', messages.send, { room: channel, text: 'pinned' })
    await owner.does('socket', messages.pin, { room: channel, id: message.id, pinned: true, client_action_id: 'pin:1' })
    const other = await owner.refused(door, rooms.setTopic, { room: channel, topic: 'No', client_action_id: 'pin:1' })
    expect(other).toMatchObject({ code: 'CONFLICT', status: 409 })
    const another = await owner.refused(door, rooms.setTopic, { room: channel, topic: 'Thrice', client_action_id })
    expect(another).toMatchObject({ code: 'CONFLICT', status: 409 })
    expect((await set(owner, 'Once', channel, { client_action_id })).room.topic).toBe('Twice')
  })

  test('is no act of moderation, and shown to outsiders of a room for members as its description is', async () => {
    await owner.does('rest', rooms.update, { room: channel, description: 'Of fruit' })
    await rules({ read_access: 'members' })
    await set(moderator, 'Pears')
    const log = await owner.rest(`GET /api/moderation?action=mod-log&channelId=${channel.id}`)
    expect(log.status).toBe(200)
    expect(JSON.stringify(log.body)).not.toContain('Pears')
    const { room } = await outsider.does('rest', rooms.get, { room: channel })
    expect(room).toMatchObject({ description: 'Of fruit', topic: 'Pears', owner_address: null })
    expect((await outsider.refused('rest', messages.sync, { room: channel, after_seq: 0 })).code).toBe('NOT_A_MEMBER')
    const guest = await call(server.url, `GET /api/rooms/channel/${channel.id}`)
    expect(guest.status).toBe(401)
  })

  test('needs a session', async () => {
    const guest = await call(server.url, `PATCH /api/rooms/channel/${channel.id}/topic`, { topic: 'Mine' })
    expect(guest).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  })
})
