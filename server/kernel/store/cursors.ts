import { createHash } from 'node:crypto'
import { AppError } from '#shared/errors'

/** A list as one caller reads it, such as `rooms 0xab…`. Cursors of other lists are refused. */
export type ListName = `${string} ${string}`

const signOf = (list: ListName, place: string) =>
  createHash('sha256').update(`${list}\n${place}`).digest('base64url').slice(0, 11)

/** The cursor after a page: a place in the order of the list, valid even if its row is deleted. */
export const cursorAt = (list: ListName, place: string): string =>
  `${Buffer.from(place).toString('base64url')}.${signOf(list, place)}`

/**
 * The place in a cursor of this list; otherwise `INVALID_PARAMETER`. The signature detects mistakes, and hides nothing.
 */
export function cursorPlaceIn(list: ListName, cursor: string): string {
  const place = Buffer.from(cursor.split('.')[0] ?? '', 'base64url').toString()
  if (cursor !== cursorAt(list, place)) throw invalidCursor()
  return place
}

const ownId = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

/** The place of a row by its id. Ids are ordered by time, so the place remains when the row is deleted. */
export function placeOfId(id: string): string {
  if (!ownId.test(id)) throw invalidCursor()
  return id
}

export const invalidCursor = () => new AppError('INVALID_PARAMETER', { message: 'Invalid cursor' })
