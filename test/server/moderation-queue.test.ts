import { beforeEach, describe, expect, test } from 'vitest'
import { act, appoint, channelOf, done, hearing, type Place, people, type Somebody, say } from '#test/support/community'
import { communityOf } from '#test/support/community-of'

const { server, owner, mod, member, other, admin } = await communityOf(['owner', 'mod', 'member', 'other', 'admin'], {
  admins: ['admin'],
})
let room: Place & { id: string }
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
    await expect.poll(() => heard.named('modlog:event')).toEqual([{ room: { type: 'channel', id: room.id }, entry }])
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

  test('are let go when they leave the room', async () => {
    await done(owner.call(`PATCH /api/channels/${room.id}/members/${other.account}/role`, { role: 'moderator' }))
    await subscribe(other)
    const heard = hearing(await other.socket('/moderation'))
    await done(other.call(`POST /api/channels/${room.id}/leave`))
    await expect.poll(async () => (await subscribe(other)).status).toBe(403)
    await done(act(owner, room, 'warn', { target: member.account }))
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(heard.named('modlog:event')).toEqual([])
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
