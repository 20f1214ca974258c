import { createHash } from 'node:crypto'
import { openEmbedded } from '#server/ports/database/embedded'

/** Reads each given store in every way, and prints a digest of the answers, or the error. */
for (const directory of process.argv.slice(2)) {
  const told = await answersOf(directory).then(
    (answers) => ({ answers }),
    (error: Error) => ({ error: `${error.name}: ${error.message}` }),
  )
  console.log(JSON.stringify({ directory, ...told }))
}

async function answersOf(directory: string): Promise<string> {
  const store = await openEmbedded(directory, { sweeps: false })
  try {
    const things = store.db().collection('things')
    const hash = createHash('sha256')
    const add = (value: unknown) => hash.update(JSON.stringify(value))
    add(await things.find({}).toArray())
    for (let room = 0; room < 5; room++) add(await things.find({ room }).sort({ seq: -1 }).toArray())
    for (let tag = 0; tag < 7; tag++)
      add(
        await things
          .find({ tags: `t${tag}` })
          .sort({ _id: 1 })
          .toArray(),
      )
    for (let at = 0; at < 2000; at += 7) add(await things.findOne({ _id: `thing ${at}` }))
    return hash.digest('hex')
  } finally {
    await store.close()
  }
}
