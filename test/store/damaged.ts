import { openEmbedded } from '#server/ports/database/embedded'

/** Opens a large store whose damage is found while it runs, and prints the answers after that. */
const store = await openEmbedded(process.argv[2] ?? '')
const things = store.db().collection('things')
const cursor = things.find({})
const before = await cursor.next()
const thrown = await new Promise<Error>((resolve) => process.once('uncaughtException', resolve))
const asked: Record<string, () => Promise<unknown>> = {
  find: () => things.find({}).toArray(),
  cursor: () => cursor.next(),
  findOne: () => things.findOne({ _id: 'thing 1' }),
  count: () => things.countDocuments({}),
  number: () => things.estimatedDocumentCount(),
  distinct: () => things.distinct('n'),
  insert: () => things.insertOne({ _id: 'new' }),
  update: () => things.updateOne({ _id: 'thing 1' }, { $set: { n: 1 } }),
  delete: () => things.deleteMany({}),
  index: () => things.createIndex({ other: 1 }),
  sweep: () => store.sweep(),
  backup: () => store.tell('backup').next(),
  verify: () => store.tell('verify').next(),
}
const answers: Record<string, string> = {}
for (const [name, ask] of Object.entries(asked))
  answers[name] = await ask().then(
    () => 'answered',
    (error: Error) => (error instanceof AggregateError ? error.errors[0].message : error.message),
  )
console.log(JSON.stringify({ before: before?._id, thrown: thrown.message, answers }))
process.exit(0)
