// Modes: embedded
import { beforeEach, describe, expect, test } from 'vitest'
import { Bans, Mutes } from '#server/domains/rooms/room-state/model'
import { accounts } from '#shared/api/people/accounts'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint, officialChannel } from '#test/support/moderation'
import { alpha, channelOf, check, mayNot, moderates, say } from '#test/support/people'

const { server, owner, mod, member, other, admin, superAdmin } = await bootWith(
  ['owner', 'mod', 'member', 'other', 'admin', 'superAdmin'],
  { entry: 'in alpha', admins: ['admin'], superAdmins: ['superAdmin'] },
)
let room: RoomRef & { id: string }
beforeEach(async () => {
  room = await channelOf(owner, mod, member, other)
  await appoint(owner, room, mod)
})

describe('who is out of reach', () => {
  test.each(['ban', 'mute', 'warn', 'purge'] as const)('nobody can %s themself', async (action) => {
    for (const who of [mod, owner, admin])
      expect(await mayNot(who, { room, action, target: who.account })).toMatchObject({
        status: 400,
        message: `You cannot ${action} yourself`,
      })
  })

  test('admins cannot be banned, and only super admins may mute them', async () => {
    for (const who of [mod, owner, superAdmin])
      expect(await mayNot(who, { room, action: 'ban', target: admin.account })).toMatchObject({
        status: 403,
        message: 'Admins cannot be banned',
      })
    for (const who of [mod, owner])
      expect(await mayNot(who, { room, action: 'mute', target: admin.account })).toMatchObject({ status: 403 })
    await moderates(superAdmin, { room, action: 'mute', target: admin.account })
    expect((await mayNot(owner, { room, action: 'unmute', target: admin.account })).status).toBe(403)
    await moderates(superAdmin, { room, action: 'unmute', target: admin.account })
    expect(await Mutes.countDocuments({ room: `channel:${room.id}`, is_active: true })).toBe(0)
  })

  test('moderators reach moderators only where they may manage them, and never their owner', async () => {
    await appoint(owner, room, other)
    expect((await mayNot(mod, { room, action: 'mute', target: other.account })).status).toBe(403)
    await appoint(owner, room, mod, { canManageMods: true })
    await moderates(mod, { room, action: 'mute', target: other.account })
    for (const action of ['mute', 'ban', 'warn'] as const)
      expect((await mayNot(mod, { room, action, target: owner.account })).status).toBe(403)
  })

  test('a moderator of one room is nobody in another', async () => {
    const elsewhere = await channelOf(owner, mod, member)
    for (const place of [elsewhere, alpha])
      expect(await mayNot(mod, { room: place, action: 'mute', target: member.account })).toMatchObject({ status: 403 })
  })

  test('global moderators act in every official room and in alpha, and nowhere else', async () => {
    const official = await officialChannel(member)
    await appoint(admin, null, other)
    for (const place of [official, alpha]) {
      await moderates(other, { room: place, action: 'mute', target: member.account, duration: '1h' })
      expect((await check(member, place, 'hello')).code).toBe('MUTED')
      await moderates(other, { room: place, action: 'unmute', target: member.account })
    }
    expect(await mayNot(other, { room, action: 'mute', target: member.account })).toMatchObject({ status: 403 })
    const { body } = await owner.rest(`GET /api/moderation?action=moderators&channelId=${official.id}`)
    expect(body.moderators).toMatchObject([{ user_address: other.account, channel_id: null }])
    await moderates(admin, { room: null, action: 'demote', target: other.account })
    expect(await mayNot(other, { room: official, action: 'mute', target: member.account })).toMatchObject({
      status: 403,
    })
  })

  test('whoever is suspended has no power', async () => {
    await admin.does('rest', accounts.suspend, { userAddress: mod.account, ban: true })
    expect(await mayNot(mod, { room, action: 'mute', target: member.account })).toMatchObject({
      status: 403,
      code: 'SUSPENDED',
    })
    await admin.does('rest', accounts.suspend, { userAddress: mod.account, ban: false })
    await moderates(mod, { room, action: 'mute', target: member.account })
  })
})

test('an archived room keeps its messages as they are, and an unknown word cannot be taken out', async () => {
  const { id: message_id } = await say(owner, room, 'For ever')
  expect(await mayNot(owner, { room, action: 'word_remove', patch: { word_id: 'nothing' } })).toMatchObject({
    code: 'NOT_FOUND',
  })
  await owner.does('rest', rooms.archive, { room })
  for (const action of ['pin', 'delete'] as const)
    expect(await mayNot(mod, { room, action, message_id })).toMatchObject({ status: 409, code: 'ROOM_ARCHIVED' })
})

test('a suspended owner takes no word out', async () => {
  const { record } = await moderates(owner, { room, action: 'word_add', patch: { word: 'zork' } })
  const { id } = record as { id: string }
  await admin.does('rest', accounts.suspend, { userAddress: owner.account, ban: true })
  const refused = await owner.rest('DELETE /api/blocked-words', { id })
  await admin.does('rest', accounts.suspend, { userAddress: owner.account, ban: false })
  expect(refused).toMatchObject({ status: 403, code: 'SUSPENDED' })
})

describe('how long', () => {
  const lengths = { '5m': 300_000, '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '2w': 1_209_600_000 }
  test.each(Object.entries(lengths))('a mute of %s', async (duration, milliseconds) => {
    const { record } = await moderates(mod, { room, action: 'mute', target: member.account, duration })
    const { muted_at, muted_until } = record as { muted_at: string; muted_until: string }
    expect(Date.parse(muted_until) - Date.parse(muted_at)).toBe(milliseconds)
  })

  test.each([undefined, 'permanent'])('a mute of %s has no end', async (duration) => {
    const { record } = await moderates(mod, { room, action: 'mute', target: member.account, duration })
    expect(record).toMatchObject({ muted_until: null })
  })

  test.each(['', '0h', '1y', 'h', '-1h', '10000h', 'forever', '1h '])('%j is no duration', async (duration) => {
    expect(await mayNot(mod, { room, action: 'mute', target: member.account, duration })).toMatchObject({ status: 400 })
  })

  test('a purge of five minutes takes what was said in them, and leaves what is older as it is, and pinned', async () => {
    const older = await say(member, room, 'Long ago')
    server.setAhead(301)
    try {
      const recent = await say(member, room, 'Just now')
      for (const { id } of [older, recent]) await moderates(mod, { room, action: 'pin', message_id: id })
      const { effects } = await moderates(mod, { room, action: 'purge', target: member.account, duration: '5m' })
      expect(effects).toMatchObject({ messages_removed: 1 })
    } finally {
      server.setAhead(0)
    }
    const { messages: shown } = await other.does('rest', messages.history, { room })
    expect(shown.map(({ content }) => content)).toEqual(['Long ago', '[Message deleted]'])
    const { pinnedMessages } = await other.does('rest', messages.pins, { room })
    expect(pinnedMessages.map(({ id }) => id)).toEqual([older.id])
  })

  test('an expired ban does not count', async () => {
    await moderates(mod, { room, action: 'ban', target: member.account, duration: '1h' })
    // The server's clock cannot be moved from here, so its record is: the room forgets what it knows with its node.
    const past = new Date(Date.now() - 1_000).toISOString()
    const { modifiedCount } = await Bans.updateOne(
      { room: `channel:${room.id}`, user_address: member.account },
      { $set: { banned_until: past } },
    )
    expect(modifiedCount).toBe(1)
    const { body } = await owner.rest(`GET /api/chat-rules/ban?chatType=channel&chatId=${room.id}`)
    expect(body.bans).toEqual([])
  })
})
