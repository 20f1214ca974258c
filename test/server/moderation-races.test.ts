import { beforeEach, describe, expect, test } from 'vitest'
import { Bans } from '#server/domains/rooms/model'
import { audiences } from '#server/kernel/context'
import { RoomEvents } from '#server/log/model'
import {
  type Answer,
  act,
  appoint,
  asked,
  channelOf,
  done,
  hearing,
  listenTo,
  type Place,
  people,
  type Somebody,
  say,
  send,
} from '#test/support/community'
import { communityOf } from '#test/support/community-of'
import { wallet } from '#test/support/wallet'

let member: Somebody
let key: string

const { server, owner, mod, other, superAdmin } = await communityOf(['owner', 'mod', 'other', 'superAdmin'], {
  superAdmins: ['superAdmin'],
})
let room: Place & { id: string }
let round = 0
beforeEach(async () => {
  ;[member] = await people(server, `member ${++round}`)
  room = await channelOf(owner, mod, member, other)
  key = `channel:${room.id}`
  await appoint(owner, room, mod)
})

interface Event {
  seq: number
  type: string
  actor: { id: string }
  data: Record<string, unknown>
}
async function everyEvent(): Promise<Event[]> {
  const events: Event[] = []
  for (;;) {
    const page = await done(owner.ask('room:sync', { room, after_seq: events.at(-1)?.seq ?? 0 }))
    events.push(...(page.events as Event[]))
    if (page.complete) return events
  }
}
const seqOf = ({ body }: Answer) => (body.message as { seq: number } | undefined)?.seq ?? 0
const entryOf = ({ body }: Answer) => body.entry as { seq: number } | null
const many = <T>(count: number, make: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)))
const socketsInRoom = (who: Somebody) =>
  server.apps.flatMap(({ node }) =>
    node.live.connectionsOf('/rooms', audiences.room(key)).filter(({ account }) => account === who.account),
  )

test('P6: who is banned while they enter a room is not told after it that they are in', async () => {
  const socket = await member.socket()
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
    const banning = act(mod, room, 'ban', { target: member.account })
    while (told.at(-1) !== 'refused') await enter()
    await banning
    await expect.poll(() => told).toContain('banned')
    expect(told.slice(told.indexOf('banned'))).not.toContain('in')
    expect(socketsInRoom(member)).toEqual([])
    await done(act(mod, room, 'unban', { target: member.account }))
    await done(member.call(`POST /api/channels/${room.id}/join`, {}))
  }
})

test('P6: a ban ends a flood from two sockets at its place in the order, and the sockets are out before its answer', async () => {
  const sockets = [await member.socket(), await member.another('/rooms', 1), await member.another('/rooms', 0)]
  const ears = await Promise.all(sockets.map((socket) => listenTo(member, room, socket)))
  const sent: Answer[] = []
  let isOver = false
  const floods = sockets.map(async (socket) => {
    while (!isOver) sent.push(await asked(socket, 'message:send', { room, text: 'flood' }))
  })
  await expect.poll(() => sent.length, { timeout: 10_000 }).toBeGreaterThan(15)

  const { entry, effects } = await done(act(mod, room, 'ban', { target: member.account, reason: 'Flood' }))
  expect(socketsInRoom(member)).toEqual([])
  expect(effects).toMatchObject({ pending_nodes: 0 })
  const { seq } = entry as { seq: number }
  for (const text of ['calm', 'again']) await say(owner, room, text)
  await expect.poll(() => sent.at(-1)?.code, { timeout: 10_000 }).toBe('BANNED')
  isOver = true
  await Promise.all(floods)

  const written = (await everyEvent()).filter(
    ({ type, actor }) => type === 'message.created' && actor.id === member.account,
  )
  expect(written.every((event) => event.seq < seq)).toBe(true)
  const accepted = sent.filter(({ status }) => status === 200)
  expect(accepted.map(seqOf).sort((a, b) => a - b)).toEqual(written.map((event) => event.seq))
  expect(new Set(sent.filter(({ status }) => status !== 200).map(({ code }) => code))).toEqual(new Set(['BANNED']))
  for (const { events, named } of ears) {
    expect(Math.max(...events().map((event) => event.seq))).toBeLessThanOrEqual(seq)
    expect(named('room:access')).toMatchObject([{ state: 'banned', reason: 'Flood' }])
  }
})

test('P7: a hundred equal bans at once are one ban, one event and one entry of the log', async () => {
  const ban = { target: member.account, duration: '7d', reason: 'Spam' }
  const answers = await many(100, (at) => act(at % 2 ? mod : owner, room, 'ban', ban, at % 3 ? 'socket' : 'rest'))
  expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200))
  const [first] = answers
  for (const { body } of answers) expect(body.record).toEqual(first?.body.record)
  expect(answers.filter((answer) => entryOf(answer) !== null)).toHaveLength(1)
  expect(await Bans.countDocuments({ room: key })).toBe(1)
  const events = (await everyEvent()).filter(({ type }) => type === 'moderation.applied')
  expect(events).toHaveLength(1)
  const { logs } = await done(owner.call(`GET /api/moderation?action=mod-log&channelId=${room.id}&actionType=room_ban`))
  expect(logs).toHaveLength(1)
})

test('P8: of fifty sends at once slow mode stores one, and one more when its time has come', async () => {
  await done(act(owner, room, 'rules', { patch: { rules: { slow_mode_seconds: 5 } } }))
  const sockets = [await member.socket(), await member.another('/rooms', 1)]
  const burst = (count: number) =>
    many(count, (at) => {
      const socket = sockets[at % sockets.length]
      return socket && at % 5 > 0
        ? asked(socket, 'message:send', { room, text: `${at}` })
        : member.call(`POST /api/channels/${room.id}/messages`, { content: `${at}` })
    })
  const first = await burst(50)
  expect(first.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(first.filter(({ code }) => code === 'SLOW_MODE')).toHaveLength(49)
  const { at = 0 } = (await RoomEvents.findOne({ room: key, type: 'message.created' }, { at: 1 }).lean()) ?? {}
  await new Promise((resolve) => setTimeout(resolve, at + 5_050 - Date.now()))
  expect((await burst(20)).filter(({ status }) => status === 200)).toHaveLength(1)
  const times = await RoomEvents.find({ room: key, type: 'message.created' }, { at: 1 }).sort({ seq: 1 }).lean()
  expect(times).toHaveLength(2)
  expect((times[1]?.at ?? 0) - (times[0]?.at ?? 0)).toBeGreaterThanOrEqual(5_000)
})

describe('P9: who is out hears nothing that came after', () => {
  test.each([
    ['a ban', () => act(mod, room, 'ban', { target: member.account }), 'BANNED'],
    ['a kick', () => mod.call(`POST /api/channels/${room.id}/members/${member.account}/kick`), 'NOT_A_MEMBER'],
    ['leaving', () => member.call(`POST /api/channels/${room.id}/leave`), 'NOT_A_MEMBER'],
  ])('by %s, nor after coming back', async (_title, goes, code) => {
    const sockets = [await member.socket(), await member.another('/rooms', 1)]
    const ears = await Promise.all(sockets.map((socket) => listenTo(member, room, socket)))
    await say(owner, room, 'before')
    await done(goes())
    expect(socketsInRoom(member)).toEqual([])
    const last = await say(owner, room, 'after')
    const back = await member.another('/rooms', 0)
    expect(await asked(back, 'room:join', { room })).toMatchObject({ status: 403, code })
    await say(owner, room, 'and after')
    await new Promise((resolve) => setTimeout(resolve, 700))
    for (const { events } of ears) expect(events().filter(({ seq }) => seq >= last.seq)).toEqual([])
  })

  test('a ban also closes every way to read', async () => {
    await done(act(mod, room, 'ban', { target: member.account }))
    for (const path of [
      `/api/channels/${room.id}/messages`,
      `/api/rooms/channel/${room.id}/events`,
      `/api/channels/${room.id}/members`,
    ])
      expect(await member.call(`GET ${path}`)).toMatchObject({ status: 403, code: 'BANNED' })
    for (const event of ['room:sync', 'room:history'])
      expect(await member.ask(event, { room })).toMatchObject({ code: 'BANNED' })
  })
})

test('T14: of fifty bans that race with a demotion those before it stand and no other', async () => {
  const targets = Array.from({ length: 50 }, (_, at) => wallet(`target ${at}`).address)
  const bans = targets.map((target, at) => act(mod, room, 'ban', { target }, at % 2 ? 'socket' : 'rest'))
  const demotion = act(owner, room, 'demote', { target: mod.account })
  const { seq } = (await done(demotion)).entry as { seq: number }
  const answers = await Promise.all(bans)
  const entries = answers.flatMap((answer) => (answer.status === 200 ? (entryOf(answer) ?? []) : []))
  expect(entries.every((entry) => entry.seq < seq)).toBe(true)
  expect(new Set(answers.filter(({ status }) => status !== 200).map(({ code }) => code)).size).toBeLessThanOrEqual(1)
  expect(await Bans.countDocuments({ room: key, is_active: true })).toBe(entries.length)
  const later = (await everyEvent()).filter((event) => event.seq > seq && event.actor.id === mod.account)
  expect(later).toEqual([])
})

describe('T62: a right that is taken is gone with the next seq, on every node', () => {
  const everywhere = async (who: Somebody) => {
    const sockets = await many(server.urls.length, (node) => who.another('/rooms', node))
    return Promise.all(
      sockets.map(async (socket) => {
        const answer = await asked(socket, 'mod:act', { room, action: 'warn', target: other.account })
        socket.close()
        return answer.status
      }),
    )
  }
  const nodes = () => server.urls.length

  test('a grant', async () => {
    for (let turn = 0; turn < 5; turn++) {
      await appoint(owner, room, mod)
      expect(await everywhere(mod)).toEqual(Array(nodes()).fill(200))
      await done(act(owner, room, 'demote', { target: mod.account }))
      expect(await everywhere(mod)).toEqual(Array(nodes()).fill(403))
    }
  })

  test('the role of an admin', async () => {
    await done(superAdmin.call('POST /api/admin/admins', { walletAddress: member.account }))
    expect(await everywhere(member)).toEqual(Array(nodes()).fill(200))
    expect((await member.call('GET /api/users/report?admin=true')).body.isAdmin).toBe(true)
    await done(superAdmin.call(`DELETE /api/admin/admins?address=${member.account}`))
    expect(await everywhere(member)).toEqual(Array(nodes()).fill(403))
    expect((await member.call('GET /api/users/report?admin=true')).body).toEqual({ reports: [], isAdmin: false })
  })

  test('a refusal names the place at which it was judged', async () => {
    const { seq } = (await done(act(mod, room, 'mute', { target: member.account }))).entry as { seq: number }
    const refused = await send(member, room, 'x')
    expect((refused.body.verdict as { judged_seq: number }).judged_seq).toBeGreaterThanOrEqual(seq)
  })
})

test('T55: who is banned while joining is never both a member and banned', async () => {
  for (let turn = 0; turn < 20; turn++) {
    await done(act(owner, room, 'unban', { target: member.account }))
    const join = member.call(`POST /api/channels/${room.id}/join`)
    await Promise.all([join, act(mod, room, 'ban', { target: member.account })])
    const { members } = await done(owner.call(`GET /api/channels/${room.id}/members`))
    const addresses = (members as { user_address: string }[]).map(({ user_address }) => user_address)
    expect(addresses).not.toContain(member.account)
    expect(await send(member, room, 'x')).toMatchObject({ code: 'BANNED' })
  }
})

test('T62: who moderates no more hears no entry after the one that says so, in eight races', async () => {
  const heard = hearing(await mod.socket('/moderation'))
  for (let at = 0; at < 8; at++) {
    await done(mod.ask('mod:subscribe', { scope: 'room', room }, '/moderation'))
    const warn = () => act(owner, room, 'warn', { target: other.account })
    const [demoted, ...warned] = await Promise.all([
      act(owner, room, 'demote', { target: mod.account }),
      ...Array.from({ length: 5 }, warn),
    ])
    const end = entryOf(demoted)?.seq ?? 0
    await expect.poll(() => seqsIn(heard)).toContain(end)
    expect(warned.map(entryOf)).not.toContain(null)
    await done(warn())
    await expect
      .poll(async () => (await mod.ask('mod:subscribe', { scope: 'room', room }, '/moderation')).status)
      .toBe(403)
    expect(Math.max(...seqsIn(heard))).toBe(end)
    await appoint(owner, room, mod)
  }
})

const seqsIn = (heard: ReturnType<typeof hearing>) =>
  heard.named('modlog:event').map(({ entry }) => (entry as { seq: number }).seq)
