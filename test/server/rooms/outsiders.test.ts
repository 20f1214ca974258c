// Modes: embedded
import { expect, test } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint, officialChannel } from '#test/support/moderation'
import { channelOf, type Door, moderates, over, type Person, people, say } from '#test/support/people'
import { bodyOf, call } from '#test/support/wallet'

const { server, owner, victim, member, stranger, admin } = await bootWith(
  ['owner', 'victim', 'member', 'stranger', 'admin'],
  { admins: ['admin'] },
)

const why = 'a reason for members'
/** One of each act on people and their messages. */
async function acted(by = owner): Promise<{ room: RoomRef & { id: string }; from: number; message: string }> {
  const room = await channelOf(owner, victim, member)
  const { id: message } = await say(victim, room, 'one')
  const { seq: from } = await say(victim, room, 'two')
  const { poll } = await victim.does('rest', polls.create, { room, question: 'Which?', options: ['this', 'that'] })
  const about = { target: victim.account, reason: why }
  await moderates(by, { room, action: 'warn', ...about })
  await moderates(by, { room, action: 'mute', ...about, duration: '1h' })
  await moderates(by, { room, action: 'unmute', ...about })
  await moderates(by, { room, action: 'delete', message_id: message, reason: why })
  await by.does('rest', polls.remove, { room, pollId: poll.id })
  await moderates(by, { room, action: 'purge', ...about })
  await by.does('rest', rooms.kick, { room, address: victim.account, reason: why })
  await victim.does('rest', rooms.join, { room })
  await moderates(by, { room, action: 'ban', ...about, duration: '24h' })
  return { room, from, message }
}

const eventsFor = async (who: Person, room: RoomRef, door: Door) =>
  (await who.does(door, messages.sync, { room })).events
const unsigned: Person['rest'] = (route, body) => call(server.url, route, body)
const kinds = [
  ...['moderation.applied', 'moderation.applied', 'moderation.applied', 'message.deleted', 'poll.deleted'],
  ...['messages.purged', 'member.removed', 'moderation.applied'],
]
const ofModerators = (all: readonly RoomEvent[]) => all.filter(({ type }) => kinds.includes(type))

test('M16: who is neither a member nor a moderator reads every event in its place, and not who did what to whom, and why', async () => {
  const { room, from } = await acted()
  const path = `GET /api/rooms/channel/${room.id}/events`
  const inside = await eventsFor(member, room, 'socket')
  expect(ofModerators(inside).map(({ type }) => type)).toEqual(kinds)
  expect(ofModerators(inside).map(({ actor }) => actor.id)).toEqual(kinds.map(() => owner.account))
  const ban = ofModerators(inside).at(-1)
  expect(ban?.data).toMatchObject({ action: 'ban', target: { id: victim.account }, reason: why, members_count: 2 })
  for (const read of [
    async () => messages.sync.output.parse(await bodyOf(unsigned(path))).events,
    () => eventsFor(stranger, room, 'rest'),
    () => eventsFor(stranger, room, 'socket'),
  ]) {
    const outside = await read()
    expect(outside.map(({ seq, type }) => [seq, type])).toEqual(inside.map(({ seq, type }) => [seq, type]))
    expect(JSON.stringify(outside)).not.toContain(why)
    for (const { type, actor, data } of ofModerators(outside)) {
      expect({ type, actor }).toMatchObject({ type, actor: { id: '', name: '' } })
      expect(JSON.stringify(data)).not.toContain(owner.account)
      if (type !== 'messages.purged') expect(JSON.stringify(data)).not.toContain(victim.account)
    }
    const last = ofModerators(outside).at(-1)
    expect(last?.data).toEqual({
      action: 'ban',
      target: { id: '', name: '' },
      until: null,
      reason: null,
      members_count: 2,
    })
    expect(ofModerators(outside)[5]?.data).toMatchObject({ target: { id: victim.account }, from_seq: from })
  }
  for (const who of [owner, admin]) expect(await eventsFor(who, room, 'rest')).toEqual(inside)
})

test('M16: the same holds for deleted messages', async () => {
  const { room } = await acted()
  const pages = [`/api/rooms/channel/${room.id}/messages`, `/api/channels/${room.id}/messages`]
  const takenBack = async (answer: Promise<{ messages?: unknown }>) =>
    ((await answer).messages as Record<string, unknown>[]).filter(({ is_deleted }) => is_deleted)
  for (const path of pages) {
    const inside = await takenBack(bodyOf(member.rest(`GET ${path}`)))
    expect(inside.map(({ deleted_by }) => deleted_by)).toEqual([owner.account, owner.account, owner.account])
    expect(JSON.stringify(inside)).toContain(why)
    for (const read of [unsigned, stranger.rest]) {
      const outside = await takenBack(bodyOf(read(`GET ${path}`)))
      expect(outside.map(({ id }) => id)).toEqual(inside.map(({ id }) => id))
      expect(JSON.stringify(outside)).not.toContain(owner.account)
      expect(JSON.stringify(outside)).not.toContain(why)
    }
  }
  const inHistory = await takenBack(stranger.does('socket', messages.history, { room }))
  expect(inHistory.map(({ deleted_by, delete_reason }) => [deleted_by, delete_reason])).toEqual(
    inHistory.map(() => [null, null]),
  )
})

test.each(over)('M16: who is taken out while they wait hears so as a stranger does, over %s', async (door) => {
  const room = await channelOf(owner, victim)
  const { events: before } = await victim.does('socket', messages.sync, { room, after_seq: 0 })
  const waiting = victim.does(door, messages.sync, { room, after_seq: before.at(-1)?.seq, wait: 10 })
  await new Promise((resolve) => setTimeout(resolve, 300))
  await owner.does('rest', rooms.kick, { room, address: victim.account, reason: why })
  expect((await waiting).events).toMatchObject([{ type: 'member.removed', actor: { id: '' }, data: { reason: null } }])
})

test('M16: global moderators of an official room read its notices whole, and no more once they are demoted', async () => {
  const [judge] = await people(server, 'a judge')
  const room = await officialChannel(victim)
  await appoint(admin, null, judge)
  await moderates(admin, { room, action: 'warn', target: victim.account, reason: why })
  const read = async () => JSON.stringify(await eventsFor(judge, room, 'rest'))
  expect(await read()).toContain(why)
  await moderates(admin, { room: null, action: 'demote', target: judge.account })
  expect(await read()).not.toContain(why)
})

test('M16: who moderates is known to readers, what is noted about them to moderators alone', async () => {
  const [helper] = await people(server, 'a helper')
  const room = await channelOf(owner, helper, member)
  await moderates(owner, { room, action: 'promote', target: helper.account, patch: { notes: 'on probation' } })
  const path = `GET /api/moderation?action=moderators&channelId=${room.id}`
  for (const read of [unsigned, stranger.rest, member.rest])
    expect((await bodyOf(read(path))).moderators).toMatchObject([{ user_address: helper.account, notes: null }])
  for (const { rest } of [owner, helper, admin])
    expect((await bodyOf(rest(path))).moderators).toMatchObject([{ notes: 'on probation' }])
})
