// Modes: embedded, two-nodes, two-nodes-redis
import { describe, expect, test } from 'vitest'
import { readConfig } from '#server/config'
import { Sessions } from '#server/domains/people/identity/model'
import { removeExpired } from '#server/domains/platform/own-data/index'
import { removeMessages } from '#server/domains/rooms/messages/removals'
import { AuditLines } from '#server/kernel/store/model'
import { moderation } from '#shared/api/moderation/moderation'
import { social } from '#shared/api/moderation/social'
import { messageTtlSeconds } from '#shared/api/moderation/verdict'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { dmOf, type RoomRef, roomKey } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint, every, logOf } from '#test/support/moderation'
import { channelOf, groupOf, listenTo, moderates, over, type Person, say, sealed } from '#test/support/people'
import { solo } from '#test/support/solo'
import { storeFileOn } from '#test/support/stored-files'
import { times } from '#test/support/times'

const { server, owner, author, member, admin } = await bootWith(['owner', 'author', 'member', 'admin'], {
  admins: ['admin'],
})
const node = () => {
  const [app] = server.apps
  if (!app) throw new Error('No node')
  return app.node
}

const hour = 3_600
let ahead = 0
const pass = (seconds: number) => {
  ahead += seconds
  server.setAhead(ahead)
}
const ttlOf = (room: RoomRef, message_ttl: number) =>
  ({ room, action: 'rules', patch: { rules: { message_ttl } } }) as unknown as Parameters<typeof moderates>[1]
const textsOf = async (who: Person, room: RoomRef) =>
  (await who.does('rest', messages.history, { room, limit: 100 })).messages.flatMap(({ is_deleted, content }) =>
    is_deleted ? [] : content,
  )
const keeps = (who: Person, room: RoomRef, ...texts: string[]) =>
  expect.poll(() => textsOf(who, room), { timeout: 20_000 }).toEqual(texts)

describe('messages that the server removes', () => {
  test('leave tombstones, as one that a person removes, and two nodes remove each once', async () => {
    const room = await channelOf(owner, author, member)
    const said = await Promise.all(times(60, (at) => say(author, room, `secret ${at}`)))
    const [first] = said
    if (!first) throw new Error('Nothing was said')
    const asks = { room, question: 'secret?', options: ['a', 'b'] }
    const { poll, message } = await author.does('rest', polls.create, asks)
    const reply = await say(member, room, 'to stay', { reply_to: first.id })
    await moderates(owner, { room, action: 'pin', message_id: first.id })
    const line = await listenTo(member, room)
    const ids = [...said.map(({ id }) => id), message.id, 'unknown']
    const outcomes = await Promise.all(server.apps.map((app) => removeMessages(app.node, roomKey(room), ids)))
    expect(outcomes.reduce((sum, { removed }) => sum + removed, 0)).toBe(61)
    expect(await removeMessages(node(), roomKey(room), ids)).toEqual({ removed: 0, stayed: [] })
    await expect.poll(() => line.log(room).filter(({ type }) => type === 'message.deleted')).toHaveLength(61)
    const told = line.log(room).find(({ type }) => type === 'message.deleted')
    expect(told).toMatchObject({ actor: { id: 'plaza' }, data: { deleted_by: 'plaza', reason: null } })
    const shown = await member.does('rest', messages.history, { room, limit: 100 })
    expect(shown.messages.filter((one) => !one.is_deleted)).toMatchObject([{ id: reply.id, reply_to: null }])
    expect(JSON.stringify(shown)).not.toContain('secret')
    expect((await member.does('rest', messages.pins, { room })).pinnedMessages).toEqual([])
    expect((await member.does('rest', messages.search, { room, query: 'secret' })).messages).toEqual([])
    expect(await member.refused('rest', polls.voters, { room, pollId: poll.id })).toMatchObject({ code: 'NOT_FOUND' })
    expect(await owner.does('rest', moderation.verify, { channelId: room.id })).toMatchObject({ ok: true })
  })

  solo('take their files with them, unless another message shows these', async () => {
    const room = await channelOf(owner, author)
    const files = await Promise.all(
      times(2, (at) =>
        storeFileOn(server, author.account, `media/chat/${author.account.toLowerCase()}/${at}.weba`, Uint8Array.of(at)),
      ),
    )
    const isThere = async (url = '') => (await fetch(`${server.url}${new URL(url).pathname}`)).status === 200
    const [one, both] = [await say(author, room, `Hear ${files[0]}`), await say(author, room, `And ${files.join(' ')}`)]
    await removeMessages(node(), roomKey(room), [both.id])
    expect(await Promise.all(files.map(isThere))).toEqual([true, false])
    await removeMessages(node(), roomKey(room), [one.id])
    expect(await isThere(files[0])).toBe(false)
  })
})

describe('the age at which messages of a room are removed', () => {
  test.each(over)('is set by its owner and told to all members, over %s', async (door) => {
    const room = await channelOf(owner, author, member)
    const line = await listenTo(member, room)
    await owner.does(door, moderation.act, ttlOf(room, 7 * 24 * hour))
    expect(await line.follows(room, ({ type }) => type === 'rules.updated')).toMatchObject({
      actor: { id: owner.account },
      data: { diff: { message_ttl: 604_800 }, rules: { message_ttl: 604_800 } },
    })
    const chat = { chatType: 'channel', chatId: room.id } as const
    expect((await member.does('rest', moderation.rules, chat)).rules).toMatchObject({ message_ttl: 604_800 })
  })

  solo.each(over)('is set by nobody else, and to no other value, over %s', async (door) => {
    const room = await channelOf(owner, author, member)
    await appoint(owner, room, author, every)
    const group = await groupOf(owner, member)
    const dm = dmOf(owner.account, member.account)
    const codeOf = async (who: Person, where: RoomRef, ttl: number) =>
      (await who.refused(door, moderation.act, ttlOf(where, ttl))).code
    expect(await codeOf(member, room, hour)).toBe('FORBIDDEN')
    expect(await codeOf(author, room, hour)).toBe('FORBIDDEN')
    expect(await codeOf(member, group, hour)).toBe('FORBIDDEN')
    expect(await codeOf(author, group, hour)).toBe('ROOM_NOT_FOUND')
    expect(await codeOf(author, dm, hour)).toBe('ROOM_NOT_FOUND')
    expect(await codeOf(admin, dm, hour)).toBe('ROOM_NOT_FOUND')
    for (const ttl of [1, -1, 7_200, 1e12, 3_600.5]) expect(await codeOf(owner, room, ttl)).toBe('VALIDATION_ERROR')
    const others = { room: dm, action: 'rules', patch: { rules: { message_ttl: hour, read_only: true } } } as const
    expect((await owner.refused(door, moderation.act, others)).code).toBe('VALIDATION_ERROR')
    await author.does(door, moderation.act, { room, action: 'rules', patch: { rules: { slow_mode_seconds: 5 } } })
    expect(messageTtlSeconds.every((ttl) => ttl === 0 || ttl >= hour)).toBe(true)
  })

  test('P27: holds for what is there already; what is pinned or reported stays until that ends', async () => {
    const room = await channelOf(owner, author, member)
    await say(author, room, 'old')
    const pinned = await say(author, room, 'pinned')
    const reported = await say(author, room, 'reported')
    await moderates(owner, { room, action: 'pin', message_id: pinned.id })
    const fault = { reportedAddress: author.account, reportType: 'spam', messageId: reported.id } as const
    const { report } = await member.does('rest', social.report, fault)
    pass(hour / 2)
    await say(author, room, 'young')
    await moderates(owner, ttlOf(room, hour))
    pass(hour / 2)
    await keeps(member, room, 'pinned', 'reported', 'young')
    pass(hour / 2 + 60)
    await keeps(author, room, 'pinned', 'reported')
    await moderates(owner, { room, action: 'unpin', message_id: pinned.id })
    pass(60)
    await keeps(member, room, 'reported')
    await admin.does('rest', social.review, { reportId: report.id, status: 'dismissed' })
    pass(60)
    await keeps(author, room)
    await say(author, room, 'later')
    pass(hour + 60)
    await keeps(member, room)
    expect(await owner.does('rest', moderation.verify, { channelId: room.id })).toMatchObject({ ok: true })
    expect(await logOf(owner, room, { actionType: 'delete' })).toEqual([])
    expect(await logOf(owner, room, { actionType: 'unpin' })).toHaveLength(1)
  })

  test('is no more once it is off, and counts from the last change', async () => {
    const room = await channelOf(owner, author)
    await moderates(owner, ttlOf(room, hour))
    await say(author, room, 'first')
    await moderates(owner, ttlOf(room, 0))
    pass(2 * hour)
    await say(author, room, 'second')
    await keeps(owner, room, 'first', 'second')
    await moderates(owner, ttlOf(room, hour))
    await moderates(owner, { room, action: 'rules', patch: { rules: { slow_mode_seconds: 5 } } })
    pass(60)
    await keeps(owner, room, 'second')
    pass(hour)
    await keeps(owner, room)
  })

  test('P27: is set by either of two people, and both are told', async () => {
    const room = dmOf(owner.account, member.account)
    const line = await listenTo(owner, room)
    await say(owner, room, sealed())
    await moderates(member, ttlOf(room, hour))
    expect(await line.follows(room, ({ type }) => type === 'rules.updated')).toMatchObject({
      actor: { id: member.account },
      data: { rules: { message_ttl: hour } },
    })
    expect((await owner.does('socket', messages.join, { room })).rules).toMatchObject({ message_ttl: hour })
    pass(hour + 60)
    await keeps(owner, room)
    await keeps(member, room)
    await line.follows(room, ({ type }) => type === 'message.deleted')
    await moderates(owner, ttlOf(room, 0))
    await expect.poll(() => line.log(room).filter(({ type }) => type === 'rules.updated')).toHaveLength(2)
  })
})

describe('what the installation keeps of people', () => {
  solo('goes by the settings, and the documents show these', async () => {
    const about = { operation: 'test.retention', outcome: 'ok', request_id: 'none' }
    const day = 24 * hour * 1_000
    const ago = (days: number) => new Date(node().now() - days * day)
    await AuditLines.create([
      { _id: 'old', ...about, at: ago(366) },
      { _id: 'young', ...about, at: ago(364) },
    ])
    const named = { user_address: author.account }
    await Sessions.updateMany(named, { $set: { ip_address: '192.0.2.1', created_at: ago(29) } })
    await removeExpired(node())
    expect((await AuditLines.find({ operation: about.operation }).lean()).map(({ _id }) => _id)).toEqual(['young'])
    expect(await Sessions.findOne(named).lean()).toMatchObject({ ip_address: '192.0.2.1' })
    await Sessions.updateMany(named, { $set: { created_at: ago(31) } })
    await removeExpired(node())
    expect(await Sessions.findOne(named).lean()).toMatchObject({ ip_address: '' })
    const shown = await fetch(`${server.url}/docs/retention`)
    expect(await shown.text()).toContain('| IP addresses of sessions | 30 days | `RETENTION_IP_DAYS` |')
  })

  solo.each([
    ['RETENTION_IP_DAYS', '31'],
    ['RETENTION_AUDIT_DAYS', '0'],
    ['RETENTION_DONE_JOBS_DAYS', 'long'],
    ['RETENTION_READ_NOTICES_HOURS', '1.5'],
  ])('cannot be kept by %s=%s', (name, value) => {
    expect(() => readConfig({ NODE_ENV: 'test', [name]: value })).toThrow(`${name} is not usable: `)
  })
})
