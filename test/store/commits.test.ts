import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import mongoose from 'mongoose'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verifyStore } from '#server/ports/database/copies/index'
import { type EmbeddedStore, openEmbedded } from '#server/ports/database/embedded'
import { Commits } from '#server/ports/database/embedded/commits'
import { TREE_BYTES, treeKey } from '#server/ports/database/embedded/keys'
import { LockLost } from '#server/ports/database/embedded/lock'
import { catalogOf, freshDirectory, linesOf, opened, tampered } from './directories.ts'
import { longestHold } from './held.ts'
import { LONGEST_HOLD_MS } from './million.ts'

const failed = (run: Promise<unknown>) => run.then(() => null).catch((error) => error)
const nested = (levels: number): unknown => (levels === 0 ? 1 : { d: nested(levels - 1) })
const listed = (levels: number): unknown => (levels === 0 ? 1 : [listed(levels - 1)])

describe('M21: a document that is too large or too deep is refused, without effect on others', () => {
  const large = 'x'.repeat(17_000_000)
  const many = Array.from({ length: 1_500_000 }, () => 0)
  test.each<[string, object, number]>([
    ['one long text', { large }, 10334],
    ['a long text in two bytes a letter', { large: 'é'.repeat(8_500_000) }, 10334],
    ['many small numbers', { many }, 10334],
    ['bytes', { raw: Buffer.alloc(17_000_000) }, 10334],
    ['101 levels', { deep: nested(100) }, 15],
    ['101 levels of lists', { deep: listed(100) }, 15],
    ['so many levels that the stack would not do', { deep: nested(5000) }, 15],
    ['101 levels around a date', { at: new Date(0), deep: nested(100) }, 15],
  ])('%s', async (_, fields, code) => {
    const store = await opened(await freshDirectory())
    const things = store.db().collection('things')
    const set = { $set: fields }
    const beside = things.insertOne({ _id: 'beside' })
    for (const attempt of [
      () => things.insertOne({ _id: 'a', ...fields }),
      () => things.insertMany([{ _id: 'first' }, { _id: 'a', ...fields }]),
      () => things.updateOne({ _id: 'beside' }, set),
      () => things.updateOne({ _id: 'a' }, set, { upsert: true }),
      () => things.findOneAndUpdate({ _id: 'a' }, set, { upsert: true }),
      () => things.bulkWrite([{ updateOne: { filter: { _id: 'beside' }, update: set } }]),
    ])
      expect(await failed(attempt())).toMatchObject({ code })
    await beside
    await store.sweep()
    expect(await things.find({}).toArray()).toEqual([{ _id: 'beside' }])
  })

  test('the largest and the deepest allowed document are stored and read', async () => {
    const directory = await freshDirectory()
    const store = await opened(directory)
    const documents = [
      { _id: 'deep', deep: nested(99) },
      { _id: 'large', large: 'x'.repeat(16_777_216 - 50) },
    ]
    await store.db().collection('things').insertMany(documents)
    expect(await store.db().collection('things').find({}).toArray()).toEqual(documents)
    await store.close()
    const again = await opened(directory)
    expect(await again.db().collection('things').find({}).toArray()).toEqual(documents)
  })

  test('updates cannot nest deeper either, one path at a time', async () => {
    const things = (await opened(await freshDirectory())).db().collection('things')
    await things.insertOne({ _id: 'a', deep: nested(90) })
    const path = `deep.${'d.'.repeat(89)}d`
    expect(await failed(things.updateOne({ _id: 'a' }, { $set: { [path]: nested(20) } }))).toMatchObject({ code: 15 })
    expect(await things.findOne({ _id: 'a' })).toEqual({ _id: 'a', deep: nested(90) })
  })
})

describe('M22: an index that cannot be built leaves no entries', () => {
  test('neither here nor after reopening, and a later collection shows each row once', async () => {
    const directory = await freshDirectory()
    const store = await opened(directory)
    const things = store.db().collection('things')
    await things.insertMany(
      Array.from({ length: 50 }, (_, at) => ({ _id: `${at}`, n: at % 40, a: [1], b: at === 45 ? [1] : 1 })),
    )
    const names = async () => (await things.indexes()).map((each) => (each as { name: string }).name)
    expect(await failed(things.createIndex({ n: 1 }, { unique: true }))).toMatchObject({
      code: 11000,
      keyValue: { n: 0 },
    })
    expect(await failed(things.createIndex({ a: 1, b: 1 }))).toMatchObject({ code: 171 })
    expect(
      await failed(things.createIndexes([{ key: { b: 1 } }, { key: { n: 1 }, unique: true } as never])),
    ).toMatchObject({ code: 11000 })
    expect(await names()).toEqual(['_id_'])
    await store.close()
    const again = await opened(directory)
    const others = again.db().collection('others')
    await others.insertMany([
      { _id: 'x', n: 1 },
      { _id: 'y', n: 2 },
    ])
    await others.createIndex({ n: 1 })
    expect(await others.find({}).toArray()).toHaveLength(2)
    expect(await others.find({ n: { $gte: 0 } }).toArray()).toHaveLength(2)
    expect(await again.db().collection('things').find({}).toArray()).toHaveLength(50)
  })
})

describe('M24: a bulk write with a forbidden operation is refused before anything is written', () => {
  const write = { insertOne: { document: { _id: 'first' } } }
  test.each<[string, object]>([
    ['an upsert without an _id', { updateOne: { filter: { n: 1 }, update: { $set: { k: 1 } }, upsert: true } }],
    ['an upsert under a number', { updateOne: { filter: { _id: 1 }, update: { $set: { k: 1 } }, upsert: true } }],
    ['an operator', { updateOne: { filter: {}, update: { $rename: { a: 'b' } } } }],
    ['a filter', { deleteOne: { filter: { a: { $regex: 'x' } } } }],
    ['an insert without an _id', { insertOne: { document: {} } }],
    ['an operation', { replaceOne: { filter: {}, replacement: {} } }],
  ])('%s', async (_, operation) => {
    const things = (await opened(await freshDirectory())).db().collection('things')
    for (const ordered of [true, false]) {
      const error = await failed(things.bulkWrite([write, operation], { ordered }))
      expect(error).toBeInstanceOf(mongoose.mongo.MongoInvalidArgumentError)
      expect(await things.countDocuments({})).toBe(0)
    }
  })
})

describe('M25: a write that fails does not fail the others of its commit', () => {
  function grounds(store: Map<string, number>, check: () => void = () => undefined) {
    let undo = new Map(store)
    let isFull = false
    const ground = {
      directory: tmpdir(),
      check,
      transact: async (run: () => void) => {
        undo = new Map(store)
        run()
        if (isFull) throw new Error('no room')
      },
      append: async () => undefined,
      undo: () => {
        store.clear()
        for (const [key, value] of undo) store.set(key, value)
      },
    }
    return {
      commits: new Commits(ground),
      fill: (full: boolean) => {
        isFull = full
      },
    }
  }

  test.each([0, 1, 2])('at any position in the commit (%s)', async (bad) => {
    const store = new Map<string, number>()
    const { commits } = grounds(store)
    const jobs = [0, 1, 2].map((at) =>
      commits.write(function* () {
        store.set(`${at}`, at)
        yield
        if (at === bad) throw new Error('a fault')
        return at
      }),
    )
    const outcomes = await Promise.allSettled(jobs)
    expect(outcomes.map(({ status }) => status)).toEqual([0, 1, 2].map((at) => (at === bad ? 'rejected' : 'fulfilled')))
    expect([...store.keys()].sort()).toEqual(['0', '1', '2'].filter((at) => at !== `${bad}`))
  })

  test('a write over several commits neither rolls others back nor is rolled back', async () => {
    const store = new Map<string, number>()
    const { commits } = grounds(store)
    const long = commits.write(function* () {
      for (let at = 0; at < 60; at++) {
        store.set(`long ${at}`, at)
        const end = performance.now() + 1
        while (performance.now() < end);
        yield
      }
    })
    const others = Array.from({ length: 20 }, (_, at) =>
      failed(
        commits.write(function* () {
          store.set(`short ${at}`, at)
          yield
          if (at % 2) throw new Error('a fault')
        }),
      ),
    )
    await long
    expect((await Promise.all(others)).map((error) => error?.message ?? null)).toEqual(
      Array.from({ length: 20 }, (_, at) => (at % 2 ? 'The write was not stored' : null)),
    )
    expect(store.size).toBe(70)
  })

  /** Each write counts how often it was applied. */
  const counting = (commits: Commits, done: Map<string, number>, key: string) =>
    commits.write(function* () {
      done.set(key, (done.get(key) ?? 0) + 1)
      yield
      return key
    })
  /** A check of the lock that finds this at a time counted from 0: before each commit, and after it. */
  const failingAt = (failing: number, error: Error) => {
    let checks = 0
    return () => {
      if (checks++ === failing) throw error
    }
  }

  test.each([1, 2, 3])('S2: a durable commit is not repeated when its lock cannot be checked (%s)', async (jobs) => {
    const done = new Map<string, number>()
    const unreadable = Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    const { commits } = grounds(new Map(), failingAt(1, unreadable))
    const keys = Array.from({ length: jobs }, (_, at) => `${at}`)
    expect(await Promise.all(keys.map((key) => counting(commits, done, key)))).toEqual(keys)
    expect([...done.values()]).toEqual(keys.map(() => 1))
  })

  test('while the disk refuses commits every write fails, and later ones are stored', async () => {
    const store = new Map<string, number>()
    const { commits, fill } = grounds(store)
    fill(true)
    const write = (key: string) =>
      commits.write(function* () {
        store.set(key, 1)
        yield
      })
    expect((await Promise.allSettled([write('a'), write('b')])).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
    ])
    fill(false)
    await write('c')
    expect([...store.keys()]).toEqual(['c'])
  })
})

describe('M26: a lock that was lost', () => {
  const lost = new LockLost('Taken by another process.')
  const written = () => {
    const done: string[] = []
    const at = { check: 0, lostAt: 1 }
    const ground = {
      directory: tmpdir(),
      check: () => {
        at.check++
        if (at.check >= at.lostAt) throw lost
      },
      transact: async (run: () => void) => {
        run()
        done.push('committed')
      },
      append: async () => undefined,
      undo: () => undefined,
    }
    const commits = new Commits(ground)
    const write = () =>
      commits.write(function* () {
        yield
        return 'written'
      })
    return { at, done, write }
  }

  test('before a commit: nothing is written, and every waiting write fails', async () => {
    const { done, write } = written()
    expect(await Promise.all([failed(write()), failed(write())])).toEqual([lost, lost])
    expect(done).toEqual([])
  })

  test('during a commit: the commit is not acknowledged', async () => {
    const { at, done, write } = written()
    at.lostAt = 2
    expect(await Promise.all([failed(write()), failed(write())])).toEqual([lost, lost])
    expect(done).toEqual(['committed'])
  })
})

describe('M29: a long operation runs in slices', () => {
  const rows = Array.from({ length: 30_000 }, (_, at) => ({ _id: `${at}`, n: at, group: at % 3, tags: [`t${at % 7}`] }))

  test('between which others write and read, and their writes are in the index that is being built', async () => {
    const directory = await freshDirectory()
    const store = await opened(directory)
    const things = store.db().collection('things')
    const held = await longestHold(async () => {
      await things.insertMany(rows)
      const building = things.createIndexes([{ key: { n: 1 }, unique: true } as never, { key: { tags: 1, group: 1 } }])
      let isBuilt = false
      void building.then(() => {
        isBuilt = true
      })
      let meanwhile = 0
      for (let at = 0; !isBuilt; at += 3, meanwhile++) {
        await things.insertOne({ _id: `new ${at}`, n: -1 - at, group: 9, tags: ['new', 't1'] })
        await things.updateOne({ _id: `${29_999 - at}` }, { $set: { n: 100_000 + at, tags: ['changed'] } })
        await things.deleteOne({ _id: `${at}` })
      }
      expect(meanwhile).toBeGreaterThan(3)
    })
    expect(held).toBeLessThan(LONGEST_HOLD_MS * 10)
    await checkIndexes(store)
    await store.close()
    await checkIndexes(await opened(directory))
  })

  test('a unique index fails on a duplicate that is written while it is built, and the write is stored', async () => {
    const store = await opened(await freshDirectory())
    const things = store.db().collection('things')
    await things.insertMany(rows)
    const building = failed(things.createIndex({ n: 1 }, { unique: true }))
    await things.insertOne({ _id: 'double', n: 29_000 })
    expect(await building).toMatchObject({ code: 11000, keyValue: { n: 29_000 } })
    expect(await things.countDocuments({ n: 29_000 })).toBe(2)
    await things.deleteOne({ _id: 'double' })
    expect(await things.createIndex({ n: 1 }, { unique: true })).toBe('n_1')
  })

  test('an index whose builder was killed is removed, and can be built again', async () => {
    const directory = await freshDirectory()
    const store = await opened(directory)
    await store.db().collection('things').insertMany(rows)
    await store.close()
    const builder = new URL('./builder.ts', import.meta.url).pathname
    for (const pause of [0, 30, 80]) {
      const child = spawn(process.execPath, ['--import', 'tsx', builder, directory], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await once(child.stdout, 'data')
      await sleep(pause)
      child.kill('SIGKILL')
      await once(child, 'exit')
      const again = await openEmbedded(directory)
      const things = again.db().collection('things')
      expect(await things.indexes()).toHaveLength(1)
      expect(await things.countDocuments({ n: { $gte: 0 } })).toBe(rows.length)
      await again.close()
    }
    const last = await opened(directory)
    await last
      .db()
      .collection('things')
      .createIndexes([{ key: { n: 1 } }, { key: { tags: 1, group: 1 } }])
    await checkIndexes(last)
  })

  test('S4: an index whose builder was killed when every entry was durable is built again', async () => {
    const some = rows.slice(0, 10_000)
    const directory = await freshDirectory()
    const store = await opened(directory)
    await store.db().collection('things').insertMany(some)
    await store.close()
    const builder = new URL('./builder.ts', import.meta.url).pathname
    const child = spawn(process.execPath, ['--import', 'tsx', builder, directory, '2'], { stdio: 'ignore' })
    const [, signal] = await once(child, 'exit')
    expect(signal).toBe('SIGKILL')
    const { collections } = await catalogOf(directory)
    const { tree = 0, indexes = [], building = [] } = collections['plaza.things'] ?? {}
    expect([indexes.length, building.length]).toEqual([1, 2])
    const sizes = [tree, ...[...indexes, ...building].map((index) => index.tree)].map((each) => [each, some.length])
    expect(await sizesOf(directory)).toEqual(sizes)

    const again = await opened(directory)
    const things = again.db().collection('things')
    expect(await things.indexes()).toHaveLength(1)
    expect(await things.countDocuments({ n: { $gte: 0 } })).toBe(some.length)
    await things.updateOne({ _id: '7' }, { $set: { n: -7 } })
    await things.createIndexes([{ key: { n: 1 } }, { key: { tags: 1, group: 1 } }])
    await checkIndexes(again)
    await again.close()
    const whole = (await catalogOf(directory)).collections['plaza.things']?.indexes.map((index) => index.tree) ?? []
    expect(await sizesOf(directory)).toEqual([tree, ...whole].map((each) => [each, some.length]))
    expect(await linesOf(verifyStore(directory))).toEqual(['plaza.things: 10000 documents, 3 indexes'])
  })

  test('a read of several slices sees one snapshot', async () => {
    const store = await opened(await freshDirectory())
    const things = store.db().collection('things')
    await things.insertMany(rows)
    const reads = [things.countDocuments({ group: { $ne: 5 } }), things.find({ group: { $ne: 5 } }).toArray()] as const
    await things.updateMany({}, { $set: { group: 5 } })
    expect(await reads[0]).toBe(rows.length)
    expect((await reads[1]).filter(({ group }) => group !== 5)).toHaveLength(rows.length)
    expect(await things.estimatedDocumentCount()).toBe(rows.length)
  })

  test('an unindexed sort is stable and right over many runs', async () => {
    const things = (await opened(await freshDirectory())).db().collection('things')
    await things.insertMany(rows)
    const wanted = rows.toSorted((one, other) => other.group - one.group || one.n - other.n).map(({ _id }) => _id)
    const page = async (skip: number, limit: number) =>
      (await things.find({}).sort({ group: -1 }).skip(skip).limit(limit).toArray()).map(({ _id }) => _id)
    expect(await page(0, 0)).toEqual(wanted)
    expect(await page(9_990, 30)).toEqual(wanted.slice(9_990, 10_020))
  })
})

/** The number of keys in each tree that has any, listed in the catalog or not. */
const sizesOf = (directory: string) =>
  tampered(directory, (environment) => {
    const sizes = new Map<number, number>()
    for (const key of environment.getKeys({ start: treeKey(1) })) {
      const tree = key.readUIntBE(0, TREE_BYTES)
      sizes.set(tree, (sizes.get(tree) ?? 0) + 1)
    }
    return [...sizes]
  })

/** Each index of what the tests above write finds what a scan finds. */
async function checkIndexes(store: EmbeddedStore): Promise<void> {
  const things = store.db().collection('things')
  const all = await things.find({}).toArray()
  const ids = (found: { _id: string }[]) => found.map(({ _id }) => _id).sort()
  expect(ids(await things.find({ n: { $gte: -1_000_000 } }).toArray())).toEqual(ids(all))
  for (const tag of ['new', 'changed', 't1', 't6']) {
    const tagged = all.filter(({ tags }) => Array.isArray(tags) && tags.includes(tag))
    expect(ids(await things.find({ tags: tag }).toArray())).toEqual(ids(tagged))
  }
  expect(await things.estimatedDocumentCount()).toBe(all.length)
}

describe('M28: a full disk is reported as such', () => {
  test.skipIf(!canMount())('in a write, which is not stored, and in an opening, which leaves no lock', async () => {
    const mounted = await freshDirectory()
    mount(mounted, '6m')
    onTestFinished(() => unmount(mounted))
    const directory = join(mounted, 'data')
    const store = await openEmbedded(directory)
    const things = store.db().collection('things')
    const stored: string[] = []
    let error: unknown = null
    for (let at = 0; error === null && at < 100; at++) {
      error = await failed(things.insertOne({ _id: `${at}`, text: 'x'.repeat(200_000) }))
      if (error === null) stored.push(`${at}`)
    }
    expect(error).toMatchObject({ code: 'ENOSPC', message: expect.stringContaining('the disk is full (ENOSPC)') })
    expect((await things.find({}).toArray()).map(({ _id }) => _id)).toEqual(stored)
    await store.close()
    await writeFile(join(mounted, 'rest'), Buffer.alloc(8_000_000)).catch(() => undefined)
    const other = join(mounted, 'other')
    await mkdir(other).catch(() => undefined)
    expect(await failed(openEmbedded(other))).toMatchObject({ code: 'ENOSPC' })
    expect(await readdir(other)).not.toContain('lock')
    expect((await readdir(other)).filter((name) => name.startsWith('lock.') && name !== 'lock.mdb')).toEqual([])
    await rm(join(mounted, 'rest'))
    const again = await openEmbedded(directory)
    await again.db().collection('things').deleteMany({})
    await again.db().collection('things').insertOne({ _id: 'later' })
    await again.close()
  })
})

/** Mounts a disk of limited size; false if this user may not mount one. */
function mount(directory: string, size: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory]).status === 0
}
function unmount(directory: string): void {
  spawnSync('umount', [directory])
}

function canMount(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-mount-'))
  const can = mount(directory, '64k')
  if (can) unmount(directory)
  rmSync(directory, { recursive: true })
  return can
}
