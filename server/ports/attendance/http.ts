import { z } from 'zod'
import { fetchText } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import { compassCollections } from './compass.ts'
import type { Attendance, AttendanceEvent } from './port.ts'
import { EventId, imageOf, nameOf, readAs } from './reading.ts'

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
