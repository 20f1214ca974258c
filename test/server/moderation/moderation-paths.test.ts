// Modes: embedded
import { beforeEach, describe, expect, test } from 'vitest'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint, logOf, officialChannel } from '#test/support/moderation'
import { channelOf, moderates, type Person, say } from '#test/support/people'
import { bodyOf, call, wallet } from '#test/support/wallet'

const { server, owner, mod, member, other, admin } = await bootWith(['owner', 'mod', 'member', 'other', 'admin'], {
  admins: ['admin'],
})
let room: RoomRef & { id: string }
beforeEach(async () => {
  room = await channelOf(owner, mod, member, other)
  await appoint(owner, room, mod)
})

describe('what can be asked of a room', () => {
  const ask = (query: string, who = owner) => who.rest(`GET /api/moderation?${query}`)
  const none = {
    isAdmin: false,
    isSuperAdmin: false,
    isModerator: false,
    canPin: false,
    canDelete: false,
    canMute: false,
    canManageMods: false,
  }
  const all = { ...none, isModerator: true, canPin: true, canDelete: true, canMute: true, canManageMods: true }

  test('what somebody may do', async () => {
    const permissions = async ({ account }: Person, channelId?: string) => {
      const where = channelId ? `&channelId=${channelId}` : ''
      const path = `GET /api/moderation?action=permissions&userAddress=${account}${where}`
      return (await bodyOf(call(server.url, path))).permissions
    }
    expect(await permissions(owner, room.id)).toEqual(all)
    expect(await permissions(mod, room.id)).toEqual({ ...all, canManageMods: false })
    expect(await permissions(member, room.id)).toEqual(none)
    expect(await permissions(admin, room.id)).toEqual({ ...all, isAdmin: true })
    expect(await permissions(owner)).toEqual(none)
    await appoint(admin, null, other, { canPin: false })
    const granted = { ...none, isModerator: true, canDelete: true, canMute: true }
    const official = await officialChannel()
    for (const place of [undefined, 'global', official.id]) expect(await permissions(other, place)).toEqual(granted)
    expect(await permissions(other, room.id)).toEqual(none)
    await moderates(admin, { room: null, action: 'demote', target: other.account })
  })

  test('who moderates, and who is muted', async () => {
    await appoint(owner, room, other)
    expect((await ask(`action=moderators&channelId=${room.id}`)).body.moderators).toMatchObject([
      { user_address: other.account, channel_id: room.id, granted_by: owner.account },
      { user_address: mod.account },
    ])
    await moderates(mod, { room, action: 'mute', target: member.account, duration: '1h', reason: 'Loud' })
    expect((await ask(`action=muted&channelId=${room.id}`)).body.mutedUsers).toMatchObject([
      { user_address: member.account, channel_id: room.id, muted_by: mod.account, reason: 'Loud', is_active: true },
    ])
    const isMuted = async ({ account }: Person) =>
      (await ask(`action=check-muted&userAddress=${account}&channelId=${room.id}`)).body.isMuted
    expect([await isMuted(member), await isMuted(other)]).toEqual([true, false])
    await moderates(mod, { room, action: 'unmute', target: member.account })
    expect((await ask(`action=muted&channelId=${room.id}`)).body).toEqual({ mutedUsers: [] })
  })

  test('a missing or wrong field is named', async () => {
    for (const action of ['permissions', 'check-muted'])
      expect(await ask(`action=${action}`)).toMatchObject({ status: 400, body: { error: 'userAddress required' } })
    for (const query of ['', 'action=everything'])
      expect(await ask(query)).toMatchObject({ status: 400, body: { error: 'Invalid action' } })
    for (const action of ['moderators', 'muted'])
      expect(await ask(`action=${action}&channelId=nowhere`)).toMatchObject({ status: 404, code: 'ROOM_NOT_FOUND' })
  })
})

describe('the documented paths', () => {
  const legacy = (who: Person, action: string, more: object = {}) =>
    who.rest('POST /api/moderation', { action, moderatorAddress: who.account, channelId: room.id, ...more })

  test('do what the acts do, and answer in their own way', async () => {
    const targetAddress = member.account
    const grant = { targetAddress, canPin: true, canDelete: false, notes: 'On trial' }
    expect((await legacy(owner, 'promote-mod', grant)).body).toMatchObject({
      success: true,
      moderator: { user_address: targetAddress, can_pin: true, can_delete: false, can_mute: true, notes: 'On trial' },
    })
    expect((await legacy(owner, 'demote-mod', { targetAddress })).body).toEqual({ success: true })
    expect((await legacy(mod, 'mute-user', { targetAddress, duration: '24h', reason: 'Loud' })).body).toMatchObject({
      success: true,
      mute: { user_address: targetAddress, channel_id: room.id, is_active: true },
    })
    expect((await legacy(mod, 'unmute-user', { targetAddress })).body).toEqual({ success: true })
    const { id: messageId } = await say(member, room, 'Look')
    for (const shouldPin of [true, false])
      expect((await legacy(mod, 'pin-message', { messageId, messageType: 'channel', shouldPin })).body).toEqual({
        success: true,
      })
    expect((await legacy(mod, 'delete-message', { messageId, messageType: 'channel', reason: 'x' })).body).toEqual({
      success: true,
    })
    expect((await logOf(owner, room)).slice(0, 7).map(({ action_type }) => action_type)).toEqual([
      'delete',
      'unpin',
      'pin',
      'unmute',
      'mute',
      'demote_mod',
      'promote_mod',
    ])
  })

  test.each([
    ['no action', {}, 'Invalid action'],
    ['an unknown action', { action: 'explode' }, 'Invalid action'],
    ['no target', { action: 'mute-user' }, null],
    ['no message', { action: 'delete-message' }, null],
    ['no word on pinning', { action: 'pin-message', messageId: 'x' }, null],
    ['an unknown duration', { action: 'mute-user', targetAddress: wallet('x').address, duration: 'a while' }, null],
  ])('with %s: 400', async (_title, input, text) => {
    const refused = await owner.rest('POST /api/moderation', { channelId: room.id, ...input })
    expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', ...(text ? { body: { error: text } } : {}) })
  })

  test('nobody speaks for another moderator, or without a session', async () => {
    const input = { action: 'mute-user', targetAddress: member.account, channelId: room.id }
    expect(await member.rest('POST /api/moderation', { ...input, moderatorAddress: mod.account })).toMatchObject({
      status: 403,
    })
    expect(await call(server.url, 'POST /api/moderation', { ...input, moderatorAddress: mod.account })).toMatchObject({
      status: 401,
    })
    expect((await mod.rest('POST /api/moderation', input)).status).toBe(200)
  })

  test('ban and unban, in two spellings', async () => {
    const chat = { chatType: 'channel', chatId: room.id, targetAddress: member.account }
    const path = `/api/chat-rules/ban?chatType=channel&chatId=${room.id}`
    const checked = async () =>
      (await bodyOf(member.rest(`GET ${path}&action=check&userAddress=${member.account}`))).isBanned
    const banned = await mod.rest('POST /api/chat-rules/ban', {
      action: 'ban',
      ...chat,
      duration: '30d',
      reason: 'Spam',
    })
    expect(banned.body).toMatchObject({
      success: true,
      ban: { chat_type: 'channel', chat_id: room.id, reason: 'Spam', is_active: true },
    })
    expect(await checked()).toBe(true)
    for (const listed of [path, `/api/channels/${room.id}/ban`])
      expect((await mod.rest(`GET ${listed}`)).body.bans).toMatchObject([
        { user_address: member.account, banned_by: mod.account },
      ])
    expect((await mod.rest('POST /api/chat-rules/ban', { action: 'unban', ...chat })).body).toEqual({ success: true })
    expect(await checked()).toBe(false)
    const other = { userAddress: member.account, reason: 'Spam' }
    expect((await mod.rest(`POST /api/channels/${room.id}/ban`, other)).body).toEqual({ success: true })
    expect(await checked()).toBe(true)
    expect((await mod.rest(`DELETE /api/channels/${room.id}/ban?userAddress=${member.account}`)).body).toEqual({
      success: true,
    })
    expect(await checked()).toBe(false)
  })

  test.each([
    ['another action', { action: 'kick' }, 'Invalid action'],
    ['no chat type', { action: 'ban', chatType: undefined }, 'chatType required'],
    ['no target', { action: 'ban', targetAddress: undefined }, null],
    ['another duration', { action: 'ban', duration: '5m' }, 'Invalid duration'],
  ])('a ban with %s: 400', async (_title, change, text) => {
    const input = { chatType: 'channel', chatId: room.id, targetAddress: member.account, ...change }
    expect(await owner.rest('POST /api/chat-rules/ban', input)).toMatchObject({
      status: 400,
      ...(text ? { body: { error: text } } : {}),
    })
    expect(await call(server.url, 'GET /api/chat-rules/ban?chatType=channel&chatId=x&action=check')).toMatchObject({
      status: 400,
    })
  })
})
