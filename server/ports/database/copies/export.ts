import mongoose from 'mongoose'
import { CopyError, checkSame, createTally, type Sum, type Sums } from '../embedded/sums.ts'
import { documentOf } from '../embedded/values.ts'
import { type EmbeddedStore, openEmbedded } from '../embedded.ts'
import { documentsOf, inBatches, indexesOf, type Written } from './documents.ts'

const batchSize = 500
/** Marks an incomplete target, and that its content is from this export. */
const marker = 'plaza_export'

/**
 * Copies the store of a stopped server to an empty MongoDB database, indexes and all. One that broke off is taken up by running
 * it again; a database that holds anything else is refused.
 */
export async function exportTo(directory: string, uri: string): Promise<Sums> {
  const store = await openEmbedded(directory, { sweeps: false })
  const client = new mongoose.mongo.MongoClient(uri, {
    serverSelectionTimeoutMS: 5_000,
    writeConcern: { w: 'majority', journal: true },
  })
  try {
    const database = client.db()
    await claim(database)
    for (const name of store.db().collectionNames()) await copy(store, database, name)
    const sums = await compare(store, database)
    for (const name of store.db().collectionNames()) await buildIndexes(store, database, name)
    await database.dropCollection(marker)
    return sums
  } finally {
    await client.close()
    await store.close()
  }
}

type Target = ReturnType<InstanceType<typeof mongoose.mongo.MongoClient>['db']>

async function claim(database: Target): Promise<void> {
  const names = (await database.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name)
  const [other] = names.filter((name) => !name.startsWith('system.'))
  if (names.includes(marker)) return
  if (other !== undefined)
    throw new CopyError(`The database ${database.databaseName} is not empty: there is a collection ${other}.`)
  await database.collection<{ _id: string }>(marker).insertOne({ _id: 'unfinished' })
}

async function copy(store: EmbeddedStore, database: Target, name: string): Promise<void> {
  const target = database.collection<Written['document']>(name)
  for await (const batch of inBatches(documentsOf(store, name), batchSize)) {
    const writes = batch.map(({ document: { _id, ...replacement } }) => ({
      replaceOne: { filter: { _id }, replacement, upsert: true },
    }))
    await target.bulkWrite(writes, { ordered: false })
  }
}

/** Both sides are read again, so that what is compared is what is there. */
async function compare(store: EmbeddedStore, database: Target): Promise<Sums> {
  const wanted: Record<string, Sum> = {}
  const found: Record<string, Sum> = {}
  for (const name of store.db().collectionNames()) {
    const [here, there] = [createTally(), createTally()]
    for await (const { encoded } of documentsOf(store, name)) here.add(encoded)
    for await (const document of database.collection(name).find({})) there.add(documentOf(document).bytes.toString())
    wanted[name] = here.sum()
    found[name] = there.sum()
  }
  checkSame(wanted, found)
  return found
}

/** Only now, as an index that lets documents expire would take them from the comparison. */
async function buildIndexes(store: EmbeddedStore, database: Target, name: string): Promise<void> {
  for (const { key, v: _, ...options } of await indexesOf(store, name))
    await database.collection(name).createIndex(key, options)
}
