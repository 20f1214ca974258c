import { z } from 'zod'
import { fetchText } from '#server/kernel/fetch'
import type { AttendanceCollection, AttendanceCollections } from './port.ts'
import { EventId, imageOf, nameOf, readAs, textOf } from './reading.ts'

const bounds = { timeoutMilliseconds: 5_000, maxBytes: 4 * 1024 * 1024 }
const mostCollections = 200

const shown = `id title description year logo_image_url banner_image_url
  collections_items_aggregate { aggregate { count } }`

const Row = z.looseObject({
  id: EventId,
  title: z.unknown().optional(),
  description: z.unknown().optional(),
  year: z.number().int().nullish(),
  logo_image_url: z.unknown().optional(),
  banner_image_url: z.unknown().optional(),
  collections_items_aggregate: z.object({ aggregate: z.object({ count: z.number().int().min(0) }) }),
})
const answering = <Data extends z.ZodRawShape>(data: Data) =>
  z.object({ data: z.object(data), errors: z.undefined().optional() })
const Listed = answering({ collections: z.array(Row) })
const Found = answering({ search_collections: z.array(Row) })
const Whole = answering({
  collections: z.array(Row),
  collections_collection_drop_ids: z.array(z.object({ drop_ids: z.array(EventId).nullable() })),
})

const collectionOf = (row: z.output<typeof Row>): AttendanceCollection => ({
  id: row.id,
  title: nameOf(row.title) ?? `Collection #${row.id}`,
  description: textOf(row.description),
  logoImageUrl: imageOf(row.logo_image_url),
  bannerImageUrl: imageOf(row.banner_image_url),
  dropsCount: row.collections_items_aggregate.aggregate.count,
  year: row.year ?? null,
})

/** Collections of events by GraphQL. Strangers' text is sent as a variable, never in the document. */
export function compassCollections(url: string, key: string): AttendanceCollections {
  async function ask<Schema extends z.ZodType>(schema: Schema, query: string, variables = {}) {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      'x-api-key': key,
      'user-agent': 'plaza',
    }
    const body = JSON.stringify({ query, variables })
    const { status, text } = await fetchText(url, { method: 'POST', headers, body }, bounds)
    return readAs(schema, status, text)
  }
  return {
    async list({ offset, limit, search }) {
      const page = `offset: ${offset}, limit: ${limit}, order_by: { id: desc }`
      if (search === null) {
        const { data } = await ask(Listed, `query Collections { collections(${page}) { ${shown} } }`)
        return data.collections.map(collectionOf)
      }
      const { data } = await ask(
        Found,
        `query Search($Words: String!) { search_collections(args: { search: $Words }, ${page}) { ${shown} } }`,
        { Words: search },
      )
      return data.search_collections.map(collectionOf)
    },
    async get(id) {
      const { data } = await ask(
        Whole,
        `query Collection { collections(limit: 1, where: { id: { _eq: ${id} } }) { ${shown} }
          collections_collection_drop_ids(where: { collection_id: { _eq: ${id} } }) { drop_ids } }`,
      )
      const [row] = data.collections
      if (!row) return null
      return {
        ...collectionOf(row),
        dropIds: data.collections_collection_drop_ids.flatMap(({ drop_ids }) => drop_ids ?? []),
      }
    },
    async having(eventIds) {
      if (eventIds.length === 0) return []
      const where = `{ collections_items: { drop_id: { _in: [${eventIds.join(', ')}] } } }`
      const { data } = await ask(
        Listed,
        `query Having { collections(limit: ${mostCollections}, order_by: { id: desc }, where: ${where}) { ${shown} } }`,
      )
      return data.collections.map(collectionOf)
    },
  }
}
