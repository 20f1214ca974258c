import { z } from 'zod'
import { fetchText } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import type { Attendance, AttendanceCollection, AttendanceCollections, AttendanceEvent } from './port.ts'

/** Parses an answer of the provider. Throws UPSTREAM_ERROR for an unexpected one. */
function readAs<Schema extends z.ZodType>(schema: Schema, status: number, text: string): z.output<Schema> {
  const parsed = schema.safeParse(status === 200 ? jsonOf(text) : undefined)
  if (parsed.success) return parsed.data
  throw new AppError('UPSTREAM_ERROR', { cause: new Error(`The provider of attendance answered ${status}`) })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const EventId = z.number().int().min(1).max(2_147_483_647)

const longestName = 200
const longestText = 2_000
const controls = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** A name as one short line; null if it is no text or empty. */
const nameOf = (value: unknown): string | null => shortened(value, longestName)
const textOf = (value: unknown): string | null => shortened(value, longestText)

function shortened(value: unknown, most: number): string | null {
  if (typeof value !== 'string') return null
  const line = value
    .slice(0, most * 2)
    .replace(controls, ' ')
    .trim()
  return [...line].slice(0, most).join('').trim() || null
}

/** An image that a page may show: a URL of the web, and nothing else. */
function imageOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > longestText || !URL.canParse(value)) return null
  const { protocol, username, password, href } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === '' ? href : null
}

const compassBounds = { timeoutMilliseconds: 5_000, maxBytes: 4 * 1024 * 1024 }
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
function compassCollections(url: string, key: string): AttendanceCollections {
  async function ask<Schema extends z.ZodType>(schema: Schema, query: string, variables = {}) {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      'x-api-key': key,
      'user-agent': 'plaza',
    }
    const body = JSON.stringify({ query, variables })
    const { status, text } = await fetchText(url, { method: 'POST', headers, body }, compassBounds)
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

/** Thousands of tokens fit in it. */
const bounds = { timeoutMilliseconds: 5_000, maxBytes: 6 * 1024 * 1024 }

const Item = z.looseObject({
  event: z.looseObject({ id: EventId, name: z.unknown().optional(), image_url: z.unknown().optional() }),
  image_url: z.unknown().optional(),
})
/** A list, or an object with one. */
const listOf = <One extends z.ZodType>(one: One) =>
  z.union([
    z.array(one),
    z.object({ tokens: z.array(one) }).transform(({ tokens }) => tokens),
    z.object({ poaps: z.array(one) }).transform(({ poaps }) => poaps),
  ])
const Scanned = listOf(Item)

const Token = z.looseObject({
  tokenId: z.union([z.string().min(1), z.number()]),
  event: z.looseObject({ id: EventId }).optional(),
})
const Held = z.union([listOf(Token), Token.transform((token) => [token])])

interface Provider {
  baseUrl: string
  key: string
  /** The URL of collections, if any. */
  compassUrl: string | undefined
}

/** The provider over HTTP: tokens by its REST door, collections by GraphQL. */
export function httpAttendance({ baseUrl, key, compassUrl }: Provider): Attendance {
  const base = baseUrl.replace(/\/+$/, '')
  const ask = (path: string) =>
    fetchText(
      `${base}${path}`,
      { headers: { 'x-api-key': key, accept: 'application/json', 'user-agent': 'plaza' } },
      bounds,
    )
  return {
    isScripted: false,
    async eventsOf(address) {
      const { status, text } = await ask(`/actions/scan/${encodeURIComponent(address)}`)
      const items = readAs(Scanned, status, text)
      const events = new Map<number, AttendanceEvent>()
      for (const { event, image_url } of items)
        if (!events.has(event.id))
          events.set(event.id, {
            id: event.id,
            name: nameOf(event.name),
            imageUrl: imageOf(image_url) ?? imageOf(event.image_url),
          })
      return [...events.values()]
    },
    async holds(address, eventId) {
      const { status, text } = await ask(`/actions/scan/${encodeURIComponent(address)}/${eventId}`)
      // A "not found" page is no answer to this question.
      if (status === 404 && !text.trimStart().startsWith('<')) return false
      const tokens = readAs(Held, status, text)
      if (tokens.some(({ event }) => event !== undefined && event.id !== eventId))
        throw new AppError('UPSTREAM_ERROR', { cause: new Error('The provider told of another event') })
      return tokens.length > 0
    },
    collections: compassUrl === undefined ? null : compassCollections(compassUrl, key),
  }
}
