import { describe, expect, test } from 'vitest'
import { Rooms } from '#server/domains/rooms/model'
import {
  act,
  alpha,
  appoint,
  channelOf,
  done,
  type Grants,
  hearing,
  officialChannel,
  type Place,
  people,
  type Somebody,
  say,
} from '#test/support/community'
import { communityOf } from '#test/support/community-of'
import { nodesUnderTest } from '#test/support/test-servers'

const { server, admin, otherAdmin, root, member } = await communityOf(['admin', 'otherAdmin', 'root', 'member'], {
  admins: ['admin', 'otherAdmin'],
  superAdmins: ['root'],
})

const every: Grants = { canPin: true, canDelete: true, canMute: true, canManageMods: true }
const queryOf = ({ type, id }: Place) => `chatType=${type}&chatId=${id ?? ''}`
const idOf = ({ type, id }: Place) => (type === 'alpha' ? 'global' : id)

/** Every way to read what moderators alone may read of a place, or of all of them, over both doors. */
function reads(who: Somebody, place: Place | null): Record<string, () => ReturnType<Somebody['call']>> {
  const of = place ? `&chatType=${place.type}&channelId=${idOf(place)}` : ''
  const channel = place ? `channelId=${idOf(place)}` : ''
  const everywhere = {
    log: () => who.call(`GET /api/moderation?action=mod-log${of}`),
    verify: () => who.call(`GET /api/moderation/verify?${channel}`),
    queue: () => who.call(`GET /api/moderation/queue?${channel}`),
    subscribe: () =>
      who.ask('mod:subscribe', place ? { scope: 'room', room: place } : { scope: 'global' }, '/moderation'),
    words: () => who.call(`GET /api/blocked-words?scope=${place ? `room&${queryOf(place)}` : 'global'}`),
  }
  if (!place) return everywhere
  return {
    ...everywhere,
    muted: () => who.call(`GET /api/moderation?action=muted${of}`),
    bans: () => who.call(`GET /api/chat-rules/ban?${queryOf(place)}`),
    simulate: () => who.call('POST /api/moderation/simulate', { room: place, word: 'sprout', last: 10 }),
    'a mute': () => who.call(`GET /api/moderation?action=check-muted&userAddress=${member.account}${of}`),
    'a ban': () => who.call(`GET /api/chat-rules/ban?${queryOf(place)}&action=check&userAddress=${member.account}`),
  }
}

const permissionsOf = ({ account }: Somebody, place: Place | null) =>
  `GET /api/moderation?action=permissions&userAddress=${account}${place ? `&channelId=${idOf(place)}` : ''}`

/** What is shown to somebody, by way of reading: nothing of a list counts as refused. */
async function shown(who: Somebody, place: Place | null): Promise<string[]> {
  const found: string[] = []
  for (const [name, read] of Object.entries(reads(who, place))) {
    const { status, body } = await read()
    const isEmpty = Array.isArray(body.words) && body.words.length === 0
    if (status === 200 && !isEmpty) found.push(name)
  }
  return found
}

describe('R2: who is suspended or banned reads nothing that is for moderators', () => {
  const suspend = (who: Somebody, ban: boolean) =>
    done(root.call('POST /api/admin/ban', { userAddress: who.account, ban }))

  test('a suspended moderator, of whatever rank', async () => {
    const [head, roomAdmin, manager, judge] = await people(server, 'head', 'room admin', 'manager', 'a judge')
    const room = await channelOf(head, roomAdmin, manager, member)
    const official = await officialChannel(judge, member)
    await done(head.call(`PATCH /api/channels/${room.id}/members/${roomAdmin.account}/role`, { role: 'admin' }))
    await appoint(head, room, manager, every)
    await appoint(admin, null, judge, every)
    for (const place of [room, official, alpha, null])
      await done(act(admin, place, 'word_add', { patch: { word: `leek${place?.id ?? place?.type ?? ''}` } }))
    const cast: [string, Somebody, (Place | null)[]][] = [
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
        const { permissions } = await done(member.call(permissionsOf(who, place)))
        expect(Object.values(permissions as object).filter(Boolean)).toEqual([])
      }
      await suspend(who, false)
    }
    await done(act(root, null, 'demote', { target: judge.account }))
  }, 120_000)

  test('a global moderator who is banned in an official room, of that room', async () => {
    const [judge] = await people(server, 'a banned judge')
    await appoint(admin, null, judge, every)
    for (const place of [await officialChannel(judge, member), alpha]) {
      await done(act(admin, place, 'word_add', { patch: { word: `chard${place.id ?? ''}` } }))
      expect(await shown(judge, place)).toEqual(Object.keys(reads(judge, place)))
      await done(act(admin, place, 'ban', { target: judge.account }))
      expect(await shown(judge, place)).toEqual([])
      await done(act(admin, place, 'unban', { target: judge.account }))
    }
    await done(act(root, null, 'demote', { target: judge.account }))
  })

  test('a suspended global moderator does not read a closed official room by their rank', async () => {
    const [judge] = await people(server, 'a suspended judge')
    await appoint(admin, null, judge, every)
    const room = await officialChannel(member)
    await say(member, room, 'hello there')
    await done(act(admin, room, 'rules', { patch: { rules: { read_access: 'members' } } }))
    expect((await judge.call(`GET /api/rooms/channel/${room.id}/messages`)).status).toBe(200)
    await suspend(judge, true)
    expect((await judge.call(`GET /api/rooms/channel/${room.id}/messages`)).code).toBe('NOT_A_MEMBER')
    await suspend(judge, false)
    await done(act(root, null, 'demote', { target: judge.account }))
  })
})

interface Entry {
  id: string
  metadata: { chat_type: string; chat_id: string | null }
}
const sealed = Buffer.alloc(40, 7).toString('base64')

describe('R3: the log of everything tells of rooms to those alone who may know them', () => {
  const isOf = (place: Place) => (entry: Entry) =>
    entry.metadata.chat_type === place.type && entry.metadata.chat_id === place.id

  /** Where somebody sees entries of a place without naming it: in the log, in the queue's, and as they come. */
  async function listener(who: Somebody) {
    await done(who.ask('mod:subscribe', { scope: 'global' }, '/moderation'))
    const heard = hearing(await who.socket('/moderation'))
    const live = () => heard.named('modlog:event').map(({ entry }) => entry as Entry)
    return async (places: Record<string, Place>) => {
      const { logs } = await done(who.call('GET /api/moderation?action=mod-log'))
      const overRest = await done(who.call('GET /api/moderation/queue'))
      const overSocket = await done(who.ask('mod:subscribe', { scope: 'global' }, '/moderation'))
      const ways = { log: logs, queue: overRest.logs, subscribe: overSocket.logs, live: live() } as Record<
        string,
        Entry[]
      >
      const countsOf = (place: Place) =>
        Object.fromEntries(Object.entries(ways).map(([way, all]) => [way, all.filter(isOf(place)).length]))
      return Object.fromEntries(Object.entries(places).map(([name, place]) => [name, countsOf(place)]))
    }
  }

  test('of direct conversations to nobody, of groups and closed rooms to admins', async () => {
    const names = ['a global reader', 'head of a group', 'one', 'two', 'banned in a room'] as const
    const [judge, head, one, two, banned] = await people(server, ...names)
    for (const who of [judge, banned]) await appoint(admin, null, who, every)
    const { group } = await done(
      head.call('POST /api/groups', { name: 'A group', memberAddresses: [one.account, judge.account] }),
    )
    const places: Record<string, Place> = {
      dm: { type: 'dm', id: [one.account, admin.account].sort().join('~') },
      'dm of others': { type: 'dm', id: [one.account, two.account].sort().join('~') },
      group: { type: 'group', id: (group as { id: string }).id },
      closed: await channelOf(head, one, judge),
      signed_in: await channelOf(head, one),
      open: await channelOf(head, one),
      official: await officialChannel(one, banned),
      'closed official': await officialChannel(one),
      alpha,
    }
    const of = (name: string) => places[name] as Place
    for (const [name, by] of [
      ['closed', head],
      ['closed official', admin],
    ] as const)
      await done(act(by, of(name), 'rules', { patch: { rules: { read_access: 'members' } } }))
    await done(act(head, of('signed_in'), 'rules', { patch: { rules: { read_access: 'signed_in' } } }))
    await done(act(admin, of('official'), 'ban', { target: banned.account }))
    const readers = { judge, banned, admin, otherAdmin, root }
    const sees: Record<string, Awaited<ReturnType<typeof listener>>> = {}
    for (const [name, who] of Object.entries(readers)) sees[name] = await listener(who)
    const first: Record<string, Awaited<ReturnType<(typeof sees)[string]>> | undefined> = {}
    for (const [name, look] of Object.entries(sees)) first[name] = await look(places)
    for (const [name, place] of Object.entries(places)) {
      const isDm = place.type === 'dm'
      const { id: message_id } = await say(one, place, isDm ? sealed : 'hello')
      if (!isDm) await done(act(/official|alpha/.test(name) ? admin : head, place, 'warn', { target: one.account }))
      else {
        await done(one.ask('message:pin', { room: place, id: message_id, pinned: true }))
        await done(one.ask('message:delete', { room: place, id: message_id }))
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
    for (const who of [judge, banned]) await done(act(root, null, 'demote', { target: who.account }))
  }, 60_000)

  test('of a room of the staff to those alone who may know that it is there', async () => {
    const [judge] = await people(server, 'a judge who is not of the staff')
    await appoint(admin, null, judge, every)
    const id = crypto.randomUUID()
    const now = new Date().toISOString()
    const fields = { type: 'channel', id, name: `Staff ${id}`, emoji: '🔒', category: 'general', access_level: 'staff' }
    await Rooms.create({ _id: `channel:${id}`, ...fields, created_at: now, updated_at: now })
    const staff: Place = { type: 'channel', id }
    expect((await judge.call(`GET /api/channels/${id}`)).status).toBe(404)
    const [look, control] = [await listener(judge), await listener(admin)]
    await done(act(admin, staff, 'warn', { target: member.account }))
    expect((await control({ staff })).staff).toMatchObject({ log: 1, queue: 1, subscribe: 1 })
    await done(act(admin, alpha, 'warn', { target: member.account }))
    await expect.poll(async () => (await look({ alpha })).alpha?.log).toBeGreaterThan(0)
    expect((await look({ staff })).staff).toEqual({ log: 0, queue: 0, subscribe: 0, live: 0 })
    await done(act(root, null, 'demote', { target: judge.account }))
  })

  test('and so does the queue', async () => {
    const [judge, head, loud] = await people(server, 'a reader of queues', 'head of rooms', 'loud')
    await appoint(admin, null, judge, every)
    const created = await done(
      head.call('POST /api/groups', { name: 'A group', memberAddresses: [loud.account, judge.account] }),
    )
    const group: Place = { type: 'group', id: (created.group as { id: string }).id }
    const closed = await channelOf(head, loud, judge)
    const open = await channelOf(head, loud)
    await done(act(head, closed, 'rules', { patch: { rules: { read_access: 'members' } } }))
    const readers = { judge, admin, head }
    const heard = new Map<string, ReturnType<typeof hearing>>()
    for (const [name, who] of Object.entries(readers)) {
      if (who !== head) await done(who.ask('mod:subscribe', { scope: 'global' }, '/moderation'))
      else
        for (const room of [group, closed, open])
          await done(who.ask('mod:subscribe', { scope: 'room', room }, '/moderation'))
      heard.set(name, hearing(await who.socket('/moderation')))
    }
    const items: Record<string, string[]> = {}
    for (const [name, place] of Object.entries({ group, closed, open })) {
      await done(act(head, place, 'word_add', { patch: { word: 'parsnip', word_action: 'flag' } }))
      const flagged = await say(loud, place, 'a parsnip')
      const [reporter] = await people(server, `a reporter in ${name}`)
      const about = { conversationType: place.type, conversationId: place.id, reportType: 'spam' }
      const { report } = await done(
        reporter.call('POST /api/users/report', { ...about, reportedAddress: loud.account }),
      )
      items[name] = [flagged.id, (report as { id: string }).id]
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
      const told = () =>
        heard
          .get(reader)
          ?.named('queue:event')
          .map(({ item }) => (item as { id: string }).id) ?? []
      await expect.poll(() => named(told())).toEqual(seen)
      expect(anyOf(told())).toEqual(seen)
      if (reader === 'head') continue
      const { queue } = await done(readers[reader].call('GET /api/moderation/queue'))
      const ids = (queue as { id: string }[]).map(({ id }) => id)
      expect({ reader, seen: anyOf(ids) }).toEqual({ reader, seen })
    }
    for (const item of [...(items.group ?? []), ...(items.closed ?? [])]) {
      expect((await judge.call('POST /api/moderation/queue/claim', { item })).code).toBe('NOT_FOUND')
      expect((await judge.ask('queue:decide', { item, decision: 'dismissed' }, '/moderation')).code).toBe('NOT_FOUND')
    }
    await done(act(root, null, 'demote', { target: judge.account }))
  }, 60_000)
})
