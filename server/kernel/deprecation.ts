import type { Response } from 'express'
import type { Route } from '#shared/kit/contract'
import type { Spelling } from './http-input.ts'

/** Since when the other spellings of operations are deprecated, in Unix seconds. */
const since = Date.UTC(2026, 10, 27) / 1_000

/**
 * Says of an answer at another spelling that it is one (`Deprecation`, RFC 9745), and by `Link` which path to ask instead, where the
 * fields that stand in that path are known.
 *
 * @param fields Of the operation's own input, or of the path that was asked.
 */
export function tellDeprecated(response: Response, { successor }: Spelling, fields: object): void {
  if (successor === null) return
  response.setHeader('Deprecation', `@${since}`)
  const target = targetOf(successor, fields as Fields)
  if (target !== null) response.setHeader('Link', `<${target}>; rel="successor-version"`)
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
