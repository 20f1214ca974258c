// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withReservedNames } from '#server/domains/rooms/rooms/names'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { messages } from '#shared/api/rooms/messages'
import { access, rooms } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import { dmOf, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import {
  befriend,
  channelOf,
  groupOf,
  listenTo,
  moderates,
  type Person,
  people,
  person,
  sealed,
} from '#test/support/people'
import { solo } from '#test/support/solo'
import { call, wallet } from '#test/support/wallet'

let server: Booted
let root: Person
let owner: Person
let member: Person
let other: Person
let outsider: Person
let banished: Person
const nobody = wallet('never signed in').address.toLowerCase()
const alpha = { type: 'alpha' } as const
const nowhere = { type: 'channel', id: '018f0000-0000-7000-8000-000000000000' } as const

beforeAll(async () => {
  server = await boot({ entry: 'in alpha', environment: { SUPER_ADMINS: wallet('root').address } })
  ;[root, owner, member, other, outsider, banished] = await people(
    server,
    'root',
    'owner',
    'member',
    'other',
    'outsider',
    'banished',
  )
  for (const friend of [other, banished]) await befriend(owner, friend)
})
afterAll(() => server.close())

const suspend = (who: Person, ban: boolean) => root.does('rest', accounts.suspend, { userAddress: who.account, ban })

/** What somebody suspended would be told. */
async function whileSuspended<T>(who: Person, act: () => Promise<T>): Promise<T> {
  await suspend(who, true)
  return act().finally(() => suspend(who, false))
}

describe('founding a channel', () => {
  solo('makes its founder the owner and first member, with the documented defaults', async () => {
    const answer = await owner.rest('POST /api/channels', { name: '  The Orchard ', creatorAddress: owner.account })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        channel: {
          type: 'channel',
          name: 'The Orchard',
          description: null,
          emoji: '💬',
          category: 'general',
          slug: null,
          owner_address: owner.account,
          creator_address: owner.account,
          is_official: false,
          is_active: true,
          member_count: 1,
          message_count: 0,
          is_member: true,
        },
      },
    })
  })

  solo.each([
    ['no name', {}, 'name is required'],
    ['an empty name', { name: '   ' }, 'name is required'],
    [
      'another messaging type',
      { name: 'Typed', messagingType: 'carrier-pigeon' },
      'messagingType: Invalid messaging type',
    ],
    ['a slug that is none', { name: 'Slugged', slug: 'No Slug' }, 'Invalid slug'],
  ])('is refused with %s', async (_title, body, text) => {
    const answer = await owner.rest('POST /api/channels', body)
    expect(answer).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', body: { error: text } })
  })

  test('no two channels share a name, in any case, or a slug, even when ten ask at once', async () => {
    const ask = (at: number) => (at % 2 ? owner : member).rest('POST /api/channels', { name: at % 3 ? 'Twin' : 'TWIN' })
    const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => ask(at)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = answers.filter(({ status }) => status !== 200)
    for (const answer of refused)
      expect(answer).toMatchObject({ status: 400, body: { error: 'A channel with this name exists' } })
    await owner.does('rest', rooms.createChannel, { name: 'Slug one', slug: 'the-slug' })
    const again = await owner.refused('rest', rooms.createChannel, { name: 'Slug two', slug: 'the-slug' })
    expect(again).toMatchObject({ code: 'VALIDATION_ERROR', message: 'A channel with this slug exists' })
  })

  solo('needs a session, ones own name, and an account that is not suspended', async () => {
    const guest = await call(server.url, 'POST /api/channels', { name: 'Guest' })
    expect(guest).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    const foreign = await owner.rest('POST /api/channels', { name: 'Foreign', creatorAddress: member.account })
    expect(foreign).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    const refused = await whileSuspended(outsider, () =>
      outsider.refused('rest', rooms.createChannel, { name: 'Suspended' }),
    )
    expect(refused).toMatchObject({ code: 'SUSPENDED', status: 403 })
  })
})

test('admins alone found official channels, which those who moderate everywhere moderate', async () => {
  const asked = { name: `Harbour ${process.pid}`, isOfficial: true }
  expect(await owner.refused('rest', rooms.createChannel, asked)).toMatchObject({ code: 'FORBIDDEN', status: 403 })
  const { channel } = await root.does('rest', rooms.createChannel, asked)
  expect(channel).toMatchObject({ is_official: true })
  const room = { type: 'channel', id: channel.id } as const
  await other.does('rest', rooms.join, { room })
  await moderates(root, { room: null, action: 'promote', target: member.account, patch: { canMute: true } })
  await moderates(member, { room, action: 'mute', target: other.account, duration: '1h' })
  await moderates(root, { room: null, action: 'demote', target: member.account })
  const ofEvent = { attendanceEventId: 7, isOfficial: true }
  expect((await root.refused('rest', rooms.createChannel, ofEvent)).code).toBe('VALIDATION_ERROR')
  const plain = { name: `Plain ${process.pid}`, isOfficial: null }
  expect((await owner.does('rest', rooms.createChannel, plain)).channel.is_official).toBe(false)
})

describe('what is not kept is not passed over', () => {
  test('a channel has no other owner than who founds it', async () => {
    const refused = await owner.rest('POST /api/channels', { name: 'Of two', ownerAddress: member.account })
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('ownerAddress') } })
    const own = { name: `Of one ${process.pid}`, ownerAddress: owner.account }
    expect((await owner.rest('POST /api/channels', own)).body).toMatchObject({
      channel: { owner_address: owner.account },
    })
  })

  test.each([
    ['symmetricKey', 'ab'.repeat(32)],
    ['symmetric_key', 'ab'.repeat(32)],
    ['password', 'eight or more'],
    ['passwordProtected', true],
    ['password_protected', true],
    ['passwordSalt', 'salt'],
    ['password_salt', 'salt'],
    ['passwordHash', 'hash'],
    ['password_hash', 'hash'],
  ])('a group with %s', async (name, value) => {
    const refused = await owner.rest('POST /api/groups', { name: 'Secret', [name]: value })
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('not kept here') } })
    for (const empty of [null, ''])
      expect((await owner.rest('POST /api/groups', { name: 'Open', [name]: empty })).status).toBe(200)
  })
})

describe('finding a channel', () => {
  solo('by id and by slug it is the same room, under both paths, at top level and under its name', async () => {
    const { channel } = await owner.does('rest', rooms.createChannel, { name: 'Findable', slug: 'find-me' })
    const byId = await member.rest(`GET /api/channels/${channel.id}`)
    const bySlug = await member.rest('GET /api/channels/find-me')
    expect(bySlug.body).toEqual(byId.body)
    expect(byId.body).toMatchObject({ id: channel.id, channel: { id: channel.id, slug: 'find-me', is_member: false } })
    const { room } = await member.does('rest', rooms.get, { room: { type: 'channel', id: 'find-me' } })
    expect(room).toEqual(byId.body.channel)
    await member.does('rest', rooms.join, { room: { type: 'channel', id: 'find-me' } })
    const sent = await member.does('socket', messages.send, { room: { type: 'channel', id: 'find-me' }, text: 'hi' })
    expect(sent.message.room).toEqual({ type: 'channel', id: channel.id })
  })

  solo('the alpha room answers as `global` and under its own path', async () => {
    const answer = await member.rest('GET /api/channels/global')
    expect(answer.body).toMatchObject({ channel: { type: 'alpha', id: 'global', is_member: true, is_official: true } })
    expect((await member.does('rest', rooms.get, { room: alpha })).room).toEqual(answer.body.channel)
  })

  solo.each([
    'channel/no-such-slug',
    `channel/${nowhere.id}`,
    'group/nothing',
    'dm/0xabc',
    'token/none',
    'stream/none',
  ])('there is no room %s', async (path) => {
    expect(await member.rest(`GET /api/rooms/${path}`)).toMatchObject({ status: 404, code: 'ROOM_NOT_FOUND' })
  })

  solo('the list holds active channels, by members, and filters by category, words and membership', async () => {
    const word = `zebra${process.pid}`
    const small = await owner.does('rest', rooms.createChannel, { name: `Small ${word}`, category: 'science' })
    const big = await owner.does('rest', rooms.createChannel, { name: `Big ${word}`, category: 'music' })
    const gone = await owner.does('rest', rooms.createChannel, { name: `Gone ${word}` })
    await member.does('rest', rooms.join, { room: { type: 'channel', id: big.channel.id } })
    await owner.does('rest', rooms.archive, { room: { type: 'channel', id: gone.channel.id } })
    const ids = async (query: object) =>
      (await member.does('rest', rooms.list, { search: word, ...query })).channels.map(({ id }) => id)
    expect(await ids({})).toEqual([big.channel.id, small.channel.id])
    expect(await ids({ category: 'science' })).toEqual([small.channel.id])
    expect(await ids({ category: 'all' })).toHaveLength(2)
    expect(await ids({ joined: true })).toEqual([big.channel.id])
    expect(await ids({ limit: 1, offset: 1 })).toEqual([small.channel.id])
    const guest = await call(server.url, `GET /api/channels?search=${word}`)
    expect(guest.body.channels).toMatchObject([{ is_member: false, member_count: 2 }, { member_count: 1 }])
    const joinedByNobody = await call(server.url, `GET /api/channels?search=${word}&joined=true`)
    expect(joinedByNobody.body).toEqual({ channels: [] })
  })

  test('the groups of somebody are for them alone, newest first', async () => {
    const [first, second] = [await groupOf(owner, member), await groupOf(owner)]
    const ids = async (who: Person) => (await who.does('rest', rooms.groups, { limit: 200 })).groups.map(({ id }) => id)
    expect((await ids(owner)).slice(0, 2)).toEqual([second.id, first.id])
    const theirs = await ids(member)
    expect([theirs.includes(first.id), theirs.includes(second.id)]).toEqual([true, false])
    await member.rest(`POST /api/groups/${first.id}/leave`)
    expect(await ids(member)).not.toContain(first.id)
    expect(await member.rest(`GET /api/groups?userAddress=${owner.account}`)).toMatchObject({ status: 403 })
    expect(await call(server.url, 'GET /api/groups')).toMatchObject({ status: 401 })
  })
})

describe('joining and leaving', () => {
  solo('one joins once, by name, and may leave as often as one likes', async () => {
    const room = await channelOf(owner)
    const joined = await member.rest(`POST /api/channels/${room.id}/join`, { userAddress: member.account })
    expect(joined).toMatchObject({ status: 200, body: { success: true, channelName: /Room/ } })
    const again = await member.rest(`POST /api/channels/${room.id}/join`)
    expect(again).toMatchObject({ status: 400, body: { error: 'Already a member of this channel' } })
    for (const _ of [1, 2]) {
      const left = await member.rest(`POST /api/channels/${room.id}/leave`)
      expect(left).toMatchObject({ status: 200, body: { success: true } })
    }
    expect((await owner.does('rest', rooms.get, { room })).room.member_count).toBe(1)
    await member.does('rest', rooms.join, { room })
    await member.does('rest', rooms.leave, { room })
    expect(await member.refused('socket', messages.send, { room, text: 'still here?' })).toMatchObject({
      code: 'NOT_A_MEMBER',
    })
  })

  test('twenty who join at once are counted each once', async () => {
    const room = await channelOf(owner)
    const people = [member, other, outsider, root]
    const joins = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        (people[at % people.length] ?? member).rest(`POST /api/channels/${room.id}/join`),
      ),
    )
    expect(joins.filter(({ status }) => status === 200)).toHaveLength(people.length)
    const { members, total } = await owner.does('rest', rooms.members, { room })
    expect(new Set(members.map(({ user_address }) => user_address)).size).toBe(5)
    expect(total).toBe(5)
    expect((await owner.does('rest', rooms.get, { room })).room.member_count).toBe(5)
  })

  solo('who is banned, suspended or asks for no room, does not get in', async () => {
    const room = await channelOf(owner)
    await moderates(owner, { room, action: 'ban', target: banished.account, duration: '1h', reason: 'spam' })
    const banned = await banished.rest(`POST /api/channels/${room.id}/join`)
    expect(banned).toMatchObject({ status: 403, code: 'BANNED', body: { reason: 'spam', until: expect.any(String) } })
    expect(await member.refused('rest', rooms.join, { room: nowhere })).toMatchObject({ code: 'ROOM_NOT_FOUND' })
    expect(await member.refused('rest', rooms.leave, { room: nowhere })).toMatchObject({ code: 'ROOM_NOT_FOUND' })
    const suspended = await whileSuspended(outsider, () => outsider.refused('rest', rooms.join, { room }))
    expect(suspended).toMatchObject({ code: 'SUSPENDED', status: 403 })
  })

  solo('everybody is in alpha from the first sign-in; whoever left is in again after the next', async () => {
    const { room } = await outsider.does('rest', rooms.get, { room: alpha })
    expect(room.is_member).toBe(true)
    expect((await outsider.rest('POST /api/alpha/leave')).body).toEqual({ success: true })
    expect((await outsider.does('rest', rooms.get, { room: alpha })).room.is_member).toBe(false)
    expect((await outsider.rest('POST /api/alpha/join')).body).toEqual({ success: true })
    await outsider.rest('POST /api/channels/global/leave')
    outsider = await person(server, 'outsider')
    expect((await outsider.does('rest', rooms.get, { room: alpha })).room.is_member).toBe(true)
  })
})

describe('members', () => {
  solo('are listed newest first, page by page, to everybody who may read', async () => {
    const room = await channelOf(owner, member, other)
    const all = await call(server.url, `GET /api/channels/${room.id}/members`)
    expect(all.body).toMatchObject({
      total: 3,
      hasMore: false,
      members: [
        { user_address: other.account, role: 'member' },
        { user_address: member.account, role: 'member' },
        { user_address: owner.account, role: 'owner' },
      ],
    })
    const page = await member.does('rest', rooms.members, { room, limit: 1, offset: 1 })
    expect(page).toMatchObject({ members: [{ user_address: member.account }], total: 3, hasMore: true })
    const everybody = await member.rest('GET /api/channels/global/members?limit=200')
    expect(everybody.body.total).toBeGreaterThanOrEqual(6)
    await moderates(owner, { room, action: 'ban', target: banished.account, duration: '1h' })
    expect(await banished.refused('rest', rooms.members, { room })).toMatchObject({ code: 'BANNED' })
    expect(await member.refused('rest', rooms.members, { room: nowhere })).toMatchObject({ code: 'ROOM_NOT_FOUND' })
  })

  solo('get a role only from somebody of a higher rank, and only one below theirs', async () => {
    const room = await channelOf(owner, member, other)
    const set = (who: Person, target: Person, role: string) =>
      who.rest(`PATCH /api/channels/${room.id}/members/${target.account}/role`, { role })
    expect((await set(owner, member, 'admin')).body).toEqual({ success: true })
    expect((await set(member, other, 'moderator')).status).toBe(200)
    expect(await set(member, other, 'admin')).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await set(member, owner, 'member')).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await set(other, member, 'member')).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await set(owner, member, 'owner')).toMatchObject({
      status: 400,
      body: { error: 'Owner cannot be assigned' },
    })
    expect(await set(owner, outsider, 'admin')).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect(await set(owner, member, 'emperor')).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    const target = { address: member.account, role: 'member' } as const
    expect(await owner.refused('rest', rooms.setRole, { room: nowhere, ...target })).toMatchObject({
      code: 'ROOM_NOT_FOUND',
    })
    const suspended = await whileSuspended(owner, () => owner.refused('rest', rooms.setRole, { room, ...target }))
    expect(suspended.code).toBe('SUSPENDED')
    await owner.does('rest', rooms.archive, { room })
    expect((await owner.refused('rest', rooms.setRole, { room, ...target })).code).toBe('ROOM_ARCHIVED')
  })

  test('are removed by moderators of higher rank, told so, and may come back', async () => {
    const room = await channelOf(owner, member, other)
    await owner.does('rest', rooms.setRole, { room, address: other.account, role: 'moderator' })
    const line = await listenTo(member, room, await member.socket('/rooms'))
    const kick = (who: Person, target: Person) =>
      who.rest(`POST /api/channels/${room.id}/members/${target.account}/kick`, { reason: 'rest a while' })
    expect(await kick(member, other)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await kick(other, owner)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await kick(other, outsider)).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect((await kick(other, member)).body).toEqual({ success: true })
    expect(await line.hears(access)).toMatchObject({ room, state: 'removed', reason: 'rest a while' })
    await line.follows(room, ({ type }) => type === 'member.removed')
    await owner.does('socket', messages.send, { room, text: 'not for the removed' })
    expect(await member.refused('rest', messages.send, { room, text: 'x1' })).toMatchObject({ code: 'NOT_A_MEMBER' })
    expect(line.log(room).map(({ type }) => type)).not.toContain('message.created')
    await member.does('rest', rooms.join, { room })
    const target = { address: member.account }
    const nothing = await owner.refused('rest', rooms.kick, { room: nowhere, ...target })
    expect(nothing.code).toBe('ROOM_NOT_FOUND')
    const suspended = await whileSuspended(owner, () => owner.refused('rest', rooms.kick, { room, ...target }))
    expect(suspended.code).toBe('SUSPENDED')
    await owner.does('rest', rooms.archive, { room })
    expect((await owner.refused('rest', rooms.kick, { room, ...target })).code).toBe('ROOM_ARCHIVED')
  })
})

describe('changing a room', () => {
  solo('its owner and its admins may, and what was not named stays', async () => {
    const room = await channelOf(owner, member, other)
    await owner.does('rest', rooms.setRole, { room, address: member.account, role: 'admin' })
    const answer = await owner.rest(`PATCH /api/channels/${room.id}`, {
      description: 'Apples and pears',
      slug: 'apples',
    })
    expect(answer.body).toMatchObject({
      slug: 'apples',
      channel: { description: 'Apples and pears', emoji: '💬' },
    })
    const changed = await member.does('rest', rooms.update, { room, emoji: '🍎' })
    expect(changed.room).toMatchObject({ emoji: '🍎', description: 'Apples and pears', slug: 'apples' })
    const cleared = await owner.does('rest', rooms.update, { room, description: null, slug: null })
    expect(cleared.room).toMatchObject({ description: null, slug: null })
    expect(await owner.refused('rest', rooms.get, { room: { type: 'channel', id: 'apples' } })).toMatchObject({
      code: 'ROOM_NOT_FOUND',
    })
    const refused = await other.refused('rest', rooms.update, { room, name: 'Mine now' })
    expect(refused).toMatchObject({ code: 'FORBIDDEN', status: 403 })
  })

  test('a name or slug that is taken is refused and stays with its owner', async () => {
    const room = await channelOf(owner)
    const taken = await owner.does('rest', rooms.createChannel, { name: 'Taken name', slug: 'taken-slug' })
    for (const patch of [{ name: 'taken NAME' }, { slug: 'taken-slug' }])
      expect(await owner.refused('rest', rooms.update, { room, ...patch })).toMatchObject({ code: 'VALIDATION_ERROR' })
    const group = await groupOf(member)
    const slugged = await member.refused('rest', rooms.update, { room: group, slug: 'taken-slug' })
    expect(slugged.code).toBe('VALIDATION_ERROR')
    const found = await owner.does('rest', rooms.get, { room: { type: 'channel', id: 'taken-slug' } })
    expect(found.room.id).toBe(taken.channel.id)
    expect((await member.does('rest', rooms.update, { room: group, name: 'Taken name' })).room.name).toBe('Taken name')
  })

  solo('that is refused leaves names and slugs to others, and its own to the room', async () => {
    const { channel } = await owner.does('rest', rooms.createChannel, {
      name: 'Keeps its name',
      slug: 'keeps-its-slug',
    })
    const room = { type: 'channel', id: channel.id } as const
    const wanted = { name: 'Wanted name', slug: 'wanted-slug' }
    const [node] = server.apps.map((app) => app.node)
    if (!node) throw new Error('No server runs.')
    const refused = withReservedNames(node, roomKey(room), wanted, () => Promise.reject(new AppError('ROOM_ARCHIVED')))
    await expect(refused).rejects.toMatchObject({ code: 'ROOM_ARCHIVED' })
    await owner.does('rest', rooms.archive, { room })
    expect((await owner.refused('rest', rooms.update, { room, ...wanted })).code).toBe('ROOM_ARCHIVED')
    await member.does('rest', rooms.createChannel, wanted)
    for (const own of [{ name: 'keeps its NAME' }, { name: 'Another', slug: 'keeps-its-slug' }])
      expect((await member.refused('rest', rooms.createChannel, own)).code).toBe('VALIDATION_ERROR')
  })

  solo('is refused to its owner and its admins while they are muted', async () => {
    const room = await channelOf(owner, member)
    await owner.does('rest', rooms.setRole, { room, address: member.account, role: 'admin' })
    for (const [who, by] of [
      [member, owner],
      [owner, root],
    ] as const) {
      await moderates(by, { room, action: 'mute', target: who.account, duration: '1h' })
      for (const patch of [{ name: 'Said all the same' }, { description: 'Said all the same' }])
        expect(await who.refused('rest', rooms.update, { room, ...patch })).toMatchObject({
          code: 'MUTED',
          details: { until: expect.any(String) },
        })
      await moderates(by, { room, action: 'unmute', target: who.account })
      await who.does('rest', rooms.update, { room, description: `Heard again ${who.account}` })
    }
  })

  solo('is refused for no room, by the suspended and in an archived room', async () => {
    const room = await channelOf(owner)
    const patch = { description: 'new' }
    expect((await owner.refused('rest', rooms.update, { room: nowhere, ...patch })).code).toBe('ROOM_NOT_FOUND')
    const suspended = await whileSuspended(owner, () => owner.refused('rest', rooms.update, { room, ...patch }))
    expect(suspended.code).toBe('SUSPENDED')
    await owner.does('rest', rooms.archive, { room })
    expect((await owner.refused('rest', rooms.update, { room, ...patch })).code).toBe('ROOM_ARCHIVED')
  })
})

describe('an archived room', () => {
  solo('is closed by its owner alone, read by everybody, written by nobody', async () => {
    const room = await channelOf(owner, member)
    const { message } = await member.does('socket', messages.send, { room, text: 'before the end' })
    await owner.does('rest', rooms.setRole, { room, address: member.account, role: 'admin' })
    expect((await member.refused('rest', rooms.archive, { room })).code).toBe('FORBIDDEN')
    expect((await owner.refused('rest', rooms.archive, { room: nowhere })).code).toBe('ROOM_NOT_FOUND')
    expect((await owner.refused('rest', rooms.archive, { room: alpha })).code).toBe('FORBIDDEN')
    const suspended = await whileSuspended(owner, () => owner.refused('rest', rooms.archive, { room }))
    expect(suspended.code).toBe('SUSPENDED')
    const line = await listenTo(member, room, await member.socket('/rooms'))
    expect((await owner.rest(`POST /api/channels/${room.id}/archive`)).body).toEqual({ success: true })
    await line.follows(room, ({ type }) => type === 'room.archived')
    expect((await owner.does('rest', rooms.archive, { room })).room.is_active).toBe(false)
    const { id } = message
    const refusals = [
      member.refused('socket', messages.send, { room, text: 'after' }),
      member.refused('rest', messages.edit, { room, id, text: 'after' }),
      member.refused('socket', messages.remove, { room, id }),
      member.refused('rest', messages.react, { room, id, emoji: '👍' }),
      owner.refused('socket', messages.pin, { room, id, pinned: true }),
      other.refused('rest', rooms.join, { room }),
    ]
    for (const refusal of await Promise.all(refusals))
      expect(refusal).toMatchObject({ code: 'ROOM_ARCHIVED', status: 409 })
    const { messages: kept } = await other.does('rest', messages.history, { room })
    expect(kept.map(({ content }) => content)).toEqual(['before the end'])
    expect((await other.does('rest', rooms.get, { room })).room.is_active).toBe(false)
  })
})

describe('a group', () => {
  solo('is there for those who were invited and for nobody else', async () => {
    const room = await groupOf(owner, member)
    const { room: row } = await member.does('rest', rooms.get, { room })
    expect(row).toMatchObject({ type: 'group', name: 'A group', emoji: '👥', member_count: 2, is_member: true })
    expect((await member.rest(`GET /api/groups/${room.id}`)).body).toMatchObject({ group: { id: room.id } })
    await owner.does('socket', messages.send, { room, text: 'between us' })
    const line = await outsider.line()
    const asks = await Promise.all([
      outsider.refused('rest', rooms.get, { room }),
      outsider.refused('rest', rooms.members, { room }),
      outsider.refused('rest', rooms.join, { room }),
      outsider.refused('rest', rooms.leave, { room }),
      outsider.refused('rest', rooms.update, { room, name: 'x' }),
      outsider.refused('rest', rooms.archive, { room }),
      outsider.refused('rest', rooms.kick, { room, address: member.account }),
      outsider.refused('rest', rooms.setRole, { room, address: member.account, role: 'member' }),
      outsider.refused('socket', messages.join, { room }),
      outsider.refused('socket', messages.sync, { room, after_seq: 0 }),
      outsider.refused('rest', messages.history, { room }),
      outsider.refused('socket', messages.search, { room, query: 'between' }),
      outsider.refused('rest', messages.pins, { room }),
      outsider.refused('socket', messages.send, { room, text: 'hello?' }),
      outsider.refused('rest', messages.check, { room, text: 'hello?' }),
      outsider.refused('socket', messages.read, { room, seq: 1 }),
      outsider.refused('rest', messages.typing, { room, on: true }),
    ])
    for (const ask of asks) expect(ask).toMatchObject({ code: 'ROOM_NOT_FOUND', status: 404 })
    const nothing = await outsider.refused('rest', rooms.get, { room: { type: 'group', id: nowhere.id } })
    expect(asks[0]).toEqual(nothing)
    expect((await call(server.url, `GET /api/groups/${room.id}/messages`)).status).toBe(404)
    expect(line.log(room)).toEqual([])
  })

  solo('its admin brings people in and takes them out; they leave on their own', async () => {
    const room = await groupOf(owner, member)
    const bring = (who: Person, ...people: Person[]) =>
      who.rest(`POST /api/groups/${room.id}/members`, { addresses: people.map(({ account }) => account) })
    expect((await bring(owner, other, member)).body).toEqual({
      success: true,
      added: [other.account],
      invited: [],
    })
    expect(await bring(member, outsider)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await bring(outsider, banished)).toMatchObject({ status: 404, code: 'ROOM_NOT_FOUND' })
    expect((await owner.rest(`GET /api/groups/${room.id}/members`)).body).toMatchObject({ total: 3 })
    expect((await owner.rest(`DELETE /api/groups/${room.id}/members/${other.account}`)).body).toEqual({ success: true })
    expect((await other.refused('rest', rooms.get, { room })).code).toBe('ROOM_NOT_FOUND')
    expect((await member.rest(`POST /api/groups/${room.id}/leave`)).body).toEqual({ success: true })
    expect((await member.refused('rest', rooms.get, { room })).code).toBe('ROOM_NOT_FOUND')
  })

  solo(
    'nobody who has no account, is blocked or is banned is brought in, and the attempt leaves no trace',
    async () => {
      const before = (await owner.rest('GET /api/user/rooms')).body.rooms
      const create = (memberAddresses: string[]) => ({ name: 'Half a group', memberAddresses })
      const unknown = await owner.refused('rest', rooms.createGroup, create([member.account, nobody]))
      expect(unknown).toMatchObject({ code: 'USER_NOT_FOUND', status: 404 })
      await outsider.does('rest', social.block, { userAddress: owner.account })
      const blocked = await owner.refused('rest', rooms.createGroup, create([outsider.account]))
      expect(blocked).toMatchObject({ code: 'BLOCKED', status: 403 })
      expect((await owner.rest('GET /api/user/rooms')).body.rooms).toEqual(before)
      const room = await groupOf(owner)
      const add = (...addresses: string[]) => owner.refused('rest', rooms.addMembers, { id: room.id, addresses })
      expect((await add(outsider.account)).code).toBe('BLOCKED')
      expect((await add(nobody)).code).toBe('USER_NOT_FOUND')
      await outsider.does('rest', social.unblock, { userAddress: owner.account })
      await owner.does('rest', rooms.addMembers, { id: room.id, addresses: [banished.account] })
      await moderates(owner, { room, action: 'ban', target: banished.account, duration: '1h' })
      expect((await add(banished.account)).code).toBe('BANNED')
      const suspended = await whileSuspended(owner, () => add(member.account))
      expect(suspended.code).toBe('SUSPENDED')
      const founding = await whileSuspended(outsider, () => outsider.refused('rest', rooms.createGroup, create([])))
      expect(founding.code).toBe('SUSPENDED')
      await owner.does('rest', rooms.archive, { room })
      expect((await add(member.account)).code).toBe('ROOM_ARCHIVED')
    },
  )
})

describe('a direct conversation', () => {
  solo('is one room for both, found by either, and by nobody else', async () => {
    const { room: mine } = await owner.does('rest', rooms.openDm, { recipientAddress: other.account })
    const { room: theirs } = await other.does('rest', rooms.openDm, { recipientAddress: owner.account })
    const room = dmOf(owner.account, other.account)
    expect(mine).toMatchObject({ ...room, member_count: 2, is_member: true })
    expect(theirs).toEqual(mine)
    for (const who of [outsider, root])
      expect(await who.refused('rest', rooms.get, { room })).toMatchObject({ code: 'ROOM_NOT_FOUND', status: 404 })
    const backwards = { type: 'dm', id: [owner.account, other.account].sort().reverse().join('~') } as const
    expect((await owner.refused('rest', rooms.get, { room: backwards })).code).toBe('ROOM_NOT_FOUND')
    expect((await owner.refused('rest', rooms.join, { room: dmOf(other.account, member.account) })).code).toBe(
      'ROOM_NOT_FOUND',
    )
  })

  solo('is not opened with oneself, with nobody, across a block or while suspended', async () => {
    const open = (recipientAddress: string) => member.refused('rest', rooms.openDm, { recipientAddress })
    expect(await open(member.account)).toMatchObject({ code: 'VALIDATION_ERROR', status: 400 })
    expect(await open(nobody)).toMatchObject({ code: 'USER_NOT_FOUND', status: 404 })
    await outsider.does('rest', social.block, { userAddress: member.account })
    expect(await open(outsider.account)).toMatchObject({ code: 'BLOCKED', status: 403 })
    const back = await outsider.refused('rest', rooms.openDm, { recipientAddress: member.account })
    expect(back.code).toBe('BLOCKED')
    await outsider.does('rest', social.unblock, { userAddress: member.account })
    const suspended = await whileSuspended(member, () => open(outsider.account))
    expect(suspended.code).toBe('SUSPENDED')
  })

  test('is made by the first message, and then among the rooms of both', async () => {
    const room = dmOf(member.account, outsider.account)
    const listed = async (who: Person) => {
      const answer = await who.rest('GET /api/user/rooms')
      return (answer.body.rooms as { id: string; peer: { id: string } | null }[]).find(({ id }) => id === room.id)
    }
    expect(await listed(outsider)).toBeUndefined()
    await member.does('socket', messages.send, { room, text: sealed() })
    expect(await listed(outsider)).toMatchObject({ unread: 1, peer: { id: member.account } })
    expect(await listed(member)).toMatchObject({
      peer: { id: outsider.account },
      last_message: { preview: 'Direct message' },
    })
  })
})
