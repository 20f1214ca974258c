import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectEmbedded } from '#server/ports/database/embedded'
import { connectMongo } from '#server/ports/database/mongo'
import type { Database } from '#server/ports/database/port'

const schema = new mongoose.Schema(
  { _id: String, name: { type: String, unique: true }, tags: [String], raw: Buffer, at: Date, inner: { n: Number } },
  { timestamps: true, strict: 'throw' },
)
const Thing = mongoose.model('Thing', schema)
const directories: string[] = []

async function embedded(): Promise<Database> {
  const directory = await mkdtemp(join(tmpdir(), 'plaza-mongoose-'))
  directories.push(directory)
  return connectEmbedded(directory)
}

const uri = process.env.MONGODB_URI
const databases: [string, () => Promise<Database>][] = [['embedded', embedded]]
if (uri) databases.push(['mongodb', () => connectMongo(uri)])

describe.each(databases)('mongoose on %s', (kind, connect) => {
  let database: Database
  beforeAll(async () => {
    database = await connect()
    await Thing.deleteMany({})
    await database.buildIndexes()
  })
  afterAll(async () => {
    await Thing.deleteMany({})
    await database.close()
    for (const directory of directories) await rm(directory, { recursive: true, force: true })
  })

  test('reports the kind of the database', async () => {
    expect(database).toMatchObject({ kind, alone: kind === 'embedded' })
    await database.ping()
    expect(Math.abs(database.now() - Date.now())).toBeLessThan(1000)
  })

  test('creates, saves, and reads back every type', async () => {
    const at = new Date(1234)
    const created = await Thing.create({
      _id: '1',
      name: 'one',
      tags: ['a'],
      raw: Buffer.from('raw'),
      at,
      inner: { n: 1 },
    })
    created.tags.push('b')
    await created.save()
    const read = await Thing.findById('1').orFail()
    expect(read).toMatchObject({ name: 'one', at, inner: { n: 1 } })
    expect([...read.tags]).toEqual(['a', 'b'])
    expect(read.raw?.toString()).toBe('raw')
    expect(await Thing.findOne({ tags: 'b' }).lean()).toMatchObject({ _id: '1', name: 'one', tags: ['a', 'b'], at })
  })

  test('refuses a second of the same name', async () => {
    await Thing.create({ _id: '2', name: 'two' })
    await expect(Thing.create({ _id: '3', name: 'two' })).rejects.toMatchObject({
      code: 11000,
      keyPattern: { name: 1 },
      keyValue: { name: 'two' },
    })
  })

  test('updates and answers the document after', async () => {
    await Thing.create({ _id: '4', name: 'four' })
    const after = await Thing.findOneAndUpdate(
      { _id: '4', name: { $ne: 'x' } },
      { $set: { name: 'vier' } },
      { returnDocument: 'after' },
    )
    expect(after?.name).toBe('vier')
    const upserted = await Thing.updateOne({ _id: '5' }, { $set: { name: 'five' } }, { upsert: true })
    expect(upserted).toMatchObject({ upsertedId: '5', matchedCount: 0 })
  })

  test('writes in bulk, counts, pages and deletes', async () => {
    const rows = Array.from({ length: 10 }, (_, at) => ({ _id: `r${at}`, name: `row ${at}`, inner: { n: at } }))
    await Thing.insertMany(rows)
    const result = await Thing.bulkWrite([
      { updateOne: { filter: { _id: 'r0' }, update: { $set: { 'inner.n': 90 } } } },
      { deleteOne: { filter: { _id: 'r1' } } },
    ])
    expect(result).toMatchObject({ modifiedCount: 1, deletedCount: 1 })
    expect(await Thing.countDocuments({ 'inner.n': { $gte: 2 } })).toBe(9)
    const page = await Thing.find({ 'inner.n': { $gte: 2 } }, { name: 1 })
      .sort({ 'inner.n': -1 })
      .skip(1)
      .limit(2)
      .lean()
    expect(page).toEqual([
      { _id: 'r9', name: 'row 9' },
      { _id: 'r8', name: 'row 8' },
    ])
    const seen: string[] = []
    for await (const { name } of Thing.find({ _id: { $in: ['r2', 'r3'] } })
      .sort({ _id: 1 })
      .cursor())
      seen.push(String(name))
    expect(seen).toEqual(['row 2', 'row 3'])
    expect(await Thing.deleteMany({ _id: { $gte: 'r' } })).toMatchObject({ deletedCount: 9 })
  })

  test('an unknown field in a filter throws', async () => {
    await expect(Thing.findOne({ nmae: 'x' } as object)).rejects.toThrow('nmae')
  })
})
