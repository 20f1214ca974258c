import type { ServerResponse } from 'node:http'
import { pathParameters, type Route } from '#shared/kit/contract'
import { roomOfPath } from '#shared/kit/room-key'

/** Since when the other spellings of operations are deprecated, in Unix seconds. */
const since = Date.UTC(2026, 10, 27) / 1_000
/** A path as somebody has asked for it may be as long as all the headers that clients take. */
const longestTarget = 2_048

/**
 * Says of an answer at another spelling that it is one (`Deprecation`, RFC 9745), and by `Link` which path to ask instead, where the
 * fields that stand in that path are known.
 *
 * @param successor That path; of null nothing is said.
 * @param fields Of the operation's own input, or of the path that was asked.
 */
export function tellDeprecated(response: ServerResponse, successor: Route | null, fields: object): void {
  if (successor === null) return
  response.setHeader('Deprecation', `@${since}`)
  const target = targetOf(successor, fields as Fields)
  if (target !== null && target.length <= longestTarget)
    response.setHeader('Link', `<${target}>; rel="successor-version"`)
}

/** The same of what is not known but by its path: `:id` of a room's older path is the room, and what follows it is as in the successor. */
export function tellDeprecatedPath(
  response: ServerResponse,
  successor: Route | null,
  path: string,
  parameters: object,
): void {
  const room = successor?.includes('{room}') ? roomOfPath(path) : null
  if (successor === null || room === null) {
    tellDeprecated(response, successor, parameters)
    return
  }
  const names = pathParameters(successor)
  const values = Object.entries(parameters).flatMap(([name, value]) => (name === 'id' ? [] : [value]))
  const fields = values.length === names.length ? names.map((name, at) => [name, values[at]]) : []
  tellDeprecated(response, successor, { ...Object.fromEntries(fields), room })
}

type Fields = Readonly<Record<string, unknown>> & { room?: { type: string; id?: string | null } }

/** The path with its fields in their places; null where one of them is missing. */
function targetOf(route: Route, fields: Fields): string | null {
  let isWhole = true
  const placed = (name: string) => {
    const value = fields[name]
    isWhole &&= typeof value === 'string' || typeof value === 'number'
    return encodeURIComponent(`${value}`)
  }
  const { room } = fields
  const ofRoom = () => {
    isWhole &&= room?.type !== undefined
    return [room?.type, ...(room?.id ? [encodeURIComponent(room.id)] : [])].join('/')
  }
  const target = route
    .replace(/^\w+ /, '')
    .replace(/\{room\}|:([a-zA-Z_]+)/g, (_whole, name?: string) => (name === undefined ? ofRoom() : placed(name)))
    .replace(/\?(\w+)$/, (_whole, name: string) => `?${name}=${placed(name)}`)
  return isWhole ? target : null
}
