import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openEmbedded } from '#server/ports/database/embedded'
import { fill, LONGEST_HOLD_MS, workOn } from './million.ts'

/** `npm run bench` works on a million and measures how long an operation blocks the event loop; this test finds faults, on slow machines too. */
const MESSAGES = 250_000
const CEILING_MS = LONGEST_HOLD_MS * 10

test('M29: among 250,000 messages a page of 50 reads 50 documents, and no operation blocks the event loop', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plaza-million-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const store = await openEmbedded(directory)
  onTestFinished(() => store.close())
  const messages = store.db().collection('messages')
  const filled = await fill(messages, MESSAGES)
  expect(filled.answered).toBe(filled.expected)
  expect(filled.milliseconds).toBeLessThan(CEILING_MS)

  const room = 'room-3'
  const pages = [
    messages
      .find({ room, seq: { $gt: 12_500 } })
      .sort({ seq: 1 })
      .limit(50),
    messages
      .find({ room, seq: { $lt: 12_500 } })
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

  for await (const { what, milliseconds, answered, expected } of workOn(messages, MESSAGES)) {
    if (typeof expected === 'object' && expected !== null) expect(answered, what).toMatchObject(expected)
    else expect(answered, what).toBe(expected)
    expect(milliseconds, what).toBeLessThan(CEILING_MS)
  }
}, 900_000)
