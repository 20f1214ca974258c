// Modes: embedded, two-nodes-redis
import { io } from 'socket.io-client'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { App } from '#server/app'
import { memberLeft } from '#server/domains/rooms/room-state/events/people'
import { giveUpMembership } from '#server/domains/rooms/room-state/membership'
import { actorOf } from '#server/domains/rooms/room-state/standing'
import { Streams } from '#server/domains/streams/streams/model'
import type { View } from '#server/log/types'
import { fakeVideo } from '#server/ports/video/fake'
import { wholeEvent } from '#shared/api/rooms/lean'
import { messages } from '#shared/api/rooms/messages'
import type { LeanEvent } from '#shared/api/rooms/room-events'
import { rooms } from '#shared/api/rooms/rooms'
import { streamChatClosed, streamRoomEvent, streamStateChanged } from '#shared/api/streams/stream-events'
import { streams } from '#shared/api/streams/streams'
import { type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { follow, type Line } from '#test/support/line'
import {
  channelOf,
  listenTo,
  moderates,
  outcomeOf,
  over,
  type Person,
  person,
  type Refusal,
  say,
} from '#test/support/people'
import { solo } from '#test/support/solo'
import { bodyOf, call, connect } from '#test/support/wallet'

let server: Booted
let named = 0
const someone = () => person(server, `chatting ${++named}`)
const lines: Line[] = []
beforeAll(async () => {
  server = await boot({ services: { video: fakeVideo() } })
})
afterEach(() => {
  for (const { socket } of lines.splice(0)) socket.close()
})
afterAll(() => server.close())

/** A stream of somebody new, with its room. */
async function opened() {
  const owner = await someone()
  const { stream } = await owner.does('rest', streams.create, { title: 'Morning' })
  return { owner, id: stream.id, room: { type: 'stream' as const, id: stream.id } }
}
async function guest(): Promise<Line> {
  const line = follow(connect(server.url, '/streams', null))
  lines.push(line)
  await line.hears('session:ready')
  return line
}
type Acked = { ok: boolean; data?: { head_seq: number; epoch: string }; error?: { code: string } }
const ask = ({ socket }: Line, event: string, stream_id: string): Promise<Acked> =>
  socket.timeout(15_000).emitWithAck(event, { stream_id })
async function listening(id: string, line: Promise<Line> | Line = guest()): Promise<Line> {
  const own = await line
  expect(await ask(own, 'stream:listen', id)).toMatchObject({ ok: true })
  return own
}
/** Earlier events of a connection have arrived after this. */
const settled = (line: Line, id: string) => ask(line, 'stream:public', id)
const texts = (line: Line) =>
  line.frames.map(({ payload }) => JSON.stringify(payload)).filter((text) => text.includes('"content"'))
const rule = (owner: Person, room: { type: 'stream'; id: string }, read_access: 'everyone' | 'signed_in' | 'members') =>
  moderates(owner, { room, action: 'rules', patch: { rules: { read_access } } })

describe('the chat of a stream, told to those outside its room', () => {
  test('is what members are told, each event once and in its place, to guests and to who is signed in', async () => {
    const { owner, id, room } = await opened()
    const inside = await listenTo(owner, room)
    const line = await guest()
    const { data } = await ask(line, 'stream:listen', id)
    const stranger = await listening(id, (await someone()).line('/streams'))
    const first = await say(owner, room, 'one')
    const second = await say(owner, room, 'two')
    await owner.does('socket', messages.edit, { room, id: first.id, text: 'one, again' })
    await owner.does('socket', messages.react, { room, id: first.id, emoji: '👍' })
    const { seq } = await owner.does('rest', messages.remove, { room, id: second.id })
    const answer = call(server.url, `GET /api/rooms/stream/${id}/events?after_seq=${data?.head_seq}`)
    const read = messages.sync.output.parse(await bodyOf(answer)).events
    const placed = (events: readonly { seq: number; type: string }[]) => events.map((event) => [event.seq, event.type])
    for (const told of [line, stranger]) {
      await expect.poll(() => told.log(room).at(-1)?.seq, { timeout: 20_000 }).toBe(seq)
      expect(placed(told.log(room))).toEqual(placed(read))
      expect(placed(told.log(room))).toEqual(
        placed(inside.log(room).filter((event) => event.seq > (data?.head_seq ?? 0))),
      )
    }
    expect(line.log(room)[0]).toMatchObject({ epoch: data?.epoch, data: { message: { content: 'one' } } })
    expect(line.log(room)[2]).toMatchObject({ data: { message: { content: 'one, again' } } })
  })

  solo('is told in the form of protocol 2 to a connection that speaks it', async () => {
    const { owner, id, room } = await opened()
    const lean = io(`${server.url}/streams`, { transports: ['websocket'], auth: { protocol: 2 }, forceNew: true })
    const told: LeanEvent[] = []
    lean.on(streamRoomEvent.name, (event: LeanEvent) => told.push(event))
    expect(await lean.timeout(15_000).emitWithAck('stream:listen', { stream_id: id })).toMatchObject({ ok: true })
    const line = await listening(id)
    await say(owner, room, 'in few bytes')
    await expect.poll(() => told.length, { timeout: 20_000 }).toBe(1)
    const event = await line.hears(streamRoomEvent)
    expect(told[0]?.room).toBe(`stream:${id}`)
    expect(wholeEvent(told[0] as LeanEvent, '')).toEqual(event)
    lean.close()
  })

  solo('says not by whom, on whom and why a moderator acted', async () => {
    const { owner, id, room } = await opened()
    const loud = await someone()
    await loud.does('rest', streams.say, { id, message: 'loud' })
    const line = await listening(id)
    const { message } = await loud.does('rest', messages.send, { room, text: 'louder' })
    const why = 'a reason for members'
    await moderates(owner, { room, action: 'delete', message_id: message.id, reason: why })
    await moderates(owner, { room, action: 'ban', target: loud.account, reason: why })
    const ban = await line.follows(room, ({ type }) => type === 'moderation.applied')
    expect(ban).toMatchObject({ actor: { id: '' }, data: { target: { id: '' }, reason: null } })
    const [deleted] = line.log(room).filter(({ type }) => type === 'message.deleted')
    expect(deleted).toMatchObject({ actor: { id: '' }, data: { id: message.id, deleted_by: '', reason: null } })
    expect(JSON.stringify(line.frames)).not.toContain(why)
  })
})

describe('nobody is told what they may not read', () => {
  solo('of another room, nor after they have left, nor of what was refused', async () => {
    const { owner, id, room } = await opened()
    const other = await opened()
    const channel = await channelOf(owner)
    const [left, gone, stays] = [await listening(id), await listening(id), await listening(id)]
    expect(await ask(left, 'stream:unlisten', id)).toMatchObject({ ok: true })
    expect(await ask(gone, 'stream:unwatch', id)).toMatchObject({ ok: true })
    await moderates(owner, { room, action: 'word_add', patch: { word: 'forbidden', word_action: 'block' } })
    const loud = await someone()
    await loud.does('rest', streams.say, { id, message: 'hello' })
    expect(await loud.refused('socket', messages.send, { room, text: 'a forbidden thing' })).toMatchObject({
      code: 'BLOCKED_WORD',
    })
    await say(other.owner, other.room, 'elsewhere')
    await say(owner, channel, 'in a channel')
    await say(owner, room, 'the last word')
    await stays.follows(room, (event) => JSON.stringify(event.data).includes('the last word'))
    for (const line of [left, gone, stays]) await settled(line, id)
    expect(texts(left)).toEqual([])
    expect(texts(gone)).toEqual([])
    expect(
      stays.log(room).flatMap(({ data }) => ('message' in data && data.message ? [data.message.content] : [])),
    ).toEqual(['hello', 'the last word'])
    expect(stays.log(other.room)).toEqual([])
    expect(JSON.stringify(stays.frames)).not.toContain('forbidden')
    expect(JSON.stringify(stays.frames)).not.toContain('in a channel')
  })

  solo('once its rules close the room to them, and are told that it is closed', async () => {
    const { owner, id, room } = await opened()
    const inside = await listenTo(owner, room)
    const line = await listening(id)
    const stranger = await listening(id, (await someone()).line('/streams'))
    await rule(owner, room, 'signed_in')
    expect(await line.hears(streamChatClosed)).toEqual({ stream_id: id, code: 'UNAUTHORIZED' })
    await say(owner, room, 'for accounts')
    await stranger.follows(room, ({ type }) => type === 'message.created')
    await rule(owner, room, 'members')
    expect(await stranger.hears(streamChatClosed)).toEqual({ stream_id: id, code: 'NOT_A_MEMBER' })
    const { seq } = await say(owner, room, 'for members')
    await inside.follows(room, (event) => event.seq === seq)
    for (const told of [line, stranger]) await settled(told, id)
    expect(texts(line)).toEqual([])
    expect(JSON.stringify(stranger.frames)).not.toContain('for members')
    expect(await ask(line, 'stream:listen', id)).toMatchObject({ ok: false, error: { code: 'UNAUTHORIZED' } })
    expect(await ask(stranger, 'stream:listen', id)).toMatchObject({ ok: false, error: { code: 'NOT_A_MEMBER' } })
    await rule(owner, room, 'everyone')
    await listening(id, line)
    await say(owner, room, 'for everybody')
    await line.follows(room, (event) => JSON.stringify(event.data).includes('for everybody'))
  })

  test('once they are banned, and others go on', async () => {
    const { owner, id, room } = await opened()
    const banned = await someone()
    await banned.does('rest', streams.say, { id, message: 'hello' })
    const line = await listening(id, banned.line('/streams'))
    const other = await listening(id)
    await moderates(owner, { room, action: 'ban', target: banned.account })
    expect(await line.hears(streamChatClosed)).toEqual({ stream_id: id, code: 'BANNED' })
    const { seq } = await say(owner, room, 'without them')
    await other.follows(room, (event) => event.seq === seq)
    await settled(line, id)
    expect(JSON.stringify(line.frames)).not.toContain('without them')
    expect(await ask(line, 'stream:listen', id)).toMatchObject({ ok: false, error: { code: 'BANNED' } })
  })

  solo('who leaves the room reads on as everybody does', async () => {
    const { owner, id, room } = await opened()
    const was = await someone()
    await was.does('rest', streams.say, { id, message: 'hello' })
    const line = await listening(id, was.line('/streams'))
    await was.does('rest', rooms.leave, { room })
    await say(owner, room, 'to those outside')
    await line.follows(room, (event) => JSON.stringify(event.data).includes('to those outside'))
  })

  solo.each(over)('its owner cannot leave it over %s, and stays its owner', async (door) => {
    const { owner, id, room } = await opened()
    expect(await owner.refused(door, rooms.leave, { room })).toMatchObject({ code: 'VALIDATION_ERROR' })
    expect((await owner.does('rest', streams.change, { id, title: 'Mine' })).stream.title).toBe('Mine')
  })

  solo.each(over)('is named as its stream, and whoever renames it names the stream, over %s', async (door) => {
    const { owner, id, room } = await opened()
    const viewer = await someone()
    const line = await viewer.line('/streams')
    await viewer.does(line, streams.watch, { stream_id: id })
    await owner.does(door, streams.change, { id, title: 'Evening', description: 'Tea' })
    expect((await owner.does('rest', rooms.get, { room })).room).toMatchObject({ name: 'Evening', description: 'Tea' })
    await owner.does('rest', rooms.update, { room, name: 'Night' })
    expect(await line.hears(streamStateChanged, ({ title }) => title === 'Night')).toMatchObject({ stream_id: id })
    const { stream } = await owner.does(door, streams.get, { id })
    expect(stream).toMatchObject({ title: 'Night', description: 'Tea' })
    await owner.does('rest', rooms.update, { room, description: null })
    await expect.poll(async () => (await owner.does(door, streams.get, { id })).stream.description).toBeNull()
    const names = ['one', 'two', 'three', 'four']
    await Promise.all(
      names.map((name, at) =>
        at % 2
          ? owner.does('rest', rooms.update, { room, name })
          : owner.does(door, streams.change, { id, title: name }),
      ),
    )
    const { name } = (await owner.does('rest', rooms.get, { room })).room
    await expect.poll(async () => (await owner.does(door, streams.get, { id })).stream.title).toBe(name)
  })

  solo.each(over)('is gone with the stream for everybody but moderators, over %s', async (door) => {
    const { owner, id, room } = await opened()
    const [was, other] = [await someone(), await someone()]
    await was.does('rest', streams.say, { id, message: 'secret' })
    // An older version let them go.
    const { node } = server.apps[0] as App
    const actor = await actorOf(node, owner.account)
    const judge = (view: View) => giveUpMembership(view, actor)
    await node.log.act(roomKey(room), { sender: owner.account, makes: memberLeft, judge })
    await owner.does(door, streams.remove, { id })
    await expect
      .poll(async () => outcomeOf(await other.tries(door, messages.history, { room })), { timeout: 10_000 })
      .toBe('404 ROOM_NOT_FOUND')
    for (const who of [was, other, owner]) {
      expect(await who.refused(door, messages.history, { room })).toMatchObject({ code: 'ROOM_NOT_FOUND' })
      expect(await who.refused('rest', rooms.get, { room })).toMatchObject({ code: 'ROOM_NOT_FOUND' })
      expect(await who.refused(door, messages.send, { room, text: 'Hi' })).toMatchObject({ code: 'ROOM_ARCHIVED' })
    }
    expect((await call(server.url, `GET /api/rooms/stream/${id}/messages`)).status).toBe(404)
  })

  solo('a stream that is not there, or has no room, has no chat to listen to', async () => {
    const line = await guest()
    expect(await ask(line, 'stream:listen', 'nobody')).toMatchObject({ error: { code: 'STREAM_NOT_FOUND' } })
    const { id } = await opened()
    const stored = await Streams.findOne({ _id: id }).lean()
    await Streams.create({ ...stored, _id: 'without-a-room' })
    expect(await ask(line, 'stream:listen', 'without-a-room')).toMatchObject({ error: { code: 'ROOM_NOT_FOUND' } })
  })
})

describe('who is signed in writes in the chat of a stream without joining it', () => {
  const judged = (refusal: Refusal) => ({ ...refusal, verdict: { ...refusal.verdict, judged_seq: 0 } })
  const texted = async (room: RoomRef) =>
    (await (await someone()).does('socket', messages.history, { room })).messages.map(({ content }) => content)

  solo.each(over)('and is a member from the first message over %s on', async (door) => {
    const { room } = await opened()
    const fan = await someone()
    expect((await fan.does(door, messages.check, { room, text: 'hello' })).verdict).toMatchObject({ ok: true })
    const key = { room, text: 'hello', client_msg_id: 'first' }
    const { message } = await fan.does(door, messages.send, key)
    expect(await fan.does(door, messages.send, key)).toMatchObject({ message: { id: message.id }, duplicate: true })
    await listenTo(fan, room)
    expect(await texted(room)).toEqual(['hello'])
  })

  solo('over `/streams`, with the seq and the verdict of `/rooms`, and guests do not', async () => {
    const { owner, id, room } = await opened()
    const fan = await someone()
    const line = await listening(id)
    const first = await say(owner, room, 'one')
    const answer = await fan.ask('message:send', { room, text: 'two' }, '/streams')
    expect(answer).toMatchObject({ ok: true, data: { message: { content: 'two', seq: first.seq + 2 } } })
    await line.follows(room, (event) => JSON.stringify(event.data).includes('two'))
    const refused = await line.socket.timeout(15_000).emitWithAck('message:send', { room, text: 'three' })
    expect(refused).toMatchObject({ ok: false, error: { code: 'UNAUTHORIZED', status: 401 } })
    expect(await texted(room)).toEqual(['one', 'two'])
  })

  solo('and what is refused takes nobody in, with one verdict over both doors', async () => {
    const { owner, id, room } = await opened()
    await moderates(owner, { room, action: 'word_add', patch: { word: 'forbidden', word_action: 'block' } })
    const [fan, banned] = [await someone(), await someone()]
    const text = 'a forbidden thing'
    const told = [
      await fan.refused('socket', messages.send, { room, text }),
      await fan.refused('rest', messages.send, { room, text }),
      await fan.refused('rest', streams.say, { id, message: text }),
    ]
    expect(told.map(({ code, verdict }) => [code, verdict?.step])).toEqual(
      told.map(() => ['BLOCKED_WORD', 'blocked_words']),
    )
    expect(judged(told[1] as Refusal)).toEqual(judged(told[0] as Refusal))
    expect(await fan.refused('socket', messages.join, { room })).toMatchObject({ code: 'NOT_A_MEMBER' })
    await moderates(owner, { room, action: 'ban', target: banned.account })
    for (const door of over)
      expect(await banned.refused(door, messages.send, { room, text: 'hello' })).toMatchObject({
        code: 'BANNED',
        verdict: { step: 'ban' },
      })
    await moderates(owner, { room, action: 'rules', patch: { rules: { slow_mode_seconds: 60 } } })
    await fan.does('socket', messages.send, { room, text: 'hello' })
    for (const door of over)
      expect(await fan.refused(door, messages.send, { room, text: 'again' })).toMatchObject({ code: 'SLOW_MODE' })
  })

  solo('but in no other room', async () => {
    const channel = await channelOf(await someone())
    const stranger = await someone()
    for (const door of over)
      expect(await stranger.refused(door, messages.send, { room: channel, text: 'hi' })).toMatchObject({
        code: 'NOT_A_MEMBER',
      })
  })
})

describe('one call to watch a stream', () => {
  const watch = async (line: Line, input: object) =>
    streams.watch.output.parse((await line.socket.timeout(15_000).emitWithAck('stream:watch', input)).data)

  test('answers what was missed of the chat, the rules and what may be sent, and what comes is told', async () => {
    const { owner, id, room } = await opened()
    const { seq } = await say(owner, room, 'known')
    await say(owner, room, 'missed')
    for (const [line, may] of [
      [await guest(), { ok: false, code: 'UNAUTHORIZED' }],
      [await (await someone()).line('/streams'), { ok: true, code: null }],
    ] as const) {
      const answer = await watch(line, { stream_id: id, chat_after_seq: seq })
      expect(answer).toMatchObject({ chat: { from_seq: seq, complete: true }, rules: { slow_mode_seconds: 0 } })
      expect(answer.capabilities?.text).toEqual(may)
      expect(answer.chat?.events.map((event) => event.seq)).toEqual([seq + 1])
      expect(answer.chat?.head_seq).toBe(seq + 1)
      line.forget()
    }
    const line = await guest()
    expect((await watch(line, { stream_id: id })).chat?.events.length).toBeGreaterThan(2)
    expect((await watch(line, { stream_id: id, chat_after_seq: 1_000 })).chat).toMatchObject({ reset: true })
    await say(owner, room, 'news')
    await line.follows(room, (event) => JSON.stringify(event.data).includes('news'))
    expect(await ask(line, 'stream:unwatch', id)).toMatchObject({ ok: true })
    expect(await watch(line, { stream_id: id, chat: false })).toMatchObject({ chat: null, rules: null })
  })

  solo('watches without the chat where that is closed to the caller', async () => {
    const { owner, id, room } = await opened()
    await rule(owner, room, 'members')
    await say(owner, room, 'for members')
    const line = await guest()
    const answer = await watch(line, { stream_id: id, chat_after_seq: 0 })
    expect(answer).toMatchObject({ stream: { id }, chat: null, rules: null, capabilities: null })
    await say(owner, room, 'more for members')
    await settled(line, id)
    expect(texts(line)).toEqual([])
  })
})
