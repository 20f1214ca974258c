// Modes: embedded, two-nodes-redis
import { io } from 'socket.io-client'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Streams } from '#server/domains/streams/model'
import { fakeVideo } from '#server/ports/video/fake'
import { wholeEvent } from '#shared/api/lean'
import { messages } from '#shared/api/messages'
import type { LeanEvent } from '#shared/api/room-events'
import { rooms } from '#shared/api/rooms'
import { streamChatClosed, streamRoomEvent, streams } from '#shared/api/streams'
import { type Booted, boot } from '#test/support/boot'
import { follow, type Line } from '#test/support/line'
import { channelOf, listenTo, moderates, type Person, person, say } from '#test/support/people'
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
/** What was told to a connection before this has arrived. */
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

  test('is told in the form of protocol 2 to a connection that speaks it', async () => {
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

  test('says not by whom, on whom and why a moderator acted', async () => {
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
  test('of another room, nor after they have left, nor of what was refused', async () => {
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
    expect(stays.log(room).flatMap(({ data }) => ('message' in data ? [data.message.content] : []))).toEqual([
      'hello',
      'the last word',
    ])
    expect(stays.log(other.room)).toEqual([])
    expect(JSON.stringify(stays.frames)).not.toContain('forbidden')
    expect(JSON.stringify(stays.frames)).not.toContain('in a channel')
  })

  test('once its rules close the room to them, and are told that it is closed', async () => {
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

  test('who leaves the room reads on as everybody does', async () => {
    const { owner, id, room } = await opened()
    const was = await someone()
    await was.does('rest', streams.say, { id, message: 'hello' })
    const line = await listening(id, was.line('/streams'))
    await was.does('rest', rooms.leave, { room })
    await say(owner, room, 'to those outside')
    await line.follows(room, (event) => JSON.stringify(event.data).includes('to those outside'))
  })

  test('a stream that is not there, or has no room, has no chat to listen to', async () => {
    const line = await guest()
    expect(await ask(line, 'stream:listen', 'nobody')).toMatchObject({ error: { code: 'STREAM_NOT_FOUND' } })
    const { id } = await opened()
    const stored = await Streams.findOne({ _id: id }).lean()
    await Streams.create({ ...stored, _id: 'without-a-room' })
    expect(await ask(line, 'stream:listen', 'without-a-room')).toMatchObject({ error: { code: 'ROOM_NOT_FOUND' } })
  })
})
