import type { ServerResponse } from 'node:http'
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import type { Bound } from '#server/kernel/context'
import type { Kernel } from '#server/kernel/invoke'
import { AppError, errorHeaders, errors } from '#shared/errors'
import { type ErrorBody, expandRoute, type Method, pathParameters, type Route } from '#shared/kit/contract'
import { roomOfPath } from '#shared/kit/room-key'
import { signInText } from '#shared/kit/sign-in-text'
import { onAnswerEnd, refusalFrom } from './deadline.ts'
import { spellingsOf } from './http-input.ts'

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

/** Refuses a body by its declared length, before any of it is read; the connection ends with the answer. */
export function refuseLongBody(
  request: Request,
  response: Response,
  mostBytes: number,
  refusal = new AppError('PAYLOAD_TOO_LARGE'),
): void {
  if (Number(request.get('content-length') ?? 0) <= mostBytes) return
  response.set('Connection', 'close')
  throw refusal
}

/** The limits of reading the rest of a refused body. */
const restBytes = 64 * 1024 * 1024
const restMilliseconds = 20_000

/** Is this the last answer of a connection whose body is still arriving? */
const isCutOff = (request: Request, response: Response): boolean =>
  response.get('Connection') === 'close' && response.socket !== null && !request.complete

/**
 * Answers, and reads on for a while. Closing a connection with unread bytes would discard the answer, and many clients
 * read only after they have sent everything.
 */
function answerCutOff(request: Request, response: Response, body: object): void {
  const text = Buffer.from(JSON.stringify(body))
  const { socket } = request
  response.type('json').set('Content-Length', `${text.length}`).write(text)
  socket.end()
  const end = () => void socket.destroy()
  const late = setTimeout(end, restMilliseconds)
  onAnswerEnd(request, response, () => clearTimeout(late))
  const from = socket.bytesRead
  request.on('data', () => {
    if (socket.bytesRead - from > restBytes) end()
  })
  request.once('end', end).resume()
}

const readRoutes = (bound: readonly Bound[]) =>
  bound.flatMap(({ operation }) =>
    spellingsOf(operation).flatMap(({ route, errorBody, successor }) =>
      expandRoute(route).map(({ method, path, query }) => ({
        ...{ method, path, query, errorBody, successor },
        isOpen: operation.anyOrigin === true,
        parameters: pathParameters(path).length,
        matches: new RegExp(`^${path.replace(/:[a-zA-Z_]+/g, '[^/]+')}/?$`, 'i'),
      })),
    ),
  )
type KnownRoute = ReturnType<typeof readRoutes>[number]

const grouped = new WeakMap<readonly Bound[], ReadonlyMap<string, readonly KnownRoute[]>>()

/** The routes of all operations in groups. Paths of different groups do not match each other. */
function groupedRoutes(bound: readonly Bound[]): ReadonlyMap<string, readonly KnownRoute[]> {
  const known = grouped.get(bound)
  if (known) return known
  const groups = new Map<string, KnownRoute[]>()
  for (const route of readRoutes(bound)) {
    const group = groupOf(route.path)
    const others = groups.get(group)
    if (others) others.push(route)
    else groups.set(group, [route])
  }
  grouped.set(bound, groups)
  return groups
}

/** Paths with as many parts or more are one length. */
const mostParts = 16

/** The number of parts of a path, and its first two, which contain no parameter. */
function groupOf(path: string): string {
  const parts = path.replace(/\/$/, '').split('/', mostParts)
  return `${parts.length} ${parts.slice(1, 3).join('/')}`.toLowerCase()
}

/** The group of a route: that of its path, by its method. */
export const routeGroupOf = (method: string, path: string): string => `${method} ${groupOf(path)}`

const routesAt = (bound: readonly Bound[], path: string): readonly KnownRoute[] =>
  groupedRoutes(bound)
    .get(groupOf(path))
    ?.filter(({ matches }) => matches.test(path)) ?? []

/** Routes with fewer parameters come first, then those without a required query. */
const rankOf = ({ parameters, query }: KnownRoute) => 2 * parameters + (query ? 1 : 0)

/** May pages of any site request a path? An operation that changes something at the same path is not open with it. */
export const openPathRule =
  (bound: readonly Bound[]) =>
  (asked: string, path: string): boolean => {
    const open = routesAt(bound, path).filter(({ isOpen }) => isOpen)
    if (open.length === 0) return false
    const isAsked = ({ method }: KnownRoute) => method === asked
    return open.some(isAsked) || !routesAt(bound, path).some((route) => !route.isOpen && isAsked(route))
  }

/**
 * Paths that another path with a parameter also matches, by methods that only the other has. A literal, such as
 * `discover` of `/api/agents/discover`, is no id.
 */
export function methodsOfOthers(bound: readonly Bound[]): { method: Method; path: string }[] {
  return [...groupedRoutes(bound).values()].flatMap((routes) => {
    const has = new Set(routes.map(({ method, path }) => `${method} ${path}`))
    const wide = routes.filter(({ parameters }) => parameters > 0)
    return [...new Set(routes.map(({ path }) => path))].flatMap((path) => {
      const others = wide.filter(({ method, matches }) => !has.has(`${method} ${path}`) && matches.test(path))
      return [...new Set(others.map(({ method }) => method))].map((method) => ({ method, path }))
    })
  })
}

/** Another method on a known path gets 405 with the allowed methods; an unknown path gets 404. */
export const unknownRoute =
  (bound: readonly Bound[]): RequestHandler =>
  ({ path }, response) => {
    const there = routesAt(bound, path)
    if (there.length === 0) throw new AppError('NOT_FOUND')
    const own = Math.min(...there.map(({ parameters }) => parameters))
    const methods = there.flatMap(({ method, parameters }) => (parameters === own ? [method] : []))
    const all = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']
    response.setHeader('Allow', [...new Set(all)].join(', '))
    throw new AppError('METHOD_NOT_ALLOWED')
  }

const parserErrors: Record<string, AppError> = {
  'entity.too.large': new AppError('PAYLOAD_TOO_LARGE'),
  'encoding.unsupported': new AppError('UNSUPPORTED_MEDIA_TYPE'),
  'charset.unsupported': new AppError('UNSUPPORTED_MEDIA_TYPE'),
}

/** The AppError for an error of express or its parser. */
function asAppError(error: unknown): AppError {
  const refusal = refusalFrom(error)
  if (refusal) return refusal
  const { type, status, statusCode } = (error ?? {}) as { type?: string; status?: number; statusCode?: number }
  const known = parserErrors[type ?? '']
  if (known) return known
  const code = status ?? statusCode ?? 500
  if (code >= 400 && code < 500) return new AppError('VALIDATION_ERROR', { message: 'The request could not be read' })
  return new AppError('INTERNAL_ERROR', { cause: error })
}

/** Is this a browser that followed a link? It gets a page instead of JSON. */
const isVisit = (request: Request) =>
  request.method === 'GET' && !request.path.startsWith('/api/') && request.accepts(['json', 'html']) === 'html'
const lost = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Not found · Plaza</title>
    <style>
      :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
      body { max-width: 36rem; margin: 20vh auto; padding: 0 1rem; }
    </style>
  </head>
  <body>
    <h1>Nothing is here</h1>
    <p>The address is mistyped, or what was here has gone.</p>
    <p><a href="/">Go to Plaza</a></p>
  </body>
</html>
`

/** The headers describe the bucket that refused: its limit if it counts calls, and its reset time if known. */
function rateOfRefusal(response: Response, { rate, retryAfter }: AppError, now: number): void {
  const freeAt = retryAfter === undefined ? undefined : Math.ceil(now / 1_000) + retryAfter
  const rateHeaderValues = {
    'X-RateLimit-Limit': rate?.limit,
    'X-RateLimit-Remaining': 0,
    'X-RateLimit-Reset': rate?.reset ?? freeAt,
  }
  for (const [name, value] of Object.entries(rateHeaderValues))
    if (value === undefined) response.removeHeader(name)
    else response.setHeader(name, value)
}

/** Adds the deprecation of a requested path to an answer, and returns the error shape of its operation. */
export type RouteLookup = (method: string, path: string, response: ServerResponse) => ErrorBody

export const createRouteLookup =
  (bound: readonly Bound[]): RouteLookup =>
  (asked, path, response) => {
    const [first] = routesAt(bound, path)
      .filter(({ method }) => method === asked)
      .sort((one, other) => rankOf(one) - rankOf(other))
    if (first && !response.hasHeader('Deprecation'))
      markDeprecatedPath(response, first.successor, path, parametersIn(first.path, path))
    return first?.errorBody ?? 'coded'
  }

/** Answers in the error shape of the path, even before its operation was found. */
export const answerError = ({ node }: Kernel, route: RouteLookup): ErrorRequestHandler => {
  return (thrown, request, response, _next) => {
    const error = asAppError(thrown)
    if (error !== thrown && error.status >= 500) {
      const line = { request_id: response.getHeader('x-request-id'), error: thrown }
      if (refusalFrom(thrown)) node.logger.warn(line, 'request put off')
      else node.logger.error(line, 'request failed')
    }
    if (response.headersSent) return void response.destroy()
    if (error.retryAfter !== undefined) response.setHeader('Retry-After', error.retryAfter)
    if (error.status === 429) rateOfRefusal(response, error, node.now())
    response.setHeader(errorHeaders.code, error.code)
    if (error.code === 'NOT_FOUND' && isVisit(request)) return void response.status(404).type('html').send(lost)
    const isNobody = error.status === 401 && error.message === errors.UNAUTHORIZED[1]
    const text = isNobody ? signInText(request.path) : error.message
    const shapeOfPath = route(request.method, request.path, response)
    const shape: ErrorBody = response.locals.errorBody ?? shapeOfPath
    response.setHeader(errorHeaders.shape, shape)
    const body = errorBody(error, shape, text)
    response.status(error.status)
    if (isCutOff(request, response)) answerCutOff(request, response, body)
    else response.json(body)
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

function parametersIn(path: string, asked: string): object {
  const given = decoded(asked).split('/')
  return Object.fromEntries(
    path.split('/').flatMap((part, at) => (part.startsWith(':') ? [[part.slice(1), given[at]]] : [])),
  )
}

export function errorBody(
  { code, message: own, retryAfter, verdict, details }: AppError,
  shape: ErrorBody,
  message = own,
): object {
  const extras = { ...(retryAfter === undefined ? {} : { retryAfter }), ...(verdict === undefined ? {} : { verdict }) }
  if (shape === 'text') return { ...details, error: message, code, ...extras }
  return { success: false, error: { code, message, ...extras, ...(details ? { details } : {}) } }
}
