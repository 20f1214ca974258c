import type { ServerResponse } from 'node:http'
import { pathParameters, type Route } from '#shared/kit/contract'
import { roomOfPath } from '#shared/kit/room-key'

/** The time since which older spellings are deprecated, in Unix seconds. */
const since = Date.UTC(2026, 10, 27) / 1_000
/** A `Link` with a path of any length could exceed the header limit of clients. */
const longestTarget = 2_048

/**
 * Marks the answer of an older path as deprecated (RFC 9745). `Link` names the successor, if its fields are known.
 *
 * @param successor The new path; null if the path is current.
 *
 * @param fields The fields of the input, or of the requested path.
 */
export function markDeprecated(response: ServerResponse, successor: Route | null, fields: object): void {
  if (successor === null) return
  response.setHeader('Deprecation', `@${since}`)
  const target = targetOf(successor, fields as Fields)
  if (target !== null && target.length <= longestTarget)
    response.setHeader('Link', `<${target}>; rel="successor-version"`)
}

/** Marks a request that was not parsed: `:id` of an older room path is the room. Later fields match by position. */
export function markDeprecatedPath(
  response: ServerResponse,
  successor: Route | null,
  path: string,
  parameters: object,
): void {
  const room = successor?.includes('{room}') ? roomOfPath(path) : null
  if (successor === null || room === null) {
    markDeprecated(response, successor, parameters)
    return
  }
  const names = pathParameters(successor)
  const values = Object.entries(parameters).flatMap(([name, value]) => (name === 'id' ? [] : [value]))
  const fields = values.length === names.length ? names.map((name, at) => [name, values[at]]) : []
  markDeprecated(response, successor, { ...Object.fromEntries(fields), room })
}

type Fields = Readonly<Record<string, unknown>> & { room?: { type: string; id?: string | null } }

/** The path with its fields; null if one is missing. */
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
