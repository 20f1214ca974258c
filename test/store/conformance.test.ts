import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Model } from './model.ts'
import { commands, run } from './operations.ts'
import { answer, type Driver, embeddedSubject, type Subject, subjects } from './subjects.ts'

const people = [
  { _id: 'a', name: 'Ada', age: 36, tags: ['x', 'y'], home: { city: 'London' }, seen: new Date(1000) },
  { _id: 'b', name: 'Bob', age: 17, tags: [], home: { city: 'Paris' }, seen: null },
  {
    _id: 'c',
    name: 'Cy',
    tags: ['y', 'z'],
    scores: [
      { game: 'go', points: 3 },
      { game: 'chess', points: 9 },
    ],
  },
  { _id: 'd', name: '\u{1F600}', age: 36, scores: [{ game: 'go', points: 7 }] },
  { _id: 'e', name: '\uffff', age: -1.5, seen: new Date(5000) },
]

type Case = [title: string, act: (people: Driver) => Promise<unknown>, expected: unknown]
const ids = async (people: Driver, filter: object, sort: Record<string, 1 | -1> = { _id: 1 }) =>
  (await people.find(filter).sort(sort).toArray()).map(({ _id }) => _id).join('')

const cases: Case[] = [
  ['null equals a missing field', (c) => ids(c, { seen: null }), 'bcd'],
  ['$ne null is neither null nor missing', (c) => ids(c, { seen: { $ne: null } }), 'ae'],
  ['$exists tells null from missing', (c) => ids(c, { seen: { $exists: true } }), 'abe'],
  ['a scalar meets any item of an array', (c) => ids(c, { tags: 'y' }), 'ac'],
  ['a range meets only its own type', (c) => ids(c, { age: { $lt: 100 } }), 'abde'],
  ['strings are in UTF-8 order', (c) => ids(c, { name: { $gt: 'Z' } }, { name: 1 }), 'ed'],
  ['a path runs through an array of objects', (c) => ids(c, { 'scores.points': { $gt: 5 } }), 'cd'],
  [
    '$elemMatch wants one item to meet all',
    (c) => ids(c, { scores: { $elemMatch: { game: 'go', points: { $gt: 5 } } } }),
    'd',
  ],
  ['$nor and $nin', (c) => ids(c, { $nor: [{ age: 36 }, { name: { $nin: ['Bob', 'Cy'] } }] }), 'bc'],
  [
    'an array sorts by its least and by its greatest item',
    async (c) => [await ids(c, {}, { tags: 1, _id: 1 }), await ids(c, {}, { tags: -1, _id: 1 })],
    ['bdeac', 'cadeb'],
  ],
  [
    'a projection includes or excludes paths',
    async (c) => [
      await c.findOne({ _id: 'c' }, { projection: { 'scores.game': 1, _id: 0 } }),
      await c.findOne({ _id: 'a' }, { projection: { tags: 0, 'home.city': 0, seen: 0 } }),
    ],
    [{ scores: [{ game: 'go' }, { game: 'chess' }] }, { _id: 'a', name: 'Ada', age: 36, home: {} }],
  ],
  [
    'skip and limit',
    async (c) => (await c.find({}).sort({ _id: -1 }).skip(1).limit(2).toArray()).map(({ _id }) => _id),
    ['d', 'c'],
  ],
  ['distinct takes arrays apart', async (c) => (await c.distinct('tags')).sort(), ['x', 'y', 'z']],
  [
    'an update without effect is matched, not modified',
    (c) =>
      c.updateOne({ _id: 'a' }, { $set: { age: 36 }, $inc: { zero: 0 }, $unset: { zero: 1 } }).catch((e) => e.code),
    40,
  ],
  [
    'a set to the same value modifies nothing',
    (c) => c.updateMany({ age: 36 }, { $set: { age: 36 }, $min: { age: 40 } }).catch((e) => e.code),
    40,
  ],
  [
    '`modifiedCount` counts changed documents only',
    (c) => c.updateMany({}, { $max: { age: 36 } }),
    { acknowledged: true, matchedCount: 5, modifiedCount: 3, upsertedId: null, upsertedCount: 0 },
  ],
  [
    'an upsert inserts the equalities of its filter',
    async (c) => [
      await c.updateOne(
        { _id: 'n', 'home.city': 'Rome', seen: null, age: { $gt: 4 } },
        { $setOnInsert: { new: true }, $inc: { visits: 2 } },
        { upsert: true },
      ),
      await c.findOne({ _id: 'n' }),
    ],
    [
      { acknowledged: true, matchedCount: 0, modifiedCount: 0, upsertedId: 'n', upsertedCount: 1 },
      { _id: 'n', home: { city: 'Rome' }, seen: null, new: true, visits: 2 },
    ],
  ],
  [
    '$push with $each and $slice',
    async (c) =>
      c.findOneAndUpdate(
        { _id: 'a' },
        { $push: { tags: { $each: ['p', 'q'], $slice: -3 } } },
        { returnDocument: 'after', projection: { tags: 1 } },
      ),
    { _id: 'a', tags: ['y', 'p', 'q'] },
  ],
  [
    '$addToSet adds missing elements only',
    async (c) =>
      c.findOneAndUpdate(
        { _id: 'a' },
        { $addToSet: { tags: { $each: ['y', 'w', 'w'] } } },
        { returnDocument: 'after', projection: { tags: 1 } },
      ),
    { _id: 'a', tags: ['x', 'y', 'w'] },
  ],
  [
    '$pull takes a value, a condition or fields',
    async (c) => {
      await c.updateOne({ _id: 'c' }, { $pull: { tags: { $gte: 'z' }, scores: { game: 'go' } } })
      return c.findOne({ _id: 'c' }, { projection: { name: 0 } })
    },
    { _id: 'c', tags: ['y'], scores: [{ game: 'chess', points: 9 }] },
  ],
  [
    'findOneAndUpdate answers the document before, unless told',
    (c) => c.findOneAndUpdate({ age: 36 }, { $inc: { age: 1 } }, { sort: { _id: -1 }, projection: { age: 1 } }),
    { _id: 'd', age: 36 },
  ],
  [
    'findOneAndDelete takes the first of the order',
    async (c) => [(await c.findOneAndDelete({}, { sort: { age: 1, _id: 1 } }))?._id, await c.countDocuments({})],
    ['c', 4],
  ],
  [
    'deleteOne and deleteMany count',
    async (c) => [await c.deleteOne({ age: 36 }), await c.deleteMany({}), await c.deleteMany({})],
    [1, 4, 0].map((deletedCount) => ({ acknowledged: true, deletedCount })),
  ],
  [
    '0 and -0 are one element of a set',
    async (c) => {
      await c.updateOne({ _id: 'a' }, { $set: { list: [-0] } })
      await c.updateOne({ _id: 'a' }, { $addToSet: { list: 0 } })
      return (await c.findOne({ _id: 'a' }))?.list
    },
    [-0],
  ],
  [
    'an upsert with an empty id is reported in the result',
    (c) => c.findOneAndUpdate({ _id: '' }, { $set: { n: 1 } }, { upsert: true, includeResultMetadata: true }),
    { value: null, lastErrorObject: { n: 1, updatedExisting: false, upserted: '' } },
  ],
  ...(['toString', 'constructor', 'valueOf', 'hasOwnProperty'] as const).map(
    (name): Case => [
      `M23: a field that is called ${name} is missing where it is not there`,
      async (c) => {
        await c.createIndex({ [name]: 1, name: 1 }, { unique: true })
        await c.insertOne({ _id: 'f', name: 'Fay', [name]: 'own', list: [{ [name]: 1 }, {}, { x: 1 }] })
        await c.updateOne({ _id: 'f' }, { $pull: { list: { [name]: { $exists: true } } } })
        await c.updateOne({ _id: 'a' }, { $set: { [`home.${name}`]: 'set' }, $inc: { [`counts.${name}`]: 2 } })
        return [
          await ids(c, { [name]: null }),
          await ids(c, { [name]: { $exists: true } }),
          await ids(c, { [name]: { $ne: null } }),
          await ids(c, { [`home.${name}`]: { $exists: true } }),
          await ids(c, { [`scores.${name}`]: { $exists: true } }),
          await ids(c, { list: { $elemMatch: { [name]: null } } }),
          await ids(c, {}, { [name]: -1, _id: 1 }),
          await c.distinct(name),
          await c.findOne({ _id: 'f' }, { projection: { list: 1 } }),
          await c.findOne({ _id: 'f' }, { projection: { [name]: 1, _id: 0 } }),
          await c.findOne({ _id: 'b' }, { projection: { [name]: 0, home: 0 } }),
          (await c.findOne({ _id: 'a' }))?.counts,
        ]
      },
      [
        ...['abcde', 'f', 'f', 'a', '', 'f', 'fabcde'],
        ['own'],
        { _id: 'f', list: [{}, { x: 1 }] },
        { [name]: 'own' },
        { _id: 'b', name: 'Bob', age: 17, tags: [], seen: null },
        { [name]: 2 },
      ],
    ],
  ),
  ...(
    [
      [{ $gte: 5 }, [[2], 'x', null, { b: 1 }]],
      [{ $in: [2, null] }, [[1, 9], 5, 'x', { b: 1 }]],
      [{ $ne: 9 }, [[1, 9]]],
      [{ $eq: 2 }, [[1, 9], 5, 'x', null, { b: 1 }]],
      [{ $gt: 1, $lt: 9 }, ['x', null, { b: 1 }]],
      [{ $elemMatch: { $gte: 9 } }, [[2], 5, 'x', null, { b: 1 }]],
      [{ $exists: true }, []],
    ] as [object, unknown[]][]
  ).map(
    ([condition, left]): Case => [
      `M28: $pull by ${JSON.stringify(condition)} reaches into nested arrays`,
      async (c) => {
        await c.updateOne({ _id: 'a' }, { $set: { list: [[1, 9], [2], 5, 'x', null, { b: 1 }] } })
        await c.updateOne({ _id: 'a' }, { $pull: { list: condition } })
        return (await c.findOne({ _id: 'a' }))?.list
      },
      left,
    ],
  ),
  [
    'M28: on a path through an array, `$ne: null` also matches items without the field',
    async (c) => {
      await c.createIndex({ name: 1 }, { partialFilterExpression: { 'list.x': { $exists: true } } })
      await c.insertMany([
        { _id: 'f', name: 'N', list: [] },
        { _id: 'g', name: 'N', list: [1, 2] },
        { _id: 'h', name: 'N', list: [{ x: 1 }] },
        { _id: 'i', name: 'N', list: [{ x: null }] },
      ])
      return [
        await ids(c, { name: 'N', 'list.x': { $ne: null } }),
        await ids(c, { name: 'N', 'list.x': { $exists: true } }),
      ]
    },
    ['fgh', 'hi'],
  ],
  [
    'M21: an update that makes a document too large is refused, and the document stays',
    async (c) => {
      const half = 'x'.repeat(9_000_000)
      await c.updateOne({ _id: 'a' }, { $set: { half } })
      const refused = [
        await answer(() => c.updateOne({ _id: 'a' }, { $set: { other: half } })),
        await answer(() => c.findOneAndUpdate({ _id: 'a' }, { $push: { list: half } })),
      ]
      return [refused.map((each) => (each as { failed: number }).failed), (await c.find({}).toArray()).length]
    },
    [[10334, 10334], 5],
  ],
  ['$inc of what is no number', (c) => answer(() => c.updateOne({ _id: 'a' }, { $inc: { name: 1 } })), { failed: 14 }],
  [
    'a field within a scalar',
    (c) => answer(() => c.updateOne({ _id: 'a' }, { $set: { 'name.first': 1 } })),
    { failed: 28 },
  ],
  ['the _id stays', (c) => answer(() => c.updateOne({ _id: 'a' }, { $set: { _id: 'z' } })), { failed: 66 }],
]

describe.each(subjects())('%s', (_, open) => {
  let subject: Subject
  let made = 0
  beforeAll(async () => {
    subject = await open()
  })
  afterAll(() => subject.close())

  const fresh = (): Driver => subject.collection(`c${made++}`)

  for (const indexed of [false, true]) {
    test.each(cases)(`${indexed ? 'with indexes' : 'by scan'}: %s`, async (_title, act, expected) => {
      const collection = fresh()
      if (indexed)
        await collection.createIndexes([
          { key: { age: 1, name: -1 } },
          { key: { tags: 1 } },
          { key: { seen: 1 } },
          { key: { 'scores.points': 1 } },
        ])
      await collection.insertMany(people)
      const answered = await act(collection)
      if (typeof expected === 'object' && expected !== null && !Array.isArray(expected))
        expect(answered).toMatchObject(expected)
      else expect(answered).toEqual(expected)
    })
  }

  test('a unique index treats a missing field as null, and its error names the key', async () => {
    const collection = fresh()
    await collection.createIndex({ room: 1, 'by.id': 1 }, { unique: true })
    await collection.insertOne({ _id: '1', room: 'r' })
    const doubled = answer(() => collection.insertOne({ _id: '2', room: 'r', by: null }))
    expect(await doubled).toMatchObject({
      failed: 11000,
      keyPattern: { room: 1, 'by.id': 1 },
      keyValue: { room: 'r', 'by.id': null },
    })
    await collection.insertOne({ _id: '2', room: 'r', by: { id: 'x' } })
    expect(await answer(() => collection.updateOne({ _id: '2' }, { $unset: { by: 1 } }))).toMatchObject({
      failed: 11000,
    })
  })

  test('a partial unique index applies only to documents of its filter', async () => {
    const collection = fresh()
    await collection.createIndex({ user: 1 }, { unique: true, partialFilterExpression: { revoked_at: null } })
    await collection.insertMany([
      { _id: '1', user: 'u', revoked_at: 5 },
      { _id: '2', user: 'u', revoked_at: 6 },
      { _id: '3', user: 'u', revoked_at: null },
    ])
    expect(await answer(() => collection.insertOne({ _id: '4', user: 'u', revoked_at: null }))).toMatchObject({
      failed: 11000,
    })
  })

  test.each([true, false])('insertMany reports which documents failed (ordered: %s)', async (ordered) => {
    const collection = fresh()
    const rows = ['1', '2', '1', '3', '2', '4'].map((_id) => ({ _id }))
    const failures = ordered
      ? [[2, 11000]]
      : [
          [2, 11000],
          [4, 11000],
        ]
    expect(await answer(() => collection.insertMany(rows, { ordered }))).toMatchObject({ failed: 11000, failures })
    expect(await ids(collection, {})).toBe(ordered ? '12' : '1234')
  })

  test.each([true, false])('bulkWrite counts, and numbers its failures and upserts (ordered: %s)', async (ordered) => {
    const collection = fresh()
    const operations = [
      { insertOne: { document: { _id: '1', n: 1 } } },
      { updateOne: { filter: { _id: '2' }, update: { $set: { n: 2 } }, upsert: true } },
      { insertOne: { document: { _id: '1' } } },
      { updateMany: { filter: {}, update: { $inc: { n: 1 } } } },
      { deleteOne: { filter: { n: 2 } } },
    ]
    const answered = await answer(() => collection.bulkWrite(operations, { ordered }))
    expect(answered).toMatchObject({ failed: 11000, failures: [[2, 11000]] })
    expect(answered).toMatchObject({
      result: ordered
        ? { insertedCount: 1, upsertedIds: { 1: '2' }, deletedCount: 0 }
        : { insertedCount: 1, matchedCount: 2, deletedCount: 1 },
    })
  })

  test('a result is a copy', async () => {
    const collection = fresh()
    const given = { _id: '1', list: [1], at: new Date(0), raw: Buffer.from('raw') }
    await collection.insertOne(given)
    given.list.push(2)
    const read = await collection.findOne({ _id: '1' })
    if (Array.isArray(read?.list)) read.list.push(3)
    expect(await collection.findOne({ _id: '1' })).toMatchObject({ list: [1], at: new Date(0) })
    expect(JSON.stringify((await collection.findOne({ _id: '1' }))?.raw)).toBe('"cmF3"')
  })

  test('a cursor returns documents one by one', async () => {
    const collection = fresh()
    await collection.insertMany(people)
    const seen: string[] = []
    for await (const { _id } of collection.find({}).sort({ _id: 1 })) seen.push(_id)
    expect(seen.join('')).toBe('abcde')
    const cursor = collection.find({}).sort({ _id: -1 })
    expect((await cursor.next())?._id).toBe('e')
    await cursor.close()
  })
})

describe('any sequence of operations', () => {
  test.each(subjects())(
    'has the same results on %s as on a naive model',
    async (name, open) => {
      const subject = await open()
      let made = 0
      const property = fc.asyncProperty(commands, async ({ indexes, operations }) => {
        const collection = subject.collection(`model${made++}`)
        const model = new Model(indexes)
        for (const { key, ...options } of indexes) await collection.createIndex(key, options)
        for (const operation of operations) {
          expect(await answer(() => run(collection, operation)), JSON.stringify(operation)).toEqual(
            await answer(() => run(model, operation)),
          )
        }
      })
      // For MongoDB a fixed sample shows that the model is right; the embedded store gets a new random sample each time.
      await fc.assert(property, name === 'MongoDB' ? { numRuns: 30, seed: 1 } : { numRuns: 60 })
      await subject.close()
    },
    120_000,
  )
})

test('a document that leaves the filter of a partial index leaves the index', async () => {
  const subject = await embeddedSubject()
  const collection = subject.collection('bans')
  await collection.createIndex({ user: 1 }, { unique: true, partialFilterExpression: { revoked_at: null } })
  await collection.insertOne({ _id: '1', user: 'u' })
  await collection.updateOne({ _id: '1' }, { $set: { revoked_at: 7 } })
  await collection.insertOne({ _id: '2', user: 'u', revoked_at: null })
  await subject.close()
})

describe('the embedded store refuses unsupported features by name', () => {
  const refused: [string, (c: Driver) => unknown][] = [
    ['$regex', (c) => c.findOne({ a: { $regex: 'x' } })],
    ['$expr', (c) => c.findOne({ $expr: {} })],
    ['$gt with null', (c) => c.findOne({ a: { $gt: null } })],
    ['$eq with an object', (c) => c.findOne({ a: { b: 1 } })],
    ['$rename', (c) => c.updateOne({}, { $rename: { a: 'b' } })],
    ['an update by pipeline', (c) => c.updateOne({}, [{ $set: { a: 1 } }])],
    ['$position', (c) => c.updateOne({}, { $push: { a: { $each: [1], $position: 0 } } })],
    ['arrayFilters', (c) => c.updateOne({}, { $set: { a: 1 } }, { arrayFilters: [] })],
    ['collation', (c) => c.find({}, { collation: { locale: 'de' } }).toArray()],
    ['hint', (c) => c.find({}, { hint: 'a' }).toArray()],
    ['sparse', (c) => c.createIndex({ a: 1 }, { sparse: true })],
    ['an index', (c) => c.createIndex({ a: 'text' })],
    ['Collection.aggregate', async (c) => c.aggregate([])],
    ['Collection.replaceOne', async (c) => c.replaceOne({}, {})],
    ['Collection.watch', async (c) => c.watch()],
    ['_id', (c) => c.insertOne({})],
    ['Map', (c) => c.insertOne({ _id: 'a', a: new Map() })],
    ['"a.b"', (c) => c.insertOne({ _id: 'a', 'a.b': 1 })],
  ]
  test.each(refused)('%s', async (name, act) => {
    const subject = await embeddedSubject()
    const failed = await Promise.resolve(act(subject.collection('c'))).then(
      () => null,
      (error: Error) => error,
    )
    expect(failed?.message).toContain('The embedded store does not support')
    expect(failed?.message).toContain(name)
    await subject.close()
  })
})
