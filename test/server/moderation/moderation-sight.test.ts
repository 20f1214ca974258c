// Modes: embedded
import { describe, expect, test } from 'vitest'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { logged, moderation, queued } from '#shared/api/moderation/moderation'
import type { LogEntry } from '#shared/api/moderation/moderation-records'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { dmOf } from '#shared/kit/room-key'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import { appoint, every, logOf, officialChannel, subscribe } from '#test/support/moderation'
import { alpha, type Body, channelOf, groupOf, moderates, type Person, people, say, sealed } from '#test/support/people'
import { nodesUnderTest } from '#test/support/test-servers'
import { bodyOf } from '#test/support/wallet'

const { server, admin, otherAdmin, root, member } = await bootWith(['admin', 'otherAdmin', 'root', 'member'], {
  entry: 'in alpha',
  admins: ['admin', 'otherAdmin'],
  superAdmins: ['root'],
})

const queryOf = ({ type, id }: RoomRef) => `chatType=${type}&chatId=${id ?? ''}`
const idOf = ({ type, id }: RoomRef) => (type === 'alpha' ? 'global' : id)

/** Every way to read what moderators alone may read of a place, or of all of them, over both doors. */
function reads(who: Person, place: RoomRef | null): Record<string, () => Promise<{ status: number; body: Body }>> {
  const of = place ? `&chatType=${place.type}&channelId=${idOf(place)}` : ''
  const channel = place ? `channelId=${idOf(place)}` : ''
  const everywhere = {
    log: () => who.rest(`GET /api/moderation?action=mod-log${of}`),
    verify: () => who.rest(`GET /api/moderation/verify?${channel}`),
    queue: () => who.rest(`GET /api/moderation/queue?${channel}`),
    subscribe: async () => {
      const scope = place ? ({ scope: 'room', room: place } as const) : ({ scope: 'global' } as const)
      const answer = await who.tries('socket', moderation.queue, scope)
      return { status: answer.ok ? 200 : answer.error.status, body: {} }
    },
    words: () => who.rest(`GET /api/blocked-words?scope=${place ? `room&${queryOf(place)}` : 'global'}`),
  }
  if (!place) return everywhere
  return {
    ...everywhere,
    muted: () => who.rest(`GET /api/moderation?action=muted${of}`),
    bans: () => who.rest(`GET /api/chat-rules/ban?${queryOf(place)}`),
    simulate: () => who.rest('POST /api/moderation/simulate', { room: place, word: 'sprout', last: 10 }),
    'a mute': () => who.rest(`GET /api/moderation?action=check-muted&userAddress=${member.account}${of}`),
    'a ban': () => who.rest(`GET /api/chat-rules/ban?${queryOf(place)}&action=check&userAddress=${member.account}`),
  }
}

const permissionsOf = ({ account }: Person, place: RoomRef | null) =>
  `GET /api/moderation?action=permissions&userAddress=${account}${place ? `&channelId=${idOf(place)}` : ''}`

/** What is shown to somebody, by way of reading: nothing of a list counts as refused. */
async function shown(who: Person, place: RoomRef | null): Promise<string[]> {
  const found: string[] = []
  for (const [name, read] of Object.entries(reads(who, place))) {
    const { status, body } = await read()
    const isEmpty = Array.isArray(body.words) && body.words.length === 0
    if (status === 200 && !isEmpty) found.push(name)
  }
  return found
}

describe('R2: who is suspended or banned reads nothing that is for moderators', () => {
  const suspend = (who: Person, ban: boolean) => root.does('rest', accounts.suspend, { userAddress: who.account, ban })

  test('a suspended moderator, of whatever rank', { ...heavy, timeout: 120_000 }, async () => {
    const [head, roomAdmin, manager, judge] = await people(server, 'head', 'room admin', 'manager', 'a judge')
    const room = await channelOf(head, roomAdmin, manager, member)
    const official = await officialChannel(judge, member)
    await head.does('rest', rooms.setRole, { room, address: roomAdmin.account, role: 'admin' })
    await appoint(head, room, manager, every)
    await appoint(admin, null, judge, every)
    for (const place of [room, official, alpha, null])
      await moderates(admin, {
        room: place,
        action: 'word_add',
        patch: { word: `leek${place?.id ?? place?.type ?? ''}` },
      })
    const cast: [string, Person, (RoomRef | null)[]][] = [
      ['owner', head, [room]],
      ['room admin', roomAdmin, [room]],
      ['manager', manager, [room]],
      ['global moderator', judge, [official, alpha, null]],
      ['admin', otherAdmin, [room, official, alpha, null]],
    ]
    for (const [rank, who, places] of cast) {
      for (const place of places)
        expect({ rank, place, shown: await shown(who, place) }).toEqual({
          rank,
          place,
          shown: Object.keys(reads(who, place)),
        })
      await suspend(who, true)
      for (const place of places) {
        expect({ rank, place, shown: await shown(who, place) }).toEqual({ rank, place, shown: [] })
        const { permissions } = await bodyOf(member.rest(permissionsOf(who, place)))
        expect(Object.values(permissions as object).filter(Boolean)).toEqual([])
      }
      await suspend(who, false)
    }
    await moderates(root, { room: null, action: 'demote', target: judge.account })
  })

  test('a global moderator who is banned in an official room, of that room', async () => {
    const [judge] = await people(server, 'a banned judge')
    await appoint(admin, null, judge, every)
    for (const place of [await officialChannel(judge, member), alpha]) {
      await moderates(admin, { room: place, action: 'word_add', patch: { word: `chard${place.id ?? ''}` } })
      expect(await shown(judge, place)).toEqual(Object.keys(reads(judge, place)))
      await moderates(admin, { room: place, action: 'ban', target: judge.account })
      expect(await shown(judge, place)).toEqual([])
      await moderates(admin, { room: place, action: 'unban', target: judge.account })
    }
    await moderates(root, { room: null, action: 'demote', target: judge.account })
  })

  test('a suspended global moderator does not read a closed official room by their rank', async () => {
    const [judge] = await people(server, 'a suspended judge')
    await appoint(admin, null, judge, every)
    const room = await officialChannel(member)
    await say(member, room, 'hello there')
    await moderates(admin, { room, action: 'rules', patch: { rules: { read_access: 'members' } } })
    expect((await judge.rest(`GET /api/rooms/channel/${room.id}/messages`)).status).toBe(200)
    await suspend(judge, true)
    expect((await judge.rest(`GET /api/rooms/channel/${room.id}/messages`)).code).toBe('NOT_A_MEMBER')
    await suspend(judge, false)
    await moderates(root, { room: null, action: 'demote', target: judge.account })
  })
})

describe('R3: the log of everything tells of rooms to those alone who may know them', () => {
  const isOf =
    (place: RoomRef) =>
    ({ metadata }: LogEntry) =>
      metadata.chat_type === place.type && metadata.chat_id === place.id

  /** Where somebody sees entries of a place without naming it: in the log, in the queue's, and as they come. */
  async function listener(who: Person) {
    const line = await subscribe(who, null)
    const live = () => line.all(logged).map(({ entry }) => entry)
    return async (places: Record<string, RoomRef>) => {
      const log = await logOf(who, null)
      const overRest = moderation.queue.output.parse(await bodyOf(who.rest('GET /api/moderation/queue')))
      const overSocket = await who.does('socket', moderation.queue, { scope: 'global' })
      const ways = { log, queue: overRest.logs, subscribe: overSocket.logs, live: live() }
      const countsOf = (place: RoomRef) =>
        Object.fromEntries(Object.entries(ways).map(([way, all]) => [way, all.filter(isOf(place)).length]))
      return Object.fromEntries(Object.entries(places).map(([name, place]) => [name, countsOf(place)]))
    }
  }

  test('of direct conversations to nobody, of groups and closed rooms to admins', {
    ...heavy,
    timeout: 60_000,
  }, async () => {
    const names = ['a global reader', 'head of a group', 'one', 'two', 'banned in a room'] as const
    const [judge, head, one, two, banned] = await people(server, ...names)
    for (const who of [judge, banned]) await appoint(admin, null, who, every)
    const places: Record<string, RoomRef> = {
      dm: dmOf(one.account, admin.account),
      'dm of others': dmOf(one.account, two.account),
      group: await groupOf(head, one, judge),
      closed: await channelOf(head, one, judge),
      signed_in: await channelOf(head, one),
      open: await channelOf(head, one),
      official: await officialChannel(one, banned),
      'closed official': await officialChannel(one),
      alpha,
    }
    const of = (name: string) => places[name] as RoomRef
    for (const [name, by] of [
      ['closed', head],
      ['closed official', admin],
    ] as const)
      await moderates(by, { room: of(name), action: 'rules', patch: { rules: { read_access: 'members' } } })
    await moderates(head, { room: of('signed_in'), action: 'rules', patch: { rules: { read_access: 'signed_in' } } })
    await moderates(admin, { room: of('official'), action: 'ban', target: banned.account })
    const readers = { judge, banned, admin, otherAdmin, root }
    const sees: Record<string, Awaited<ReturnType<typeof listener>>> = {}
    for (const [name, who] of Object.entries(readers)) sees[name] = await listener(who)
    const first: Record<string, Awaited<ReturnType<(typeof sees)[string]>> | undefined> = {}
    for (const [name, look] of Object.entries(sees)) first[name] = await look(places)
    for (const [name, place] of Object.entries(places)) {
      const isDm = place.type === 'dm'
      const { id: message_id } = await say(one, place, isDm ? sealed() : 'hello')
      if (!isDm)
        await moderates(/official|alpha/.test(name) ? admin : head, {
          room: place,
          action: 'warn',
          target: one.account,
        })
      else {
        await one.does('socket', messages.pin, { room: place, id: message_id, pinned: true })
        await one.does('socket', messages.remove, { room: place, id: message_id })
      }
    }
    const open = ['signed_in', 'open', 'official', 'closed official', 'alpha']
    const expected: Record<string, readonly string[]> = {
      judge: open,
      banned: open.filter((name) => name !== 'official'),
      admin: [...open, 'group', 'closed'],
      otherAdmin: [...open, 'group', 'closed'],
      root: [...open, 'group', 'closed'],
    }
    const none = { log: 0, queue: 0, subscribe: 0, live: 0 }
    for (const [reader, look] of Object.entries(sees)) {
      const wanted = Object.keys(places).map((name) => {
        const before = Object.entries(first[reader]?.[name] ?? {})
        const more = Object.fromEntries(before.map(([way, count]) => [way, count + 1]))
        // Nodes without Redis hear live of the rooms alone that they follow.
        const live = nodesUnderTest > 1 ? { live: expect.any(Number) } : {}
        return [name, expected[reader]?.includes(name) ? { ...more, ...live } : none]
      })
      await expect.poll(() => look(places), { timeout: 5_000 }).toEqual(Object.fromEntries(wanted))
    }
    for (const who of [judge, banned]) await moderates(root, { room: null, action: 'demote', target: who.account })
  })

  test('of a room of the staff to those alone who may know that it is there', async () => {
    const [judge] = await people(server, 'a judge who is not of the staff')
    await appoint(admin, null, judge, every)
    const id = crypto.randomUUID()
    const now = new Date().toISOString()
    const fields = { type: 'channel', id, name: `Staff ${id}`, emoji: '🔒', category: 'general', access_level: 'staff' }
    await Rooms.create({ _id: `channel:${id}`, ...fields, created_at: now, updated_at: now })
    const staff: RoomRef = { type: 'channel', id }
    expect((await judge.rest(`GET /api/channels/${id}`)).status).toBe(404)
    const [look, control] = [await listener(judge), await listener(admin)]
    await moderates(admin, { room: staff, action: 'warn', target: member.account })
    expect((await control({ staff })).staff).toMatchObject({ log: 1, queue: 1, subscribe: 1 })
    await moderates(admin, { room: alpha, action: 'warn', target: member.account })
    await expect.poll(async () => (await look({ alpha })).alpha?.log).toBeGreaterThan(0)
    expect((await look({ staff })).staff).toEqual({ log: 0, queue: 0, subscribe: 0, live: 0 })
    await moderates(root, { room: null, action: 'demote', target: judge.account })
  })

  test('and so does the queue', { ...heavy, timeout: 60_000 }, async () => {
    const [judge, head, loud] = await people(server, 'a reader of queues', 'head of rooms', 'loud')
    await appoint(admin, null, judge, every)
    const group = await groupOf(head, loud, judge)
    const closed = await channelOf(head, loud, judge)
    const open = await channelOf(head, loud)
    await moderates(head, { room: closed, action: 'rules', patch: { rules: { read_access: 'members' } } })
    const readers = { judge, admin, head }
    for (const who of [judge, admin]) await subscribe(who, null)
    for (const room of [group, closed, open]) await subscribe(head, room)
    const items: Record<string, string[]> = {}
    for (const [name, place, conversationType, reportType] of [
      ['group', group, 'group', 'spam'],
      ['closed', closed, 'channel', 'scam'],
      ['open', open, 'channel', 'other'],
    ] as const) {
      await moderates(head, { room: place, action: 'word_add', patch: { word: 'parsnip', word_action: 'flag' } })
      const flagged = await say(loud, place, 'a parsnip')
      const about = { conversationType, conversationId: place.id, reportType } as const
      const { report } = await head.does('rest', social.report, { ...about, reportedAddress: loud.account })
      items[name] = [flagged.id, report.id]
    }
    const named = (ids: readonly string[]) =>
      Object.keys(items).filter((name) => items[name]?.every((id) => ids.includes(id)))
    const anyOf = (ids: readonly string[]) =>
      Object.keys(items).filter((name) => items[name]?.some((id) => ids.includes(id)))
    for (const [reader, seen] of [
      ['judge', ['open']],
      ['admin', ['group', 'closed', 'open']],
      ['head', ['group', 'closed', 'open']],
    ] as const) {
      const line = await readers[reader].line('/moderation')
      const told = () => line.all(queued).map(({ item }) => item.id)
      await expect.poll(() => named(told())).toEqual(seen)
      expect(anyOf(told())).toEqual(seen)
      if (reader === 'head') continue
      const { queue } = moderation.queue.output.parse(await bodyOf(readers[reader].rest('GET /api/moderation/queue')))
      expect({ reader, seen: anyOf(queue.map(({ id }) => id)) }).toEqual({ reader, seen })
    }
    for (const item of [...(items.group ?? []), ...(items.closed ?? [])]) {
      expect((await judge.refused('rest', moderation.claim, { item })).code).toBe('NOT_FOUND')
      expect((await judge.refused('socket', moderation.decide, { item, decision: 'dismissed' })).code).toBe('NOT_FOUND')
    }
    await moderates(root, { room: null, action: 'demote', target: judge.account })
  })
})
