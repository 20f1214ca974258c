import { readdir } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { verifyStore } from '#server/ports/database/copies/index'
import { openEmbedded } from '#server/ports/database/embedded'
import { openEnvironment } from '#server/ports/database/embedded/environment'
import { lockDirectory } from '#server/ports/database/embedded/lock'
import { Storage } from '#server/ports/database/embedded/storage'
import { Table } from '#server/ports/database/embedded/table'
import { CATALOG, type Catalog, catalogBytes } from '#server/ports/database/embedded/tallies'
import { catalogOf, freshDirectory, linesOf, opened, tampered } from './directories.ts'

const rows = Array.from({ length: 50 }, (_, at) => ({ _id: `${at}`, n: at }))

async function filled(): Promise<string> {
  const directory = await freshDirectory()
  const store = await openEmbedded(directory)
  await store.db().collection('things').createIndex({ n: 1 })
  await store.db().collection('things').insertMany(rows)
  await store.close()
  return directory
}

const verified = (directory: string) => linesOf(verifyStore(directory))

/** All entries of the file. */
const contentOf = (directory: string) =>
  tampered(directory, (environment) =>
    Array.from(environment.getRange({}), ({ key, value }) => `${key.toString('hex')} ${value.toString('hex')}`),
  )

const storeCatalog = (directory: string, bytes: Buffer | null) =>
  tampered(directory, (environment) => {
    if (bytes) environment.putSync(CATALOG, bytes)
    else environment.removeSync(CATALOG)
  })

/** Checks that the store is refused, twice and by a tool too, and that its file does not change. */
async function expectRefused(directory: string, complaint: RegExp): Promise<void> {
  const before = await contentOf(directory)
  await expect(openEmbedded(directory)).rejects.toThrow(complaint)
  await expect(openEmbedded(directory)).rejects.toThrow(complaint)
  await expect(verified(directory)).rejects.toThrow(complaint)
  expect(await contentOf(directory)).toEqual(before)
  expect(await readdir(directory)).toEqual(['data.mdb', 'lock.mdb'])
}

describe('S3: a directory in a format that this version does not know is refused, and not changed', () => {
  test.each([5, 1000, 1, 2.5, '2', '99', null, {}])('%j', async (format) => {
    const directory = await filled()
    const catalog = await catalogOf(directory)
    const later = { ...catalog, format } as Catalog
    for (const bytes of [catalogBytes(later), Buffer.from(JSON.stringify(later))]) {
      await storeCatalog(directory, bytes)
      await expectRefused(directory, /^The data directory was written by a later version of Plaza: start that version/)
    }
    await storeCatalog(directory, catalogBytes(catalog))
    expect(await verified(directory)).toEqual(['plaza.things: 50 documents, 2 indexes'])
  })
})

test.each([
  [
    '2, whose list of collections is text',
    (catalog: Catalog) => Buffer.from(JSON.stringify({ ...catalog, format: 2 })),
  ],
  ['3, which had no journal', (catalog: Catalog) => catalogBytes({ ...catalog, format: 3 })],
])('the format %s, is taken over, which is said once', async (_, older) => {
  const directory = await filled()
  const catalog = await catalogOf(directory)
  await storeCatalog(directory, older(catalog))
  const store = await openEmbedded(directory)
  expect(store.isTakenOver).toBe(true)
  expect(await store.db().collection('things').find({}).toArray()).toEqual(rows)
  await store.close()
  expect(await catalogOf(directory)).toEqual(catalog)
  const again = await openEmbedded(directory)
  expect(again.isTakenOver).toBe(false)
  await again.close()
  expect(await verified(directory)).toEqual(['plaza.things: 50 documents, 2 indexes'])
})

describe('M27: a store with documents is never opened as empty', () => {
  const complaint = /^The store is damaged: the list of its collections is (missing|not what was written)\. Restore a/

  test('when its list of collections is missing', async () => {
    const directory = await filled()
    await storeCatalog(directory, null)
    await expectRefused(directory, complaint)
  })

  test('when any byte of the list is changed', async () => {
    const directory = await filled()
    const bytes = catalogBytes(await catalogOf(directory))
    for (let at = 0; at < bytes.length; at += 3) {
      const damaged = Buffer.from(bytes)
      damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at)
      await storeCatalog(directory, damaged)
      await expect(openEmbedded(directory), `byte ${at}`).rejects.toThrow(complaint)
    }
    await expectRefused(directory, complaint)
  })

  test('when the list of an older version is truncated', async () => {
    const directory = await filled()
    const text = JSON.stringify({ ...(await catalogOf(directory)), format: 2 })
    for (const torn of ['', text.slice(0, -1), text.slice(0, text.length / 2)]) {
      await storeCatalog(directory, Buffer.from(torn))
      await expectRefused(directory, complaint)
    }
  })

  test('and one without documents is opened as empty', async () => {
    const directory = await freshDirectory()
    await (await openEmbedded(directory)).close()
    expect(await (await opened(directory)).db().collection('things').find({}).toArray()).toEqual([])
  })
})

test('M25: a commit that was rolled back does not change the counts', async () => {
  const directory = await filled()
  const lock = await lockDirectory(directory)
  const storage = new Storage(await openEnvironment(lock), lock)
  await storage.open()
  const things = new Table(storage, 'plaza.things')
  storage.onRollback(() => things.load())
  const failing = storage.write(function* () {
    yield
    // Without a pause, as what was written before one may be committed by itself.
    things.insert(things.prepare({ _id: 'new', n: 1 }))
    Array.from(things.each({ op: '$and', filters: [] }, (found) => things.delete(found)))
    throw new Error('a fault')
  })
  await expect(failing).rejects.toThrow('The write was not stored')
  expect(things.size()).toBe(50)
  await storage.write(function* () {
    things.insert(things.prepare({ _id: 'newer', n: 2 }))
    yield
  })
  expect(things.size()).toBe(51)
  await storage.close()
  await lock.release()
  expect(await verified(directory)).toEqual(['plaza.things: 51 documents, 2 indexes'])
})
