import { describe, expect, test } from 'vitest'
import { projection } from '#server/domains/rooms/projection'
import { records } from '#server/domains/rooms/records'
import { RoomEvents } from '#server/log/model'
import type { Row } from '#server/log/types'
import {
  act,
  alpha,
  appoint,
  channelOf,
  check,
  done,
  doors,
  type Grants,
  officialChannel,
  type Place,
  people,
  type Somebody,
  say,
} from '#test/support/community'
import { communityOf } from '#test/support/community-of'

const { server, admin, root, owner, member } = await communityOf(['admin', 'root', 'owner', 'member'], {
  admins: ['admin'],
  superAdmins: ['root'],
})

const every: Grants = { canPin: true, canDelete: true, canMute: true, canManageMods: true }
const keyOf = ({ type, id }: Place) => (id === null ? type : `${type}:${id}`)

async function rightsOf(who: Somebody, room: Place): Promise<string[]> {
  const asked = `GET /api/moderation?action=permissions&userAddress=${who.account}&channelId=${room.id ?? 'global'}`
  const { permissions } = await done(owner.call(asked))
  return Object.entries(permissions as object).flatMap(([name, may]) => (may === true ? [name] : []))
}

describe('M06: a log of an older version, in which people who left kept their grant', () => {
  const actor = { name: 'somebody', role: null }
  /** Adds a row to the log, and its records, as an older version wrote them. */
  async function add(room: Place, row: object): Promise<void> {
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
  const grantOf = (who: Somebody) => ({
    moderator_id: `grant of ${who.account}`,
    user_address: who.account,
    granted_by: owner.account,
    granted_at: new Date().toISOString(),
    ...{ can_pin: true, can_delete: true, can_mute: true, can_manage_mods: true, notes: null },
  })
  const ban = (who: Somebody, room: Place) => ({
    ban_id: `ban of ${who.account} ${room.id}`,
    user_address: who.account,
    banned_by: owner.account,
    ...{ reason: null, banned_at: new Date().toISOString(), banned_until: null },
  })
  const ways: Record<string, (who: Somebody, room: Place) => object> = {
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
  const grantedRow = (who: Somebody) => ({
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
      await done(act(owner, room, 'rules', { patch: { rules: { read_access: 'members' } } }))
      const refused = async (when: string) => {
        for (const door of doors) {
          expect({ when, ...(await act(gone, room, 'mute', { target: member.account }, door)) }).toMatchObject({
            when,
            status: 403,
          })
          expect((await act(gone, room, 'promote', { target: member.account, patch: {} }, door)).status).toBe(403)
        }
        expect((await gone.ask('mod:subscribe', { scope: 'room', room }, '/moderation')).code).toBe('FORBIDDEN')
        expect((await gone.call(`GET /api/moderation?action=mod-log&channelId=${room.id}`)).status).toBe(403)
        expect(await rightsOf(gone, room)).toEqual([])
        const { moderators } = await done(owner.call(`GET /api/moderation?action=moderators&channelId=${room.id}`))
        expect((moderators as { user_address: string }[]).map(({ user_address }) => user_address)).toEqual([
          stayed.account,
        ])
      }
      await refused('gone')
      expect((await gone.call(`GET /api/rooms/channel/${room.id}/messages`)).status).toBe(403)
      if (way === 'banned') await done(act(owner, room, 'unban', { target: gone.account }))
      await done(gone.call(`POST /api/channels/${room.id}/join`))
      await refused('back')
      await done(act(stayed, room, 'mute', { target: member.account }))
      await appoint(owner, room, gone, every)
      await done(act(gone, room, 'unmute', { target: member.account }))
      await done(act(owner, room, 'demote', { target: gone.account }))
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
    const { entry } = await done(act(owner, room, 'demote', { target: gone.account }))
    expect(entry).not.toBeNull()
    expect((await done(act(owner, room, 'demote', { target: gone.account }))).entry).toBeNull()
  })
})

test('M06: who is appointed without being a member acts at once, and after joining', async () => {
  const [helper] = await people(server, 'appointed from outside')
  const room = await channelOf(owner, member)
  await appoint(owner, room, helper)
  await done(act(helper, room, 'mute', { target: member.account }))
  await done(helper.call(`POST /api/channels/${room.id}/join`))
  await done(act(helper, room, 'unmute', { target: member.account }))
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
        const path = `POST /api/rooms/${room.type}${room.id ? `/${room.id}` : ''}`
        if (way === 'demote')
          for (const door of doors) {
            expect((await act(judge, room, 'demote', { target: judge.account }, door)).code).toBe('FORBIDDEN')
            const legacy = { action: 'demote-mod', channelId: room.id ?? 'global', targetAddress: judge.account }
            expect((await judge.call('POST /api/moderation', legacy)).code).toBe('FORBIDDEN')
          }
        else await done(judge.call(`${path}/leave`))
        if (way === 'leave and come back') await done(judge.call(`${path}/join`))
        if (way === 'sign in again') await people(server, `a limited judge, ${way}`)
        expect(await rightsOf(judge, room)).toEqual(rights)
        for (const door of doors)
          expect((await act(judge, room, 'mute', { target: member.account }, door)).code).toBe('FORBIDDEN')
        await done(act(admin, room, 'demote', { target: judge.account }))
        expect((await rightsOf(judge, room)).sort()).toEqual([...rights, 'canMute'].sort())
      }
      await done(act(root, null, 'demote', { target: judge.account }))
    },
    60_000,
  )

  test('and a limit that was left behind gives no rights', async () => {
    const [judge] = await people(server, 'a judge who goes')
    await appoint(admin, null, judge, { ...every, canPin: false })
    const room = await officialChannel(judge, member)
    await appoint(admin, room, judge, limited)
    await done(judge.call(`POST /api/channels/${room.id}/leave`))
    expect(await rightsOf(judge, room)).toEqual(['isModerator', 'canDelete', 'canManageMods'])
    await done(act(root, null, 'demote', { target: judge.account }))
    expect(await rightsOf(judge, room)).toEqual([])
    await done(judge.call(`POST /api/channels/${room.id}/join`))
    expect(await rightsOf(judge, room)).toEqual([])
    expect((await act(judge, room, 'delete', { message_id: 'none' })).status).toBeGreaterThanOrEqual(400)
  })

  test.each(doors)(
    'nor a mute, a ban or a suspension, whatever their rank, over %s',
    async (door) => {
      const [head, manager] = await people(server, `a muted owner over ${door}`, `a muted manager over ${door}`)
      const room = await channelOf(head, manager, member)
      await appoint(head, room, manager, every)
      for (const who of [manager, head]) {
        await done(act(admin, room, 'mute', { target: who.account }))
        for (const action of ['unmute', 'mute', 'unban', 'ban'] as const)
          await act(who, room, action, { target: who.account, duration: '1h' }, door)
        await act(who, room, 'demote', { target: who.account }, door)
        await who.call(`POST /api/rooms/channel/${room.id}/leave`)
        await who.call(`POST /api/rooms/channel/${room.id}/join`)
        expect((await check(who, room, 'hello')).code).toBe('MUTED')
        await done(act(admin, room, 'ban', { target: who.account }))
        for (const action of ['unban', 'demote', 'unmute'] as const)
          expect((await act(who, room, action, { target: who.account }, door)).code).toBe('BANNED')
        expect((await who.call(`POST /api/rooms/channel/${room.id}/join`)).code).toBe('BANNED')
      }
      await done(root.call('POST /api/admin/ban', { userAddress: admin.account, ban: true }))
      expect((await admin.call('POST /api/admin/ban', { userAddress: admin.account, ban: false })).status).toBe(403)
      await done(root.call('POST /api/admin/ban', { userAddress: admin.account, ban: false }))
    },
    60_000,
  )
})
