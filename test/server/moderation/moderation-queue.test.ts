// Modes: embedded
import { beforeEach, describe, expect, test } from 'vitest'
import { logged, moderation, queued } from '#shared/api/moderation/moderation'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import type { CallOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint, logOf, subscribe } from '#test/support/moderation'
import { channelOf, moderates, outcomeOf, type Person, person, say } from '#test/support/people'
import { bodyOf } from '#test/support/wallet'

const { server, owner, mod, member, other, admin } = await bootWith(['owner', 'mod', 'member', 'other', 'admin'], {
  admins: ['admin'],
})
let room: RoomRef & { id: string }
beforeEach(async () => {
  room = await channelOf(owner, mod, member, other)
  await appoint(owner, room, mod)
})

describe('moderators who listen', () => {
  const subscribing = async (who: Person, input: CallOf<typeof moderation.queue> = { scope: 'room', room }) =>
    outcomeOf(await who.tries('socket', moderation.queue, input))

  test('hear each entry as the log shows it, of their room alone', async () => {
    const line = await subscribe(mod, room)
    const state = await mod.does('socket', moderation.queue, { scope: 'room', room })
    expect(state).toMatchObject({ queue: [], log_head: expect.any(Number), moderators_online: [mod.account] })
    const elsewhere = await channelOf(owner, member)
    await moderates(owner, { room: elsewhere, action: 'warn', target: member.account })
    await moderates(owner, { room, action: 'mute', target: member.account, duration: '1h' })
    await expect.poll(() => line.all(logged)).toHaveLength(1)
    const [entry] = await logOf(owner, room, { limit: 1 })
    await expect.poll(() => line.all(logged)).toEqual([{ room: { type: 'channel', id: room.id }, entry }])
  })

  test('are let go the moment they are none any more, whoever took it', async () => {
    const line = await subscribe(mod, room)
    await moderates(owner, { room, action: 'demote', target: mod.account })
    await expect.poll(() => subscribing(mod)).toBe('403 FORBIDDEN')
    await moderates(owner, { room, action: 'warn', target: member.account })
    await moderates(owner, { room, action: 'warn', target: other.account })
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(line.all(logged).filter(({ entry }) => entry.action_type === 'warn')).toEqual([])
    await appoint(owner, room, mod)
    expect(await subscribing(mod)).toBe('200')
    await admin.does('rest', accounts.suspend, { userAddress: mod.account, ban: true })
    await moderates(owner, { room, action: 'warn', target: member.account })
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(line.all(logged).filter(({ entry }) => entry.action_type === 'warn')).toEqual([])
    expect(await subscribing(mod)).toBe('403 FORBIDDEN')
    await admin.does('rest', accounts.suspend, { userAddress: mod.account, ban: false })
  })

  test('are let go when they leave the room', async () => {
    await owner.does('rest', rooms.setRole, { room, address: other.account, role: 'moderator' })
    const line = await subscribe(other, room)
    await other.does('rest', rooms.leave, { room })
    await expect.poll(() => subscribing(other)).toBe('403 FORBIDDEN')
    await moderates(owner, { room, action: 'warn', target: member.account })
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(line.all(logged)).toEqual([])
  })

  test('nobody else listens', async () => {
    expect(await subscribing(member)).toBe('403 FORBIDDEN')
    expect(await subscribing(owner, { scope: 'global' })).toBe('403 FORBIDDEN')
    expect(await subscribing(owner, { scope: 'room' })).toBe('400 VALIDATION_ERROR')
    const nowhere = { type: 'channel', id: 'nowhere' } as const
    expect(await subscribing(owner, { scope: 'room', room: nowhere })).toBe('404 ROOM_NOT_FOUND')
    expect(await subscribing(admin, { scope: 'global' })).toBe('200')
    expect((await owner.rest(`GET /api/moderation/queue?channelId=${room.id}`)).status).toBe(200)
    expect(await member.rest('GET /api/moderation/queue')).toMatchObject({ status: 403 })
  })
})

describe('the queue', () => {
  const path = { claim: 'POST /api/moderation/queue/claim', decide: 'POST /api/moderation/queue/decide' }
  const queueOf = async (who = mod) => (await bodyOf(who.rest(`GET /api/moderation/queue?channelId=${room.id}`))).queue

  async function reported(): Promise<string> {
    const conversation = { conversationType: 'channel', conversationId: room.id } as const
    const { id: messageId } = await say(member, room, 'Something rude')
    const reporter = await person(server, `reporter ${messageId}`)
    await reporter.does('rest', rooms.join, { room })
    const about = { reportedAddress: member.account, reportType: 'harassment', messageId } as const
    return (await reporter.does('rest', social.report, { ...about, ...conversation })).report.id
  }
  async function flagged(): Promise<string> {
    await moderates(owner, { room, action: 'word_add', patch: { word: 'dubious', word_action: 'flag' } })
    return (await say(member, room, 'A dubious offer')).id
  }

  test.each([
    ['report', reported],
    ['flag', flagged],
  ])('a %s is told, claimed by one, and decided, before all who listen', async (kind, make) => {
    const line = await subscribe(mod, room)
    const item = await make()
    await expect.poll(() => line.all(queued)).toMatchObject([{ item: { id: item, kind, state: 'pending' } }])
    expect(await queueOf()).toMatchObject([{ id: item, claimed_by: null }])
    expect((await mod.does('socket', moderation.claim, { item })).item).toMatchObject({
      claimed_by: mod.account,
    })
    expect(await owner.rest(path.claim, { item })).toMatchObject({ status: 409, code: 'CONFLICT' })
    expect(await queueOf()).toMatchObject([{ id: item, claimed_by: mod.account }])
    await mod.does('rest', moderation.claim, { item, on: false })
    await owner.does('rest', moderation.claim, { item })
    await owner.does('rest', moderation.decide, { item, decision: 'reviewed' })
    expect(await queueOf()).toMatchObject([{ id: item, state: 'reviewed' }])
    await owner.does('rest', moderation.claim, { item, on: false })
    await mod.does('socket', moderation.decide, { item, decision: 'action_taken', note: 'Warned' })
    expect(await queueOf()).toEqual([])
    await expect.poll(() => line.all(queued).at(-1)).toMatchObject({ item: { id: item, state: 'action_taken' } })
  })

  test.each<[string, (line: RoomRef) => Promise<{ id: string; change: (text: string) => Promise<unknown> }>]>([
    [
      'a message',
      async (place) => {
        const { id } = await say(member, place, 'dubious')
        return { id, change: (text) => member.does('socket', messages.edit, { room: place, id, text }) }
      },
    ],
    [
      'the question of a poll',
      async (place) => {
        const asked = { room: place, question: 'dubious', options: ['yes', 'no'] }
        const { poll, message } = await member.does('rest', polls.create, asked)
        const about = { room: place, pollId: poll.id }
        return { id: message.id, change: (question) => member.does('rest', polls.update, { ...about, question }) }
      },
    ],
  ])('N25: another flagged text of %s waits anew, whatever was decided of the one before', async (_what, make) => {
    for (const word of ['dubious', 'shady'])
      await moderates(owner, { room, action: 'word_add', patch: { word, word_action: 'flag' } })
    const { id, change } = await make(room)
    await mod.does('rest', moderation.claim, { item: id })
    await mod.does('rest', moderation.decide, { item: id, decision: 'dismissed' })
    expect(await queueOf()).toEqual([])
    const line = await subscribe(mod, room)
    await change('Rather shady')
    const content = expect.stringContaining('Rather shady')
    await expect
      .poll(() => queueOf())
      .toMatchObject([{ id, state: 'pending', claimed_by: null, message_content: content }])
    await expect.poll(() => line.all(queued).at(-1)).toMatchObject({ item: { id, state: 'pending' } })
    await change('Nothing at all')
    await owner.does('rest', moderation.decide, { item: id, decision: 'dismissed' })
    await change('Nothing at all, said better')
    expect(await queueOf()).toEqual([])
  })

  test('is decided by moderators of the place alone, and not while they are suspended', async () => {
    const item = await reported()
    for (const route of [path.claim, path.decide])
      for (const who of [member, other])
        expect(await who.rest(route, { item, decision: 'dismissed' })).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect(await owner.rest(path.decide, { item: 'nothing', decision: 'dismissed' })).toMatchObject({
      code: 'NOT_FOUND',
    })
    expect(await owner.rest(path.decide, { item, decision: 'forgotten' })).toMatchObject({ status: 400 })
    await admin.does('rest', accounts.suspend, { userAddress: mod.account, ban: true })
    expect(await mod.rest(path.decide, { item, decision: 'dismissed' })).toMatchObject({
      code: 'SUSPENDED',
      status: 403,
    })
    await admin.does('rest', accounts.suspend, { userAddress: mod.account, ban: false })
    expect((await admin.rest(path.decide, { item, decision: 'dismissed' })).status).toBe(200)
  })
})
