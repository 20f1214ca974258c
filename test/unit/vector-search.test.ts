import mongoose from 'mongoose'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { vectorSearch } from '#server/ports/database/vectors'

type Collection = ReturnType<NonNullable<Parameters<typeof vectorSearch>[1]>>

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => vi.useRealTimers())

/** A collection that answers as MongoDB says it does: with an index that is built first, or without the stages. */
function scripted({ error = null as Error | null, rows = [] as { _id: string; vector: { buffer: Buffer } }[] } = {}) {
  const made: object[] = []
  const asked: Record<string, unknown>[] = []
  const written: object[] = []
  const state = { error, isQueryable: false }
  const collection = {
    aggregate: ([stage = {}]: Record<string, unknown>[]) => ({
      async toArray() {
        asked.push(stage)
        if (state.error) throw state.error
        if ('$listSearchIndexes' in stage) return made.length > 0 ? [{ queryable: state.isQueryable }] : []
        return [{ _id: 'near' }, { _id: 'far' }]
      },
    }),
    createSearchIndex: async (index: object) => void made.push(index),
    find: () => ({ limit: () => ({ toArray: async () => rows.splice(0) }) }),
    bulkWrite: async (writes: object[]) => void written.push(...writes),
  }
  return { collection: () => collection as unknown as Collection, made, asked, written, state }
}

const where = { agent_id: 'one', generation: { $in: ['a', 'b'] }, embedder: 'words' }
const question = { where, vector: Float32Array.of(0.6, 0.8), most: 200 }
const stored = () => ({ _id: 'near', vector: { buffer: Buffer.from(Float32Array.of(0.6, 0.8).buffer) } })
const mongoError = (code: number) => new mongoose.mongo.MongoServerError({ message: 'No', code })

test('a database without the stages is asked once, and never again', async () => {
  const { collection, asked, made } = scripted({ error: mongoError(31082) })
  const { nearest } = vectorSearch('chunks', collection)
  for (let time = 0; time < 3; time++) expect(await nearest(question)).toBeNull()
  expect(asked).toHaveLength(1)
  expect(made).toEqual([])
})

test('one that is away is asked again', async () => {
  const script = scripted({ error: new mongoose.mongo.MongoNetworkError('Gone') })
  const { nearest } = vectorSearch('chunks', script.collection)
  expect(await nearest(question)).toBeNull()
  vi.advanceTimersByTime(31_000)
  expect(await nearest(question)).toBeNull()
  expect(script.asked).toHaveLength(2)
})

test('an index is made, filled and waited for, and then asked exactly, for these fields alone', async () => {
  const script = scripted({ rows: [stored()] })
  const { nearest } = vectorSearch('chunks', script.collection)
  expect(await nearest(question)).toBeNull()
  const filters = ['agent_id', 'generation', 'embedder'].map((path) => ({ type: 'filter', path }))
  const vectors = { type: 'vector', path: 'nearby', numDimensions: 2, similarity: 'dotProduct' }
  expect(script.made).toEqual([
    { name: 'nearby_2', type: 'vectorSearch', definition: { fields: [vectors, ...filters] } },
  ])
  vi.advanceTimersByTime(31_000)
  expect(await nearest(question)).toBeNull()
  script.state.isQueryable = true
  vi.advanceTimersByTime(31_000)
  expect(await nearest(question)).toBeNull()
  const nearby = mongoose.mongo.Binary.fromFloat32Array(question.vector)
  expect(script.written).toEqual([{ updateOne: { filter: { _id: 'near' }, update: { $set: { nearby } } } }])
  vi.advanceTimersByTime(61_000)
  expect(await nearest(question)).toEqual(['near', 'far'])
  expect(script.asked.at(-1)).toEqual({
    $vectorSearch: {
      index: 'nearby_2',
      path: 'nearby',
      queryVector: [...question.vector],
      filter: where,
      exact: true,
      limit: 200,
    },
  })
  const changed = { ...question, where: { ...where, generation: { $in: ['a', 'c'] } } }
  expect(await nearest(changed)).toBeNull()
  expect(script.made).toHaveLength(1)
})
