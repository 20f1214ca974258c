import { describe, expect, test } from 'vitest'
import {
  act,
  appoint,
  channelOf,
  done,
  doors,
  type Grants,
  hearing,
  nobody,
  officialChannel,
  type Place,
  people,
  type Somebody,
  say,
} from '#test/support/community'
import { communityOf } from '#test/support/community-of'
import { nodesUnderTest } from '#test/support/test-servers'

const { server, admin, otherAdmin, root, owner, member, other } = await communityOf(
  ['admin', 'otherAdmin', 'root', 'owner', 'member', 'other'],
  { admins: ['admin', 'otherAdmin'], superAdmins: ['root'] },
)

const every: Grants = { canPin: true, canDelete: true, canMute: true, canManageMods: true }
const none: Grants = { canPin: false, canDelete: false, canMute: false, canManageMods: false }
const permissions = ['canPin', 'canDelete', 'canMute', 'canManageMods'] as const

interface Cast {
  who: Somebody
  /** Whose rights are whose to change: those of a lower grade. */
  grade: number
  holds: Grants
}

/** Tries every grant of everybody to everybody, over the doors and the documented path in turn, and compares with the table. */
async function tryAll(place: Place | null, cast: Record<string, Cast>, restore: (who: Cast) => Promise<unknown>) {
  const wrong: string[] = []
  let turn = 0
  for (const [by, actor] of Object.entries(cast))
    for (const [to, target] of Object.entries(cast))
      for (const permission of [...permissions, null]) {
        const patch = { ...none, ...(permission ? { [permission]: true } : {}) }
        const may =
          actor !== target &&
          actor.holds.canManageMods === true &&
          actor.grade > target.grade &&
          (permission === null || actor.holds[permission] === true)
        const legacy = { action: 'promote-mod', channelId: place?.id ?? null, targetAddress: target.who.account }
        turn += 1
        // The table is tried whole on one node; on several each act waits for all of them.
        if (nodesUnderTest > 1 && turn % 7 !== 0) continue
        const door = (['socket', 'rest', 'documented'] as const)[turn % 3] ?? 'socket'
        const { status, code } =
          door === 'documented'
            ? await actor.who.call('POST /api/moderation', { ...legacy, ...patch })
            : await act(actor.who, place, 'promote', { target: target.who.account, patch }, door)
        const got = status === 200
        if (got) await restore(target)
        if (got !== may || (!got && code !== 'FORBIDDEN'))
          wrong.push(`${by} gives ${to} ${permission ?? 'nothing'} over ${door}: ${status} ${code}`)
        if (permission !== null) continue
        const other = doors[turn % 2] ?? 'rest'
        const taken = (await act(actor.who, place, 'demote', { target: target.who.account }, other)).status === 200
        if (taken) await restore(target)
        const mayTake = actor.holds.canManageMods === true && (actor === target || actor.grade > target.grade)
        if (taken !== mayTake) wrong.push(`${by} takes from ${to} over ${other}: ${taken}`)
      }
  expect(wrong).toEqual([])
}

test.each(['kick', 'leave', 'ban'] as const)(
  'M06: who is gone by a %s holds no rights, and has none after coming back',
  async (how) => {
    const [gone, helper] = await people(server, `gone by ${how}`, `helper of ${how}`)
    const room = await channelOf(owner, gone, helper)
    await appoint(owner, room, gone, every)
    await done(act(owner, room, 'rules', { patch: { rules: { read_access: 'members' } } }))
    if (how === 'kick') await done(owner.call(`POST /api/channels/${room.id}/members/${gone.account}/kick`, {}))
    if (how === 'leave') await done(gone.call(`POST /api/channels/${room.id}/leave`))
    if (how === 'ban') await done(act(owner, room, 'ban', { target: gone.account }))
    for (const path of ['messages', 'events', 'search?query=anything', 'pins', 'polls'])
      expect((await gone.call(`GET /api/rooms/channel/${room.id}/${path}`)).status).toBeGreaterThanOrEqual(400)
    expect(
      (await act(gone, room, 'promote', { target: helper.account, patch: { ...none, canPin: true } })).status,
    ).toBe(403)
    expect((await gone.ask('mod:subscribe', { scope: 'room', room }, '/moderation')).status).toBe(403)
    if (how === 'ban') await done(act(owner, room, 'unban', { target: gone.account }))
    await done(gone.call(`POST /api/channels/${room.id}/join`))
    expect((await act(gone, room, 'mute', { target: helper.account })).status).toBe(403)
  },
)

test('M48: a key that was used for one act does no other, and says so', async () => {
  const [first, second] = await people(server, 'first', 'second')
  const room = await channelOf(owner, first, second)
  const client_action_id = 'the-key-of-one-act'
  await done(act(owner, room, 'mute', { target: first.account, client_action_id }))
  expect((await act(owner, room, 'mute', { target: first.account, client_action_id })).status).toBe(200)
  for (const [action, target] of [
    ['ban', second],
    ['mute', second],
    ['ban', first],
  ] as const)
    expect((await act(owner, room, action, { target: target.account, client_action_id })).status).toBe(409)
})

describe('M06: nobody gives rights to themselves, nor more than they hold, nor changes a peer’s or a superior’s', () => {
  test('in a channel, by rank', async () => {
    const names = ['plain', 'moderator', 'manager', 'peer', 'mere manager', 'room admin', 'room admin 2'] as const
    const [plain, moderator, manager, peer, mere, roomAdmin, roomAdmin2] = await people(server, ...names)
    const room = await channelOf(owner, plain, moderator, manager, peer, mere, roomAdmin, roomAdmin2)
    for (const who of [roomAdmin, roomAdmin2])
      await done(owner.call(`PATCH /api/channels/${room.id}/members/${who.account}/role`, { role: 'admin' }))
    const cast: Record<string, Cast> = {
      member: { who: plain, grade: 1, holds: {} },
      moderator: { who: moderator, grade: 2, holds: { ...every, canManageMods: false } },
      manager: { who: manager, grade: 3, holds: every },
      'another manager': { who: peer, grade: 3, holds: every },
      'mere manager': { who: mere, grade: 3, holds: { ...none, canManageMods: true } },
      'room admin': { who: roomAdmin, grade: 4, holds: every },
      'another room admin': { who: roomAdmin2, grade: 4, holds: every },
      owner: { who: owner, grade: 5, holds: every },
      admin: { who: admin, grade: 6, holds: every },
      'another admin': { who: otherAdmin, grade: 6, holds: every },
      'super admin': { who: root, grade: 7, holds: every },
    }
    const restore = async ({ who, grade, holds }: Cast) => {
      if (grade === 2 || grade === 3) return appoint(owner, room, who, { ...none, ...holds })
      if (grade < 6) await done(act(grade === 5 ? root : owner, room, 'demote', { target: who.account }))
    }
    for (const one of Object.values(cast)) if (one.grade === 2 || one.grade === 3) await restore(one)
    await tryAll(room, cast, restore)
  }, 180_000)

  test.each(['everywhere', 'in an official room'])(
    'of global moderators %s',
    async (where) => {
      const names = ['plain', 'moderator', 'manager', 'peer', 'mere', 'local', 'local manager'].map(
        (name) => `${name} ${where}`,
      )
      const [plain, moderator, manager, peer, mere, local, localManager] = (await people(server, ...names)) as [
        Somebody,
        Somebody,
        Somebody,
        Somebody,
        Somebody,
        Somebody,
        Somebody,
      ]
      const official = await officialChannel(plain, moderator, manager, peer, mere, local, localManager)
      const place = where === 'everywhere' ? null : official
      const appointed: Record<string, Cast> = {
        'global moderator': { who: moderator, grade: 4, holds: { ...every, canManageMods: false } },
        'global manager': { who: manager, grade: 5, holds: every },
        'another global manager': { who: peer, grade: 5, holds: every },
        'mere global manager': { who: mere, grade: 5, holds: { ...none, canManageMods: true } },
      }
      const here: Record<string, Cast> = {
        'local moderator': { who: local, grade: 2, holds: { ...every, canManageMods: false } },
        'local manager': { who: localManager, grade: 3, holds: every },
      }
      const restore = async (one: Cast) => {
        if (Object.values(here).includes(one)) return appoint(admin, official, one.who, { ...none, ...one.holds })
        if (place) await done(act(root, place, 'demote', { target: one.who.account }))
        if (one.grade > 3 && one.grade < 6) return appoint(admin, null, one.who, { ...none, ...one.holds })
        if (one.grade < 6) await done(act(root, null, 'demote', { target: one.who.account }))
      }
      for (const one of Object.values({ ...appointed, ...here })) await restore(one)
      await tryAll(
        place,
        {
          member: { who: plain, grade: 1, holds: {} },
          ...appointed,
          ...(place ? here : {}),
          admin: { who: admin, grade: 6, holds: every },
          'another admin': { who: otherAdmin, grade: 6, holds: every },
          'super admin': { who: root, grade: 7, holds: every },
        },
        restore,
      )
    },
    180_000,
  )

  test('who appoints without naming rights gives what they hold', async () => {
    const room = await channelOf(owner, member, other)
    await appoint(owner, room, member, { ...none, canManageMods: true, canPin: true })
    const { record } = await appoint(member, room, other)
    expect(record).toMatchObject({ can_pin: true, can_delete: false, can_mute: false, can_manage_mods: false })
  })

  test('a banned moderator can neither act nor lift their own ban', async () => {
    const [judge] = await people(server, 'a global judge')
    await appoint(admin, null, judge, every)
    const official = await officialChannel(judge, member, other)
    const { record } = await done(act(admin, official, 'word_add', { patch: { word: 'turnip' } }))
    await done(act(admin, official, 'ban', { target: judge.account }))
    for (const door of doors) {
      expect((await act(judge, official, 'unban', { target: judge.account }, door)).code).toBe('BANNED')
      expect((await act(judge, official, 'mute', { target: member.account }, door)).code).toBe('BANNED')
    }
    const kick = `POST /api/rooms/channel/${official.id}/members/${member.account}/kick`
    expect((await judge.call(kick)).code).toBe('BANNED')
    const { id } = record as { id: string }
    expect((await judge.call(`DELETE /api/blocked-words?id=${id}`)).code).toBe('BANNED')
    const subscribed = await judge.ask('mod:subscribe', { scope: 'room', room: official }, '/moderation')
    expect(subscribed.code).toBe('FORBIDDEN')
    await done(act(admin, null, 'demote', { target: judge.account }))
  })
})

interface Item {
  id: string
  reporter_address: string | null
  reported_address: string
  room: unknown
}
const queueOf = async (who: Somebody, room: Place | null) => {
  const input = room ? { scope: 'room', room } : { scope: 'global' }
  const { queue } = await done(who.ask('mod:subscribe', input, '/moderation'))
  const overRest = await who.call(`GET /api/moderation/queue${room ? `?channelId=${room.id}` : ''}`)
  expect(overRest.body.queue).toEqual(queue)
  return queue as Item[]
}

describe('M05: nobody sees or decides reports about themselves', () => {
  const ranks = ['owner', 'room admin', 'manager', 'moderator', 'global moderator', 'admin', 'member'] as const
  /** Who sees a report about whom; admins see all but those about themselves. */
  const sees: Record<string, readonly string[]> = {
    owner: ['room admin', 'manager', 'moderator', 'global moderator', 'member'],
    'room admin': ['manager', 'moderator', 'global moderator', 'member'],
    manager: ['moderator', 'global moderator', 'member'],
    moderator: ['member'],
    'global moderator': ['manager', 'moderator', 'member'],
    admin: ranks.filter((rank) => rank !== 'admin'),
    'super admin': ranks,
  }

  test('reports and flags go to those who stand above; only admins learn who reported', async () => {
    const [head, roomAdmin, manager, moderator, global, reporter] = await people(
      server,
      ...(['the owner', 'the admin', 'the manager', 'the moderator', 'the global one', 'the reporter'] as const),
    )
    const room = await channelOf(head, roomAdmin, manager, moderator, member, reporter, global, admin)
    await done(head.call(`PATCH /api/channels/${room.id}/members/${roomAdmin.account}/role`, { role: 'admin' }))
    await appoint(head, room, manager, every)
    await appoint(head, room, moderator)
    await appoint(admin, null, global, every)
    await done(act(head, room, 'word_add', { patch: { word: 'radish', word_action: 'flag' } }))
    const cast: Record<string, Somebody> = {
      owner: head,
      'room admin': roomAdmin,
      manager,
      moderator,
      'global moderator': global,
      admin,
      'super admin': root,
    }
    const scopeOf = (rank: string) => (/global|super|^admin/.test(rank) ? null : room)
    const heard = new Map<string, ReturnType<typeof hearing>>()
    for (const [rank, who] of Object.entries(cast)) {
      await queueOf(who, scopeOf(rank))
      heard.set(rank, hearing(await who.socket('/moderation')))
    }

    const subjects: Record<string, Somebody> = { ...cast, member }
    const about = new Map<string, string[]>()
    for (const rank of ranks) {
      const reported = subjects[rank] as Somebody
      const { report } = await done(
        reporter.call('POST /api/users/report', {
          reportedAddress: reported.account,
          reportType: 'spam',
          conversationType: 'channel',
          conversationId: room.id,
        }),
      )
      const flagged = await say(reported, room, 'a radish')
      about.set(rank, [(report as { id: string }).id, flagged.id])
    }

    for (const [rank, who] of Object.entries(cast)) {
      const expected = (sees[rank] ?? []).flatMap((subject) => about.get(subject) ?? []).sort()
      const ours = new Set([...about.values()].flat())
      const queue = (await queueOf(who, scopeOf(rank))).filter(({ id }) => ours.has(id))
      expect({ rank, seen: queue.map(({ id }) => id).sort() }).toEqual({ rank, seen: expected })
      const told = () =>
        heard
          .get(rank)
          ?.named('queue:event')
          .map(({ item }) => item as Item) ?? []
      await expect
        .poll(() => ({ rank, told: [...new Set(told().map(({ id }) => id))].sort() }))
        .toEqual({
          rank,
          told: expected,
        })
      const isAdmin = /^(admin|super admin)$/.test(rank)
      for (const item of [...queue, ...told()].filter(({ id }) => !isFlag(about, id)))
        expect({ rank, by: item.reporter_address }).toEqual({ rank, by: isAdmin ? reporter.account : null })
      if (!isAdmin) expect(JSON.stringify([queue, told()])).not.toContain(reporter.account)
    }

    for (const [rank, who] of Object.entries(cast))
      for (const subject of ranks.filter((one) => !sees[rank]?.includes(one)))
        for (const item of about.get(subject) ?? [])
          for (const [path, event, more] of [
            ['POST /api/moderation/queue/claim', 'queue:claim', {}],
            ['POST /api/moderation/queue/decide', 'queue:decide', { decision: 'dismissed' }],
          ] as const) {
            const overRest = await who.call(path, { item, ...more })
            const overSocket = await who.ask(event, { item, ...more }, '/moderation')
            expect([rank, subject, overRest.code, overSocket.code]).toEqual([rank, subject, 'NOT_FOUND', 'NOT_FOUND'])
          }
    const [ofOwner] = about.get('owner') ?? []
    const decided = await done(
      admin.call('POST /api/moderation/queue/decide', { item: ofOwner, decision: 'dismissed' }),
    )
    expect(decided.item).toMatchObject({ state: 'dismissed', reporter_address: reporter.account })
    await done(act(root, null, 'demote', { target: global.account }))
  }, 120_000)

  const isFlag = (about: ReadonlyMap<string, string[]>, id: string) =>
    [...about.values()].some(([, flagged]) => flagged === id)

  test('a report from a direct conversation does not name it', async () => {
    const [global] = await people(server, 'another global one')
    await appoint(admin, null, global, every)
    const reportedAddress = other.account
    const report = { reportedAddress, reportType: 'scam', conversationType: 'dm', conversationId: reportedAddress }
    await done(member.call('POST /api/users/report', report))
    const its = async (who: Somebody) =>
      (await queueOf(who, null)).find((item) => item.reported_address === reportedAddress)
    expect(await its(global)).toMatchObject({ room: null, reporter_address: null })
    expect(await its(admin)).toMatchObject({ room: { type: 'dm' }, reporter_address: member.account })
    await done(act(root, null, 'demote', { target: global.account }))
  })

  test('an admin is not shown reports about themselves, and decides none', async () => {
    const { report } = await done(
      member.call('POST /api/users/report', { reportedAddress: otherAdmin.account, reportType: 'other' }),
    )
    const { id: reportId } = report as { id: string }
    const listed = async (who: Somebody) =>
      JSON.stringify((await done(who.call('GET /api/users/report?admin=true'))).reports).includes(reportId)
    expect(await listed(otherAdmin)).toBe(false)
    expect(await listed(admin)).toBe(true)
    const review = { reportId, status: 'dismissed' }
    expect((await otherAdmin.call('PATCH /api/users/report', review)).code).toBe('NOT_FOUND')
    expect((await admin.call('PATCH /api/users/report', review)).status).toBe(200)
  })
})

describe('M16: who was banned or muted is told to those who may moderate there', () => {
  test('and everybody learns about themselves', async () => {
    const [head, moderator, banned, muted, stranger] = await people(
      server,
      ...(['list owner', 'list moderator', 'list banned', 'list muted', 'list stranger'] as const),
    )
    const room = await channelOf(head, moderator, banned, muted, member)
    await appoint(head, room, moderator, none)
    await done(act(head, room, 'ban', { target: banned.account, reason: 'secret reason' }))
    await done(act(head, room, 'mute', { target: muted.account, reason: 'secret reason' }))
    const lists = [
      `GET /api/chat-rules/ban?chatType=channel&chatId=${room.id}`,
      `GET /api/channels/${room.id}/ban`,
      `GET /api/moderation?action=muted&channelId=${room.id}`,
    ]
    for (const list of lists) {
      const guest = await nobody(server)(list)
      expect([list, guest.status]).toEqual([list, 401])
      for (const who of [member, stranger, banned, muted]) {
        const answer = await who.call(list)
        expect([list, answer.status, answer.code]).toEqual([list, 403, 'FORBIDDEN'])
        expect(JSON.stringify(answer)).not.toContain(head.account)
      }
      for (const who of [moderator, head, admin])
        expect(JSON.stringify((await who.call(list)).body)).toContain('secret reason')
    }
    const checks = (about: Somebody) => [
      `GET /api/chat-rules/ban?chatType=channel&chatId=${room.id}&action=check&userAddress=${about.account}`,
      `GET /api/moderation?action=check-muted&channelId=${room.id}&userAddress=${about.account}`,
    ]
    const [isBanned, isMuted] = [checks(banned)[0] ?? '', checks(muted)[1] ?? '']
    expect((await done(banned.call(isBanned))).isBanned).toBe(true)
    expect((await done(muted.call(isMuted))).isMuted).toBe(true)
    expect((await done(moderator.call(isBanned))).isBanned).toBe(true)
    for (const check of [isBanned, isMuted]) {
      expect((await nobody(server)(check)).status).toBe(401)
      for (const who of [member, stranger]) expect((await who.call(check)).code).toBe('FORBIDDEN')
    }
  })
})
