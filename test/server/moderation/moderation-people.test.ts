// Modes: embedded, two-nodes
import { beforeEach, describe, expect, test } from 'vitest'
import { Bans, Moderators } from '#server/domains/rooms/room-state/model'
import { Answers } from '#server/kernel/store/model'
import { moderation } from '#shared/api/moderation/moderation'
import type { ModerationAction } from '#shared/api/moderation/moderation-acts'
import { messages } from '#shared/api/rooms/messages'
import { access, capabilitiesChanged, rooms } from '#shared/api/rooms/rooms'
import type { CallOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint, logOf, type More } from '#test/support/moderation'
import { channelOf, groupOf, listenTo, mayNot, moderates, over, type Person, people, say } from '#test/support/people'
import { solo } from '#test/support/solo'
import { wallet } from '#test/support/wallet'

const { server, owner, mod, member, other } = await bootWith(['owner', 'mod', 'member', 'other'])
let room: RoomRef & { id: string }
beforeEach(async () => {
  room = await channelOf(owner, mod, member, other)
  await appoint(owner, room, mod)
})

/** As a day later, or after a crash before the answer was kept: the log alone knows the act. */
const forgetAnswers = () => Answers.deleteMany({})

const wordAdded = (word: string) =>
  ({ action: 'word_add', patch: { word: `${word}${process.pid}`, word_action: 'block' } }) as const

describe.each(over)('over %s', (door) => {
  const moderate = (who: Person, action: ModerationAction, more: More) =>
    who.does(door, moderation.act, { room, action, ...more })
  const refused = (who: Person, action: ModerationAction, more: More) =>
    who.refused(door, moderation.act, { room, action, ...more })

  test('a ban holds at once: no message, no membership, and its target hears why', async () => {
    const live = await listenTo(member, room)
    const reason = 'Selling watches'
    const banned = await moderate(mod, 'ban', { target: member.account, duration: '24h', reason })
    expect(banned).toMatchObject({
      record: { chat_type: 'channel', chat_id: room.id, channel_id: room.id, user_address: member.account, reason },
      effects: { pending_nodes: 0 },
    })
    const record = banned.record as { banned_at: string; banned_until: string }
    expect(Date.parse(record.banned_until) - Date.parse(record.banned_at)).toBe(86_400_000)
    await expect
      .poll(() => live.all(access))
      .toMatchObject([
        { state: 'banned', code: 'BANNED', text: 'You are banned from this room', until: record.banned_until, reason },
      ])
    const refused = await member.refused('socket', messages.send, { room, text: 'Still here?' })
    expect(refused).toMatchObject({ status: 403, code: 'BANNED', message: 'You are banned from this room' })
    expect(await member.refused('socket', messages.join, { room })).toMatchObject({
      code: 'BANNED',
      details: { reason },
    })
    expect(await member.rest(`POST /api/channels/${room.id}/join`)).toMatchObject({ status: 403, code: 'BANNED' })
    const { members } = await owner.does('rest', rooms.members, { room })
    expect(members.map(({ user_address }) => user_address)).not.toContain(member.account)
  })

  solo('the same ban again is the first ban; another term or reason is one new event', async () => {
    const ban = { target: member.account, duration: '7d', reason: 'Rude' }
    const first = await moderate(mod, 'ban', ban)
    const same = await moderate(mod, 'ban', ban)
    const longer = await moderate(mod, 'ban', { ...ban, duration: '30d' })
    expect(same).toMatchObject({ entry: null, record: first.record })
    expect(longer.record).not.toEqual(first.record)
    expect(await Bans.countDocuments({ room: `channel:${room.id}`, is_active: true })).toBe(1)
    const bans = (await logOf(owner, room)).filter(({ action_type }) => action_type === 'room_ban')
    expect(bans).toHaveLength(2)
    expect(bans[0]).toMatchObject({ channel_id: room.id, metadata: { chat_type: 'channel', chat_id: room.id } })
  })

  test('an unban lets back in, and lifts nothing where there is no ban', async () => {
    await moderate(mod, 'ban', { target: member.account })
    const live = await member.line()
    live.forget()
    await moderate(mod, 'unban', { target: member.account })
    expect(await live.hears(access)).toMatchObject({ state: 'granted', code: 'GRANTED' })
    await member.does('rest', rooms.join, { room })
    await member.does('socket', messages.send, { room, text: 'Back again' })
    expect(await moderate(mod, 'unban', { target: member.account })).toMatchObject({ entry: null })
  })

  test('a mute keeps somebody reading but not writing, until it is lifted', async () => {
    const live = await listenTo(member, room)
    const muted = await moderate(mod, 'mute', { target: member.account, duration: '90m', reason: 'Cool down' })
    const record = muted.record as { muted_at: string; muted_until: string }
    expect(Date.parse(record.muted_until) - Date.parse(record.muted_at)).toBe(90 * 60_000)
    expect(await member.refused('socket', messages.send, { room, text: 'May I?' })).toMatchObject({
      status: 403,
      code: 'MUTED',
      message: 'You are muted in this room',
      verdict: { step: 'mute', until: record.muted_until },
    })
    await expect
      .poll(() => live.all(capabilitiesChanged).at(-1))
      .toMatchObject({
        capabilities: { text: { ok: false, code: 'MUTED' } },
      })
    await say(owner, room, 'Quiet now')
    await expect.poll(() => live.log(room).at(-1)?.type).toBe('message.created')
    await moderate(mod, 'unmute', { target: member.account })
    await member.does('socket', messages.send, { room, text: 'Thank you' })
    await expect.poll(() => live.all(access).map(({ state }) => state)).toEqual(['muted', 'granted'])
    expect(await moderate(mod, 'unmute', { target: member.account })).toMatchObject({ entry: null })
  })

  solo('a warning is told to its target and to the room, and takes nothing away', async () => {
    const live = await listenTo(member, room)
    await moderate(mod, 'warn', { target: member.account, reason: 'Mind the tone' })
    await expect.poll(() => live.all(access)).toMatchObject([{ state: 'warned', reason: 'Mind the tone' }])
    await expect
      .poll(() => live.log(room).at(-1))
      .toMatchObject({
        type: 'moderation.applied',
        data: { action: 'warn', target: { id: member.account }, reason: 'Mind the tone' },
      })
    await member.does('socket', messages.send, { room, text: 'Sorry' })
  })

  test('a purge takes back what somebody wrote, by one event, and nobody else’s', async () => {
    const live = await listenTo(other, room)
    for (const text of ['spam 1', 'spam 2']) await say(member, room, text)
    await say(other, room, 'innocent')
    const purged = await moderate(mod, 'purge', { target: member.account, reason: 'Spam' })
    expect(purged).toMatchObject({ effects: { messages_removed: 2 } })
    const { messages: shown } = await other.does('socket', messages.history, { room })
    expect(shown.map(({ content }) => content)).toEqual(['[Message deleted]', '[Message deleted]', 'innocent'])
    await expect.poll(() => live.log(room).filter(({ type }) => type === 'messages.purged')).toHaveLength(1)
    expect(await refused(mod, 'purge', { target: owner.account })).toMatchObject({ status: 403 })
    expect(await moderate(mod, 'purge', { target: wallet('silent').address })).toMatchObject({
      entry: null,
      effects: { messages_removed: 0 },
    })
  })

  solo('a purge takes what it takes out of the pins, and a later purge gives none of it back', async () => {
    const [first, kept] = [await say(member, room, 'Pinned spam'), await say(other, room, 'Pinned welcome')]
    for (const { id } of [first, kept]) await moderate(mod, 'pin', { message_id: id })
    await moderate(mod, 'purge', { target: member.account })
    const pinned = async () => (await other.does('rest', messages.pins, { room })).pinnedMessages.map(({ id }) => id)
    expect(await pinned()).toEqual([kept.id])
    await say(member, room, 'More spam')
    await moderate(mod, 'purge', { target: member.account })
    expect(await refused(mod, 'pin', { message_id: first.id })).toMatchObject({ code: 'MESSAGE_NOT_FOUND' })
    expect(await moderate(mod, 'delete', { message_id: first.id })).toMatchObject({ entry: null })
    expect(await other.refused('socket', messages.react, { room, id: first.id, emoji: '👍' })).toMatchObject({
      status: 404,
    })
    await moderate(mod, 'unpin', { message_id: kept.id })
  })

  solo('a message is deleted, pinned and unpinned by its id alone', async () => {
    const { id: message_id } = await say(member, room, 'Look at this')
    expect(await moderate(mod, 'pin', { message_id })).toMatchObject({ record: { is_pinned: true } })
    expect(await moderate(mod, 'pin', { message_id })).toMatchObject({ entry: null })
    expect(await moderate(mod, 'unpin', { message_id })).toMatchObject({ record: { is_pinned: false } })
    const deleted = await moderate(mod, 'delete', { message_id, reason: 'Off topic' })
    expect(deleted).toMatchObject({
      effects: { messages_removed: 1 },
      record: { is_deleted: true, deleted_by: mod.account, delete_reason: 'Off topic' },
    })
    expect(await moderate(mod, 'delete', { message_id })).toMatchObject({ entry: null })
    expect(await refused(mod, 'pin', { message_id })).toMatchObject({ status: 404, code: 'MESSAGE_NOT_FOUND' })
    expect(await refused(mod, 'delete', { message_id: 'nothing' })).toMatchObject({ code: 'MESSAGE_NOT_FOUND' })
  })

  test('a grant gives what it says, and a demotion takes it at once', async () => {
    const grants = { canPin: true, canDelete: false, canMute: false, canManageMods: false, notes: 'On trial' }
    const { record } = await moderate(owner, 'promote', { target: member.account, patch: grants })
    expect(record).toMatchObject({
      user_address: member.account,
      channel_id: room.id,
      granted_by: owner.account,
      can_pin: true,
      can_delete: false,
      can_mute: false,
      can_manage_mods: false,
      notes: 'On trial',
    })
    const again = await moderate(owner, 'promote', { target: member.account, patch: { canMute: true } })
    expect(again.record).toMatchObject({ id: (record as { id: string }).id, can_mute: true, notes: 'On trial' })
    await moderates(member, { room, action: 'warn', target: other.account })
    await moderate(owner, 'demote', { target: member.account })
    expect(await mayNot(member, { room, action: 'warn', target: other.account })).toMatchObject({
      status: 403,
      code: 'FORBIDDEN',
    })
    expect(await moderate(owner, 'demote', { target: member.account })).toMatchObject({ entry: null })
    expect(await Moderators.countDocuments({ room: `channel:${room.id}`, user_address: member.account })).toBe(1)
  })

  solo('a demotion also takes the rank of moderator that a member was given', async () => {
    await owner.does('rest', rooms.setRole, { room, address: member.account, role: 'moderator' })
    await moderates(member, { room, action: 'warn', target: other.account })
    await moderate(owner, 'demote', { target: member.account })
    expect(await mayNot(member, { room, action: 'warn', target: other.account })).toMatchObject({ status: 403 })
  })

  solo.each([
    ['a target', 'ban', {}, 'targetAddress required'],
    ['a message', 'delete', {}, 'messageId required'],
    ['a word', 'word_add', {}, 'word missing'],
  ] as const)('an act that needs %s is refused without it', async (_what, action, more, text) => {
    expect(await refused(owner, action, more)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', message: text })
  })

  solo.each([
    ['needs a room', null],
    [
      'has no moderators in a direct message',
      { type: 'dm', id: [wallet('a').address, wallet('b').address].sort().join('~').toLowerCase() },
    ],
  ] as const)('a ban %s', async (_title, where) => {
    expect(
      await owner.refused(door, moderation.act, { room: where, action: 'ban', target: other.account }),
    ).toMatchObject({ code: 'VALIDATION_ERROR' })
  })

  solo('nobody acts in a room that does not exist, or is hidden from them', async () => {
    const group = await groupOf(owner)
    for (const where of [group, { type: 'channel', id: 'no-such-channel' } as const])
      expect(
        await member.refused(door, moderation.act, { room: where, action: 'ban', target: other.account }),
      ).toMatchObject({ code: 'ROOM_NOT_FOUND' })
  })

  test('the same key is the same act', async () => {
    const client_action_id = `action-${door}-${room.id}`
    const first = await moderate(mod, 'warn', { target: member.account, client_action_id })
    const again = await moderate(mod, 'warn', { target: member.account, client_action_id })
    expect(again.entry).toEqual(first.entry)
    expect((await logOf(owner, room)).filter(({ action_type }) => action_type === 'warn')).toHaveLength(1)
  })

  solo('a ban, a mute and a promotion that are repeated with their key answer with the same record', async () => {
    for (const [who, action] of [
      [owner, 'ban'],
      [mod, 'mute'],
      [owner, 'promote'],
    ] as const) {
      const [target] = await people(server, `target of ${action} over ${door}`)
      await target.does('rest', rooms.join, { room })
      const asked = { target: target.account, client_action_id: `${action}-${door}-${room.id}` }
      const first = await who.does(door, moderation.act, { room, action, ...asked })
      expect(first.record).toMatchObject({ user_address: target.account })
      await forgetAnswers()
      expect((await who.does(door, moderation.act, { room, action, ...asked })).record).toEqual(first.record)
    }
  })

  solo('what lifts a ban, a mute or a grant and is repeated with its key answers with what was lifted', async () => {
    for (const [who, made, lifted] of [
      [owner, 'ban', 'unban'],
      [mod, 'mute', 'unmute'],
      [owner, 'promote', 'demote'],
    ] as const) {
      const [target] = await people(server, `target of ${lifted} over ${door}`)
      await target.does('rest', rooms.join, { room })
      const { record } = await who.does(door, moderation.act, { room, action: made, target: target.account })
      const asked = { target: target.account, client_action_id: `${lifted}-${door}-${room.id}` }
      const first = await who.does(door, moderation.act, { room, action: lifted, ...asked })
      expect(first.record).toEqual(record)
      await forgetAnswers()
      expect((await who.does(door, moderation.act, { room, action: lifted, ...asked })).record).toEqual(record)
    }
  })

  solo('a word that is taken away answers a repeat with its key with the word', async () => {
    const patch = { word: `plum${process.pid}${door}`, word_action: 'block' } as const
    const { record } = await owner.does(door, moderation.act, { room, action: 'word_add', patch })
    const { id } = record as { id: string }
    const asked = { patch: { word_id: id }, client_action_id: `word-${door}-${room.id}` }
    const first = await owner.does(door, moderation.act, { room, action: 'word_remove', ...asked })
    expect(first.record).toMatchObject({ id, word: patch.word })
    await forgetAnswers()
    expect((await owner.does(door, moderation.act, { room, action: 'word_remove', ...asked })).record).toEqual(
      first.record,
    )
  })

  solo.each<[string, Partial<CallOf<typeof moderation.act>>, Partial<CallOf<typeof moderation.act>>]>([
    [
      'another slow mode',
      { action: 'rules', patch: { slow_mode_seconds: 5 } },
      { action: 'rules', patch: { slow_mode_seconds: 10 } },
    ],
    ['another word', wordAdded('one'), wordAdded('two')],
    ['a longer mute', { action: 'mute', duration: '5m' }, { action: 'mute', duration: '2h' }],
    [
      'other rights',
      { action: 'promote', patch: { canPin: true } },
      { action: 'promote', patch: { canManageMods: true } },
    ],
    ['another reason', { action: 'ban', reason: 'one' }, { action: 'ban', reason: 'two' }],
    ['another act after one without effect', { action: 'unban' }, { action: 'ban' }],
  ])('a key that was used is refused for %s, and the first act stands alone', async (_what, one, two) => {
    const about = ({ action }: typeof one) =>
      action === 'rules' || action === 'word_add' ? {} : { target: other.account }
    const asked = (act: typeof one) =>
      ({ room, client_action_id: `key-${room.id}`, ...about(act), ...act }) as CallOf<typeof moderation.act>
    await owner.does(door, moderation.act, asked(one))
    const entries = await logOf(owner, room)
    expect(await owner.refused(door, moderation.act, asked(two))).toMatchObject({ status: 409, code: 'CONFLICT' })
    expect(await logOf(owner, room)).toEqual(entries)
  })
})
