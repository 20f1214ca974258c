import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { RoomEvents } from '#server/log/model'
import { type Booted, boot } from '#test/support/boot'
import {
  act,
  appoint,
  channelOf,
  done,
  hearing,
  nobody,
  officialChannel,
  type Place,
  people,
  type Somebody,
  say,
} from '#test/support/community'
import { wallet } from '#test/support/wallet'

let server: Booted
let owner: Somebody
let mod: Somebody
let member: Somebody
let other: Somebody
let admin: Somebody
let room: Place & { id: string }

beforeAll(async () => {
  server = await boot({ environment: { ADMINS: wallet('admin').address } })
  ;[owner, mod, member, other, admin] = await people(server, 'owner', 'mod', 'member', 'other', 'admin')
})
afterAll(() => server.close())
beforeEach(async () => {
  room = await channelOf(owner, mod, member, other)
  await appoint(owner, room, mod)
})

interface Entry {
  id: string
  seq: number
  hash: string
  action_type: string
  metadata: Record<string, unknown>
}
const log = async (query = '', who = owner) =>
  (await done(who.call(`GET /api/moderation?action=mod-log&channelId=${room.id}${query}`))).logs as Entry[]
const verified = (who = owner) => done(who.call(`GET /api/moderation/verify?channelId=${room.id}`))
const kindsOf = (entries: Entry[]) => entries.map(({ action_type }) => action_type)

/** One of each kind, in this order. */
async function everything(): Promise<void> {
  const target = member.account
  const { id: message_id } = await say(member, room, 'Look')
  await done(act(mod, room, 'pin', { message_id }))
  await done(act(mod, room, 'unpin', { message_id }))
  await done(act(mod, room, 'delete', { message_id, reason: 'Off topic' }))
  await done(act(mod, room, 'warn', { target }))
  await done(act(mod, room, 'mute', { target, duration: '1h', reason: 'Loud' }))
  await done(act(mod, room, 'unmute', { target }))
  await say(member, room, 'Spam')
  await done(act(mod, room, 'purge', { target }))
  await done(act(owner, room, 'rules', { patch: { rules: { read_only: true } } }))
  const { record } = await done(act(owner, room, 'word_add', { patch: { word: 'zork' } }))
  await done(act(owner, room, 'word_remove', { patch: { word_id: (record as { id: string }).id } }))
  await done(act(owner, room, 'demote', { target: mod.account }))
  await done(act(owner, room, 'ban', { target, duration: '7d' }))
  await done(act(owner, room, 'unban', { target }))
}
const inOrder =
  'promote_mod pin unpin delete warn mute unmute purge rules word_add word_remove demote_mod room_ban room_unban'

describe('the log of actions', () => {
  test('has one entry for each act, newest first, with what it was about', async () => {
    await everything()
    const entries = await log()
    expect(kindsOf(entries).reverse()).toEqual(inOrder.split(' '))
    const one = (kind: string) => entries.find(({ action_type }) => action_type === kind)
    expect(one('mute')).toMatchObject({
      moderator_address: mod.account,
      target_user_address: member.account,
      channel_id: room.id,
      reason: 'Loud',
      metadata: { duration: '1h', muted_until: expect.any(String) },
    })
    expect(one('room_ban')).toMatchObject({ metadata: { chat_type: 'channel', chat_id: room.id, duration: '7d' } })
    expect(one('delete')).toMatchObject({ target_message_id: expect.any(String), reason: 'Off topic' })
    expect(one('purge')).toMatchObject({ metadata: { count: 1 } })
    expect(one('rules')).toMatchObject({ metadata: { diff: { read_only: true } } })
    expect(one('word_add')).toMatchObject({ metadata: { word: 'zork' } })
  })

  test('is asked by actor, target, kind, time and number', async () => {
    await everything()
    const entries = await log()
    expect(new Set((await log(`&actor=${mod.account}`)).map(({ id }) => id))).toEqual(
      new Set(
        entries
          .filter((entry) => 'pin unpin delete warn mute unmute purge'.includes(entry.action_type))
          .map(({ id }) => id),
      ),
    )
    expect(kindsOf(await log(`&target=${mod.account}`))).toEqual(['demote_mod', 'promote_mod'])
    expect(kindsOf(await log('&actionType=mute'))).toEqual(['mute'])
    expect(kindsOf(await log(`&actor=${owner.account}&target=${member.account}`))).toEqual(['room_unban', 'room_ban'])
    expect(await log('&limit=3')).toEqual(entries.slice(0, 3))
    expect(await log(`&until=${new Date(0).toISOString()}`)).toEqual([])
    expect(await log(`&since=${new Date(0).toISOString()}`)).toHaveLength(entries.length)
    expect(await owner.call(`GET /api/moderation?action=mod-log&channelId=${room.id}&limit=101`)).toMatchObject({
      status: 400,
    })
    expect(await owner.call(`GET /api/moderation?action=mod-log&channelId=${room.id}&since=yesterday`)).toMatchObject({
      status: 400,
    })
  })

  test('is for admins and those who may manage moderators', async () => {
    const path = `GET /api/moderation?action=mod-log&channelId=${room.id}`
    expect(await nobody(server)(path)).toMatchObject({ status: 401 })
    for (const who of [mod, member]) expect(await who.call(path)).toMatchObject({ status: 403, text: 'Not authorized' })
    expect((await admin.call(path)).status).toBe(200)
    expect(await owner.call(`${path}&requestingUser=${mod.account}`)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await owner.call('GET /api/moderation?action=mod-log')).toMatchObject({ status: 403 })
    expect((await admin.call('GET /api/moderation?action=mod-log')).status).toBe(200)
  })

  test('a refused act leaves nothing', async () => {
    const before = await log()
    for (const action of ['ban', 'mute', 'warn'] as const) await act(member, room, action, { target: other.account })
    expect(await log()).toEqual(before)
  })
})

describe('the chain', () => {
  test('holds from the first entry to the last', async () => {
    await everything()
    const entries = await log()
    expect(await verified()).toEqual({ ok: true, entries: entries.length, head: entries[0]?.hash, broken_at: null })
    expect(await member.call(`GET /api/moderation/verify?channelId=${room.id}`)).toMatchObject({ status: 403 })
    expect(await owner.call('GET /api/moderation/verify?channelId=nowhere')).toMatchObject({ code: 'ROOM_NOT_FOUND' })
  })

  test.each([
    ['a reason', { reason: 'Innocent' }],
    ['a target', { target: wallet('scapegoat').address.toLowerCase() }],
    ['the one who did it', { sender: wallet('scapegoat').address.toLowerCase() }],
    ['a time', { at: 1 }],
    ['an end', { until: 1 }],
    ['a kind', { type: 'message.pinned' }],
    ['a hash', { chain: 'A'.repeat(43) }],
  ])('names the entry in which %s was changed', async (_title, change) => {
    await everything()
    const [muted] = await log('&actionType=mute')
    await RoomEvents.updateOne({ _id: muted?.id }, { $set: change })
    expect(await verified()).toMatchObject({ ok: false, broken_at: muted?.id })
  })

  test('names the entry after one that is missing', async () => {
    await everything()
    const [muted] = await log('&actionType=mute')
    const [next] = await log('&actionType=unmute')
    await RoomEvents.deleteOne({ _id: muted?.id })
    expect(await verified()).toMatchObject({ ok: false, broken_at: next?.id })
  })

  test('does not cover the words of a message, so that taking them back breaks nothing', async () => {
    const { id } = await say(member, room, 'My address is')
    await done(act(mod, room, 'delete', { message_id: id }))
    expect(JSON.stringify(await RoomEvents.find({ room: `channel:${room.id}` }).lean())).not.toContain('My address')
    expect(await verified()).toMatchObject({ ok: true })
  })
})

describe('what can be asked of a room', () => {
  const ask = (query: string, who = owner) => who.call(`GET /api/moderation?${query}`)
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
    const permissions = async ({ account }: Somebody, channelId?: string) =>
      (
        await done(
          nobody(server)(
            `GET /api/moderation?action=permissions&userAddress=${account}${channelId ? `&channelId=${channelId}` : ''}`,
          ),
        )
      ).permissions
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
    await done(act(admin, null, 'demote', { target: other.account }))
  })

  test('who moderates, and who is muted', async () => {
    await appoint(owner, room, other)
    expect((await ask(`action=moderators&channelId=${room.id}`)).body.moderators).toMatchObject([
      { user_address: other.account, channel_id: room.id, granted_by: owner.account },
      { user_address: mod.account },
    ])
    await done(act(mod, room, 'mute', { target: member.account, duration: '1h', reason: 'Loud' }))
    expect((await ask(`action=muted&channelId=${room.id}`)).body.mutedUsers).toMatchObject([
      { user_address: member.account, channel_id: room.id, muted_by: mod.account, reason: 'Loud', is_active: true },
    ])
    const isMuted = async ({ account }: Somebody) =>
      (await ask(`action=check-muted&userAddress=${account}&channelId=${room.id}`)).body.isMuted
    expect([await isMuted(member), await isMuted(other)]).toEqual([true, false])
    await done(act(mod, room, 'unmute', { target: member.account }))
    expect((await ask(`action=muted&channelId=${room.id}`)).body).toEqual({ mutedUsers: [] })
  })

  test('what is missing or wrong is named', async () => {
    for (const action of ['permissions', 'check-muted'])
      expect(await ask(`action=${action}`)).toMatchObject({ status: 400, text: 'userAddress required' })
    for (const query of ['', 'action=everything'])
      expect(await ask(query)).toMatchObject({ status: 400, text: 'Invalid action' })
    for (const action of ['moderators', 'muted'])
      expect(await ask(`action=${action}&channelId=nowhere`)).toMatchObject({ status: 404, code: 'ROOM_NOT_FOUND' })
  })
})

describe('the documented paths', () => {
  const legacy = (who: Somebody, action: string, more: object = {}) =>
    who.call('POST /api/moderation', { action, moderatorAddress: who.account, channelId: room.id, ...more })

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
    expect(kindsOf(await log()).slice(0, 7)).toEqual([
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
    const refused = await owner.call('POST /api/moderation', { channelId: room.id, ...input })
    expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', ...(text ? { text } : {}) })
  })

  test('nobody speaks for another moderator, or without a session', async () => {
    const input = { action: 'mute-user', targetAddress: member.account, channelId: room.id }
    expect(await member.call('POST /api/moderation', { ...input, moderatorAddress: mod.account })).toMatchObject({
      status: 403,
    })
    expect(await nobody(server)('POST /api/moderation', { ...input, moderatorAddress: mod.account })).toMatchObject({
      status: 401,
    })
    expect((await mod.call('POST /api/moderation', input)).status).toBe(200)
  })

  test('ban and unban, in two spellings', async () => {
    const chat = { chatType: 'channel', chatId: room.id, targetAddress: member.account }
    const checked = async () =>
      (
        await done(
          nobody(server)(
            `GET /api/chat-rules/ban?chatType=channel&chatId=${room.id}&action=check&userAddress=${member.account}`,
          ),
        )
      ).isBanned
    const banned = await mod.call('POST /api/chat-rules/ban', {
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
    for (const path of [`/api/chat-rules/ban?chatType=channel&chatId=${room.id}`, `/api/channels/${room.id}/ban`])
      expect((await mod.call(`GET ${path}`)).body.bans).toMatchObject([
        { user_address: member.account, banned_by: mod.account },
      ])
    expect((await mod.call('POST /api/chat-rules/ban', { action: 'unban', ...chat })).body).toEqual({ success: true })
    expect(await checked()).toBe(false)
    const other = { userAddress: member.account, reason: 'Spam' }
    expect((await mod.call(`POST /api/channels/${room.id}/ban`, other)).body).toEqual({ success: true })
    expect(await checked()).toBe(true)
    expect((await mod.call(`DELETE /api/channels/${room.id}/ban?userAddress=${member.account}`)).body).toEqual({
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
    expect(await owner.call('POST /api/chat-rules/ban', input)).toMatchObject({
      status: 400,
      ...(text ? { text } : {}),
    })
    expect(await nobody(server)('GET /api/chat-rules/ban?chatType=channel&chatId=x&action=check')).toMatchObject({
      status: 400,
    })
  })
})

describe('moderators who listen', () => {
  const subscribe = (who: Somebody, input: object = { scope: 'room', room }) =>
    who.ask('mod:subscribe', input, '/moderation')

  test('hear each entry as the log shows it, of their room alone', async () => {
    const heard = hearing(await mod.socket('/moderation'))
    const { body } = await subscribe(mod)
    expect(body).toMatchObject({ queue: [], log_head: expect.any(Number), moderators_online: [mod.account] })
    const elsewhere = await channelOf(owner, member)
    await done(act(owner, elsewhere, 'warn', { target: member.account }))
    await done(act(owner, room, 'mute', { target: member.account, duration: '1h' }))
    await expect.poll(() => heard.named('modlog:event')).toHaveLength(1)
    const [entry] = await log('&limit=1')
    expect(heard.named('modlog:event')).toEqual([{ room: { type: 'channel', id: room.id }, entry }])
  })

  test('are let go the moment they are none any more, whoever took it', async () => {
    await subscribe(mod)
    const heard = hearing(await mod.socket('/moderation'))
    await done(act(owner, room, 'demote', { target: mod.account }))
    await expect.poll(async () => (await subscribe(mod)).status).toBe(403)
    await done(act(owner, room, 'warn', { target: member.account }))
    await done(act(owner, room, 'warn', { target: other.account }))
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(heard.named('modlog:event').filter(({ entry }) => (entry as Entry).action_type === 'warn')).toEqual([])
    await appoint(owner, room, mod)
    await subscribe(mod)
    await done(admin.call('POST /api/admin/ban', { userAddress: mod.account, ban: true }))
    await done(act(owner, room, 'warn', { target: member.account }))
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(heard.named('modlog:event').filter(({ entry }) => (entry as Entry).action_type === 'warn')).toEqual([])
    expect(await subscribe(mod)).toMatchObject({ status: 403 })
    await done(admin.call('POST /api/admin/ban', { userAddress: mod.account, ban: false }))
  })

  test('nobody else listens', async () => {
    expect(await subscribe(member)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await subscribe(owner, { scope: 'global' })).toMatchObject({ status: 403 })
    expect(await subscribe(owner, { scope: 'room' })).toMatchObject({ status: 400 })
    expect(await subscribe(owner, { scope: 'room', room: { type: 'channel', id: 'nowhere' } })).toMatchObject({
      code: 'ROOM_NOT_FOUND',
    })
    expect((await subscribe(admin, { scope: 'global' })).status).toBe(200)
    expect((await owner.call(`GET /api/moderation/queue?channelId=${room.id}`)).status).toBe(200)
    expect(await member.call('GET /api/moderation/queue')).toMatchObject({ status: 403 })
  })
})

describe('the queue', () => {
  const path = { claim: 'POST /api/moderation/queue/claim', decide: 'POST /api/moderation/queue/decide' }
  const queueOf = async (who = mod) =>
    (await done(who.call(`GET /api/moderation/queue?channelId=${room.id}`))).queue as {
      id: string
      claimed_by: string | null
    }[]

  async function reported(): Promise<string> {
    const conversation = { conversationType: 'channel', conversationId: room.id }
    const { id: messageId } = await say(member, room, 'Something rude')
    const by = await people(server, `reporter ${messageId}`)
    await done(by[0].call(`POST /api/channels/${room.id}/join`))
    const input = { reportedAddress: member.account, reportType: 'harassment', messageId, ...conversation }
    const { report } = await done(by[0].call('POST /api/users/report', input))
    return (report as { id: string }).id
  }
  async function flagged(): Promise<string> {
    await owner.call('POST /api/blocked-words', {
      word: 'dubious',
      scope: 'room',
      chatType: 'channel',
      chatId: room.id,
      action: 'flag',
    })
    return (await say(member, room, 'A dubious offer')).id
  }

  test.each([
    ['report', reported],
    ['flag', flagged],
  ])('a %s is told, claimed by one, and decided, before all who listen', async (kind, make) => {
    const heard = hearing(await mod.socket('/moderation'))
    await done(mod.ask('mod:subscribe', { scope: 'room', room }, '/moderation'))
    const item = await make()
    await expect.poll(() => heard.named('queue:event')).toMatchObject([{ item: { id: item, kind, state: 'pending' } }])
    expect(await queueOf()).toMatchObject([{ id: item, claimed_by: null }])
    expect((await done(mod.ask('queue:claim', { item }, '/moderation'))).item).toMatchObject({
      claimed_by: mod.account,
    })
    expect(await owner.call(path.claim, { item })).toMatchObject({ status: 409, code: 'CONFLICT' })
    expect(await queueOf()).toMatchObject([{ id: item, claimed_by: mod.account }])
    await done(mod.call(path.claim, { item, on: false }))
    expect((await owner.call(path.claim, { item })).status).toBe(200)
    await done(owner.call(path.decide, { item, decision: 'reviewed' }))
    expect(await queueOf()).toMatchObject([{ id: item, state: 'reviewed' }])
    await done(mod.ask('queue:decide', { item, decision: 'action_taken', note: 'Warned' }, '/moderation'))
    expect(await queueOf()).toEqual([])
    await expect
      .poll(() => heard.named('queue:event').at(-1))
      .toMatchObject({ item: { id: item, state: 'action_taken' } })
  })

  test('is decided by moderators of the place alone, and not while they are suspended', async () => {
    const item = await reported()
    for (const route of [path.claim, path.decide])
      for (const who of [member, other])
        expect(await who.call(route, { item, decision: 'dismissed' })).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect(await owner.call(path.decide, { item: 'nothing', decision: 'dismissed' })).toMatchObject({
      code: 'NOT_FOUND',
    })
    expect(await owner.call(path.decide, { item, decision: 'forgotten' })).toMatchObject({ status: 400 })
    await done(admin.call('POST /api/admin/ban', { userAddress: mod.account, ban: true }))
    expect(await mod.call(path.decide, { item, decision: 'dismissed' })).toMatchObject({ status: 404 })
    await done(admin.call('POST /api/admin/ban', { userAddress: mod.account, ban: false }))
    expect((await admin.call(path.decide, { item, decision: 'dismissed' })).status).toBe(200)
  })
})
