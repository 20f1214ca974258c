import mongoose from 'mongoose'
import { isUnavailable, type NearestQuestion, type VectorSearch } from './port.ts'

/** Beside the vector as we keep it: a vector as MongoDB indexes it (BSON binary, subtype 9). */
const path = 'nearby'
/** The index follows the collection after a while. */
const indexedMilliseconds = 60_000
const lookAgainMilliseconds = 30_000
const atOnce = 500
const mostKnown = 1_000

type Row = { _id: string; vector: { buffer: Buffer } }
type Collection = Pick<mongoose.mongo.Collection<Row>, 'aggregate' | 'createSearchIndex' | 'find' | 'bulkWrite'>

const collectionNamed = (name: string) => () =>
  mongoose.connection.collection(name) as unknown as mongoose.mongo.Collection<Row>

/** Searches by `$vectorSearch`, where the database says that it has it; that is asked at the first question. */
export function vectorSearch(name: string, collection: () => Collection = collectionNamed(name)): VectorSearch {
  let isWithout = false
  const looked = new Map<string, { at: number; isReady: boolean }>()
  const prepared = new Map<string, number>()

  /** Whether the index can be asked; it is made where the database has none yet. */
  async function isIndexed(index: string, { where, vector }: NearestQuestion): Promise<boolean> {
    const known = looked.get(index)
    if (known && (known.isReady || performance.now() - known.at < lookAgainMilliseconds)) return known.isReady
    looked.set(index, { at: performance.now(), isReady: false })
    const [found] = await collection()
      .aggregate<{ queryable: boolean }>([{ $listSearchIndexes: { name: index } }])
      .toArray()
    if (!found) {
      const filters = Object.keys(where).map((field) => ({ type: 'filter', path: field }))
      const vectors = { type: 'vector', path, numDimensions: vector.length, similarity: 'dotProduct' }
      await collection().createSearchIndex({
        name: index,
        type: 'vectorSearch',
        definition: { fields: [vectors, ...filters] },
      })
    }
    looked.set(index, { at: performance.now(), isReady: found?.queryable ?? false })
    return found?.queryable ?? false
  }

  /** Gives the rows vectors that can be indexed. True once they have been there for so long that the index holds them. */
  async function isPrepared({ where }: NearestQuestion): Promise<boolean> {
    const key = JSON.stringify(where)
    const since = prepared.get(key)
    if (since !== undefined) return performance.now() - since > indexedMilliseconds
    if (prepared.size >= mostKnown) prepared.clear()
    prepared.set(key, Number.POSITIVE_INFINITY)
    try {
      for (;;) {
        const rows = await collection()
          .find({ ...where, [path]: { $exists: false } })
          .limit(atOnce)
          .toArray()
        if (rows.length === 0) break
        await collection().bulkWrite(rows.map(({ _id, vector }) => withVector(_id, vector)))
      }
      prepared.set(key, performance.now())
    } catch (error) {
      prepared.delete(key)
      throw error
    }
    return false
  }

  return {
    async nearest(question) {
      const { where, vector, most } = question
      const index = `${path}_${vector.length}`
      if (isWithout) return null
      try {
        if (!(await isIndexed(index, question)) || !(await isPrepared(question))) return null
        const asked = { index, path, queryVector: [...vector], filter: where, exact: true, limit: most }
        const rows = await collection()
          .aggregate<{ _id: string }>([{ $vectorSearch: asked }, { $project: { _id: 1 } }])
          .toArray()
        return rows.map(({ _id }) => _id)
      } catch (error) {
        if (!(error instanceof mongoose.mongo.MongoError)) throw error
        // One that is away may have it; one that does not know the stage has not.
        isWithout = !isUnavailable(error)
        return null
      }
    },
  }
}

function withVector(_id: string, { buffer }: Row['vector']) {
  const vector = new Float32Array(Uint8Array.from(buffer).buffer)
  return {
    updateOne: { filter: { _id }, update: { $set: { [path]: mongoose.mongo.Binary.fromFloat32Array(vector) } } },
  }
}
