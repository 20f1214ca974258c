import type { EmbeddedStore } from '#server/ports/database/embedded'
import { longestHold } from './held.ts'

export const ROOMS = 10
const BATCH = 5000
/** The promised limit; a test on a shared machine allows ten times as much. */
export const LONGEST_HOLD_MS = 50

export interface Held {
  what: string
  /** The longest time in milliseconds for which the event loop was blocked. */
  milliseconds: number
  answered: unknown
  expected: unknown
}

type Messages = ReturnType<ReturnType<EmbeddedStore['db']>['collection']>

/** Fills ten rooms with messages, a million or another multiple of 50,000. */
export async function fill(messages: Messages, count: number): Promise<Held> {
  await messages.createIndex({ room: 1, seq: 1 }, { unique: true })
  await messages.createIndex({ room: 1, n: 1 }, { partialFilterExpression: { n: { $exists: true } } })
  const milliseconds = await longestHold(async () => {
    for (let batch = 0; batch < count / BATCH; batch++) await messages.insertMany(rowsOf(batch))
  })
  return { what: 'filling the store', milliseconds, answered: await messages.estimatedDocumentCount(), expected: count }
}

/** Operations that read all messages, or a tenth of them. */
export async function* workOn(messages: Messages, count: number): AsyncGenerator<Held> {
  const tenth = count / 10
  const [first, last] = [{ seq: { $lte: tenth / ROOMS } }, { seq: { $gt: (count - tenth) / ROOMS } }]
  const sorted = () => messages.find({}).sort({ sender: -1, seq: 1 }).limit(2).toArray()
  const refused = () => messages.createIndex({ seen: 1 }, { unique: true }).catch(({ code }) => code)
  const operations: [string, () => Promise<unknown>, unknown][] = [
    ['the number of all', () => messages.estimatedDocumentCount(), count],
    ['a count without an index', () => messages.countDocuments({ text: { $ne: 'x' } }), count],
    ['a search that finds nothing', () => messages.findOne({ text: 'x' }), null],
    ['a sort without an index', sorted, [{ _id: 'm96' }, { _id: 'm193' }]],
    ['the distinct senders', () => messages.distinct('sender'), { length: 97 }],
    ['an update that finds nothing', () => messages.updateOne({ text: 'x' }, { $set: { n: 1 } }), { matchedCount: 0 }],
    ['an update of a tenth', () => messages.updateMany(first, { $set: { seen: true } }), { modifiedCount: tenth }],
    ['a new index', () => messages.createIndex({ sender: 1, seq: 1 }), 'sender_1_seq_1'],
    ['a unique index that cannot be', refused, 11_000],
    ['the deletion of a tenth', () => messages.deleteMany(last), { deletedCount: tenth }],
    ['a count by the new index', () => messages.countDocuments({ sender: { $gte: '' } }), count - tenth],
  ]
  for (const [what, run, expected] of operations) {
    let answered: unknown
    const milliseconds = await longestHold(async () => {
      answered = await run()
    })
    yield { what, milliseconds, answered, expected }
  }
}

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
