// Modes: embedded, two-nodes, two-nodes-redis
import { beforeEach, describe, expect, test } from 'vitest'
import { Bans } from '#server/domains/rooms/room-state/model'
import { audiences } from '#server/kernel/context'
import { RoomEvents } from '#server/log/model'
import { logged, moderation } from '#shared/api/moderation/moderation'
import type { Acted } from '#shared/api/moderation/moderation-acts'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import type { Sent } from '#shared/api/rooms/message'
import { messages } from '#shared/api/rooms/messages'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { access, rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { appoint, logOf } from '#test/support/moderation'
import { type Answer, channelOf, listenTo, moderates, outcomeOf, type Person, people, say } from '#test/support/people'
import { wallet } from '#test/support/wallet'

let member: Person
let key: string

const { server, owner, mod, other, superAdmin } = await bootWith(['owner', 'mod', 'other', 'superAdmin'], {
  superAdmins: ['superAdmin'],
})
let room: RoomRef & { id: string }
let round = 0
beforeEach(async () => {
  ;[member] = await people(server, `member ${++round}`)
  room = await channelOf(owner, mod, member, other)
  key = `channel:${room.id}`
  await appoint(owner, room, mod)
})

async function everyEvent(): Promise<RoomEvent[]> {
  const events: RoomEvent[] = []
  for (;;) {
    const page = await owner.does('socket', messages.sync, { room, after_seq: events.at(-1)?.seq ?? 0 })
    events.push(...page.events)
    if (page.complete) return events
  }
}
function seqOf({ entry }: Acted): number {
  if (!entry) throw new Error('The act left no entry.')
  return entry.seq
}
const nodeAt = (at: number) => server.urls[at % server.urls.length]
const many = <T>(count: number, make: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)))
const socketsInRoom = (who: Person) =>
  server.apps.flatMap(({ node }) =>
    node.live.connectionsOf('/rooms', audiences.room(key)).filter(({ account }) => account === who.account),
  )

test('P6: who is banned while they enter a room is not told after it that they are in', async () => {
  const { socket } = await member.line()
  const told: string[] = []
  socket.on('room:access', ({ state }: { state: string }) => told.push(state))
  const enter = () =>
    new Promise<void>((resolve) => {
      socket.emit('room:join', { room }, ({ ok }: { ok: boolean }) => {
        told.push(ok ? 'in' : 'refused')
        resolve()
      })
    })
  for (let at = 0; at < 40; at++) {
    told.length = 0
    const banning = mod.tries('socket', moderation.act, { room, action: 'ban', target: member.account })
    while (told.at(-1) !== 'refused') await enter()
    await banning
    await expect.poll(() => told).toContain('banned')
    expect(told.slice(told.indexOf('banned'))).not.toContain('in')
    expect(socketsInRoom(member)).toEqual([])
    await moderates(mod, { room, action: 'unban', target: member.account })
    await member.does('rest', rooms.join, { room })
  }
})

test('P6: a ban ends a flood from two sockets at its place in the order, and the sockets are out before its answer', async () => {
  const sockets = [
    await member.line(),
    await member.socket('/rooms', nodeAt(1)),
    await member.socket('/rooms', nodeAt(0)),
  ]
  const lines = await Promise.all(sockets.map((line) => listenTo(member, room, line)))
  const sent: Answer<Sent>[] = []
  let isOver = false
  const floods = lines.map(async (line) => {
    while (!isOver) sent.push(await member.tries(line, messages.send, { room, text: 'flood' }))
  })
  await expect.poll(() => sent.length, { timeout: 10_000 }).toBeGreaterThan(15)

  const banned = await moderates(mod, { room, action: 'ban', target: member.account, reason: 'Flood' })
  expect(socketsInRoom(member)).toEqual([])
  expect(banned.effects).toMatchObject({ pending_nodes: 0 })
  const seq = seqOf(banned)
  for (const text of ['calm', 'again']) await say(owner, room, text)
  await expect.poll(() => sent.slice(-1).map(outcomeOf), { timeout: 10_000 }).toEqual(['403 BANNED'])
  isOver = true
  await Promise.all(floods)

  const written = (await everyEvent()).filter(
    ({ type, actor }) => type === 'message.created' && actor.id === member.account,
  )
  expect(written.every((event) => event.seq < seq)).toBe(true)
  const accepted = sent.flatMap((answer) => (answer.ok ? [answer.data.message.seq] : []))
  expect(accepted.sort((a, b) => a - b)).toEqual(written.map((event) => event.seq))
  expect(new Set(sent.filter(({ ok }) => !ok).map(outcomeOf))).toEqual(new Set(['403 BANNED']))
  for (const line of lines) {
    expect(Math.max(...line.log(room).map((event) => event.seq))).toBeLessThanOrEqual(seq)
    expect(line.all(access)).toMatchObject([{ state: 'banned', reason: 'Flood' }])
  }
})

test('P7: a hundred equal bans at once are one ban, one event and one entry of the log', async () => {
  const ban = { target: member.account, duration: '7d', reason: 'Spam' }
  const acts = await many(100, (at) =>
    (at % 2 ? mod : owner).does(at % 3 ? 'socket' : 'rest', moderation.act, { room, action: 'ban', ...ban }),
  )
  for (const { record } of acts) expect(record).toEqual(acts[0]?.record)
  expect(acts.filter(({ entry }) => entry !== null)).toHaveLength(1)
  expect(await Bans.countDocuments({ room: key })).toBe(1)
  const events = (await everyEvent()).filter(({ type }) => type === 'moderation.applied')
  expect(events).toHaveLength(1)
  expect(await logOf(owner, room, { actionType: 'room_ban' })).toHaveLength(1)
})

test('P8: of fifty sends at once slow mode stores one, and one more when its time has come', async () => {
  await moderates(owner, { room, action: 'rules', patch: { rules: { slow_mode_seconds: 5 } } })
  const lines = [await member.line(), await member.socket('/rooms', nodeAt(1))]
  const burst = (count: number) =>
    many(count, async (at) => {
      const line = lines[at % lines.length]
      return outcomeOf(
        line && at % 5 > 0
          ? await member.tries(line, messages.send, { room, text: `${at}` })
          : await member.rest(`POST /api/channels/${room.id}/messages`, { content: `${at}` }),
      )
    })
  const first = await burst(50)
  expect(first.filter((outcome) => outcome === '200')).toHaveLength(1)
  expect(first.filter((outcome) => outcome === '429 SLOW_MODE')).toHaveLength(49)
  const { at = 0 } = (await RoomEvents.findOne({ room: key, type: 'message.created' }, { at: 1 }).lean()) ?? {}
  await new Promise((resolve) => setTimeout(resolve, at + 5_050 - Date.now()))
  expect((await burst(20)).filter((outcome) => outcome === '200')).toHaveLength(1)
  const times = await RoomEvents.find({ room: key, type: 'message.created' }, { at: 1 }).sort({ seq: 1 }).lean()
  expect(times).toHaveLength(2)
  expect((times[1]?.at ?? 0) - (times[0]?.at ?? 0)).toBeGreaterThanOrEqual(5_000)
})

describe('P9: who is out hears nothing that came after', () => {
  test.each([
    ['a ban', () => moderates(mod, { room, action: 'ban', target: member.account }), 'BANNED'],
    ['a kick', () => mod.does('rest', rooms.kick, { room, address: member.account }), 'NOT_A_MEMBER'],
    ['leaving', () => member.does('rest', rooms.leave, { room }), 'NOT_A_MEMBER'],
  ])('by %s, nor after coming back', async (_title, goes, code) => {
    const sockets = [await member.line(), await member.socket('/rooms', nodeAt(1))]
    const lines = await Promise.all(sockets.map((line) => listenTo(member, room, line)))
    await say(owner, room, 'before')
    await goes()
    expect(socketsInRoom(member)).toEqual([])
    const last = await say(owner, room, 'after')
    const back = await member.socket('/rooms', nodeAt(0))
    expect(await member.refused(back, messages.join, { room })).toMatchObject({ status: 403, code })
    await say(owner, room, 'and after')
    await new Promise((resolve) => setTimeout(resolve, 700))
    for (const line of lines) expect(line.log(room).filter(({ seq }) => seq >= last.seq)).toEqual([])
  })

  test('a ban also closes every way to read', async () => {
    await moderates(mod, { room, action: 'ban', target: member.account })
    for (const path of [
      `/api/channels/${room.id}/messages`,
      `/api/rooms/channel/${room.id}/events`,
      `/api/channels/${room.id}/members`,
    ])
      expect(await member.rest(`GET ${path}`)).toMatchObject({ status: 403, code: 'BANNED' })
    for (const operation of [messages.sync, messages.history])
      expect(await member.refused('socket', operation, { room })).toMatchObject({ code: 'BANNED' })
  })
})

test('T14: of fifty bans that race with a demotion those before it stand and no other', async () => {
  const targets = Array.from({ length: 50 }, (_, at) => wallet(`target ${at}`).address)
  const bans = targets.map((target, at) =>
    mod.tries(at % 2 ? 'socket' : 'rest', moderation.act, { room, action: 'ban', target }),
  )
  const seq = seqOf(await moderates(owner, { room, action: 'demote', target: mod.account }))
  const answers = await Promise.all(bans)
  const entries = answers.flatMap((answer) => (answer.ok ? (answer.data.entry ?? []) : []))
  expect(entries.every((entry) => entry.seq < seq)).toBe(true)
  expect(new Set(answers.filter(({ ok }) => !ok).map(outcomeOf)).size).toBeLessThanOrEqual(1)
  expect(await Bans.countDocuments({ room: key, is_active: true })).toBe(entries.length)
  const later = (await everyEvent()).filter((event) => event.seq > seq && event.actor.id === mod.account)
  expect(later).toEqual([])
})

describe('T62: a right that is taken is gone with the next seq, on every node', () => {
  const everywhere = async (who: Person) => {
    const lines = await many(server.urls.length, (at) => who.socket('/rooms', nodeAt(at)))
    return Promise.all(
      lines.map(async (line) => {
        const answer = await who.tries(line, moderation.act, { room, action: 'warn', target: other.account })
        line.socket.close()
        return outcomeOf(answer)
      }),
    )
  }
  const nodes = () => server.urls.length

  test('a grant', async () => {
    for (let turn = 0; turn < 5; turn++) {
      await appoint(owner, room, mod)
      expect(await everywhere(mod)).toEqual(Array(nodes()).fill('200'))
      await moderates(owner, { room, action: 'demote', target: mod.account })
      expect(await everywhere(mod)).toEqual(Array(nodes()).fill('403 FORBIDDEN'))
    }
  })

  test('the role of an admin', async () => {
    await superAdmin.does('rest', accounts.grantAdmin, { walletAddress: member.account })
    expect(await everywhere(member)).toEqual(Array(nodes()).fill('200'))
    expect((await member.does('rest', social.reports, { admin: true })).isAdmin).toBe(true)
    await superAdmin.does('rest', accounts.revokeAdmin, { address: member.account })
    expect(await everywhere(member)).toEqual(Array(nodes()).fill('403 FORBIDDEN'))
    expect(await member.does('rest', social.reports, { admin: true })).toEqual({ reports: [], isAdmin: false })
  })

  test('a refusal names the place at which it was judged', async () => {
    const seq = seqOf(await moderates(mod, { room, action: 'mute', target: member.account }))
    const refused = await member.refused('socket', messages.send, { room, text: 'x' })
    expect(refused.verdict?.judged_seq).toBeGreaterThanOrEqual(seq)
  })
})

test('T55: who is banned while joining is never both a member and banned', async () => {
  for (let turn = 0; turn < 20; turn++) {
    await moderates(owner, { room, action: 'unban', target: member.account })
    const join = member.tries('rest', rooms.join, { room })
    await Promise.all([join, mod.tries('socket', moderation.act, { room, action: 'ban', target: member.account })])
    const { members } = await owner.does('rest', rooms.members, { room })
    expect(members.map(({ user_address }) => user_address)).not.toContain(member.account)
    expect(await member.refused('socket', messages.send, { room, text: 'x' })).toMatchObject({ code: 'BANNED' })
  }
})

test('T62: who moderates no more hears no entry after the one that says so, in eight races', async () => {
  const line = await mod.line('/moderation')
  const seqs = () => line.all(logged).map(({ entry }) => entry.seq)
  for (let at = 0; at < 8; at++) {
    await mod.does('socket', moderation.queue, { scope: 'room', room })
    const warn = () => moderates(owner, { room, action: 'warn', target: other.account })
    const [demoted, ...warned] = await Promise.all([
      moderates(owner, { room, action: 'demote', target: mod.account }),
      ...Array.from({ length: 5 }, warn),
    ])
    const end = seqOf(demoted)
    await expect.poll(seqs).toContain(end)
    expect(warned.map(({ entry }) => entry)).not.toContain(null)
    await warn()
    await expect
      .poll(async () => outcomeOf(await mod.tries('socket', moderation.queue, { scope: 'room', room })))
      .toBe('403 FORBIDDEN')
    expect(Math.max(...seqs())).toBe(end)
    await appoint(owner, room, mod)
  }
})
