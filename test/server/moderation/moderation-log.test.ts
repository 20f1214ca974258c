// Modes: embedded
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { RoomEvents } from '#server/log/model'
import { moderation } from '#shared/api/moderation/moderation'
import type { LogEntry } from '#shared/api/moderation/moderation-records'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint, logOf } from '#test/support/moderation'
import { channelOf, moderates, say } from '#test/support/people'
import { call, wallet } from '#test/support/wallet'

const { server, owner, mod, member, other, admin } = await bootWith(['owner', 'mod', 'member', 'other', 'admin'], {
  admins: ['admin'],
})
let room: RoomRef & { id: string }

async function newRoom(): Promise<void> {
  room = await channelOf(owner, mod, member, other)
  await appoint(owner, room, mod)
}

const log = (query: Parameters<typeof logOf>[2] = {}) => logOf(owner, room, query)
const verified = () => owner.does('rest', moderation.verify, { channelId: room.id })
const kindsOf = (entries: readonly LogEntry[]) => entries.map(({ action_type }) => action_type)

/** One of each kind, in this order. */
async function everything(): Promise<void> {
  const target = member.account
  const { id: message_id } = await say(member, room, 'Look')
  await moderates(mod, { room, action: 'pin', message_id })
  await moderates(mod, { room, action: 'unpin', message_id })
  await moderates(mod, { room, action: 'delete', message_id, reason: 'Off topic' })
  await moderates(mod, { room, action: 'warn', target })
  await moderates(mod, { room, action: 'mute', target, duration: '1h', reason: 'Loud' })
  await moderates(mod, { room, action: 'unmute', target })
  await say(member, room, 'Spam')
  await moderates(mod, { room, action: 'purge', target })
  await moderates(owner, { room, action: 'rules', patch: { rules: { read_only: true } } })
  const { record } = await moderates(owner, { room, action: 'word_add', patch: { word: 'zork' } })
  await moderates(owner, { room, action: 'word_remove', patch: { word_id: (record as { id: string }).id } })
  await moderates(owner, { room, action: 'demote', target: mod.account })
  await moderates(owner, { room, action: 'ban', target, duration: '7d' })
  await moderates(owner, { room, action: 'unban', target })
}
const inOrder =
  'promote_mod pin unpin delete warn mute unmute purge rules word_add word_remove demote_mod room_ban room_unban'

describe('the log of actions', () => {
  beforeAll(async () => {
    await newRoom()
    await everything()
  })

  test('has one entry for each act, newest first, with what it was about', async () => {
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
    const entries = await log()
    expect(new Set((await log({ actor: mod.account })).map(({ id }) => id))).toEqual(
      new Set(
        entries
          .filter((entry) => 'pin unpin delete warn mute unmute purge'.includes(entry.action_type))
          .map(({ id }) => id),
      ),
    )
    expect(kindsOf(await log({ target: mod.account }))).toEqual(['demote_mod', 'promote_mod'])
    expect(kindsOf(await log({ actionType: 'mute' }))).toEqual(['mute'])
    expect(kindsOf(await log({ actor: owner.account, target: member.account }))).toEqual(['room_unban', 'room_ban'])
    expect(await log({ limit: 3 })).toEqual(entries.slice(0, 3))
    expect(await log({ until: new Date(0).toISOString() })).toEqual([])
    expect(await log({ since: new Date(0).toISOString() })).toHaveLength(entries.length)
    expect(await log({ limit: 101 })).toHaveLength(entries.length)
    expect(await owner.rest(`GET /api/moderation?action=mod-log&channelId=${room.id}&since=yesterday`)).toMatchObject({
      status: 400,
    })
  })

  test('is for admins and those who may manage moderators', async () => {
    const path = `GET /api/moderation?action=mod-log&channelId=${room.id}`
    expect(await call(server.url, path)).toMatchObject({ status: 401 })
    for (const who of [mod, member])
      expect(await who.rest(path)).toMatchObject({ status: 403, body: { error: 'Not authorized' } })
    expect((await admin.rest(path)).status).toBe(200)
    expect(await owner.rest(`${path}&requestingUser=${mod.account}`)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await owner.rest('GET /api/moderation?action=mod-log')).toMatchObject({ status: 403 })
    expect((await admin.rest('GET /api/moderation?action=mod-log')).status).toBe(200)
  })

  test('N09: a purge that is refused reads no message', async () => {
    const read = vi.spyOn(RoomEvents, 'find')
    onTestFinished(() => read.mockRestore())
    const purging = { room, action: 'purge', target: other.account } as const
    expect((await member.refused('socket', moderation.act, purging)).code).toBe('FORBIDDEN')
    const bySender = () => read.mock.calls.filter(([filter]) => filter && 'sender' in filter && 'n' in filter)
    expect(bySender()).toEqual([])
    await moderates(owner, purging)
    expect(bySender()).not.toEqual([])
  })

  test('a refused act leaves nothing', async () => {
    const before = await log()
    for (const action of ['ban', 'mute', 'warn'] as const)
      await member.refused('socket', moderation.act, { room, action, target: other.account })
    expect(await log()).toEqual(before)
  })
})

describe('the chain', () => {
  beforeAll(newRoom)

  test('holds from the first entry to the last', async () => {
    await everything()
    const entries = await log()
    expect(await verified()).toEqual({
      ok: true,
      entries: entries.length,
      head: entries[0]?.hash,
      broken_at: null,
      next: null,
    })
    const [newest, second] = entries
    const rest = { channelId: room.id, after: second?.seq ?? 0 }
    expect(await owner.does('rest', moderation.verify, rest)).toEqual({
      ...(await verified()),
      entries: 1,
      head: newest?.hash,
    })
    expect(await member.rest(`GET /api/moderation/verify?channelId=${room.id}`)).toMatchObject({ status: 403 })
    expect(await owner.rest('GET /api/moderation/verify?channelId=nowhere')).toMatchObject({ code: 'ROOM_NOT_FOUND' })
  })

  test('does not cover the words of a message, so that taking them back breaks nothing', async () => {
    const { id } = await say(owner, room, 'My address is')
    await moderates(owner, { room, action: 'delete', message_id: id })
    expect(JSON.stringify(await RoomEvents.find({ room: `channel:${room.id}` }).lean())).not.toContain('My address')
    expect(await verified()).toMatchObject({ ok: true })
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
    const [, muted] = await mutedAndUnmuted()
    await RoomEvents.updateOne({ _id: muted?.id ?? '' }, { $set: change })
    expect(await verified()).toMatchObject({ ok: false, broken_at: muted?.id })
  })

  test('names the entry after one that is missing', async () => {
    const [unmuted, muted] = await mutedAndUnmuted()
    await RoomEvents.deleteOne({ _id: muted?.id ?? '' })
    expect(await verified()).toMatchObject({ ok: false, broken_at: unmuted?.id })
  })
})

/** The entries of a new room, newest first: it was moderated twice. */
async function mutedAndUnmuted(): Promise<LogEntry[]> {
  await newRoom()
  const target = member.account
  await moderates(owner, { room, action: 'mute', target, duration: '1h', reason: 'Loud' })
  await moderates(owner, { room, action: 'unmute', target })
  const entries = await log()
  expect(kindsOf(entries)).toEqual(['unmute', 'mute', 'promote_mod'])
  return entries
}
