import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { RoomFacts, SearchBlocks } from '#server/domains/rooms/room-state/model'
import { removePurgedSlice } from '#server/domains/rooms/room-state/redaction'
import {
  blockSize,
  blocksWith,
  fileBlock,
  filedBlocks,
  forgetTerms,
  nextBlock,
  termOf,
} from '#server/domains/rooms/room-state/search-index'
import { mongooseLogStore } from '#server/log/store'
import type { Row } from '#server/log/types'
import { connectEmbedded } from '#server/ports/database/embedded'
import { connectMongo } from '#server/ports/database/mongo'
import type { Database } from '#server/ports/database/port'
import { plainMessage } from '#test/support/plain-message'

const uri = process.env.MONGODB_URI
let database: Database
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plaza-search-'))
  const url = new URL(uri ?? 'mongodb://none')
  url.pathname = `/${process.env.PLAZA_TEST_DATABASES ?? 'plaza_test_'}search_${process.pid}`
  database = uri ? await connectMongo(url.href) : await connectEmbedded(directory)
  await database.buildIndexes()
})
afterEach(() => void vi.restoreAllMocks())
afterAll(async () => {
  if (uri) await mongoose.connection.db?.dropDatabase()
  await database.close()
  await rm(directory, { recursive: true })
})

const message = (text: string) => ({ actor: { name: 'ada', role: null }, ...plainMessage(text) })

let rooms = 0
/** A distinct word for each number, of letters without look-alikes. */
const wordOf = (n: number) => [64, 8, 1].map((weight) => 'bcdfghjk'[Math.floor(n / weight) % 8]).join('')

/** A room with messages, each with its own word. */
async function roomWith(count: number): Promise<string> {
  const room = `channel:search-${++rooms}`
  const rows = Array.from({ length: count }, (_, at): Row => {
    const seq = at + 1
    const ids = { _id: `${room} ${seq}`, v: 2, room, seq, epoch: 'e', cid: `c${seq}`, sender: 'ada' }
    const rest = { target: null, until: null, reason: null, at: seq, chain: '', chained: false, applied_seq: seq }
    return { ...ids, ...rest, type: 'message.created', n: seq, total: seq, body: message(wordOf(seq)) }
  })
  await mongooseLogStore(true).insert(rows)
  return room
}
const found = async (room: string, word: string) =>
  (await blocksWith(room, [0], [termOf(word)])).map(({ block }) => block)
const terms = async (room: string, block: number) =>
  (await SearchBlocks.findOne({ room, block }).lean<{ terms: string[] }>())?.terms ?? []

describe('M11: a block of the search', () => {
  test('contains the words of each of its messages, the first and the last', async () => {
    const room = await roomWith(2 * blockSize)
    await nextBlock(room)
    for (const block of [0, 1]) await fileBlock(room, block)
    for (const n of [1, blockSize, blockSize + 1, 2 * blockSize])
      expect([n, await found(room, wordOf(n))]).toEqual([n, [Math.floor((n - 1) / blockSize)]])
  })

  test('that is written twice is counted once', async () => {
    const room = await roomWith(2 * blockSize)
    await nextBlock(room)
    for (const block of [0, 1, 0]) await fileBlock(room, block)
    expect(await filedBlocks(room)).toBe(2)
  })

  test.each([1, blockSize])(
    'drops its words when message %s is deleted, and its messages are then searched directly',
    async (n) => {
      const room = await roomWith(2 * blockSize)
      for (const block of [0, 1]) await fileBlock(room, block)
      await forgetTerms(room, [n])
      expect([await terms(room, 0), (await terms(room, 1)).length]).toEqual([['*'], blockSize])
    },
  )

  test('does not get words of messages that were deleted while it was written', async () => {
    const room = await roomWith(blockSize)
    const update = SearchBlocks.updateOne.bind(SearchBlocks) as (...given: object[]) => Promise<unknown>
    vi.spyOn(SearchBlocks, 'updateOne').mockImplementation((async (filter: object, ...rest: object[]) => {
      if ('claim' in filter) await forgetTerms(room, [1])
      return update(filter, ...rest)
    }) as never)
    await fileBlock(room, 0)
    expect(await terms(room, 0)).toEqual(['*'])
  })

  test('drops its words when an interrupted purge is repeated', async () => {
    const room = await roomWith(blockSize)
    const _id = `${room}|purges:ada`
    const value = [{ from_seq: 1, to_seq: 5, by: 'mod', at: 'then', reason: null }]
    const open = { room, applied_seq: blockSize + 1, is_active: true, value, is_open: true }
    const purge = async () => {
      await RoomFacts.updateOne({ _id }, { $set: open, $unset: { done_to: '' } }, { upsert: true })
      return removePurgedSlice(room, 'ada')
    }
    await purge()
    // The state after the process died before the words were dropped.
    await SearchBlocks.updateOne(
      { _id: `${room}|0` },
      { $set: { room, block: 0, segment: 0, terms: [wordOf(1)] } },
      { upsert: true },
    )
    await purge()
    expect(await terms(room, 0)).toEqual(['*'])
  })
})
