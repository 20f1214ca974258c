import { appendFileSync } from 'node:fs'
import { openEmbedded } from '#server/ports/database/embedded'

/** Writes concurrently until it is killed; each line of the ledger is an acknowledged write. With `j` most rows are journalled. */
const [directory = '', ledger = '', run = '', sides = '16', writeConcern] = process.argv.slice(2)
const store = await openEmbedded(directory)
const messages = store.db().collection('messages')
const counters = store.db().collection('counters')
await messages.createIndex({ room: 1, seq: 1 }, { unique: true })
await messages.createIndex({ tags: 1 })
await messages.createIndex({ room: 1, n: 1 }, { partialFilterExpression: { n: { $exists: true } } })
console.log('open')
await Promise.all(Array.from({ length: Number(sides) }, (_, side) => write(side)))

async function write(side: number): Promise<void> {
  const room = `room-${run}-${side}`
  for (let seq = 1; ; seq += 3) {
    const rows = [0, 1, 2].map((at) => ({
      _id: `${room}-${seq + at}`,
      room,
      seq: seq + at,
      tags: [`t${seq % 7}`, 'all'],
    }))
    await messages.insertMany(rows, writeConcern === 'j' ? { writeConcern: { j: true } } : {})
    appendFileSync(ledger, rows.map(({ _id }) => `insert ${_id}\n`).join(''))
    if (writeConcern === 'j' && seq % 60 !== 1) continue
    await messages.updateOne({ _id: `${room}-${seq}` }, { $set: { n: seq }, $pull: { tags: 'all' } })
    appendFileSync(ledger, `update ${room}-${seq}\n`)
    await messages.deleteOne({ _id: `${room}-${seq + 1}` })
    appendFileSync(ledger, `delete ${room}-${seq + 1}\n`)
    await counters.updateOne({ _id: room }, { $inc: { count: 1 } }, { upsert: true })
    appendFileSync(ledger, `count ${room}\n`)
  }
}
