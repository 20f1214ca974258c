import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openEmbedded } from '#server/ports/database/embedded'

const ROOMS = 10
const BATCHES = 200
const BATCH = 5000

test('among a million messages, a page of 50 reads 50 documents, whichever way it is turned', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plaza-million-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const store = await openEmbedded(directory)
  onTestFinished(() => store.close())
  const messages = store.db().collection('messages')
  await messages.createIndex({ room: 1, seq: 1 }, { unique: true })
  await messages.createIndex({ room: 1, n: 1 }, { partialFilterExpression: { n: { $exists: true } } })
  for (let batch = 0; batch < BATCHES; batch++) await messages.insertMany(rowsOf(batch))
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
})

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
