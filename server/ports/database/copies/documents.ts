import { z } from 'zod'
import { createTally, type Sum, type Sums } from '../embedded/sums.ts'
import { type Document, encode } from '../embedded/values.ts'
import type { EmbeddedStore } from '../embedded.ts'

export const IndexDefinition = z.looseObject({
  name: z.string(),
  key: z.record(z.string(), z.union([z.literal(1), z.literal(-1)])),
})
export type IndexDefinition = z.infer<typeof IndexDefinition>

/** A document, and as the store writes it. */
export interface Written {
  document: Document
  encoded: string
}

/** The documents of a collection in the order of their insertion. */
export async function* documentsOf(store: EmbeddedStore, name: string): AsyncGenerator<Written> {
  const cursor = store.db().collection(name).find({})
  for (let document = await cursor.next(); document; document = await cursor.next())
    yield { document, encoded: encode(document).toString() }
}

/** Its indexes, except the one of every collection. */
export async function indexesOf(store: EmbeddedStore, name: string): Promise<IndexDefinition[]> {
  const indexes = z.array(IndexDefinition).parse(await store.db().collection(name).indexes())
  return indexes.filter((index) => index.name !== '_id_')
}

/** What a store holds now. */
export async function sumsOf(store: EmbeddedStore): Promise<Sums> {
  const sums: Record<string, Sum> = {}
  for (const name of store.db().collectionNames()) {
    const tally = createTally()
    for await (const { encoded } of documentsOf(store, name)) tally.add(encoded)
    sums[name] = tally.sum()
  }
  return sums
}

/** Whatever comes, in groups of at most so many. */
export async function* inBatches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
