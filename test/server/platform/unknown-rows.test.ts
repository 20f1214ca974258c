// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RoomEvents } from '#server/log/model'
import { messages } from '#shared/api/rooms/messages'
import { type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, over, type Person, person } from '#test/support/people'

let server: Booted
let owner: Person
let member: Person

beforeAll(async () => {
  server = await boot()
  ;[owner, member] = await Promise.all([person(server, 'owner'), person(server, 'member')])
})
afterAll(() => server.close())

/** What a newer server, or a hand in the database, may have left in a log. */
const rows: [string, object][] = [
  ['of a type nobody knows, without an actor', { type: 'room.of_tomorrow', body: {}, v: 3 }],
  ['of a type nobody knows, with what it says', { type: 'room.of_tomorrow', body: { actor: null, x: [1] }, v: 9 }],
  ['without a version', { type: 'room.archived.later', body: { actor: { name: 'x', role: null } } }],
  ['of a message that says nothing', { type: 'message.created', body: {} }],
  ['of a ban without a body', { type: 'moderation.applied', body: {}, target: '0xnobody' }],
  ['of a poll without a poll', { type: 'poll.changed', body: { actor: { name: 'x', role: null } } }],
  ['of an edit of nothing', { type: 'message.edited', body: { actor: null } }],
]

async function add(room: RoomRef, row: object): Promise<number> {
  const head = await RoomEvents.findOne({ room: roomKey(room) })
    .sort({ seq: -1 })
    .lean()
  const { n: _, ...before } = head ?? {}
  const seq = Number(head?.seq) + 1
  const own = { _id: `row ${roomKey(room)} ${seq}`, cid: `row ${seq}`, seq, applied_seq: seq, chained: undefined }
  await RoomEvents.collection.insertOne({ ...before, ...own, ...row } as never)
  return seq
}

describe.each(over)('M46: over %s, a row', (door) => {
  test.each(rows)('%s has its place in a catch-up, and its room goes on', async (_what, row) => {
    const room = await channelOf(owner, member)
    await member.does(door, messages.send, { room, text: 'before' })
    const seq = await add(room, row)
    const { message } = await member.does(door, messages.send, { room, text: 'after' })
    expect(message.seq).toBeGreaterThan(seq)
    for (const who of [owner, member]) {
      const { events, complete } = await who.does(door, messages.sync, { room, after_seq: 0, limit: 200 })
      expect(events.map((event) => event.seq)).toEqual(events.map((_, at) => at + 1))
      expect(complete).toBe(true)
      const shown = events.find((event) => event.seq === seq)
      expect(shown?.data).toEqual({})
      const { messages: found } = await who.does(door, messages.history, { room, limit: 50 })
      expect(found.map(({ content }) => content)).toEqual(['before', 'after'])
    }
    const joined = await owner.ask('room:join', { room, backlog: 10 })
    expect(joined).toMatchObject({ ok: true })
  })
})
