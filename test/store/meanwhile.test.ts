import { describe, expect, test } from 'vitest'
import { verifyStore } from '#server/ports/database/copies/index'
import type { EmbeddedStore } from '#server/ports/database/embedded'
import { freshDirectory, linesOf, opened } from './directories.ts'

/** Enough documents for an operation on all of them to need several commits. */
const ROWS = 30_000
const rows = Array.from({ length: ROWS }, (_, at) => ({ _id: `${at}`, n: at, state: 'open', rank: at }))

async function filled(): Promise<{ store: EmbeddedStore; directory: string }> {
  const directory = await freshDirectory()
  const store = await opened(directory)
  await store.db().collection('things').insertMany(rows)
  return { store, directory }
}

/** Resolves when one commit of a long operation is durable and others are to follow. */
async function begun<T>(
  store: EmbeddedStore,
  run: () => Promise<T>,
): Promise<{ end: Promise<T>; isUnderWay(): boolean }> {
  const before = store.counters.commits
  let isDone = false
  const end = run().finally(() => {
    isDone = true
  })
  while (store.counters.commits < before + 2) await new Promise((resolve) => setImmediate(resolve))
  expect(isDone).toBe(false)
  return { end, isUnderWay: () => !isDone }
}

async function expectWhole(directory: string, documents: number, indexes: number): Promise<void> {
  expect(await linesOf(verifyStore(directory))).toEqual([`plaza.things: ${documents} documents, ${indexes} indexes`])
}

describe('while an index is built', () => {
  test.each([
    ['deleted', { deleteOne: { filter: { _id: `${ROWS - 1}` } } }, ROWS - 1],
    ['changed', { updateOne: { filter: { _id: `${ROWS - 1}` }, update: { $set: { n: -1 } } } }, ROWS],
  ])(
    'S1: a duplicate that is %s before the builder reaches it leaves the entry of the other',
    async (_, undo, count) => {
      const { store, directory } = await filled()
      const things = store.db().collection('things')
      const building = await begun(store, () => things.createIndex({ n: 1 }, { unique: true }))
      const double = { updateOne: { filter: { _id: '0' }, update: { $set: { n: ROWS - 1 } } } }
      await things.bulkWrite([double, undo])
      expect(building.isUnderWay()).toBe(true)
      expect(await building.end).toBe('n_1')
      expect(await things.find({ n: ROWS - 1 }).toArray()).toMatchObject([{ _id: '0' }])
      await expect(things.insertOne({ _id: 'double', n: ROWS - 1 })).rejects.toMatchObject({ code: 11000 })
      await expectWhole(directory, count, 2)
    },
  )

  test('S4: no read uses the index before all of its entries are durable', async () => {
    const { store } = await filled()
    const things = store.db().collection('things')
    const last = { state: 'open', rank: ROWS - 1, n: ROWS - 1 }
    for (const fields of [['n'], ['rank'], ['rank', 'n'], ['state', 'rank', 'n']] as const) {
      const known = (await things.indexes()).length
      const building = await begun(store, () => things.createIndex(fields.map((field) => [field, 1])))
      while ((await things.indexes()).length === known) await new Promise((resolve) => setImmediate(resolve))
      expect(await things.findOne(Object.fromEntries(fields.map((field) => [field, last[field]])))).toEqual(rows.at(-1))
      await building.end
    }
  })

  test('a write that was prepared before the build is in the index', async () => {
    const { store, directory } = await filled()
    const things = store.db().collection('things')
    const added = Array.from({ length: 10_000 }, (_, at) => ({ _id: `new ${at}`, n: ROWS + at, state: 'new' }))
    const others = store.db().collection('others')
    const inserting = things.insertMany(added)
    const inserted = others.insertMany(added)
    await others.createIndex({ n: 1 })
    await Promise.all([inserting, inserted, things.createIndex({ n: 1 })])
    for (const each of [things, others]) expect(await each.countDocuments({ n: { $gte: ROWS } })).toBe(10_000)
    expect(await linesOf(verifyStore(directory))).toHaveLength(2)
  })
})

describe('a long operation matches each document again before it changes it', () => {
  const taken = { $set: { state: 'taken' } }

  test('findOneAndUpdate gives each document to one of several callers', async () => {
    const { store } = await filled()
    const things = store.db().collection('things')
    const options = { sort: { rank: 1 as const } }
    const given = await Promise.all([1, 2, 3].map(() => things.findOneAndUpdate({ state: 'open' }, taken, options)))
    expect(given.map((each) => (each as { rank: number }).rank).sort()).toEqual([0, 1, 2])
    expect(await things.countDocuments({ state: 'taken' })).toBe(3)
  })

  test.each([
    ['findOneAndDelete', (things: Things) => things.findOneAndDelete({ state: 'open' }, { sort: { rank: 1 } })],
    ['findOneAndUpdate', (things: Things) => things.findOneAndUpdate({ state: 'open' }, taken, { sort: { rank: 1 } })],
  ])('%s skips documents that no longer match or were deleted', async (_, run) => {
    const { store, directory } = await filled()
    const things = store.db().collection('things')
    const running = await begun(store, () => run(things))
    await things.updateOne({ _id: '0' }, { $set: { state: 'closed' } })
    await things.deleteOne({ _id: '1' })
    await things.updateOne({ _id: '2' }, { $set: { text: 'newer' } })
    expect(running.isUnderWay()).toBe(true)
    expect(await running.end).toEqual({ ...rows[2], text: 'newer' })
    expect(await things.findOne({ _id: '0' })).toMatchObject({ state: 'closed' })
    expect(await things.findOne({ _id: '1' })).toBeNull()
    await expectWhole(directory, await things.countDocuments({}), 1)
  })

  test.each([
    ['updateMany', (things: Things) => things.updateMany({ state: 'open' }, { $set: { state: 'done' } })],
    ['deleteMany', (things: Things) => things.deleteMany({ state: 'open' })],
  ])('%s skips documents that no longer match or were deleted', async (_, run) => {
    const { store, directory } = await filled()
    const things = store.db().collection('things')
    const running = await begun(store, () => run(things))
    await things.updateOne({ _id: '0' }, { $set: { state: 'closed' } })
    await things.deleteOne({ _id: '1' })
    await things.updateOne({ _id: '2' }, { $set: { text: 'newer' } })
    expect(running.isUnderWay()).toBe(true)
    await running.end
    expect(await things.findOne({ _id: '0' })).toMatchObject({ state: 'closed' })
    expect(await things.findOne({ _id: '1' })).toBeNull()
    const changed = await things.findOne({ _id: '2' })
    expect(changed === null || (changed.state === 'done' && changed.text === 'newer')).toBe(true)
    expect(await things.countDocuments({ state: 'open' })).toBe(0)
    await expectWhole(directory, await things.countDocuments({}), 1)
  })
})

test('a long read fails with a clear error when the store is closed during it', async () => {
  const { store } = await filled()
  const things = store.db().collection('things')
  const reads = [
    things.countDocuments({ state: { $ne: 'x' } }),
    things.find({}).toArray(),
    things.find({}).sort({ state: 1 }).toArray(),
    things.distinct('rank'),
  ].map((read) => read.catch((error: unknown) => error))
  await new Promise((resolve) => setImmediate(resolve))
  await store.close()
  for (const answer of await Promise.all(reads)) expect(answer).toEqual(new Error('The embedded store is closed.'))
})

type Things = ReturnType<ReturnType<EmbeddedStore['db']>['collection']>
