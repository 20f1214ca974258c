import { beforeEach, describe, expect, test } from 'vitest'
import { Bans, Mutes } from '#server/domains/rooms/model'
import { act, alpha, appoint, channelOf, check, done, officialChannel, type Place, say } from '#test/support/community'
import { communityOf } from '#test/support/community-of'

const { owner, mod, member, other, admin, superAdmin } = await communityOf(
  ['owner', 'mod', 'member', 'other', 'admin', 'superAdmin'],
  { admins: ['admin'], superAdmins: ['superAdmin'] },
)
let room: Place & { id: string }
beforeEach(async () => {
  room = await channelOf(owner, mod, member, other)
  await appoint(owner, room, mod)
})

describe('who is out of reach', () => {
  test.each(['ban', 'mute', 'warn', 'purge'] as const)('nobody can %s themself', async (action) => {
    for (const who of [mod, owner, admin])
      expect(await act(who, room, action, { target: who.account })).toMatchObject({
        status: 400,
        text: `You cannot ${action} yourself`,
      })
  })

  test('admins cannot be banned, and only super admins may mute them', async () => {
    for (const who of [mod, owner, superAdmin])
      expect(await act(who, room, 'ban', { target: admin.account })).toMatchObject({
        status: 403,
        text: 'Admins cannot be banned',
      })
    for (const who of [mod, owner])
      expect(await act(who, room, 'mute', { target: admin.account })).toMatchObject({ status: 403 })
    expect((await act(superAdmin, room, 'mute', { target: admin.account })).status).toBe(200)
    expect((await act(owner, room, 'unmute', { target: admin.account })).status).toBe(403)
    expect((await act(superAdmin, room, 'unmute', { target: admin.account })).status).toBe(200)
    expect(await Mutes.countDocuments({ room: `channel:${room.id}`, is_active: true })).toBe(0)
  })

  test('moderators reach moderators only where they may manage them, and never their owner', async () => {
    await appoint(owner, room, other)
    expect((await act(mod, room, 'mute', { target: other.account })).status).toBe(403)
    await appoint(owner, room, mod, { canManageMods: true })
    expect((await act(mod, room, 'mute', { target: other.account })).status).toBe(200)
    for (const action of ['mute', 'ban', 'warn'] as const)
      expect((await act(mod, room, action, { target: owner.account })).status).toBe(403)
  })

  test('a moderator of one room is nobody in another', async () => {
    const elsewhere = await channelOf(owner, mod, member)
    for (const place of [elsewhere, alpha])
      expect(await act(mod, place, 'mute', { target: member.account })).toMatchObject({ status: 403 })
  })

  test('global moderators act in every official room and in alpha, and nowhere else', async () => {
    const official = await officialChannel(member)
    await appoint(admin, null, other)
    for (const place of [official, alpha]) {
      expect((await act(other, place, 'mute', { target: member.account, duration: '1h' })).status).toBe(200)
      expect((await check(member, place, 'hello')).code).toBe('MUTED')
      await act(other, place, 'unmute', { target: member.account })
    }
    expect(await act(other, room, 'mute', { target: member.account })).toMatchObject({ status: 403 })
    const { body } = await owner.call(`GET /api/moderation?action=moderators&channelId=${official.id}`)
    expect(body.moderators).toMatchObject([{ user_address: other.account, channel_id: null }])
    await act(admin, null, 'demote', { target: other.account })
    expect(await act(other, official, 'mute', { target: member.account })).toMatchObject({ status: 403 })
  })

  test('whoever is suspended has no power', async () => {
    await admin.call('POST /api/admin/ban', { userAddress: mod.account, ban: true })
    expect(await act(mod, room, 'mute', { target: member.account })).toMatchObject({ status: 403, code: 'SUSPENDED' })
    await admin.call('POST /api/admin/ban', { userAddress: mod.account, ban: false })
    expect((await act(mod, room, 'mute', { target: member.account })).status).toBe(200)
  })
})

test('an archived room keeps its messages as they are, and an unknown word cannot be taken out', async () => {
  const { id: message_id } = await say(owner, room, 'For ever')
  expect(await act(owner, room, 'word_remove', { patch: { word_id: 'nothing' } })).toMatchObject({ code: 'NOT_FOUND' })
  await owner.call(`POST /api/channels/${room.id}/archive`)
  for (const action of ['pin', 'delete'] as const)
    expect(await act(mod, room, action, { message_id })).toMatchObject({ status: 409, code: 'ROOM_ARCHIVED' })
})

test('a suspended owner takes no word out', async () => {
  const { record } = await done(act(owner, room, 'word_add', { patch: { word: 'zork' } }))
  const { id } = record as { id: string }
  await admin.call('POST /api/admin/ban', { userAddress: owner.account, ban: true })
  const refused = await owner.call('DELETE /api/blocked-words', { id })
  await admin.call('POST /api/admin/ban', { userAddress: owner.account, ban: false })
  expect(refused).toMatchObject({ status: 403, code: 'SUSPENDED' })
})

describe('how long', () => {
  const lengths = { '5m': 300_000, '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '2w': 1_209_600_000 }
  test.each(Object.entries(lengths))('a mute of %s', async (duration, milliseconds) => {
    const { body } = await act(mod, room, 'mute', { target: member.account, duration })
    const { muted_at, muted_until } = body.record as { muted_at: string; muted_until: string }
    expect(Date.parse(muted_until) - Date.parse(muted_at)).toBe(milliseconds)
  })

  test.each([undefined, 'permanent'])('a mute of %s has no end', async (duration) => {
    const { body } = await act(mod, room, 'mute', { target: member.account, duration })
    expect(body.record).toMatchObject({ muted_until: null })
  })

  test.each(['', '0h', '1y', 'h', '-1h', '10000h', 'forever', '1h '])('%j is no duration', async (duration) => {
    expect(await act(mod, room, 'mute', { target: member.account, duration })).toMatchObject({ status: 400 })
  })

  test('an expired ban does not count', async () => {
    await act(mod, room, 'ban', { target: member.account, duration: '1h' })
    // The server's clock cannot be moved from here, so its record is: the room forgets what it knows with its node.
    const past = new Date(Date.now() - 1_000).toISOString()
    const { modifiedCount } = await Bans.updateOne(
      { room: `channel:${room.id}`, user_address: member.account },
      { $set: { banned_until: past } },
    )
    expect(modifiedCount).toBe(1)
    const { body } = await owner.call(`GET /api/chat-rules/ban?chatType=channel&chatId=${room.id}`)
    expect(body.bans).toEqual([])
  })
})
