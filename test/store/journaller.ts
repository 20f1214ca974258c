import { appendFileSync } from 'node:fs'
import { openEmbedded } from '#server/ports/database/embedded'
import { Pending } from '#server/ports/database/embedded/pending'

/** Journals rows, and kills itself before or after the step named to it, for the time given; each line of the ledger is an acknowledged row. */
const [directory = '', ledger = '', when = '', step = '', times = ''] = process.argv.slice(2)
const methods = Pending.prototype as unknown as Record<string, (...given: unknown[]) => unknown>
const method = methods[step]
if (!method) throw new Error(`There is no step ${step}.`)
let begun = 0
methods[step] = function (this: Pending, ...given) {
  const isNow = ++begun === Number(times)
  if (isNow && when === 'before') process.kill(process.pid, 'SIGKILL')
  const result = method.apply(this, given)
  if (!isNow) return result
  if (result instanceof Promise) return result.then(() => process.kill(process.pid, 'SIGKILL'))
  return process.kill(process.pid, 'SIGKILL')
}

const store = await openEmbedded(directory)
const things = store.db().collection('things')
await things.createIndex({ n: 1 }, { unique: true })
const from = await things.countDocuments({})
for (let n = from; n < from + 30; n++) {
  await things.insertMany([{ _id: `${n}`, n }], { writeConcern: { j: true } })
  appendFileSync(ledger, `${directory} ${n}\n`)
  if (n % 10 === 9) await things.updateOne({ _id: `${n}` }, { $set: { text: 'changed' } })
}
await store.close()
