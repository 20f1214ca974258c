import { link, mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compact, verifyStore } from '#server/ports/database/copies/index'
import { openEmbedded } from '#server/ports/database/embedded'
import { freshDirectory, linesOf, opened } from './directories.ts'
import { crashed, journalledIn } from './journalled.ts'

const secret = 'a word that was deleted'
const rows = Array.from({ length: 400 }, (_, at) => ({
  _id: `${at}`,
  n: at,
  text: at % 2 === 0 ? `${secret} ${at} ${'x'.repeat(200)}` : `what stays ${at}`,
}))

async function emptied(): Promise<string> {
  const directory = await freshDirectory()
  const store = await openEmbedded(directory)
  const things = store.db().collection('things')
  await things.createIndex({ text: 1 })
  await things.insertMany(rows)
  for (const { _id, n } of rows.filter((row) => row.n % 2 === 0))
    if (n % 4 === 0) await things.deleteOne({ _id })
    else await things.updateOne({ _id }, { $set: { text: 'taken back' } })
  await store.close()
  return directory
}

/** The files of the directory, and those below it, that have the word. */
async function filesWith(directory: string, word: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const found = await Promise.all(paths.map(async (path) => ((await readFile(path)).includes(word) ? [path] : [])))
  return found.flat()
}
const contentOf = async (directory: string) => {
  const store = await opened(directory)
  const found = await store.db().collection('things').find({}).toArray()
  await store.close()
  return found
}
const namesIn = async (directory: string) => (await readdir(directory)).sort()

test('a compacted store has all that it had, and no byte of what was deleted; the former file is overwritten', async () => {
  const directory = await emptied()
  const before = await contentOf(directory)
  expect(before).toHaveLength(300)
  expect(await filesWith(directory, secret)).not.toEqual([])
  const former = await open(join(directory, 'data.mdb'))
  const sizes = await compact(directory)
  expect(sizes.after).toBeLessThan(sizes.before)
  expect(await filesWith(directory, secret)).toEqual([])
  const left = await former.readFile().finally(() => former.close())
  expect(left.length).toBeGreaterThanOrEqual(sizes.before)
  expect(left.every((byte) => byte === 0)).toBe(true)
  expect(await namesIn(directory)).toEqual(['data.mdb'])
  expect(await linesOf(verifyStore(directory))).toEqual(['plaza.things: 300 documents, 2 indexes'])
  expect(await contentOf(directory)).toEqual(before)
  const store = await opened(directory)
  await store.db().collection('things').insertOne({ _id: 'new', text: 'is taken' })
  expect(await store.db().collection('things').findOne({ text: 'is taken' })).toMatchObject({ _id: 'new' })
})

test('what the journal of a killed server holds is in the compacted store, and the journal is overwritten', async () => {
  const directory = await freshDirectory()
  const things = await journalledIn(await opened(directory))
  await things.insertMany([{ _id: 'second', text: secret }])
  const killed = await crashed(directory)
  const former = await open(join(killed, 'journal'))
  await compact(killed)
  const left = await former.readFile().finally(() => former.close())
  expect(left.length).toBeGreaterThan(0)
  expect(left.every((byte) => byte === 0)).toBe(true)
  expect(await contentOf(killed)).toEqual([{ _id: 'first' }, { _id: 'second', text: secret }])
})

test('a run that was killed leaves the store whole, and the next one clears what it has left', async () => {
  const directory = await emptied()
  const before = await contentOf(directory)
  const left = join(directory, 'compacting-killed')
  await mkdir(left)
  await writeFile(join(left, 'data.mdb'), `half of it: ${secret}`)
  // Killed before the new file has taken its place: this is still the store.
  await link(join(directory, 'data.mdb'), join(left, 'former.mdb'))
  expect(await contentOf(directory)).toEqual(before)
  await compact(directory)
  expect(await namesIn(directory)).toEqual(['data.mdb'])
  expect(await filesWith(directory, secret)).toEqual([])
  expect(await contentOf(directory)).toEqual(before)
})

test('the store of a running server is refused, and so is a directory without one', { timeout: 20_000 }, async () => {
  const directory = await emptied()
  const store = await opened(directory)
  const bytes = await readFile(join(directory, 'data.mdb'))
  await expect(compact(directory)).rejects.toThrow(/is in use by another process/)
  expect((await readFile(join(directory, 'data.mdb'))).equals(bytes)).toBe(true)
  await store.close()
  await rm(directory, { recursive: true })
  await expect(compact(directory)).rejects.toThrow(/There is no store in/)
})
