import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Members, RoomFacts, Rooms } from '#server/domains/rooms/room-state/model'
import { records } from '#server/domains/rooms/room-state/records'
import { RoomEvents } from '#server/log/model'
import { mongooseLogStore } from '#server/log/store'
import type { Fact, Row } from '#server/log/types'
import { connectEmbedded } from '#server/ports/database/embedded'
import { connectMongo } from '#server/ports/database/mongo'
import type { Database } from '#server/ports/database/port'

const uri = process.env.MONGODB_URI
let database: Database
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plaza-records-'))
  const url = new URL(uri ?? 'mongodb://none')
  url.pathname = `/plaza-records-${process.pid}-${Date.now()}`
  database = uri ? await connectMongo(url.href) : await connectEmbedded(directory)
  await database.buildIndexes()
})

afterAll(async () => {
  await database.close()
  await rm(directory, { recursive: true })
})

const row = (room: string, seq: number, changes: Partial<Row> = {}): Row => ({
  _id: `${room} ${seq}`,
  room,
  seq,
  epoch: 'e',
  type: 'message.created',
  n: seq,
  total: seq,
  sender: 'ada',
  cid: `c${seq}`,
  body: { text: 'hello' },
  target: null,
  until: null,
  reason: null,
  at: 1_000 * seq,
  chain: '',
  chained: false,
  applied_seq: seq,
  v: 1,
  ...changes,
})

const save = (room: string, key: string, seq: number, value: Fact) =>
  records.save(room, [{ key, value, row: row(room, seq) }])
const load = async (room: string, key: string) => (await records.load(room, [key])).get(key)

const person = { user_address: 'ada', joined_at: 'then' }
const moderation = { user_address: 'ada', reason: null }
const kinds: [key: string, older: Fact, newer: Fact][] = [
  ['member:ada', { ...person, role: 'member' }, { ...person, role: 'admin' }],
  [
    'ban:ada',
    { ...moderation, ban_id: 'b1', banned_by: 'bo', banned_at: 'then', banned_until: 'soon' },
    { ...moderation, ban_id: 'b2', banned_by: 'bo', banned_at: 'now', banned_until: null },
  ],
  [
    'mute:ada',
    { ...moderation, mute_id: 'm1', muted_by: 'bo', muted_at: 'then', muted_until: 'soon' },
    { ...moderation, mute_id: 'm2', muted_by: 'bo', muted_at: 'now', muted_until: null },
  ],
  ['rules', { version: 1 }, { version: 2 }],
  ['pins', ['one'], ['two', 'one']],
  ['vote:p:ada', { options: [0] }, { options: [1] }],
]

test.each(kinds)('an older event does not overwrite a newer one: %s', async (key, older, newer) => {
  for (const [seq, value] of [
    [5, newer],
    [4, older],
    [5, older],
  ] as const)
    await save('channel:a', key, seq, value)
  expect(await load('channel:a', key)).toEqual({ value: newer, seq: 5 })
  await save('channel:a', key, 6, older)
  await save('channel:a', key, 3, null)
  expect(await load('channel:a', key)).toEqual({ value: older, seq: 6 })
  await save('channel:a', key, 7, null)
  await save('channel:a', key, 6, newer)
  expect(await load('channel:a', key)).toEqual({ value: null, seq: 7 })
})

test('an older event does not overwrite a newer one: the room', async () => {
  const times = { created_at: 'then', updated_at: 'then' }
  const shape = { type: 'channel', id: 'b', emoji: 'e', category: 'c', ...times }
  await Rooms.create({ _id: 'channel:b', name: 'zero', ...shape })
  const named = async (seq: number, name: string) => {
    const before = (await load('channel:b', 'room'))?.value as { [field: string]: Fact }
    await save('channel:b', 'room', seq, { ...before, name })
  }
  await named(5, 'newer')
  await named(4, 'older')
  expect(await load('channel:b', 'room')).toMatchObject({ value: { name: 'newer' }, seq: 5 })
})

test('an error that prevents a record from being written is thrown, though a retry would succeed', async () => {
  vi.spyOn(Members, 'bulkWrite').mockRejectedValueOnce(new Error('Away.'))
  await expect(save('channel:c', 'member:ada', 1, { ...person, role: 'member' })).rejects.toThrow('Away.')
})

test('P8: the clock of slow mode starts from the last message that was stored', async () => {
  const bo = row('channel:d', 4, { sender: 'bo' })
  await mongooseLogStore(true).insert([row('channel:d', 1), row('channel:d', 2), row('channel:d', 3), bo])
  expect(await load('channel:d', 'clock:ada')).toEqual({ value: { at: 3_000 }, seq: 3 })
  expect(await load('channel:d', 'clock:eve')).toEqual({ value: null, seq: 0 })
})

test('P26: a purge is recorded after the edits that it takes back, so that its removal finds these', async () => {
  await mongooseLogStore(true).insert([row('channel:e', 1)])
  const purge = { from_seq: 1, to_seq: 2, by: 'mod', at: 'then', reason: null }
  const edits = vi.fn()
  vi.spyOn(RoomFacts, 'bulkWrite').mockImplementationOnce((async () => {
    edits((await RoomEvents.findOne({ _id: 'channel:e 1' }).lean())?.body.edits)
  }) as never)
  const edited = { n: 1, body: { text: 'hello again', edits: [2], deleted: null, reply_to: null } }
  await records.save('channel:e', [
    { key: 'purges:ada', value: [purge], row: row('channel:e', 3, { type: 'messages.purged' }) },
    {
      key: 'message:channel:e 1',
      value: edited,
      row: row('channel:e', 2, { type: 'message.edited', body: { id: 'channel:e 1', message: edited } }),
    },
  ])
  expect(edits).toHaveBeenCalledExactlyOnceWith([2])
})
