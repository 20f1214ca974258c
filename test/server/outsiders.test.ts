import { expect, test } from 'vitest'
import {
  act,
  appoint,
  channelOf,
  done,
  doors,
  nobody,
  officialChannel,
  type Place,
  people,
  type Somebody,
  say,
} from '#test/support/community'
import { communityOf } from '#test/support/community-of'

const { server, owner, victim, member, stranger, admin } = await communityOf(
  ['owner', 'victim', 'member', 'stranger', 'admin'],
  { admins: ['admin'] },
)

interface Told {
  seq: number
  type: string
  actor: { id: string; name: string }
  data: Record<string, unknown>
}

const why = 'a reason for members'
/** One of each act on people and their messages. */
async function acted(by = owner): Promise<{ room: Place & { id: string }; from: number; message: string }> {
  const room = await channelOf(owner, victim, member)
  const { id: message } = await say(victim, room, 'one')
  const { seq: from } = await say(victim, room, 'two')
  const { poll } = await done(
    victim.call(`POST /api/channels/${room.id}/polls`, { question: 'Which?', options: ['this', 'that'] }),
  )
  const about = { target: victim.account, reason: why }
  await done(act(by, room, 'warn', about))
  await done(act(by, room, 'mute', { ...about, duration: '1h' }))
  await done(act(by, room, 'unmute', about))
  await done(act(by, room, 'delete', { message_id: message, reason: why }))
  await done(by.call(`DELETE /api/rooms/channel/${room.id}/polls/${(poll as { id: string }).id}`))
  await done(act(by, room, 'purge', about))
  await done(by.call(`POST /api/rooms/channel/${room.id}/members/${victim.account}/kick`, { reason: why }))
  await done(victim.call(`POST /api/channels/${room.id}/join`))
  await done(act(by, room, 'ban', { ...about, duration: '24h' }))
  return { room, from, message }
}

const events = async (answer: ReturnType<Somebody['call']>) => (await done(answer)).events as Told[]
const kinds = [
  ...['moderation.applied', 'moderation.applied', 'moderation.applied', 'message.deleted', 'poll.deleted'],
  ...['messages.purged', 'member.removed', 'moderation.applied'],
]
const ofModerators = (all: readonly Told[]) => all.filter(({ type }) => kinds.includes(type))

test('M16: who is neither a member nor a moderator reads every event in its place, and not who did what to whom, and why', async () => {
  const { room, from } = await acted()
  const rest = `GET /api/rooms/channel/${room.id}/events`
  const inside = await events(member.ask('room:sync', { room, after_seq: 0 }))
  expect(ofModerators(inside).map(({ type }) => type)).toEqual(kinds)
  expect(ofModerators(inside).map(({ actor }) => actor.id)).toEqual(kinds.map(() => owner.account))
  const ban = ofModerators(inside).at(-1)
  expect(ban?.data).toMatchObject({ action: 'ban', target: { id: victim.account }, reason: why, members_count: 2 })
  for (const read of [
    () => nobody(server)(rest),
    () => stranger.call(rest),
    () => stranger.ask('room:sync', { room, after_seq: 0 }),
  ]) {
    const outside = await events(read())
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
  for (const who of [owner, admin]) expect(await events(who.call(rest))).toEqual(inside)
})

test('M16: the same holds for deleted messages', async () => {
  const { room } = await acted()
  const pages = [`/api/rooms/channel/${room.id}/messages`, `/api/channels/${room.id}/messages`]
  const takenBack = async (answer: ReturnType<Somebody['call']>) =>
    ((await done(answer)).messages as Record<string, unknown>[]).filter(({ is_deleted }) => is_deleted)
  for (const path of pages) {
    const inside = await takenBack(member.call(`GET ${path}`))
    expect(inside.map(({ deleted_by }) => deleted_by)).toEqual([owner.account, owner.account, owner.account])
    expect(JSON.stringify(inside)).toContain(why)
    for (const call of [nobody(server), stranger.call]) {
      const outside = await takenBack(call(`GET ${path}`))
      expect(outside.map(({ id }) => id)).toEqual(inside.map(({ id }) => id))
      expect(JSON.stringify(outside)).not.toContain(owner.account)
      expect(JSON.stringify(outside)).not.toContain(why)
    }
  }
  const inHistory = await takenBack(stranger.ask('room:history', { room }))
  expect(inHistory.map(({ deleted_by, delete_reason }) => [deleted_by, delete_reason])).toEqual(
    inHistory.map(() => [null, null]),
  )
})

test.each(doors)('M16: who is taken out while they wait hears so as a stranger does, over %s', async (door) => {
  const room = await channelOf(owner, victim)
  const { events: before } = await done(victim.ask('room:sync', { room, after_seq: 0 }))
  const after_seq = (before as Told[]).at(-1)?.seq
  const waiting = events(
    door === 'rest'
      ? victim.call(`GET /api/rooms/channel/${room.id}/events?after_seq=${after_seq}&wait=10`)
      : victim.ask('room:sync', { room, after_seq, wait: 10 }),
  )
  await new Promise((resolve) => setTimeout(resolve, 300))
  await done(owner.call(`POST /api/rooms/channel/${room.id}/members/${victim.account}/kick`, { reason: why }))
  expect(await waiting).toMatchObject([{ type: 'member.removed', actor: { id: '' }, data: { reason: null } }])
})

test('M16: global moderators of an official room read its notices whole, and no more once they are demoted', async () => {
  const [judge] = await people(server, 'a judge')
  const room = await officialChannel(victim)
  await appoint(admin, null, judge)
  await done(act(admin, room, 'warn', { target: victim.account, reason: why }))
  const read = async () => JSON.stringify(await events(judge.call(`GET /api/rooms/channel/${room.id}/events`)))
  expect(await read()).toContain(why)
  await done(act(admin, null, 'demote', { target: judge.account }))
  expect(await read()).not.toContain(why)
})

test('M16: who moderates is known to readers, what is noted about them to moderators alone', async () => {
  const [helper] = await people(server, 'a helper')
  const room = await channelOf(owner, helper, member)
  await done(act(owner, room, 'promote', { target: helper.account, patch: { notes: 'on probation' } }))
  const path = `GET /api/moderation?action=moderators&channelId=${room.id}`
  for (const call of [nobody(server), stranger.call, member.call])
    expect((await done(call(path))).moderators).toMatchObject([{ user_address: helper.account, notes: null }])
  for (const { call } of [owner, helper, admin])
    expect((await done(call(path))).moderators).toMatchObject([{ notes: 'on probation' }])
})
