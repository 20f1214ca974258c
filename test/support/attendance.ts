import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Attendance } from '#server/ports/attendance/port'

/** As it should be, or in one of the ways in which such a service fails. */
type Mood = 'well' | 'failing' | 'silent' | 'junk' | 'html' | 'huge' | 'elsewhere' | 'empty things' | 'graphql errors'

/** A provider of attendance over HTTP, which answers as scripted to clients with its key. */
export async function openAttendanceProvider(script: Attendance, key: string) {
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = {
    url,
    compassUrl: `${url}/v1/graphql`,
    mood: 'well' as Mood,
    /** Instead of its own answer to the next requests. */
    answer: null as { status: number; body: unknown } | null,
    /** The paths and the documents it was asked with. */
    asked: [] as string[],
    variables: [] as unknown[],
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return provider

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const asked = parts.length === 0 ? null : JSON.parse(Buffer.concat(parts).toString())
    const path = request.url ?? ''
    provider.asked.push(asked === null ? path : asked.query)
    if (asked) provider.variables.push(asked.variables)
    const { mood } = provider
    if (mood === 'silent') return
    if (mood === 'failing') return void response.writeHead(500).end('{"statusCode":500}')
    if (mood === 'html') return void response.writeHead(404, { 'content-type': 'text/html' }).end('<html>lost</html>')
    if (mood === 'junk') return void response.writeHead(200).end('[{"event":')
    if (mood === 'elsewhere') return void response.writeHead(302, { location: `${url}/other` }).end()
    const tell = (status: number, body: unknown) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (mood === 'empty things') return tell(200, { tokens: [{}] })
    if (mood === 'graphql errors') return tell(200, { errors: [{ message: 'no' }], data: null })
    if (mood === 'huge')
      return tell(
        200,
        Array.from({ length: 100_000 }, (_, id) => ({ event: { id: id + 1, name: 'x'.repeat(100) } })),
      )
    if (provider.answer) return tell(provider.answer.status, provider.answer.body)
    if (request.headers['x-api-key'] !== key) return tell(401, { message: 'secret words' })
    if (asked) return tell(200, { data: await collectionsFor(asked.query, asked.variables) })
    const [, address = '', event] = /^\/actions\/scan\/([^/]+)(?:\/(\d+))?$/.exec(path) ?? []
    const owner = decodeURIComponent(address)
    const token = { tokenId: '1', owner, chain: 'xdai', created: '2022-07-19 10:00:00' }
    if (event === undefined) {
      const events = await script.eventsOf(owner)
      // One event twice, as for an owner of two of its tokens.
      return tell(
        200,
        [...events, ...events].map((one) => ({ ...token, event: eventOf(one) })),
      )
    }
    if (await script.holds(owner, Number(event))) return tell(200, { ...token, event: { id: Number(event) } })
    tell(404, { statusCode: 404, error: 'Not Found', message: 'Address does not have a token for this event' })
  }

  async function collectionsFor(query: string, { Words: search = null }: { Words?: string | null }) {
    const { collections } = script
    if (!collections) return {}
    const one = /collections\(limit: 1, where: \{ id: \{ _eq: (\d+)/.exec(query)
    if (one) {
      const found = await collections.get(Number(one[1]))
      return {
        collections: found ? [rowOf(found)] : [],
        collections_collection_drop_ids: found ? [{ drop_ids: found.dropIds }] : [],
      }
    }
    const having = /drop_id: \{ _in: \[([\d, ]+)\]/.exec(query)
    if (having) return { collections: (await collections.having(having[1]?.split(', ').map(Number) ?? [])).map(rowOf) }
    const [, offset, limit] = /offset: (\d+), limit: (\d+)/.exec(query) ?? []
    const rows = (await collections.list({ offset: Number(offset), limit: Number(limit), search })).map(rowOf)
    return search === null ? { collections: rows } : { search_collections: rows }
  }
}

const eventOf = ({ id, name, imageUrl }: { id: number; name: string | null; imageUrl: string | null }) => ({
  ...{ id, fancy_id: `event-${id}`, name, image_url: imageUrl, event_url: 'https://example.org', year: 2026 },
})

type Collections = NonNullable<Attendance['collections']>
type Collection = Awaited<ReturnType<Collections['list']>>[number]
const rowOf = ({ id, title, description, year, logoImageUrl, bannerImageUrl, dropsCount }: Collection) => ({
  ...{ id, title, description, year, logo_image_url: logoImageUrl, banner_image_url: bannerImageUrl },
  collections_items_aggregate: { aggregate: { count: dropsCount } },
})
