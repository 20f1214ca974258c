import { createHash } from 'node:crypto'
import { AppError } from '#shared/errors'

/** A list as one caller reads it, such as `rooms 0xab…`. Cursors of other lists are refused. */
type ListName = `${string} ${string}`

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

const invalidCursor = () => new AppError('INVALID_PARAMETER', { message: 'Invalid cursor' })

/** The type by which an order compares a field: an instant (Date), an integer, or a string. */
type Kind = 'time' | 'count' | 'text'
type Value = Date | number | string
type Order = Readonly<Record<string, readonly [kind: Kind, direction: 1 | -1]>>

const writtenOf = (value: Value) => (value instanceof Date ? value.getTime() : value)

function readAs(kind: Kind, written: unknown): Value {
  if (typeof written !== (kind === 'text' ? 'string' : 'number')) throw invalidCursor()
  const value = kind === 'time' ? new Date(written as number) : (written as Value)
  if (kind !== 'text' && !Number.isSafeInteger(writtenOf(value))) throw invalidCursor()
  return value
}

/**
 * A paginated list in the order of fields, of which the last is unique. For example `orderedPages({ created_at:
 * ['time', -1], _id: ['text', -1] })`. A row whose fields change between two pages may be on both or neither.
 */
export function orderedPages(order: Order) {
  const fields = Object.entries(order)

  function valuesIn(place: string): Value[] {
    const written: unknown = parsed(place)
    if (!Array.isArray(written) || written.length !== fields.length) throw invalidCursor()
    return fields.map(([, [kind]], at) => readAs(kind, written[at]))
  }

  const cursorOf = (list: ListName, row: object): string => {
    const held = row as Record<string, Value>
    return cursorAt(list, JSON.stringify(fields.map(([field]) => writtenOf(held[field] ?? ''))))
  }

  /** The condition for rows after a cursor, as ranges in the order of the list. */
  function rangesAfter(list: ListName, cursor: string): [first: object, ranges: object[]] {
    const values = valuesIn(cursorPlaceIn(list, cursor))
    const beyond = (at: number, last = false) => {
      const [field = '', [, direction] = []] = fields[at] ?? []
      const operator = `${direction === 1 ? '$gt' : '$lt'}${last ? 'e' : ''}`
      return { [field]: { [operator]: values[at] } }
    }
    const equal = (before: number) =>
      Object.fromEntries(fields.slice(0, before).map(([field], at) => [field, values[at]]))
    return [beyond(0, true), fields.map((_field, at) => ({ ...equal(at), ...beyond(at) })).reverse()]
  }

  return {
    sort: Object.fromEntries(fields.map(([field, [, direction]]) => [field, direction])),
    /** The condition for rows after a cursor, in addition to the list's own; empty without a cursor. */
    after(list: ListName, cursor: string | undefined): object {
      if (cursor === undefined) return {}
      const [first, ranges] = rangesAfter(list, cursor)
      // An index scan begins at the first bound.
      return { ...first, $or: ranges }
    },
    /** The same by several queries, in turn. None reads rows before the cursor, however many are equal in the first field. */
    rangesAfter: (list: ListName, cursor: string | undefined): object[] =>
      cursor === undefined ? [{}] : rangesAfter(list, cursor)[1],
    cursorOf,
    /** The page, and the cursor of the next, from one row more than the page has. */
    cut<Row extends object>(list: ListName, found: readonly Row[], limit: number) {
      const rows = found.slice(0, limit)
      const last = rows.at(-1)
      return { rows, next_cursor: last && found.length > limit ? cursorOf(list, last) : null }
    },
  }
}

function parsed(place: string): unknown {
  try {
    return JSON.parse(place)
  } catch {
    throw invalidCursor()
  }
}
