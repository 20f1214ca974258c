// Modes: embedded
import { describe, expect, test } from 'vitest'
import { moderation, queued } from '#shared/api/moderation/moderation'
import { social } from '#shared/api/moderation/social'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import type { Line } from '#test/support/line'
import { appoint, every, type Grants, officialChannel, subscribe } from '#test/support/moderation'
import { channelOf, mayNot, moderates, outcomeOf, over, type Person, people, say } from '#test/support/people'
import { nodesUnderTest } from '#test/support/test-servers'
import { bodyOf, call } from '#test/support/wallet'

const { server, admin, otherAdmin, root, owner, member, other } = await bootWith(
  ['admin', 'otherAdmin', 'root', 'owner', 'member', 'other'],
  { admins: ['admin', 'otherAdmin'], superAdmins: ['root'] },
)

const none: Grants = { canPin: false, canDelete: false, canMute: false, canManageMods: false }
const permissions = ['canPin', 'canDelete', 'canMute', 'canManageMods'] as const

interface Cast {
  who: Person
  /** Whose rights are whose to change: those of a lower grade. */
  grade: number
  holds: Grants
}

/** Tries every grant of everybody to everybody, over the doors and the documented path in turn, and compares with the table. */
async function tryAll(place: RoomRef | null, cast: Record<string, Cast>, restore: (who: Cast) => Promise<unknown>) {
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
        const outcome = outcomeOf(
          door === 'documented'
            ? await actor.who.rest('POST /api/moderation', { ...legacy, ...patch })
            : await actor.who.tries(door, moderation.act, {
                room: place,
                action: 'promote',
                target: target.who.account,
                patch,
              }),
        )
        const got = outcome === '200'
        if (got) await restore(target)
        if (got !== may || (!got && outcome !== '403 FORBIDDEN'))
          wrong.push(`${by} gives ${to} ${permission ?? 'nothing'} over ${door}: ${outcome}`)
        if (permission !== null) continue
        const other = over[turn % 2] ?? 'rest'
        const demotion = { room: place, action: 'demote', target: target.who.account } as const
        const { ok: taken } = await actor.who.tries(other, moderation.act, demotion)
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
    await moderates(owner, { room, action: 'rules', patch: { rules: { read_access: 'members' } } })
    if (how === 'kick') await owner.does('rest', rooms.kick, { room, address: gone.account })
    if (how === 'leave') await gone.does('rest', rooms.leave, { room })
    if (how === 'ban') await moderates(owner, { room, action: 'ban', target: gone.account })
    for (const path of ['messages', 'events', 'search?query=anything', 'pins', 'polls'])
      expect((await gone.rest(`GET /api/rooms/channel/${room.id}/${path}`)).status).toBeGreaterThanOrEqual(400)
    const grant = { ...none, canPin: true }
    const promoted = await mayNot(gone, { room, action: 'promote', target: helper.account, patch: grant })
    expect(promoted.status).toBe(403)
    expect((await gone.refused('socket', moderation.queue, { scope: 'room', room })).status).toBe(403)
    if (how === 'ban') await moderates(owner, { room, action: 'unban', target: gone.account })
    await gone.does('rest', rooms.join, { room })
    expect((await mayNot(gone, { room, action: 'mute', target: helper.account })).status).toBe(403)
  },
)

test('M48: a key that was used for one act does no other, and says so', async () => {
  const [first, second] = await people(server, 'first', 'second')
  const room = await channelOf(owner, first, second)
  const client_action_id = 'the-key-of-one-act'
  await moderates(owner, { room, action: 'mute', target: first.account, client_action_id })
  await moderates(owner, { room, action: 'mute', target: first.account, client_action_id })
  for (const [action, target] of [
    ['ban', second],
    ['mute', second],
    ['ban', first],
  ] as const)
    expect((await mayNot(owner, { room, action, target: target.account, client_action_id })).status).toBe(409)
})

describe('M06: nobody gives rights to themselves, nor more than they hold, nor changes a peer’s or a superior’s', () => {
  test('in a channel, by rank', { ...heavy, timeout: 180_000 }, async () => {
    const names = ['plain', 'moderator', 'manager', 'peer', 'mere manager', 'room admin', 'room admin 2'] as const
    const [plain, moderator, manager, peer, mere, roomAdmin, roomAdmin2] = await people(server, ...names)
    const room = await channelOf(owner, plain, moderator, manager, peer, mere, roomAdmin, roomAdmin2)
    for (const who of [roomAdmin, roomAdmin2])
      await owner.does('rest', rooms.setRole, { room, address: who.account, role: 'admin' })
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
      if (grade < 6) await moderates(grade === 5 ? root : owner, { room, action: 'demote', target: who.account })
    }
    for (const one of Object.values(cast)) if (one.grade === 2 || one.grade === 3) await restore(one)
    await tryAll(room, cast, restore)
  })

  test.each(['everywhere', 'in an official room'])(
    'of global moderators %s',
    { ...heavy, timeout: 180_000 },
    async (where) => {
      const names = ['plain', 'moderator', 'manager', 'peer', 'mere', 'local', 'local manager'].map(
        (name) => `${name} ${where}`,
      )
      const [plain, moderator, manager, peer, mere, local, localManager] = (await people(server, ...names)) as [
        Person,
        Person,
        Person,
        Person,
        Person,
        Person,
        Person,
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
        if (place) await moderates(root, { room: place, action: 'demote', target: one.who.account })
        if (one.grade > 3 && one.grade < 6) return appoint(admin, null, one.who, { ...none, ...one.holds })
        if (one.grade < 6) await moderates(root, { room: null, action: 'demote', target: one.who.account })
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
    const { record } = await moderates(admin, { room: official, action: 'word_add', patch: { word: 'turnip' } })
    await moderates(admin, { room: official, action: 'ban', target: judge.account })
    for (const door of over) {
      expect(
        (await judge.refused(door, moderation.act, { room: official, action: 'unban', target: judge.account })).code,
      ).toBe('BANNED')
      expect(
        (await judge.refused(door, moderation.act, { room: official, action: 'mute', target: member.account })).code,
      ).toBe('BANNED')
    }
    const kick = `POST /api/rooms/channel/${official.id}/members/${member.account}/kick`
    expect((await judge.rest(kick)).code).toBe('BANNED')
    const { id } = record as { id: string }
    expect((await judge.rest(`DELETE /api/blocked-words?id=${id}`)).code).toBe('BANNED')
    const subscribed = await judge.refused('socket', moderation.queue, { scope: 'room', room: official })
    expect(subscribed.code).toBe('FORBIDDEN')
    await moderates(admin, { room: null, action: 'demote', target: judge.account })
  })
})

const queueOf = async (who: Person, room: RoomRef | null) => {
  const input = room ? ({ scope: 'room', room } as const) : ({ scope: 'global' } as const)
  const { queue } = await who.does('socket', moderation.queue, input)
  const overRest = await who.rest(`GET /api/moderation/queue${room ? `?channelId=${room.id}` : ''}`)
  expect(overRest.body.queue).toEqual(queue)
  return queue
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

  test('reports and flags go to those who stand above; only admins learn who reported', {
    ...heavy,
    timeout: 120_000,
  }, async () => {
    const [head, roomAdmin, manager, moderator, global, reporter] = await people(
      server,
      ...(['the owner', 'the admin', 'the manager', 'the moderator', 'the global one', 'the reporter'] as const),
    )
    const room = await channelOf(head, roomAdmin, manager, moderator, member, reporter, global, admin)
    await head.does('rest', rooms.setRole, { room, address: roomAdmin.account, role: 'admin' })
    await appoint(head, room, manager, every)
    await appoint(head, room, moderator)
    await appoint(admin, null, global, every)
    await moderates(head, { room, action: 'word_add', patch: { word: 'radish', word_action: 'flag' } })
    const cast: Record<string, Person> = {
      owner: head,
      'room admin': roomAdmin,
      manager,
      moderator,
      'global moderator': global,
      admin,
      'super admin': root,
    }
    const scopeOf = (rank: string) => (/global|super|^admin/.test(rank) ? null : room)
    const lines = new Map<string, Line>()
    for (const [rank, who] of Object.entries(cast)) {
      await queueOf(who, scopeOf(rank))
      lines.set(rank, await subscribe(who, scopeOf(rank)))
    }

    const subjects: Record<string, Person> = { ...cast, member }
    const about = new Map<string, string[]>()
    for (const rank of ranks) {
      const reported = subjects[rank] as Person
      const { report } = await reporter.does('rest', social.report, {
        reportedAddress: reported.account,
        reportType: 'spam',
        conversationType: 'channel',
        conversationId: room.id,
      })
      const flagged = await say(reported, room, 'a radish')
      about.set(rank, [report.id, flagged.id])
    }

    for (const [rank, who] of Object.entries(cast)) {
      const expected = (sees[rank] ?? []).flatMap((subject) => about.get(subject) ?? []).sort()
      const ours = new Set([...about.values()].flat())
      const queue = (await queueOf(who, scopeOf(rank))).filter(({ id }) => ours.has(id))
      expect({ rank, seen: queue.map(({ id }) => id).sort() }).toEqual({ rank, seen: expected })
      const told = () =>
        lines
          .get(rank)
          ?.all(queued)
          .map(({ item }) => item) ?? []
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
          for (const door of over) {
            const claim = await who.refused(door, moderation.claim, { item })
            const decision = await who.refused(door, moderation.decide, { item, decision: 'dismissed' })
            expect([rank, subject, claim.code, decision.code]).toEqual([rank, subject, 'NOT_FOUND', 'NOT_FOUND'])
          }
    const [ofOwner = ''] = about.get('owner') ?? []
    const decided = await admin.does('rest', moderation.decide, { item: ofOwner, decision: 'dismissed' })
    expect(decided.item).toMatchObject({ state: 'dismissed', reporter_address: reporter.account })
    await moderates(root, { room: null, action: 'demote', target: global.account })
  })

  const isFlag = (about: ReadonlyMap<string, string[]>, id: string) =>
    [...about.values()].some(([, flagged]) => flagged === id)

  test('a report from a direct conversation does not name it', async () => {
    const [global] = await people(server, 'another global one')
    await appoint(admin, null, global, every)
    const reportedAddress = other.account
    const conversation = { conversationType: 'dm', conversationId: reportedAddress } as const
    await member.does('rest', social.report, { reportedAddress, reportType: 'scam', ...conversation })
    const its = async (who: Person) =>
      (await queueOf(who, null)).find((item) => item.reported_address === reportedAddress)
    expect(await its(global)).toMatchObject({ room: null, reporter_address: null })
    expect(await its(admin)).toMatchObject({ room: { type: 'dm' }, reporter_address: member.account })
    await moderates(root, { room: null, action: 'demote', target: global.account })
  })

  test('an admin is not shown reports about themselves, and decides none', async () => {
    const { report } = await member.does('rest', social.report, {
      reportedAddress: otherAdmin.account,
      reportType: 'other',
    })
    const { id: reportId } = report
    const listed = async (who: Person) =>
      JSON.stringify((await who.does('rest', social.reports, { admin: true })).reports).includes(reportId)
    expect(await listed(otherAdmin)).toBe(false)
    expect(await listed(admin)).toBe(true)
    const review = { reportId, status: 'dismissed' } as const
    expect((await otherAdmin.refused('rest', social.review, review)).code).toBe('NOT_FOUND')
    await admin.does('rest', social.review, review)
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
    await moderates(head, { room, action: 'ban', target: banned.account, reason: 'secret reason' })
    await moderates(head, { room, action: 'mute', target: muted.account, reason: 'secret reason' })
    const lists = [
      `GET /api/chat-rules/ban?chatType=channel&chatId=${room.id}`,
      `GET /api/channels/${room.id}/ban`,
      `GET /api/moderation?action=muted&channelId=${room.id}`,
    ]
    for (const list of lists) {
      const guest = await call(server.url, list)
      expect([list, guest.status]).toEqual([list, 401])
      for (const who of [member, stranger, banned, muted]) {
        const answer = await who.rest(list)
        expect([list, answer.status, answer.code]).toEqual([list, 403, 'FORBIDDEN'])
        expect(JSON.stringify(answer)).not.toContain(head.account)
      }
      for (const who of [moderator, head, admin])
        expect(JSON.stringify((await who.rest(list)).body)).toContain('secret reason')
    }
    const checks = (about: Person) => [
      `GET /api/chat-rules/ban?chatType=channel&chatId=${room.id}&action=check&userAddress=${about.account}`,
      `GET /api/moderation?action=check-muted&channelId=${room.id}&userAddress=${about.account}`,
    ]
    const [isBanned, isMuted] = [checks(banned)[0] ?? '', checks(muted)[1] ?? '']
    expect((await bodyOf(banned.rest(isBanned))).isBanned).toBe(true)
    expect((await bodyOf(muted.rest(isMuted))).isMuted).toBe(true)
    expect((await bodyOf(moderator.rest(isBanned))).isBanned).toBe(true)
    for (const check of [isBanned, isMuted]) {
      expect((await call(server.url, check)).status).toBe(401)
      for (const who of [member, stranger]) expect((await who.rest(check)).code).toBe('FORBIDDEN')
    }
  })
})
