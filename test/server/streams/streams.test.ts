// Modes: embedded, two-nodes-redis
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createClient } from '#client/sdk/client'
import { memoryStorage } from '#client/sdk/storage'
import { Sessions } from '#server/domains/people/identity/model'
import { RoomEvents } from '#server/log/model'
import type { View } from '#server/log/types'
import { moderation } from '#shared/api/moderation/moderation'
import { accounts } from '#shared/api/people/accounts'
import { messages } from '#shared/api/rooms/messages'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { rooms } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import { sessionEnded } from '#shared/kit/connection'
import { type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { enter } from '#test/support/enter'
import { heavy } from '#test/support/heavy'
import { channelOf, groupOf, over, type Person, person } from '#test/support/people'
import { following, sequenceAt } from '#test/support/sequence'
import { solo } from '#test/support/solo'
import { call, wallet } from '#test/support/wallet'

let server: Booted
let owner: Person
let root: Person
/** Acts on another node than the one that is followed, where there are several. */
let elsewhere: string

beforeAll(async () => {
  server = await boot({ environment: { SUPER_ADMINS: wallet('stream root').address } })
  elsewhere = server.urls.at(-1) ?? server.url
  owner = await person(server, 'stream owner', elsewhere)
  root = await person(server, 'stream root', elsewhere)
})
afterEach(() => void vi.restoreAllMocks())
afterAll(() => server.close())

let followers = 0
async function follower() {
  const name = `follower ${++followers}`
  return { ...(await person(server, name, server.url)), name }
}
const idOf = (token: string) => JSON.parse(atob(token.split('.')[1] ?? '')).jti as string
const say = (who: Person, room: RoomRef, text: string) => who.does('rest', messages.send, { room, text })
const texts = (events: readonly RoomEvent[]) =>
  events.flatMap((event) => (event.type === 'message.created' ? [event.data.message.content] : []))
const upTo = (seq: number) => Array.from({ length: seq }, (_, index) => index + 1)
const urlOf = (room: RoomRef, query = '') =>
  `${server.url}/api/rooms/${roomKey(room).replace(':', '/')}/events?follow=true${query}`

describe.each(over)('a room that is followed over %s', (door) => {
  test('tells what was, then what comes, each once and in its place, while several send', async () => {
    const [who, other] = [await follower(), await person(server, `other ${door}`, elsewhere)]
    const room = await channelOf(owner, who, other)
    const sending = [owner, other, who].map(async (one, at) => {
      for (let n = 0; n < 20; n++) await say(one, room, `${at} ${n}`)
    })
    const followed = await following<RoomEvent>(door, who, { room })
    await Promise.all(sending)
    const { head_seq } = await who.does('rest', messages.sync, { room, limit: 1 })
    await expect.poll(() => followed.items.at(-1)?.seq).toBe(head_seq)
    expect(followed.items.map(({ seq }) => seq)).toEqual(upTo(head_seq))
    const { events } = await who.does('rest', messages.sync, { room, limit: 200 })
    expect(followed.items).toEqual(events)
    await followed.stop()
  })

  solo('is told from the place that was asked for', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const { message } = await say(owner, room, 'known')
    const followed = await following<RoomEvent>(door, who, { room, after_seq: message.seq })
    await say(owner, room, 'new')
    await expect.poll(() => texts(followed.items)).toEqual(['new'])
    await followed.stop()
  })

  test('ends for somebody who is banned, without a later row', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const followed = await following<RoomEvent>(door, who, { room })
    await owner.does('rest', moderation.act, { room, action: 'ban', target: who.account })
    await say(owner, room, 'not for them')
    expect(await followed.end).toBe('BANNED')
    expect(texts(followed.items)).toEqual([])
  })

  solo('is counted once, by how it ended', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const counted = async () => {
      const metrics = await Promise.all(server.apps.map(({ node }) => node.metrics.text()))
      const lines = [
        ...metrics
          .join('\n')
          .matchAll(/^plaza_operations_total\{operation="messages\.follow".*outcome="(\w+)"\} (\d+)/gm),
      ]
      const of = (code: string) =>
        lines.reduce((sum, [, outcome, count]) => sum + (outcome === code ? Number(count) : 0), 0)
      return { ok: of('ok'), banned: of('BANNED') }
    }
    const before = await counted()
    const followed = await following<RoomEvent>(door, who, { room })
    await owner.does('rest', moderation.act, { room, action: 'ban', target: who.account })
    expect(await followed.end).toBe('BANNED')
    await expect.poll(counted).toEqual({ ok: before.ok, banned: before.banned + 1 })
  })

  test('ends for somebody who is suspended, and can be followed again', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const followed = await following<RoomEvent>(door, who, { room })
    await root.does('rest', accounts.suspend, { userAddress: who.account, ban: true })
    expect(await followed.end).toBe('SUSPENDED')
    const again = await following<RoomEvent>(door, who, { room })
    await expect.poll(() => again.items.length).toBeGreaterThan(0)
    await again.stop()
  })

  test('ends for who leaves a group', async () => {
    const who = await follower()
    const room = await groupOf(owner, who)
    const followed = await following<RoomEvent>(door, who, { room })
    await who.does('rest', rooms.leave, { room })
    await say(owner, room, 'not for them')
    expect(await followed.end).toBe('ROOM_NOT_FOUND')
    expect(texts(followed.items)).toEqual([])
  })

  solo('goes on for who leaves a channel without what moderators do to people from then on', async () => {
    const [who, other] = [await follower(), await person(server, `warned ${door}`, elsewhere)]
    const room = await channelOf(owner, who, other)
    const warn = (reason: string) =>
      owner.does('rest', moderation.act, { room, action: 'warn', target: other.account, reason })
    const followed = await following<RoomEvent>(door, who, { room })
    await warn('for those inside')
    await expect.poll(() => JSON.stringify(followed.items)).toContain('for those inside')
    await who.does('rest', rooms.leave, { room })
    await warn('not for outsiders')
    await say(owner, room, 'for all')
    await expect.poll(() => texts(followed.items)).toEqual(['for all'])
    const [, told] = followed.items.filter(({ type }) => type === 'moderation.applied')
    expect(told).toMatchObject({ actor: { id: '', name: '' }, data: { target: { id: '' }, reason: null } })
    expect(JSON.stringify(followed.items)).not.toContain('not for outsiders')
    await followed.stop()
  })

  solo('holds no row above the place at which the right to read was judged', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    await say(owner, room, 'before')
    const log = server.apps[0]?.node.log
    if (!log) throw new Error('no node')
    const read = log.read.bind(log)
    vi.spyOn(log, 'read').mockImplementationOnce(async (...asked) => {
      await owner.does('rest', moderation.act, { room, action: 'ban', target: who.account })
      await say(owner, room, 'not for them')
      return read(...asked)
    })
    const followed = await following<RoomEvent>(door, who, { room })
    expect(await followed.end).toBe('BANNED')
    expect(texts(followed.items)).toEqual(['before'])
    expect(followed.items.at(-1)).toMatchObject({ type: 'message.created' })
  })

  solo('ends where another log takes the place of the one that was followed', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const followed = await following<RoomEvent>(door, who, { room })
    await expect.poll(() => followed.items.length).toBeGreaterThan(0)
    const log = server.apps[0]?.node.log
    if (!log) throw new Error('no node')
    const ask = log.ask.bind(log)
    vi.spyOn(log, 'ask').mockImplementation((key, judge) =>
      ask(key, (view, now) => judge(key === roomKey(room) ? ofAnotherLog(view) : view, now)),
    )
    await say(owner, room, 'in another log')
    expect(await followed.end).toBe('CONFLICT')
    vi.restoreAllMocks()
    expect(texts(followed.items)).toEqual([])
  })

  solo('keeps the room no longer than it is followed', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const log = server.apps[0]?.node.log
    if (!log) throw new Error('no node')
    const hold = log.hold.bind(log)
    let held = 0
    vi.spyOn(log, 'hold').mockImplementation(async (key) => {
      const release = await hold(key)
      if (key !== roomKey(room)) return release
      held++
      return () => {
        held--
        release()
      }
    })
    const followed = await following<RoomEvent>(door, who, { room })
    for (const text of ['one', 'two', 'three']) await say(owner, room, text)
    await expect.poll(() => texts(followed.items)).toEqual(['one', 'two', 'three'])
    await expect.poll(() => held).toBe(1)
    await followed.stop()
    await expect.poll(() => held).toBe(0)
    vi.restoreAllMocks()
  })

  solo('is refused as any answer, before the first item', async () => {
    const [who, stranger] = [await follower(), await follower()]
    const [group, channel] = [await groupOf(owner), await channelOf(owner, who)]
    const refused = (one: Person, room: RoomRef, more = {}) => one.refused(door, messages.follow, { room, ...more })
    expect(await refused(who, group)).toMatchObject({ code: 'ROOM_NOT_FOUND', status: 404 })
    expect(await refused(who, channel, { after_seq: 1_000 })).toMatchObject({ code: 'CONFLICT', status: 409 })
    expect(await refused(who, channel, { epoch: 'another' })).toMatchObject({ code: 'CONFLICT', status: 409 })
    expect(await refused(who, channel, { after_seq: -1 })).toMatchObject({ code: 'VALIDATION_ERROR', status: 400 })
    await owner.does('rest', moderation.act, {
      room: channel,
      action: 'rules',
      patch: { rules: { read_access: 'members' } },
    })
    expect(await refused(stranger, channel)).toMatchObject({ code: 'NOT_A_MEMBER', status: 403 })
    await owner.does('rest', moderation.act, { room: channel, action: 'ban', target: who.account })
    expect(await refused(who, channel)).toMatchObject({ code: 'BANNED', status: 403 })
  })

  solo('shows a row that nobody can read as a catch-up does, and goes on', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const { message } = await say(owner, room, 'before')
    const head = await RoomEvents.findOne({ room: roomKey(room), seq: message.seq }).lean()
    const { n: _, ...row } = head ?? {}
    const seq = message.seq + 1
    const own = { _id: `row ${roomKey(room)}`, cid: 'row', seq, applied_seq: seq, chained: undefined, body: {} }
    await RoomEvents.collection.insertOne({ ...row, ...own } as never)
    const followed = await following<RoomEvent>(door, who, { room })
    await say(owner, room, 'after')
    await expect.poll(() => texts(followed.items).at(-1)).toBe('after')
    expect(followed.items.map((event) => event.seq)).toEqual(upTo(seq + 1))
    const { events } = await who.does('rest', messages.sync, { room, limit: 200 })
    expect(followed.items).toEqual(events)
    await followed.stop()
  })
})

const ofAnotherLog = (view: View): View =>
  new Proxy(view, {
    get: (target, name) => {
      const value: unknown = name === 'epoch' ? 'another' : Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

const ends: [string, (who: Person & { name: string }) => Promise<unknown>][] = [
  ['signing out', (who) => call(elsewhere, 'POST /api/auth/logout', { allDevices: false }, who.token)],
  ['signing out everywhere', (who) => call(elsewhere, 'POST /api/auth/logout', { allDevices: true }, who.token)],
  [
    'another device',
    async (who) => {
      const { sessionToken } = await enter(elsewhere, wallet(who.name))
      return call(elsewhere, `DELETE /api/auth/sessions/${idOf(who.token)}`, null, sessionToken)
    },
  ],
]

describe('a sequence', () => {
  test.each(ends)('ends with the session, by %s on another node, and its last line says so', async (_how, end) => {
    const who = await follower()
    for (const room of [await channelOf(owner, who), await groupOf(owner, who)]) {
      const again = { ...who, token: (await enter(server.url, wallet(who.name))).sessionToken }
      const followed = await following<RoomEvent>('rest', again, { room })
      await expect.poll(() => followed.items.length).toBeGreaterThan(0)
      const before = followed.items.length
      await end(again)
      await say(owner, room, 'after the end')
      expect(await followed.end).toBe('SESSION_NOT_FOUND')
      expect(followed.items).toHaveLength(before)
    }
  })

  solo('ends when the session runs out', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    await Sessions.updateOne({ _id: idOf(who.token) }, { $set: { expires_at: new Date(Date.now() + 1_500) } })
    const followed = await following<RoomEvent>('rest', who, { room })
    expect(await followed.end).toBe('SESSION_EXPIRED')
  })

  solo('holds no item of after a session whose record is gone, though nothing told of it', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const followed = await following<RoomEvent>('rest', who, { room })
    await Sessions.deleteOne({ _id: idOf(who.token) })
    await say(owner, room, 'not for them')
    expect(await followed.end).toBe('SESSION_NOT_FOUND')
    expect(texts(followed.items)).toEqual([])
  })

  solo('over REST is refused where the session ends before its first item', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const log = server.apps[0]?.node.log
    if (!log) throw new Error('no node')
    const ask = log.ask.bind(log)
    vi.spyOn(log, 'ask').mockImplementationOnce(async (...asked) => {
      await Sessions.deleteOne({ _id: idOf(who.token) })
      return ask(...asked)
    })
    const { status, headers } = await fetch(urlOf(room), { headers: { authorization: `Bearer ${who.token}` } })
    expect([status, headers.get('content-type')]).toEqual([401, expect.stringMatching(/^application\/json/)])
  })

  solo('over REST goes on while it cannot be found out whose session it is', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const find = Sessions.findOne.bind(Sessions)
    let looks = 0
    vi.spyOn(Sessions, 'findOne').mockImplementation(((...asked: Parameters<typeof find>) => {
      const isAway = ++looks === 2
      return isAway ? { lean: () => Promise.reject(new AppError('SERVICE_UNAVAILABLE')) } : find(...asked)
    }) as never)
    const followed = await following<RoomEvent>('rest', who, { room })
    await expect.poll(() => followed.items.length).toBeGreaterThan(0)
    expect(looks).toBeGreaterThan(1)
    vi.restoreAllMocks()
    await followed.stop()
  })

  test('over a socket ends with the connection that the end of the session closes', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const followed = await following<RoomEvent>('socket', who, { room })
    await call(elsewhere, 'POST /api/auth/logout', { allDevices: true }, who.token)
    expect(['cut', 'SESSION_NOT_FOUND']).toContain(await followed.end)
    expect(await (await who.line()).hears(sessionEnded)).toEqual({ code: 'SESSION_NOT_FOUND' })
  })

  solo(
    'over a socket goes on with the session that took the place of its own, and looks for rows no more often than before',
    heavy,
    async () => {
      const who = await follower()
      const room = await channelOf(owner, who)
      await Sessions.updateOne({ _id: idOf(who.token) }, { $set: { expires_at: new Date(Date.now() + 2_000) } })
      const followed = await following<RoomEvent>('socket', who, { room })
      const { sessionToken } = await enter(server.url, wallet(who.name))
      expect(await who.ask('session:refresh', { token: sessionToken })).toMatchObject({ ok: true })
      await new Promise((resolve) => setTimeout(resolve, 2_500))
      await say(owner, room, 'after the end of the first')
      await expect.poll(() => texts(followed.items)).toEqual(['after the end of the first'])
      await new Promise((resolve) => setTimeout(resolve, 500))
      const looks = server.apps.map(({ node }) => vi.spyOn(node.log, 'head'))
      await new Promise((resolve) => setTimeout(resolve, 2_500))
      expect(looks.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBeLessThan(3)
      vi.restoreAllMocks()
      await followed.stop()
    },
  )

  solo('is told to nobody in particular where a room is open, without what moderators did to people', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    await owner.does('rest', moderation.act, { room, action: 'warn', target: who.account, reason: 'private' })
    const followed = await sequenceAt<RoomEvent>(urlOf(room), null)
    await say(owner, room, 'for all')
    await expect.poll(() => texts(followed.items)).toEqual(['for all'])
    expect(JSON.stringify(followed.items)).not.toContain('private')
    await followed.stop()
  })

  solo('is cancelled over a socket: nothing of it comes after the ack, and others go on', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const [first, second] = [
      await following<RoomEvent>('socket', who, { room }),
      await following<RoomEvent>('socket', who, { room }),
    ]
    await expect.poll(() => first.items.length).toBeGreaterThan(0)
    await first.stop()
    const told = first.items.length
    await say(owner, room, 'later')
    await expect.poll(() => texts(second.items)).toEqual(['later'])
    expect(first.items).toHaveLength(told)
    await second.stop()
  })

  solo(
    'N86: has a path of its own that answers with server-sent events, which go on from the last one received',
    async () => {
      const who = await follower()
      const room = await channelOf(owner, who)
      const { message } = await say(owner, room, 'one')
      const path = urlOf(room).replace('?follow=true', '/stream')
      const read = async (query: string, more: Record<string, string> = {}) => {
        const stopped = new AbortController()
        const headers = { authorization: `Bearer ${who.token}`, ...more }
        const answer = await fetch(path + query, { headers, signal: stopped.signal })
        expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
        const text = new TextDecoder().decode((await answer.body?.getReader().read())?.value)
        stopped.abort()
        return text
      }
      const { events } = await who.does('rest', messages.sync, { room, after_seq: message.seq - 1 })
      const written = `id: ${message.seq}\ndata: ${JSON.stringify(events[0])}\n\n`
      expect(await read(`?after_seq=${message.seq - 1}`)).toBe(written)
      expect(await read('?after_seq=0', { 'last-event-id': String(message.seq - 1) })).toBe(written)
      const refused = await fetch(path, { headers: { 'last-event-id': 'nowhere' } })
      expect(refused.status).toBe(400)
    },
  )

  solo('is asked for by `follow=true` alone; without it the answer is a page', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const path = urlOf(room).replace('?follow=true', '')
    const headers = { authorization: `Bearer ${who.token}` }
    for (const query of ['', '?follow=false', '?wait=0'])
      expect((await fetch(path + query, { headers })).headers.get('content-type')).toMatch(/^application\/json/)
    const head = await fetch(urlOf(room), { method: 'HEAD', headers })
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8'])
  })

  solo.each(['1', 'TRUE', 'yes', '', 'true&follow=true'])(
    'is refused where it is asked for by `follow=%s`',
    async (value) => {
      for (const path of ['alpha', 'channel/018f0000-0000-7000-8000-000000000000']) {
        const answer = await fetch(`${server.url}/api/rooms/${path}/events?follow=${value}`)
        expect([answer.status, await answer.json()]).toMatchObject([
          400,
          { error: { code: 'VALIDATION_ERROR', message: expect.stringContaining('follow') } },
        ])
      }
    },
  )

  solo('says every 15 seconds that it is still there, by an empty line', heavy, async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const { head_seq } = await who.does('rest', messages.sync, { room, limit: 1 })
    const stopped = new AbortController()
    const headers = { authorization: `Bearer ${who.token}` }
    const { body } = await fetch(urlOf(room, `&after_seq=${head_seq}`), { headers, signal: stopped.signal })
    const began = performance.now()
    const read = await body?.getReader().read()
    expect(new TextDecoder().decode(read?.value)).toBe('\n')
    expect(performance.now() - began).toBeGreaterThan(13_000)
    stopped.abort()
  })

  solo('is an async iterator of the SDK, which ends with the loop or with why', async () => {
    const who = await follower()
    const room = await channelOf(owner, who)
    const client = createClient({ url: server.url, token: who.token, storage: memoryStorage() })
    const seen: number[] = []
    for await (const { seq } of client.messages.follow({ room })) {
      if (seen.push(seq) === 1) await say(owner, room, 'one more')
      if (seen.length === 3) break
    }
    expect(seen).toEqual([1, 2, 3])
    const ended = (async () => {
      for await (const _event of client.messages.follow({ room, after_seq: 3 })) await say(owner, room, 'never asked')
    })()
    const end = expect(ended).rejects.toMatchObject({ code: 'BANNED' })
    await new Promise((resolve) => setTimeout(resolve, 300))
    await owner.does('rest', moderation.act, { room, action: 'ban', target: who.account })
    await end
    const refused = client.messages.follow({ room })[Symbol.asyncIterator]().next()
    await expect(refused).rejects.toMatchObject({ code: 'BANNED' })
    client.close()
  })
})
