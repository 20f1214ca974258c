import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { backUp, restore, verifyStore } from '#server/ports/database/copies/index'
import { type EmbeddedStore, openEmbedded } from '#server/ports/database/embedded'
import { JOURNAL_BYTES, JOURNAL_FILE } from '#server/ports/database/embedded/journal'
import { freshDirectory, linesOf, opened } from './directories.ts'
import { crashed, journalledIn } from './journalled.ts'
import { Model } from './model.ts'
import { commands, run } from './operations.ts'
import { answer, type Driver, journalled } from './subjects.ts'

const idsOf = async (things: Pick<Driver, 'find'>, filter: object = {}) =>
  (await things.find(filter).sort({ _id: 1 }).toArray()).map(({ _id }) => _id)
const thingsOf = (store: EmbeddedStore) => store.db().collection('things') as unknown as Driver
const failed = (run: Promise<unknown>) => run.then(() => null).catch((error) => error)

describe('S6: what is journalled is stored', () => {
  test('without a commit, read at once, and there after a crash', async () => {
    const directory = await freshDirectory()
    const store = await opened(directory)
    const things = await journalledIn(store)
    await things.createIndex({ n: 1 })
    const { commits } = store.counters
    for (const n of [3, 1, 2]) await things.insertMany([{ _id: `${n}`, n, list: [n] }])
    const crash = await crashed(directory)
    expect(await idsOf(things)).toEqual(['1', '2', '3', 'first'])
    expect(
      (
        await things
          .find({ n: { $gt: 0 } })
          .sort({ n: -1 })
          .limit(2)
          .toArray()
      ).map(({ n }) => n),
    ).toEqual([3, 2])
    expect(
      (
        await things
          .find({ n: { $gt: 0 } })
          .sort({ list: 1 })
          .skip(1)
          .toArray()
      ).map(({ n }) => n),
    ).toEqual([2, 3])
    expect(await things.findOne({ _id: '2' })).toEqual({ _id: '2', n: 2, list: [2] })
    expect(await things.countDocuments({ n: { $lt: 3 } })).toBe(2)
    expect(await store.db().collection('things').estimatedDocumentCount()).toBe(4)
    expect((await things.distinct('n')).sort()).toEqual([1, 2, 3])
    expect(store.counters.commits).toBe(commits)
    expect(await linesOf(verifyStore(directory))).toEqual(['plaza.things: 4 documents, 2 indexes'])
    expect(await linesOf(verifyStore(crash))).toEqual(['plaza.things: 4 documents, 2 indexes'])
    expect(await idsOf(thingsOf(await opened(crash)))).toEqual(['1', '2', '3', 'first'])
    expect(await readdir(crash)).not.toContain(JOURNAL_FILE)
  })

  test('and put into its collection within a second, and at the end', async () => {
    const directory = await freshDirectory()
    const store = await openEmbedded(directory)
    const things = await journalledIn(store)
    const { commits } = store.counters
    await things.insertMany([{ _id: 'a' }])
    await expect.poll(() => store.counters.commits, { timeout: 1000 }).toBe(commits + 1)
    await things.insertMany([{ _id: 'b' }])
    await store.close()
    expect(await readdir(directory)).toEqual(['data.mdb', 'lock.mdb'])
    expect(await idsOf(thingsOf(await opened(directory)))).toEqual(['a', 'b', 'first'])
  })

  test('a row that is there is refused, as by a commit: one that is pending, and one of a batch', async () => {
    const store = await opened(await freshDirectory())
    const things = await journalledIn(store)
    await things.createIndex({ n: 1 }, { unique: true })
    await things.insertMany([{ _id: 'a', n: 1 }])
    for (const row of [
      { _id: 'a', n: 2 },
      { _id: 'b', n: 1 },
    ])
      expect(await failed(things.insertMany([{ _id: `before ${row.n}`, n: 10 + row.n }, row]))).toMatchObject({
        code: 11000,
      })
    const both = [0, 1].map((at) => failed(things.insertMany([{ _id: `twin ${at}`, n: 20 }])))
    expect((await Promise.all(both)).map((error) => error?.code ?? null)).toEqual([null, 11000])
    expect(
      await failed(
        things.insertMany([
          { _id: 'c', n: 30 },
          { _id: 'd', n: 30 },
        ]),
      ),
    ).toMatchObject({ code: 11000 })
    expect(await idsOf(things)).toEqual(['a', 'before 1', 'before 2', 'c', 'first', 'twin 0'])
    const others = journalled(store.db().collection('others') as unknown as Driver)
    const first = [0, 1].map((n) => failed(others.insertMany([{ _id: 'a', n }])))
    expect((await Promise.all(first)).map((error) => error?.code ?? null)).toEqual([null, 11000])
    expect(await idsOf(others)).toEqual(['a'])
  })

  test('a unique index that is built meanwhile fails by a row that comes twice, and everything is stored', async () => {
    const directory = await freshDirectory()
    const store = await opened(directory)
    const things = await journalledIn(store)
    await things.insertMany(Array.from({ length: 30_000 }, (_, at) => ({ _id: `${at}`, n: at })))
    const building = failed(things.createIndex({ n: 1 }, { unique: true }))
    for (let at = 0; at < 5; at++) await things.insertMany([{ _id: `double ${at}`, n: 29_990 + at }])
    expect(await building).toMatchObject({ code: 11000 })
    await things.insertMany([{ _id: 'later', n: 29_999 }])
    expect(await things.countDocuments({ n: { $gte: 29_990 } })).toBe(16)
    expect(await linesOf(verifyStore(await crashed(directory)))).toEqual(['plaza.things: 30007 documents, 1 indexes'])
  })

  test('a cursor shows each row once, also one that is put into its collection meanwhile', async () => {
    const store = await opened(await freshDirectory())
    const things = await journalledIn(store)
    await things.createIndex({ n: 1 })
    const rows = Array.from({ length: 100 }, (_, n) => ({ _id: `${n}`, n }))
    for (const sort of [{}, { n: 1 }, { n: -1 }] as const) {
      await things.deleteMany({})
      await things.insertMany(rows)
      await things.updateOne({ _id: '0' }, { $set: { m: 1 } })
      for (const n of [-1, 50.5, 200]) await things.insertMany([{ _id: `new ${n}`, n }])
      const seen: string[] = []
      for await (const { _id } of things.find({}).sort(sort))
        if (seen.push(_id) === 1) await things.updateOne({ _id: '0' }, { $set: { m: 2 } })
      const wanted = [...rows.map(({ _id }) => _id), 'new -1', 'new 200', 'new 50.5']
      expect(seen.toSorted(), JSON.stringify(sort)).toEqual(wanted.toSorted())
    }
  })

  test('more than the journal holds, and rows that are larger than it, are stored as well', async () => {
    const directory = await freshDirectory()
    const store = await opened(directory)
    const things = await journalledIn(store)
    const many = Array.from({ length: 2000 }, (_, at) => ({ _id: `many ${at}`, text: 'x'.repeat(at) }))
    await Promise.all(many.map((row) => things.insertMany([row])))
    await things.insertMany([{ _id: 'large', text: 'x'.repeat(2_000_000) }])
    await things.insertMany(many.map((row) => ({ ...row, _id: `again ${row._id}` })))
    expect(await things.countDocuments({})).toBe(4002)
    expect(await linesOf(verifyStore(await crashed(directory)))).toEqual(['plaza.things: 4002 documents, 1 indexes'])
  })

  test('as much as fills the journal, again and again', async () => {
    const directory = await freshDirectory()
    const store = await opened(directory)
    const things = await journalledIn(store)
    const ids: string[] = []
    for (let at = 0; at < 14; at++) {
      ids.push(`${at + 10}`)
      await things.insertMany([{ _id: ids.at(-1) as string, text: 'x'.repeat(200_000) }])
    }
    const crash = await crashed(directory)
    expect((await stat(join(crash, JOURNAL_FILE))).size).toBe(JOURNAL_BYTES)
    expect(await idsOf(thingsOf(await opened(crash)))).toEqual([...ids, 'first'])
  })

  test('a backup of a store that works holds it', async () => {
    const directory = await freshDirectory()
    const things = await journalledIn(await opened(directory))
    await things.insertMany([{ _id: 'a' }])
    const beside = await freshDirectory()
    await backUp(directory, join(beside, 'backup'))
    await restore(join(beside, 'backup'), join(beside, 'restored'))
    expect(await idsOf(thingsOf(await opened(join(beside, 'restored'))))).toEqual(['a', 'first'])
  })

  test('a moment shows it once, also between a commit and the news of it', async () => {
    const directory = await freshDirectory()
    const store = await opened(directory)
    const things = await journalledIn(store)
    await things.insertMany([{ _id: 'a' }])
    const { commits } = store.counters
    const changed = things.updateOne({ _id: 'first' }, { $set: { n: 1 } })
    while (store.counters.commits === commits) await new Promise((resolve) => setImmediate(resolve))
    const end = performance.now() + 50
    while (performance.now() < end);
    const told = linesOf(store.tell('backup'))
    const read = idsOf(things)
    await changed
    expect(
      (await told)
        .join('')
        .split('\n')
        .filter((line) => line.startsWith('{')),
    ).toHaveLength(2)
    expect(await read).toEqual(['a', 'first'])
  })
})

describe('S6: any sequence of operations, with crashes', () => {
  test('leaves what a naive model has', { timeout: 120_000 }, async () => {
    const property = fc.asyncProperty(commands, fc.infiniteStream(fc.nat(5)), async ({ indexes, operations }, dice) => {
      let directory = await freshDirectory()
      let store = await openEmbedded(directory)
      let things = journalled(thingsOf(store))
      const model = new Model(indexes)
      for (const { key, ...options } of indexes) await things.createIndex(key, options)
      for (const operation of operations) {
        expect(await answer(() => run(things, operation)), JSON.stringify(operation)).toEqual(
          await answer(() => run(model, operation)),
        )
        if (dice.next().value !== 0) continue
        const crash = await crashed(directory)
        await store.close()
        directory = crash
        store = await openEmbedded(directory)
        things = journalled(thingsOf(store))
        const all = await things.find({}).sort({ _id: 1 }).toArray()
        expect(all).toEqual(await model.find({}, { sort: { _id: 1 }, skip: 0, limit: 0 }).toArray())
      }
      await store.close()
      await linesOf(verifyStore(directory))
    })
    await fc.assert(property, { numRuns: 40 })
  })
})
