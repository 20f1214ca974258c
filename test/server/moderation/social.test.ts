// Modes: embedded, two-nodes-redis
import { beforeEach, describe, expect, test } from 'vitest'
import { ConversationMutes, ReportTurns } from '#server/domains/moderation/social/model'
import { RoomEvents } from '#server/log/model'
import { reportStatuses, reportTypes, social } from '#shared/api/moderation/social'
import { inbox, unreadChanged } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { CallOf } from '#shared/kit/contract'
import { conversationOf, dmOf } from '#shared/kit/room-key'
import { bootWith } from '#test/support/boot-with'
import { channelOf, groupOf, moderates, outcomeOf, type Person, people, say, sealed } from '#test/support/people'
import { solo } from '#test/support/solo'
import { call, wallet } from '#test/support/wallet'

let one: Person
let two: Person
let round = 0

const { server, owner, admin } = await bootWith(['owner', 'admin'], { admins: ['admin'] })
beforeEach(async () => {
  round += 1
  ;[one, two] = await people(server, `one ${round}`, `two ${round}`)
})

const dm = () => dmOf(one.account, two.account)
const block = (who: Person, whom: Person, more: object = {}) =>
  who.rest('POST /api/users/block', { userAddress: whom.account, ...more })
const unblock = (who: Person, whom: Person) => who.rest(`DELETE /api/users/block?userAddress=${whom.account}`)
const blocksOf = (who: Person) => who.does('rest', social.blocks, {})

describe('blocks', () => {
  solo('hold in both directions at once, and both sides see them', async () => {
    await say(one, dm(), sealed())
    const { body } = await block(one, two, { reason: 'Rude' })
    expect(body).toMatchObject({
      success: true,
      block: { blocker_address: one.account, blocked_address: two.account, reason: 'Rude' },
    })
    for (const who of [one, two])
      expect(await who.refused('socket', messages.send, { room: dm(), text: sealed() })).toMatchObject({
        status: 403,
        code: 'BLOCKED',
        message: 'You cannot message this user',
      })
    expect(await blocksOf(one)).toEqual({ blockedUsers: [body.block], blockedBy: [] })
    expect(await blocksOf(two)).toEqual({ blockedUsers: [], blockedBy: [one.account] })
    expect(await two.rest('POST /api/groups', { name: 'Trap', memberAddresses: [one.account] })).toMatchObject({
      code: 'BLOCKED',
    })
  })

  solo('a second block keeps the first and takes the new reason', async () => {
    const [first, again] = [await block(one, two), await block(one, two, { reason: 'Worse' })]
    expect(again.body.block).toEqual({ ...(first.body.block as object), reason: 'Worse' })
    const fifty = await Promise.all(Array.from({ length: 50 }, () => block(one, two)))
    expect(new Set(fifty.map(({ status, body }) => `${status} ${(body.block as { id: string }).id}`)).size).toBe(1)
    expect((await blocksOf(one)).blockedUsers).toHaveLength(1)
  })

  solo('one lifted leaves the other', async () => {
    await block(one, two)
    await block(two, one)
    expect((await unblock(one, two)).body).toEqual({ success: true })
    expect(await one.refused('socket', messages.send, { room: dm(), text: sealed() })).toMatchObject({
      code: 'BLOCKED',
    })
    await unblock(two, one)
    await one.does('socket', messages.send, { room: dm(), text: sealed() })
    expect((await unblock(two, one)).body).toEqual({ success: true })
  })

  solo('lifting one that never was leaves no row; lifting one that was leaves one', async () => {
    const rows = () => RoomEvents.countDocuments({ room: `dm:${dm().id}` })
    expect((await unblock(one, two)).body).toEqual({ success: true })
    expect(await rows()).toBe(0)
    await block(one, two)
    await unblock(one, two)
    await unblock(one, two)
    expect(await rows()).toBe(2)
    await two.does('socket', messages.send, { room: dm(), text: sealed() })
  })

  test('a message that races with a block is before it or refused', async () => {
    await say(two, dm(), sealed())
    const sends = Array.from({ length: 20 }, () => two.tries('socket', messages.send, { room: dm(), text: sealed() }))
    const [blocked, ...sent] = await Promise.all([block(one, two), ...sends])
    expect(blocked.status).toBe(200)
    const after = await Promise.all(
      Array.from({ length: 10 }, () => two.tries('socket', messages.send, { room: dm(), text: sealed() })),
    )
    expect(new Set(after.map(outcomeOf))).toEqual(new Set(['403 BLOCKED']))
    await unblock(one, two)
    const { events } = await one.does('socket', messages.sync, { room: dm(), after_seq: 0 })
    const types = events.map(({ type }) => type)
    const [from, to] = [types.indexOf('block.changed'), types.lastIndexOf('block.changed')]
    expect(types.slice(from + 1, to)).not.toContain('message.created')
    expect(['200', '403 BLOCKED']).toEqual(expect.arrayContaining(sent.map(outcomeOf)))
  })

  solo('a blocked person still may not act on the messages of the conversation', async () => {
    const { id: message_id } = await say(one, dm(), sealed())
    await block(two, one)
    expect(
      await one.rest('POST /api/moderation', { action: 'delete-message', messageId: message_id, messageType: 'dm' }),
    ).toMatchObject({
      status: 403,
      code: 'BLOCKED',
    })
  })

  solo('a missing or wrong field is named', async () => {
    expect(await block(one, one)).toMatchObject({ status: 400, body: { error: 'You cannot block yourself' } })
    expect(await one.rest('POST /api/users/block', {})).toMatchObject({ status: 400 })
    expect(await one.rest('POST /api/users/block', { userAddress: wallet('never here').address })).toMatchObject({
      status: 404,
      code: 'USER_NOT_FOUND',
    })
    expect(await one.rest('DELETE /api/users/block')).toMatchObject({ status: 400 })
    expect((await block(one, two, { reason: 'x'.repeat(501) })).status).toBe(400)
  })
})

describe('silenced conversations', () => {
  const mute = (who: Person, more: object) => who.rest('POST /api/users/mute', more)
  const mutesOf = async (who: Person) => (await who.does('rest', social.mutes, {})).mutes

  solo.each([
    ['1h', 3_600_000],
    ['8h', 28_800_000],
    ['1d', 86_400_000],
    ['1w', 604_800_000],
  ])('for %s', async (duration, milliseconds) => {
    const before = Date.now()
    const { body } = await mute(one, { conversationType: 'dm', conversationId: two.account, duration })
    const { muted_until } = body.mute as { muted_until: string }
    expect(Date.parse(muted_until) - before).toBeGreaterThanOrEqual(milliseconds - 1_000)
    expect(Date.parse(muted_until) - before).toBeLessThan(milliseconds + 60_000)
  })

  solo('are one record for each, without end unless told otherwise, whatever the case of the id', async () => {
    const spelled = two.account.toUpperCase().replace('0X', '0x')
    const first = await mute(one, { conversationType: 'dm', conversationId: spelled })
    expect(first.body).toMatchObject({
      success: true,
      mute: { user_address: one.account, conversation_type: 'dm', conversation_id: two.account, muted_until: null },
    })
    await mute(one, { conversationType: 'dm', conversationId: two.account, duration: '1h' })
    await mute(one, { conversationType: 'group', conversationId: 'A-Group' })
    const mutes = await mutesOf(one)
    expect(mutes.map(({ conversation_id }) => conversation_id)).toEqual(['a-group', two.account])
    expect(mutes[1]).toMatchObject({ id: (first.body.mute as { id: string }).id, muted_until: expect.any(String) })
    expect(await mutesOf(two)).toEqual([])
    await one.does('rest', social.unmute, { conversationType: 'group', conversationId: 'A-GROUP' })
    expect(await mutesOf(one)).toHaveLength(1)
    expect((await one.rest('DELETE /api/users/mute?conversationType=group&conversationId=A-GROUP')).body).toEqual({
      success: true,
    })
  })

  solo(
    'a conversation is silent by the name that the page gives it, one between two on the side of who asked',
    async () => {
      const { room } = await one.does('rest', rooms.openDm, { recipientAddress: two.account })
      const isSilent = async (who: Person) =>
        (await who.does('rest', inbox.list, {})).rooms.find(({ id }) => id === room.id)?.is_muted
      await mute(one, conversationOf(room, one.account))
      expect([await isSilent(one), await isSilent(two)]).toEqual([true, false])
    },
  )

  solo('end with their time', async () => {
    await mute(one, { conversationType: 'dm', conversationId: two.account, duration: '1h' })
    // The clock is not ours to move, so the record is.
    const past = new Date(Date.now() - 60_000).toISOString()
    await ConversationMutes.updateOne({ user_address: one.account }, { $set: { muted_until: past } })
    expect(await mutesOf(one)).toEqual([])
  })

  solo('still count, and do not call', async () => {
    const room = await channelOf(owner, one)
    await mute(one, { conversationType: 'channel', conversationId: room.id })
    const line = await one.line('/notifications')
    line.forget()
    const told = () => line.all(unreadChanged).findLast(({ room: { id } }) => id === room.id)
    await say(owner, room, 'Psst')
    await expect.poll(told).toMatchObject({
      room: { type: 'channel', id: room.id },
      unread: 1,
      silent: true,
      total: 0,
    })
    await one.rest(`DELETE /api/users/mute?conversationType=channel&conversationId=${room.id}`)
    await say(owner, room, 'Hello')
    await expect.poll(told).toMatchObject({ unread: 2, silent: false, total: 2 })
  })

  solo.each([
    ['no conversation', { conversationType: 'dm' }, 'conversationId is required'],
    ['no type', { conversationId: 'x' }, null],
    ['an unknown type', { conversationType: 'stream', conversationId: 'x' }, null],
    ['an unknown duration', { conversationType: 'dm', conversationId: 'x', duration: '2h' }, 'Invalid duration'],
  ])('with %s: 400', async (_title, input, text) => {
    expect(await mute(one, input)).toMatchObject({
      status: 400,
      code: 'VALIDATION_ERROR',
      ...(text ? { body: { error: text } } : {}),
    })
  })
})

describe('reports', () => {
  const report = (who: Person, more: object = {}) =>
    who.rest('POST /api/users/report', { reportedAddress: two.account, reportType: 'spam', ...more })
  const reportsOf = (who: Person, query: CallOf<typeof social.reports> = {}) => who.does('rest', social.reports, query)

  solo.each(reportTypes)('of %s', async (reportType) => {
    const { body } = await report(one, { reportType })
    expect(body.report).toMatchObject({
      reporter_address: one.account,
      reported_address: two.account,
      report_type: reportType,
      status: 'pending',
    })
  })

  solo('over a socket too', async () => {
    const input = { reportedAddress: two.account, reportType: 'scam', description: 'Fake shop' } as const
    expect((await one.does('socket', social.report, input)).report).toMatchObject({ report_type: 'scam' })
    expect((await reportsOf(one)).reports).toMatchObject([{ description: 'Fake shop' }])
  })

  solo('keep what the message says in the store, not what the reporter says it says', async () => {
    const room = await channelOf(owner, one, two)
    const { id: messageId } = await say(two, room, 'Good morning')
    await report(one, { messageId, messageContent: 'Something terrible' })
    expect((await reportsOf(one)).reports).toMatchObject([{ message_id: messageId, message_content: 'Good morning' }])
  })

  solo('M32: of a message that is unknown here keep what the reporter says it says', async () => {
    const input = { messageId: '018f0000-0000-7000-8000-00000000000f', messageContent: 'Seen in an old copy' }
    await report(one, input)
    expect((await reportsOf(one)).reports).toMatchObject([
      { message_id: input.messageId, message_content: 'Seen in an old copy' },
    ])
  })

  solo('of a sealed message keep what the reporter could read', async () => {
    const { id: messageId } = await say(two, dm(), sealed())
    await report(one, {
      messageId,
      messageContent: 'Send me your keys',
      conversationType: 'dm',
      conversationId: two.account,
    })
    expect((await reportsOf(one)).reports).toMatchObject([{ message_content: 'Send me your keys' }])
  })

  solo('of a message out of sight tell nothing of it', async () => {
    const { id } = await say(two, await groupOf(owner, two), 'Our secret')
    expect((await report(one, { messageId: id })).status).toBe(200)
    const room = await channelOf(owner, one, two)
    const { id: messageId } = await say(two, room, 'Seen before')
    await moderates(owner, { room, action: 'ban', target: one.account })
    expect((await report(one, { messageId, reportType: 'other' })).status).toBe(200)
    expect((await reportsOf(one)).reports.map(({ message_content }) => message_content)).toEqual([null, null])
  })

  solo('of the same kind count once a day', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => report(one)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.find(({ status }) => status !== 200)).toMatchObject({
      status: 400,
      code: 'VALIDATION_ERROR',
      body: { error: 'You have already reported this user for this reason recently' },
    })
    expect((await report(one, { reportType: 'other' })).status).toBe(200)
    const subject = `${one.account} ${two.account} spam`
    await ReportTurns.updateOne({ _id: subject }, { $inc: { at: -86_400_001 } })
    const nextDay = await Promise.all(Array.from({ length: 10 }, () => report(one)))
    expect(nextDay.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  solo('block as well, where that is wanted', async () => {
    await report(one, { alsoBlock: true })
    expect((await blocksOf(one)).blockedUsers).toMatchObject([
      { blocked_address: two.account, reason: 'Reported for spam' },
    ])
    expect(await two.refused('socket', messages.send, { room: dm(), text: sealed() })).toMatchObject({
      code: 'BLOCKED',
    })
  })

  solo('M32: are seen by their reporter and by admins, newest first', async () => {
    await report(one)
    await report(one, { reportType: 'other' })
    const mine = await reportsOf(one)
    expect(mine.isAdmin).toBe(false)
    expect(mine.reports.map(({ report_type }) => report_type)).toEqual(['other', 'spam'])
    expect((await reportsOf(two)).reports).toEqual([])
    // M32: who is no admin is answered with their own, whatever they ask for.
    expect(await reportsOf(one, { admin: true })).toEqual(mine)
    const { reports, isAdmin } = await reportsOf(admin, { admin: true, status: 'pending' })
    expect(isAdmin).toBe(true)
    expect(reports.slice(0, 2)).toEqual(mine.reports)
  })

  solo('are reviewed by admins alone, to any state', async () => {
    const { body } = await report(one)
    const { id: reportId } = body.report as { id: string }
    const review = (who: Person, more: object) => who.rest('PATCH /api/users/report', { reportId, ...more })
    expect(await review(one, { status: 'dismissed' })).toMatchObject({ status: 403 })
    for (const status of [...reportStatuses].reverse())
      expect((await review(admin, { status, adminNotes: `Now ${status}` })).body).toMatchObject({
        success: true,
        report: {
          id: reportId,
          status,
          admin_notes: `Now ${status}`,
          reviewed_by: admin.account,
          reviewed_at: expect.any(String),
        },
      })
    // The notes and names of moderators are not for reporters.
    expect((await reportsOf(one, { status: reportStatuses[0] })).reports[0]).toMatchObject({
      id: reportId,
      admin_notes: null,
      reviewed_by: null,
    })
    expect(await review(admin, { status: 'lost' })).toMatchObject({ status: 400, body: { error: 'Invalid status' } })
    expect(await review(admin, {})).toMatchObject({ status: 400 })
    expect(await review(admin, { reportId: 'nothing', status: 'dismissed' })).toMatchObject({
      status: 404,
      code: 'NOT_FOUND',
    })
    expect((await reportsOf(one, { status: 'dismissed' })).reports).toEqual([])
  })

  solo.each([
    ['oneself', () => ({ reportedAddress: one.account }), 400, 'You cannot report yourself'],
    ['an unknown kind', () => ({ reportType: 'boring' }), 400, null],
    ['nobody', () => ({ reportedAddress: undefined }), 400, null],
    ['somebody unknown', () => ({ reportedAddress: wallet('never here').address }), 404, 'User not found'],
    ['too much of a message', () => ({ messageContent: 'x'.repeat(1_001) }), 400, null],
    ['too much to say', () => ({ description: 'x'.repeat(2_001) }), 400, null],
    ['an unknown conversation', () => ({ conversationType: 'stream' }), 400, null],
  ])('of %s are refused', async (_title, more, status, text) => {
    expect(await report(one, more())).toMatchObject({ status, ...(text ? { body: { error: text } } : {}) })
    expect((await reportsOf(one)).reports).toEqual([])
  })
})

solo.each([
  'GET /api/users/mute',
  'POST /api/users/mute',
  'DELETE /api/users/mute',
  'GET /api/users/block',
  'POST /api/users/block',
  'DELETE /api/users/block',
  'GET /api/users/report',
  'POST /api/users/report',
  'PATCH /api/users/report',
])('%s is for people who are signed in', async (route) => {
  const input = route.startsWith('GET') ? undefined : {}
  expect(await call(server.url, route, input)).toMatchObject({
    status: 401,
    code: 'UNAUTHORIZED',
    body: { error: 'Unauthorized' },
  })
})
