import { createHash } from 'node:crypto'
import { AppError } from '#shared/errors'

/** A list as one caller reads it, such as `rooms 0xab…`: the cursors of another are none of its own. */
export type ListName = `${string} ${string}`

const signOf = (list: ListName, place: string) =>
  createHash('sha256').update(`${list}\n${place}`).digest('base64url').slice(0, 11)

/** What a page of a list tells for the next one: a place in the order of the list, which may go on where what stood there is gone. */
export const cursorAt = (list: ListName, place: string): string =>
  `${Buffer.from(place).toString('base64url')}.${signOf(list, place)}`

/** The place that a cursor of this list names; anything else is `INVALID_PARAMETER`. It keeps nothing secret: it finds mistakes. */
export function placeIn(list: ListName, cursor: string): string {
  const place = Buffer.from(cursor.split('.')[0] ?? '', 'base64url').toString()
  if (cursor !== cursorAt(list, place)) throw invalidCursor()
  return place
}

const ownId = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** The id of a row that a list goes on from. Ids are in the order in which they were made, so it is a place also once the row is gone. */
export function placeOfId(id: string): string {
  if (!ownId.test(id)) throw invalidCursor()
  return id
}

export const invalidCursor = () => new AppError('INVALID_PARAMETER', { message: 'Invalid cursor' })
