// Modes: embedded, two-nodes, two-nodes-redis
import { Socket as Line } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { messages } from '#shared/api/rooms/messages'
import { type RoomEvent, roomEvent, roomEventBatch } from '#shared/api/rooms/room-events'
import { ephemeral, rooms } from '#shared/api/rooms/rooms'
import { serverNotice } from '#shared/kit/connection'
import { roomKey } from '#shared/kit/primitives'
import { openWire } from '#test/hostile/wire'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, groupOf, listenTo, over, type Person, people, person, say, staysSilent } from '#test/support/people'
import { solo } from '#test/support/solo'

let server: Booted
let closing: Promise<void> | null = null
let owner: Person
let member: Person
let other: Person
let outsider: Person
beforeAll(async () => {
  server = await boot()
  ;[owner, member, other, outsider] = await people(server, 'owner', 'member', 'other', 'outsider')
})
const close = () => {
  closing ??= server.close()
  return closing
}
afterAll(close)

const seqs = (events: readonly RoomEvent[]) => events.map(({ seq }) => seq)
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at)

describe('joining', () => {
  test('answers the state of the room and the events that were missed', async () => {
    const room = await channelOf(owner, member)
    const sent = [await say(owner, room, 'one'), await say(owner, room, 'two')]
    const fresh = await member.does('socket', messages.join, { room })
    const head_seq = sent[1]?.seq ?? 0
    expect(fresh).toMatchObject({ room, head_seq, from_seq: head_seq, events: [], complete: true, members_count: 2 })
    expect(fresh.me).toMatchObject({ role: 'member', unread: 2, read_seq: 0, is_muted: false })
    expect(fresh.rules).toMatchObject({ slow_mode_seconds: 0, read_only: false })
    const missed = await member.does('socket', messages.join, { room, after_seq: 1, epoch: fresh.epoch })
    expect(seqs(missed.events)).toEqual(upTo(head_seq, 2))
    const backlog = await member.does('socket', messages.join, { room, backlog: 1 })
    expect(seqs(backlog.events)).toEqual([head_seq])
  })

  solo('is for members; leaving stops events and not membership', async () => {
    const room = await channelOf(owner, member)
    expect((await outsider.refused('socket', messages.join, { room })).code).toBe('NOT_A_MEMBER')
    const group = await groupOf(owner)
    expect((await outsider.refused('socket', messages.join, { room: group })).code).toBe('ROOM_NOT_FOUND')
    const line = await member.line()
    await member.does('socket', messages.join, { room })
    await say(owner, room, 'heard')
    await line.follows(room, ({ type }) => type === 'message.created')
    await member.does('socket', messages.leave, { room })
    await say(owner, room, 'unheard')
    await staysSilent(line, roomEvent)
    await member.does('rest', messages.send, { room, text: 'still a member' })
  })

  solo.each([
    ['another epoch', (head: number) => ({ epoch: 'lost', after_seq: head })],
    ['a seq from the future', (head: number) => ({ after_seq: head + 1 })],
  ])('and catching up with %s say that the client must begin anew', async (_title, cursor) => {
    const room = await channelOf(owner, member)
    const { seq } = await say(owner, room, 'here')
    for (const door of over) {
      const answer = await member.does(door, messages.sync, { room, ...cursor(seq) })
      expect(answer).toMatchObject({ reset: true, events: [], head_seq: seq })
    }
    expect(await member.does('socket', messages.join, { room, ...cursor(seq) })).toMatchObject({
      reset: true,
      head_seq: seq,
    })
  })
})

describe('catching up', () => {
  test.each(over)('over %s turns pages without loss or repeat, and a live event is the same event', async (door) => {
    const room = await channelOf(owner, member)
    const line = await listenTo(member, room, await member.socket('/rooms'))
    for (let at = 0; at < 12; at++) await say(owner, room, `m${at}`)
    await line.follows(room, ({ seq }) => seq === 14)
    const all: RoomEvent[] = []
    for (let complete = false; !complete; ) {
      const page = await member.does(door, messages.sync, { room, after_seq: all.length, limit: 5 })
      all.push(...page.events)
      complete = page.complete
      expect(page.next_after_seq).toBe(all.length)
    }
    expect(seqs(all)).toEqual(upTo(14))
    expect(line.log(room)).toEqual(all.slice(2))
  })

  solo('a page of long messages ends early, so that a slow client can read it, and the next one goes on', async () => {
    const room = await channelOf(owner, member)
    const first = await say(owner, room, 'short')
    const long = '🏛'.repeat(4_900)
    for (let at = 0; at < 40; at++) await say(owner, room, long)
    const last = first.seq + 40
    const joined = await member.does('socket', messages.join, { room, after_seq: first.seq - 1 })
    expect(joined).toMatchObject({ complete: false, head_seq: last })
    const pages = [joined.events]
    for (const door of over) {
      const all: RoomEvent[] = []
      for (let complete = false; !complete; ) {
        const page = await member.does(door, messages.sync, { room, after_seq: first.seq - 1 + all.length })
        complete = page.complete
        pages.push(page.events)
        all.push(...page.events)
        expect(complete).toBe(all.at(-1)?.seq === last)
      }
      expect(seqs(all)).toEqual(upTo(last, first.seq))
    }
    for (const page of pages) expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(300_000)
    expect(pages.length).toBeLessThan(12)
  })

  test('waits for what comes and answers at once, or with nothing when the time is up', async () => {
    const room = await channelOf(owner, member)
    const { seq } = await say(owner, room, 'last')
    const path = `GET /api/rooms/channel/${room.id}/events`
    const started = Date.now()
    const empty = await member.rest(`${path}?after=${seq}&wait=1`)
    expect(empty.body).toMatchObject({ events: [], next_after_seq: seq, complete: true })
    expect(Date.now() - started).toBeGreaterThan(900)
    const waiting = member.rest(`${path}?after=${seq}&wait=15`)
    await new Promise((resolve) => setTimeout(resolve, 200))
    await say(owner, room, 'news')
    const answer = await waiting
    expect(seqs(answer.body.events as RoomEvent[])).toEqual([seq + 1])
    expect(answer.headers.get('etag')).toBe(`"${seq + 1}"`)
  })
})

test('one event comes as `room:event`, what was appended together as one frame of `room:events`', async () => {
  const room = await channelOf(owner, member)
  const line = await listenTo(member, room, await member.socket('/rooms'))
  await say(owner, room, 'alone')
  await line.hears(roomEvent)
  expect(line.all(roomEventBatch)).toEqual([])
  await Promise.all(Array.from({ length: 60 }, (_, at) => say(owner, room, `together ${at}`)))
  await line.follows(room, ({ seq }) => seq === 63)
  const frames = line.all(roomEventBatch)
  expect(frames.length).toBeGreaterThan(0)
  for (const { events } of frames) expect(events.length).toBeGreaterThan(1)
  expect(line.all(roomEvent).length + frames.length).toBeLessThan(61)
  expect(seqs(line.log(room))).toEqual(upTo(63, 3))
})

test('who joins while 200 messages are being sent sees each exactly once, on every node', async () => {
  const room = await channelOf(owner, member, other)
  const writing = Promise.all(Array.from({ length: 200 }, (_, at) => say(at % 2 ? owner : other, room, `${at}`)))
  const readers = await Promise.all(
    server.urls.map(async (url) => {
      const line = await (await person(server, 'member', url)).socket('/rooms')
      const ack = await line.socket.emitWithAck('room:join', { room, after_seq: 0 })
      return { line, snapshot: messages.join.output.parse(ack.data) }
    }),
  )
  await writing
  for (const { line, snapshot } of readers) {
    await line.follows(room, ({ seq }) => seq === 203)
    const caughtUp = snapshot.events.at(-1)?.seq ?? 0
    const live = line.log(room).filter(({ seq }) => seq > caughtUp)
    const page = snapshot.complete ? [] : upTo((live[0]?.seq ?? 204) - 1, caughtUp + 1)
    expect([...seqs(snapshot.events), ...page, ...seqs(live)]).toEqual(upTo(203))
    expect(seqs(line.log(room))).toEqual(upTo(203, line.log(room)[0]?.seq))
  }
})

describe('passing things', () => {
  test.each(over)(
    'typing over %s is told, ends with the message, and is forgotten after six seconds',
    heavy,
    async (door) => {
      const room = await channelOf(owner, member)
      const typist = await person(server, 'member', owner.url)
      const line = await listenTo(owner, room, await owner.socket('/rooms'))
      const types = (is: boolean) =>
        line.hears(ephemeral, ({ typing }) => typing.some(({ id }) => id === typist.account) === is)
      await typist.does(door, messages.typing, { room, on: true })
      await types(true)
      line.forget()
      await typist.does(door, messages.send, { room, text: 'done' })
      await types(false)
      await typist.does(door, messages.typing, { room, on: true })
      await types(true)
      const started = Date.now()
      line.forget()
      await types(true)
      line.forget()
      await line.hears(ephemeral, ({ typing }) => typing.length === 0)
      expect(Date.now() - started).toBeLessThan(9_000)
      expect((await outsider.refused(door, messages.typing, { room, on: true })).code).toBe('NOT_A_MEMBER')
    },
  )

  solo('typing is not told in a kind of room that tells none', async () => {
    const room = { type: 'stream', id: crypto.randomUUID() } as const
    const now = new Date().toISOString()
    await Rooms.create({
      _id: roomKey(room),
      ...room,
      name: 'Live',
      emoji: '📺',
      category: 'stream',
      created_at: now,
      updated_at: now,
    })
    for (const who of [owner, member]) await who.does('rest', rooms.join, { room })
    const line = await listenTo(owner, room, await owner.socket('/rooms'))
    for (const door of over) await member.does(door, messages.typing, { room, on: true })
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    expect(line.all(ephemeral).flatMap(({ typing }) => typing)).toEqual([])
  })

  test('who listens is counted once, however many connections they have, until the last of them is gone', async () => {
    const room = await channelOf(owner, member)
    const guest = await person(server, 'member', owner.url)
    const line = await owner.socket('/rooms')
    const ask = (socket: typeof line.socket, event: string) => socket.emitWithAck(event, { room })
    const online = async () => (await ask(line.socket, 'room:join')).data.online
    expect(await online()).toBe(1)
    const [{ socket: first }, { socket: second }] = [await guest.socket('/rooms'), await guest.socket('/rooms')]
    for (const socket of [first, second, second]) await ask(socket, 'room:join')
    expect(await online()).toBe(2)
    await ask(first, 'room:leave')
    await ask(first, 'room:leave')
    expect(await online()).toBe(2)
    second.close()
    await expect.poll(online).toBe(1)
    await ask(first, 'room:join')
    expect(await online()).toBe(2)
    await guest.does('rest', rooms.leave, { room })
    await expect.poll(online).toBe(1)
  })

  test('an account is as present as its best connection', async () => {
    const one = await person(server, 'present', owner.url)
    const seen = async () => (await owner.does('rest', messages.presenceOf, { addresses: [one.account] }))[one.account]
    expect(await seen()).toBe(false)
    const [first, second] = [await one.socket('/rooms'), await one.socket('/rooms')]
    expect(await seen()).toBe(true)
    await first.socket.emitWithAck('presence:set', { state: 'idle' })
    expect(await seen()).toBe(true)
    await second.socket.emitWithAck('presence:set', { state: 'idle' })
    expect(await seen()).toBe(false)
    await second.socket.emitWithAck('presence:set', { state: 'active' })
    expect(await seen()).toBe(true)
    for (const { socket } of [first, second]) socket.close()
    await expect.poll(seen).toBe(false)
  })
})

solo('somebody who disconnects before they are let in is not counted', async () => {
  const watcher = await person(server, 'watcher', member.url)
  const room = await channelOf(owner, member, watcher)
  for (let times = 0; times < 24; times++) {
    const { socket } = await member.socket('/rooms')
    socket.emit('room:join', { room })
    if (times > 0) await sleep(times / 4)
    socket.disconnect()
  }
  const online = async () => (await watcher.does('socket', messages.join, { room })).online
  await expect.poll(online).toBe(1)
})

solo('what one turn has to say to a connection is one write', async () => {
  const room = await channelOf(owner, member)
  const wire = await openWire(server.url, '/rooms', { token: member.token })
  onTestFinished(() => wire.socket.terminate())
  await wire.ask('room:join', JSON.stringify({ room }))
  const { localPort } = (wire.socket as unknown as { _socket: Line })._socket
  const writes = vi.spyOn(Line.prototype as unknown as { _writev(): void }, '_writev')
  onTestFinished(() => writes.mockRestore())
  const answers = Array.from({ length: 8 }, (_, at) =>
    wire.ask('message:send', JSON.stringify({ room, content: `together ${at}` })),
  )
  for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ ok: true })
  const ours = writes.mock.contexts.filter((line) => (line as unknown as Line).remotePort === localPort)
  expect(ours.length).toBeGreaterThan(0)
  expect(ours.length).toBeLessThanOrEqual(4)
})

solo('a server that closes says so first, and answers what it was asked', async () => {
  const room = await channelOf(owner, member)
  const line = await owner.line()
  const asked = Array.from({ length: 20 }, (_, at) => owner.ask('message:send', { room, text: `last ${at}` }))
  await Promise.race(asked)
  const closed = close()
  const answers = await Promise.all(asked)
  for (const answer of answers)
    if (!answer.ok) expect(answer.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503 })
  expect(answers.filter(({ ok }) => ok).length).toBeGreaterThan(0)
  expect(await line.hears(serverNotice)).toMatchObject({ kind: 'draining', reconnect_after_ms: expect.any(Number) })
  // Anything else than a lost line, and Socket.IO's own client would not come back by itself.
  expect(await line.hears('disconnect')).toMatchObject({ payload: 'transport close' })
  await closed
})
