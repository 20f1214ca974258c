import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openEmbedded } from '#server/ports/database/embedded'
import { longestHold } from './held.ts'

const ROOMS = 10
const BATCHES = 200
const BATCH = 5000
const LONGEST_HOLD_MS = 50

test('M29: among a million messages a page of 50 reads 50 documents, and nothing holds the loop for 50 ms', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plaza-million-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const store = await openEmbedded(directory)
  onTestFinished(() => store.close())
  const messages = store.db().collection('messages')
  await messages.createIndex({ room: 1, seq: 1 }, { unique: true })
  await messages.createIndex({ room: 1, n: 1 }, { partialFilterExpression: { n: { $exists: true } } })
  const filling = longestHold(async () => {
    for (let batch = 0; batch < BATCHES; batch++) await messages.insertMany(rowsOf(batch))
  })
  expect(await filling).toBeLessThan(LONGEST_HOLD_MS)
  expect(await messages.estimatedDocumentCount()).toBe(ROOMS * 100_000)

  const room = 'room-3'
  const pages = [
    messages
      .find({ room, seq: { $gt: 50_000 } })
      .sort({ seq: 1 })
      .limit(50),
    messages
      .find({ room, seq: { $lt: 50_000 } })
      .sort({ seq: -1 })
      .limit(50),
    messages.find({ room }).sort({ seq: -1 }).limit(50),
    messages.find({ room, seq: { $gt: 400, $lte: 450 } }).sort({ seq: 1 }),
    messages.find({ room, n: { $gte: 100, $lte: 149 } }).sort({ n: -1 }),
    messages
      .find({ room: { $in: ['room-1', 'room-2', 'room-7'] } })
      .sort({ seq: -1 })
      .limit(50),
  ]
  for (const page of pages) {
    const before = store.counters.documentsRead
    expect(await page.toArray()).toHaveLength(50)
    expect(store.counters.documentsRead - before).toBe(50)
  }

  const [first, gone] = [{ seq: { $lte: 10_000 } }, { seq: { $gt: 90_000 } }]
  const operations: [string, () => Promise<unknown>, unknown][] = [
    ['estimatedDocumentCount', () => messages.estimatedDocumentCount(), 1_000_000],
    ['an unindexed count', () => messages.countDocuments({ text: { $ne: 'x' } }), 1_000_000],
    ['a find of nothing', () => messages.findOne({ text: 'x' }), null],
    ['an unindexed sort', () => messages.find({}).sort({ sender: -1, seq: 1 }).limit(2).toArray(), expect.any(Array)],
    ['distinct', () => messages.distinct('sender').then((all) => all.length), 97],
    ['an update of nothing', () => messages.updateOne({ text: 'x' }, { $set: { n: 1 } }), expect.anything()],
    [
      'updateMany',
      () => messages.updateMany(first, { $set: { seen: true } }),
      expect.objectContaining({ modifiedCount: 100_000 }),
    ],
    ['an index', () => messages.createIndex({ sender: 1, seq: 1 }), 'sender_1_seq_1'],
    [
      'a unique index that cannot be',
      () => messages.createIndex({ seen: 1 }, { unique: true }).catch(({ code }) => code),
      11_000,
    ],
    ['deleteMany', () => messages.deleteMany(gone), expect.objectContaining({ deletedCount: 100_000 })],
    ['a count by the new index', () => messages.countDocuments({ sender: { $gte: '' } }), 900_000],
  ]
  for (const [what, run, expected] of operations) {
    let answered: unknown
    const held = await longestHold(async () => {
      answered = await run()
    })
    expect(answered, what).toEqual(expected)
    expect(held, what).toBeLessThan(LONGEST_HOLD_MS)
  }
}, 900_000)

function rowsOf(batch: number): object[] {
  return Array.from({ length: BATCH }, (_, at) => {
    const number = batch * BATCH + at
    const seq = Math.floor(number / ROOMS) + 1
    return {
      _id: `m${number}`,
      room: `room-${number % ROOMS}`,
      seq,
      n: seq,
      sender: `s${number % 97}`,
      text: 'Hello, is anybody there?',
    }
  })
}
