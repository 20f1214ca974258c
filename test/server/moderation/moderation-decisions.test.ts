// Modes: embedded
import { expect, test } from 'vitest'
import { Reports } from '#server/domains/moderation/social/model'
import { moderation } from '#shared/api/moderation/moderation'
import { social } from '#shared/api/moderation/social'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { channelOf, groupOf, moderates, outcomeOf, over, type Person, person, say } from '#test/support/people'

const { server, owner, mod, loud, hurt, admin, root } = await bootWith(
  ['owner', 'mod', 'loud', 'hurt', 'admin', 'root'],
  { admins: ['admin', 'root'] },
)
let reporters = 0
/** A report about `loud` by somebody new who is in the room. */
async function reported(room: RoomRef & { id: string }, more: object = {}) {
  const who = await person(server, `decisions reporter ${++reporters}`)
  await who.does('rest', rooms.join, { room })
  const about = { reportedAddress: loud.account, reportType: 'spam', conversationType: 'channel' } as const
  return (await who.does('rest', social.report, { ...about, conversationId: room.id, ...more })).report.id
}
const queueOf = async (who: Person, room: RoomRef | null, page: object = {}) =>
  who.does('socket', moderation.queue, room ? { scope: 'room', room, ...page } : { scope: 'global', ...page })
const idsOf = async (who: Person, room: RoomRef | null) => (await queueOf(who, room)).queue.map(({ id }) => id)
const decided = async (who: Person, item: string, door: (typeof over)[number] = 'rest') =>
  outcomeOf(await who.tries(door, moderation.decide, { item, decision: 'dismissed' }))

test('N06: what waits elsewhere hides nothing, and the queue has pages over both doors', async () => {
  const [room, busy] = [await channelOf(owner, loud), await channelOf(owner, loud)]
  const items = [await reported(room), await reported(room), await reported(room)].reverse()
  const flood = Array.from({ length: 110 }, (_, at) => ({
    _id: `flood-${at}`,
    subject: `flood-${at}`,
    reporter_address: hurt.account,
    reported_address: loud.account,
    report_type: 'spam',
    conversation_type: 'channel',
    conversation_id: busy.id,
    created_at: new Date(Date.now() + 1).toISOString(),
  }))
  await Reports.insertMany(flood)
  expect(await idsOf(owner, room)).toEqual(items)
  const first = await queueOf(owner, room, { limit: 2 })
  expect(first.queue.map(({ id }) => id)).toEqual(items.slice(0, 2))
  const cursor = encodeURIComponent(first.next_cursor ?? '')
  const { body } = await owner.rest(`GET /api/moderation/queue?channelId=${room.id}&limit=2&cursor=${cursor}`)
  expect(body).toMatchObject({ queue: [{ id: items[2] }], next_cursor: null })
  const walked: string[] = []
  for (let next: string | null = ''; next !== null; ) {
    const page = await queueOf(admin, null, { limit: 50, ...(next ? { cursor: next } : {}) })
    walked.push(...page.queue.map(({ id }) => id))
    next = page.next_cursor
  }
  expect([walked.length >= 113, new Set(walked).size]).toEqual([true, walked.length])
  expect(walked.filter((id) => items.includes(id))).toEqual(items)
  expect(outcomeOf(await owner.tries('socket', moderation.queue, { scope: 'room', room, cursor: 'x' }))).toMatch('400')
})

test.each(over)('N07: over %s a claim holds against who is not above', async (door) => {
  const room = await channelOf(owner, mod, loud)
  await moderates(owner, { room, action: 'promote', target: mod.account })
  const item = await reported(room)
  await admin.does(door, moderation.claim, { item })
  for (const who of [owner, mod, root]) expect(await decided(who, item, door)).toBe('409 CONFLICT')
  expect((await root.rest('PATCH /api/users/report', { reportId: item, status: 'dismissed' })).code).toBe('CONFLICT')
  await admin.does(door, moderation.claim, { item, on: false })
  await mod.does(door, moderation.claim, { item })
  expect(await decided(owner, item, door)).toBe('200')
})

test.each(['report', 'flag'])('N07: what an admin has decided of a %s stays', async (kind) => {
  const room = await channelOf(owner, mod, loud)
  await moderates(owner, { room, action: 'promote', target: mod.account })
  await moderates(owner, { room, action: 'word_add', patch: { word: 'turnip', word_action: 'flag' } })
  const item = kind === 'report' ? await reported(room) : (await say(loud, room, 'a turnip')).id
  await admin.does('rest', moderation.decide, { item, decision: 'action_taken' })
  for (const who of [owner, mod]) for (const door of over) expect(await decided(who, item, door)).toBe('409 CONFLICT')
  const other = kind === 'report' ? await reported(room) : (await say(loud, room, 'two turnip')).id
  expect(await decided(owner, other)).toBe('200')
  expect(await decided(mod, other)).toBe('409 CONFLICT')
})

test("N07: a room's decision closes a report for the room, and it waits on for admins", async () => {
  const room = await channelOf(owner, mod, loud)
  await moderates(owner, { room, action: 'promote', target: mod.account })
  const item = await reported(room)
  expect((await owner.does('rest', moderation.decide, { item, decision: 'dismissed' })).item.state).toBe('dismissed')
  for (const who of [owner, mod]) expect(await idsOf(who, room)).toEqual([])
  const waiting = (await queueOf(admin, room)).queue
  expect(waiting).toMatchObject([{ id: item, state: 'pending', room_state: 'dismissed', claimed_by: null }])
  expect(await decided(admin, item)).toBe('200')
  expect(await idsOf(admin, room)).toEqual([])
})

const unknown = '018f0000-0000-7000-8000-00000000000f'
test.each(over)('N11: over %s a text that only the reporter knows is shown as theirs', async (door) => {
  const room = await channelOf(owner, loud)
  const real = await reported(room, { messageId: (await say(loud, room, 'Hello')).id, messageContent: 'Made up' })
  const made = await reported(room, { messageId: unknown, messageContent: 'Made up' })
  const bare = await reported(room, { messageContent: 'Made up' })
  const shown = (await owner.does('socket', moderation.queue, { scope: 'room', room })).queue
  expect(new Map(shown.map((one) => [one.id, [one.message_content, one.message_content_by]]))).toEqual(
    new Map([
      [bare, ['Made up', 'reporter']],
      [made, ['Made up', 'reporter']],
      [real, ['Hello', 'server']],
    ]),
  )
  const { reports } = await admin.does('rest', social.reports, { admin: true })
  expect(reports.find(({ id }) => id === made)?.message_content_by).toBe('reporter')
  const [group, closed, barred] = [await groupOf(owner, loud), await channelOf(owner), await channelOf(owner, hurt)]
  await moderates(owner, { room: closed, action: 'rules', patch: { rules: { read_access: 'members' } } })
  await moderates(owner, { room: barred, action: 'ban', target: hurt.account })
  const about = { reportedAddress: loud.account, reportType: 'scam', messageId: unknown } as const
  for (const [conversationType, { id: conversationId }, code] of [
    ['group', group, '404 ROOM_NOT_FOUND'],
    ['channel', closed, '403 NOT_A_MEMBER'],
    ['channel', barred, '403 BANNED'],
  ] as const) {
    const report = { ...about, conversationType, conversationId }
    expect(outcomeOf(await hurt.tries(door, social.report, report))).toBe(code)
  }
})
