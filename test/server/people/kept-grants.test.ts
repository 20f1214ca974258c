// Modes: embedded
import { describe, expect, test } from 'vitest'
import { projection } from '#server/domains/rooms/room-state/projection'
import { records } from '#server/domains/rooms/room-state/records'
import { RoomEvents } from '#server/log/model'
import type { Row } from '#server/log/types'
import { moderation } from '#shared/api/moderation/moderation'
import { accounts } from '#shared/api/people/accounts'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint, every, officialChannel } from '#test/support/moderation'
import { alpha, channelOf, check, mayNot, moderates, over, type Person, people, say } from '#test/support/people'
import { bodyOf } from '#test/support/wallet'

const { server, admin, root, owner, member } = await bootWith(['admin', 'root', 'owner', 'member'], {
  entry: 'in alpha',
  admins: ['admin'],
  superAdmins: ['root'],
})

const keyOf = ({ type, id }: RoomRef) => (id === null ? type : `${type}:${id}`)

async function rightsOf(who: Person, room: RoomRef): Promise<string[]> {
  const asked = `GET /api/moderation?action=permissions&userAddress=${who.account}&channelId=${room.id ?? 'global'}`
  const { permissions } = await bodyOf(owner.rest(asked))
  return Object.entries(permissions as object).flatMap(([name, may]) => (may === true ? [name] : []))
}

describe('M06: a log of an older version, in which people who left kept their grant', () => {
  const actor = { name: 'somebody', role: null }
  /** Adds a row to the log, and its records, as an older version wrote them. */
  async function add(room: RoomRef, row: object): Promise<void> {
    const head = await RoomEvents.findOne({ room: keyOf(room) })
      .sort({ seq: -1 })
      .lean()
    const { n: _, chained: __, ...before } = head ?? {}
    const seq = Number(head?.seq) + 1
    const own = { _id: `row ${keyOf(room)} ${seq}`, cid: `row ${seq}`, seq, applied_seq: seq, at: Number(head?.at) + 1 }
    const added = { ...before, ...own, target: null, ...row } as unknown as Row
    await RoomEvents.collection.insertOne(added as never)
    const values = projection.changes(added).flatMap((change) => ('value' in change ? [{ ...change, row: added }] : []))
    await records.save(keyOf(room), values)
  }
  const grantOf = (who: Person) => ({
    moderator_id: `grant of ${who.account}`,
    user_address: who.account,
    granted_by: owner.account,
    granted_at: new Date().toISOString(),
    ...{ can_pin: true, can_delete: true, can_mute: true, can_manage_mods: true, notes: null },
  })
  const ban = (who: Person, room: RoomRef) => ({
    ban_id: `ban of ${who.account} ${room.id}`,
    user_address: who.account,
    banned_by: owner.account,
    ...{ reason: null, banned_at: new Date().toISOString(), banned_until: null },
  })
  const ways: Record<string, (who: Person, room: RoomRef) => object> = {
    left: (who) => ({ type: 'member.left', sender: who.account, body: { actor, member_count: 2 } }),
    kicked: (who) => ({
      type: 'member.removed',
      sender: owner.account,
      target: who.account,
      body: { actor, member_count: 2 },
    }),
    banned: (who, room) => ({
      type: 'moderation.applied',
      sender: owner.account,
      target: who.account,
      body: { actor, action: 'ban', ban: ban(who, room), duration: 'permanent', member_count: 2 },
    }),
  }
  const grantedRow = (who: Person) => ({
    type: 'role.changed',
    sender: owner.account,
    target: who.account,
    body: { actor, role: 'moderator', moderator: grantOf(who), permissions: null },
  })

  test.each(Object.keys(ways))(
    'counts none of who %s, now or once they are back',
    async (way) => {
      const [gone, stayed] = await people(server, `old moderator, ${way}`, `old moderator who stayed, ${way}`)
      const room = await channelOf(owner, gone, stayed, member)
      for (const who of [gone, stayed]) await add(room, grantedRow(who))
      await add(room, (ways[way] as (typeof ways)[string])(gone, room))
      await moderates(owner, { room, action: 'rules', patch: { rules: { read_access: 'members' } } })
      const refused = async (when: string) => {
        for (const door of over) {
          const target = member.account
          const mute = await gone.refused(door, moderation.act, { room, action: 'mute', target })
          expect({ when, status: mute.status }).toEqual({ when, status: 403 })
          const promotion = await gone.refused(door, moderation.act, { room, action: 'promote', target, patch: {} })
          expect(promotion.status).toBe(403)
        }
        expect((await gone.refused('socket', moderation.queue, { scope: 'room', room })).code).toBe('FORBIDDEN')
        expect((await gone.rest(`GET /api/moderation?action=mod-log&channelId=${room.id}`)).status).toBe(403)
        expect(await rightsOf(gone, room)).toEqual([])
        const { moderators } = await bodyOf(owner.rest(`GET /api/moderation?action=moderators&channelId=${room.id}`))
        expect((moderators as { user_address: string }[]).map(({ user_address }) => user_address)).toEqual([
          stayed.account,
        ])
      }
      await refused('gone')
      expect((await gone.rest(`GET /api/rooms/channel/${room.id}/messages`)).status).toBe(403)
      if (way === 'banned') await moderates(owner, { room, action: 'unban', target: gone.account })
      await gone.does('rest', rooms.join, { room })
      await refused('back')
      await moderates(stayed, { room, action: 'mute', target: member.account })
      await appoint(owner, room, gone, every)
      await moderates(gone, { room, action: 'unmute', target: member.account })
      await moderates(owner, { room, action: 'demote', target: gone.account })
      await refused('demoted')
    },
    60_000,
  )

  test('takes what is left of a grant away when its holder is demoted', async () => {
    const [gone] = await people(server, 'an old moderator')
    const room = await channelOf(owner, gone, member)
    await add(room, grantedRow(gone))
    await add(room, { type: 'member.left', sender: gone.account, body: { actor, member_count: 2 } })
    await say(owner, room, 'hello')
    const { entry } = await moderates(owner, { room, action: 'demote', target: gone.account })
    expect(entry).not.toBeNull()
    expect((await moderates(owner, { room, action: 'demote', target: gone.account })).entry).toBeNull()
  })
})

test('M06: who is appointed without being a member acts at once, and after joining', async () => {
  const [helper] = await people(server, 'appointed from outside')
  const room = await channelOf(owner, member)
  await appoint(owner, room, helper)
  await moderates(helper, { room, action: 'mute', target: member.account })
  await helper.does('rest', rooms.join, { room })
  await moderates(helper, { room, action: 'unmute', target: member.account })
})

describe('R4: nobody lifts a limit that was put on themselves', () => {
  const limited = { canPin: true, canDelete: true, canMute: false, canManageMods: true }
  const rights = ['isModerator', 'canPin', 'canDelete', 'canManageMods']

  test.each(['demote', 'leave', 'leave and come back', 'sign in again'] as const)(
    'by %s',
    async (way) => {
      const [judge] = await people(server, `a limited judge, ${way}`)
      await appoint(admin, null, judge, every)
      for (const room of way === 'sign in again' ? [alpha] : [await officialChannel(judge, member), alpha]) {
        await appoint(admin, room, judge, limited)
        if (way === 'demote')
          for (const door of over) {
            expect(
              (await judge.refused(door, moderation.act, { room, action: 'demote', target: judge.account })).code,
            ).toBe('FORBIDDEN')
            const legacy = { action: 'demote-mod', channelId: room.id ?? 'global', targetAddress: judge.account }
            expect((await judge.rest('POST /api/moderation', legacy)).code).toBe('FORBIDDEN')
          }
        else await judge.does('rest', rooms.leave, { room })
        if (way === 'leave and come back') await judge.does('rest', rooms.join, { room })
        if (way === 'sign in again') await people(server, `a limited judge, ${way}`)
        expect(await rightsOf(judge, room)).toEqual(rights)
        for (const door of over)
          expect(
            (await judge.refused(door, moderation.act, { room, action: 'mute', target: member.account })).code,
          ).toBe('FORBIDDEN')
        await moderates(admin, { room, action: 'demote', target: judge.account })
        expect((await rightsOf(judge, room)).sort()).toEqual([...rights, 'canMute'].sort())
      }
      await moderates(root, { room: null, action: 'demote', target: judge.account })
    },
    60_000,
  )

  test('and a limit that was left behind gives no rights', async () => {
    const [judge] = await people(server, 'a judge who goes')
    await appoint(admin, null, judge, { ...every, canPin: false })
    const room = await officialChannel(judge, member)
    await appoint(admin, room, judge, limited)
    await judge.does('rest', rooms.leave, { room })
    expect(await rightsOf(judge, room)).toEqual(['isModerator', 'canDelete', 'canManageMods'])
    await moderates(root, { room: null, action: 'demote', target: judge.account })
    expect(await rightsOf(judge, room)).toEqual([])
    await judge.does('rest', rooms.join, { room })
    expect(await rightsOf(judge, room)).toEqual([])
    await mayNot(judge, { room, action: 'delete', message_id: 'none' })
  })

  test.each(over)(
    'nor a mute, a ban or a suspension, whatever their rank, over %s',
    async (door) => {
      const [head, manager] = await people(server, `a muted owner over ${door}`, `a muted manager over ${door}`)
      const room = await channelOf(head, manager, member)
      await appoint(head, room, manager, every)
      for (const who of [manager, head]) {
        await moderates(admin, { room, action: 'mute', target: who.account })
        for (const action of ['unmute', 'mute', 'unban', 'ban'] as const)
          await who.tries(door, moderation.act, { room, action, target: who.account, duration: '1h' })
        await who.tries(door, moderation.act, { room, action: 'demote', target: who.account })
        await who.tries('rest', rooms.leave, { room })
        await who.tries('rest', rooms.join, { room })
        expect((await check(who, room, 'hello')).code).toBe('MUTED')
        await moderates(admin, { room, action: 'ban', target: who.account })
        for (const action of ['unban', 'demote', 'unmute'] as const)
          expect((await who.refused(door, moderation.act, { room, action, target: who.account })).code).toBe('BANNED')
        expect((await who.refused('rest', rooms.join, { room })).code).toBe('BANNED')
      }
      await root.does('rest', accounts.suspend, { userAddress: admin.account, ban: true })
      const own = { userAddress: admin.account, ban: false }
      expect((await admin.refused('rest', accounts.suspend, own)).status).toBe(403)
      await root.does('rest', accounts.suspend, { userAddress: admin.account, ban: false })
    },
    60_000,
  )
})
