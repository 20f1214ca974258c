import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { EmbeddedStore } from '#server/ports/database/embedded'
import { JOURNAL_FILE } from '#server/ports/database/embedded/journal'
import { freshDirectory } from './directories.ts'
import { type Driver, journalled } from './subjects.ts'

/** A collection whose inserts are journalled, once a first one has made the journal. */
export async function journalledIn(store: EmbeddedStore, name = 'things'): Promise<Driver> {
  await store.db().createCollection(name)
  const collection = journalled(store.db().collection(name) as unknown as Driver)
  await collection.insertMany([{ _id: 'first' }])
  return collection
}

/** What a process that is killed at this moment leaves. */
export async function crashed(directory: string): Promise<string> {
  const copy = await freshDirectory()
  for (const name of ['data.mdb', JOURNAL_FILE])
    if (existsSync(join(directory, name))) copyFileSync(join(directory, name), join(copy, name))
  return copy
}

export const idsIn = async (store: EmbeddedStore, name = 'things'): Promise<string[]> =>
  (await store.db().collection(name).find({}).sort({ _id: 1 }).toArray()).map(({ _id }) => _id)
