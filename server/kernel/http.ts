import { isUtf8 } from 'node:buffer'
import { parseCookie } from 'cookie'
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express'
import helmet from 'helmet'
import { z } from 'zod'
import { AppError } from '#shared/errors'
import {
  type Alias,
  type ErrorBody,
  expandRoute,
  type Method,
  type Operation,
  pathParameters,
  type Route,
} from '#shared/kit/contract'
import type { Bound, Caller } from './context.ts'
import { newId } from './ids.ts'
import { invoke, type Kernel, objectsIn } from './invoke.ts'
import type { Rate } from './limits.ts'
import { addressOf, type OriginRule } from './origins.ts'
import { guardShape } from './shape.ts'

export interface HttpDoor {
  kernel: Kernel
  bound: readonly Bound[]
  origins: OriginRule
  trustedHops: number
  identify(credential: string | null, seen: { ip: string; userAgent: string }): Promise<Caller>
  /** Plain routers: documents, the page. Mounted after the operations. */
  routers: readonly ((app: Express) => void)[]
}

export const sessionCookie = 'app_session'
const sessionSeconds = 604_800
const bodyLimitBytes = 100 * 1024
const floodPerMinute = 1_200

export function httpDoor(door: HttpDoor): Express {
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  app.set('query parser', 'simple')
  app.use(identifyRequest(door), securityHeaders, crossOrigin(door.origins), flood(door))
  app.use('/api', noStore, jsonOnly, readBody)
  mountOperations(app, door)
  for (const mount of door.routers) mount(app)
  app.use(unknownRoute(door))
  app.use(answerError)
  return app
}

const idOf = (request: Request): string => String(request.res?.getHeader('x-request-id') ?? '')
const ipOf = (request: Request, hops: number) =>
  addressOf(request.get('x-forwarded-for'), hops, request.socket.remoteAddress ?? 'unknown')

const identifyRequest =
  ({ kernel }: HttpDoor): RequestHandler =>
  (request, response, next) => {
    const given = request.get('x-request-id')
    response.setHeader('x-request-id', given && /^[\w.-]{1,64}$/.test(given) ? given : newId())
    const started = performance.now()
    response.on('finish', () =>
      kernel.node.logger.info(
        {
          request_id: idOf(request),
          method: request.method,
          path: request.path.slice(0, 200),
          status: response.statusCode,
          milliseconds: Math.round(performance.now() - started),
        },
        'http',
      ),
    )
    next()
  }

const securityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'self'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:', 'https:'],
      connectSrc: ["'self'", 'ws:', 'wss:'],
      objectSrc: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
    },
  },
  referrerPolicy: { policy: 'no-referrer' },
  crossOriginEmbedderPolicy: false,
})

const noStore: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'no-store')
  next()
}

const unsafe = (method: string) => !['GET', 'HEAD', 'OPTIONS'].includes(method)
const allowedHeaders = 'Authorization, Content-Type, Idempotency-Key, X-Request-Id'
const exposedHeaders = 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id'

const crossOrigin =
  (origins: OriginRule): RequestHandler =>
  (request, response, next) => {
    response.vary('Origin')
    const origin = request.get('origin')
    if (origin !== undefined && origins.has(origin)) {
      response.setHeader('Access-Control-Allow-Origin', origin)
      response.setHeader('Access-Control-Allow-Credentials', 'true')
      response.setHeader('Access-Control-Expose-Headers', exposedHeaders)
    }
    if (request.method === 'OPTIONS') {
      response.setHeader('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE')
      response.setHeader('Access-Control-Allow-Headers', allowedHeaders)
      response.setHeader('Access-Control-Max-Age', '600')
      response.status(204).end()
      return
    }
    const bearer = /^bearer /i.test(request.get('authorization') ?? '')
    if (unsafe(request.method) && !bearer && !origins.allows(origin, request.get('sec-fetch-site')))
      throw new AppError('FORBIDDEN', { message: 'This origin may not call' })
    next()
  }

/** Before anything is parsed or looked up. Every answer carries the general bucket, until its own is known. */
const flood =
  ({ kernel: { node }, trustedHops }: HttpDoor): RequestHandler =>
  async (request, response, next) => {
    const ip = ipOf(request, trustedHops)
    rateHeaders(response, await node.limits.peek('general', ip))
    const allowed = await node.limits.guard('http', ip, floodPerMinute, 60)
    if (!allowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 60 })
    next()
  }

const jsonOnly: RequestHandler = (request, _response, next) => {
  const hasBody = request.headers['transfer-encoding'] !== undefined || Number(request.get('content-length') ?? 0) > 0
  if (!hasBody) return next()
  const type = request.get('content-type') ?? ''
  const json = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type)
  if (!json) throw new AppError('UNSUPPORTED_MEDIA_TYPE', { message: 'Send application/json in UTF-8' })
  next()
}

const readBody = express.json({
  limit: bodyLimitBytes,
  strict: false,
  type: () => true,
  verify(_request, _response, bytes) {
    if (!isUtf8(bytes)) throw new AppError('VALIDATION_ERROR', { message: 'The body is not UTF-8' })
  },
})

interface Spelling {
  route: Route
  schema: z.ZodType
  answer: (output: unknown, input: unknown) => unknown
  errorBody: ErrorBody
}

/** Every path of an operation, its own first. */
export function spellingsOf(operation: Operation): Spelling[] {
  const own: Spelling[] = operation.http
    ? [
        {
          route: operation.http,
          schema: operation.input,
          answer: (output) => output,
          errorBody: operation.errorBody ?? 'coded',
        },
      ]
    : []
  const aliases = (operation.aliases ?? []) as readonly Alias<unknown, unknown>[]
  return [
    ...own,
    ...aliases.map((alias) => ({
      route: alias.http,
      schema: alias.input ?? operation.input,
      answer: alias.answer?.of ?? ((output: unknown) => output),
      errorBody: alias.errorBody ?? 'text',
    })),
  ]
}

/** Paths with fewer parameters are asked first, so that none hides another. */
function mountOperations(app: Express, door: HttpDoor): void {
  const mounts = door.bound.flatMap((bound) =>
    spellingsOf(bound.operation).flatMap((spelling) =>
      expandRoute(spelling.route).map((expanded) => ({ bound, spelling, ...expanded })),
    ),
  )
  mounts.sort((one, other) => pathParameters(one.path).length - pathParameters(other.path).length)
  for (const { bound, spelling, method, path, fixed } of mounts)
    app[method.toLowerCase() as Lowercase<Method>](path, (request, response) =>
      handle(door, bound, spelling, fixed, request, response),
    )
}

async function handle(
  door: HttpDoor,
  bound: Bound,
  spelling: Spelling,
  fixed: { type: string } | undefined,
  request: Request,
  response: Response,
) {
  response.locals.errorBody = spelling.errorBody
  const raw = readInput(bound.operation, spelling, fixed, request)
  guardShape(raw)
  const ip = ipOf(request, door.trustedHops)
  const caller = await door
    .identify(credentialOf(request), { ip, userAgent: (request.get('user-agent') ?? '').slice(0, 200) })
    .catch((error: unknown) => {
      if (bound.operation.access !== 'public' || !(error instanceof AppError)) throw error
      return { account: null, session: null, ip, userAgent: '' } satisfies Caller
    })
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const { output, input } = await invoke(door.kernel, bound, spelling.schema, raw, {
    door: 'http',
    caller,
    requestId: idOf(request),
    origin: request.get('host') ?? null,
    connection: null,
    signal: gone.signal,
    setHeader: (name, value) => void response.setHeader(name, value),
    setSessionCookie: (token) => void setCookie(response, token),
    onRate: (rate) => rateHeaders(response, rate),
  })
  response.status(200).json(spelling.answer(output, input))
}

/** Path wins over body, body over query; numbers and booleans of a query become what the schema asks for. */
function readInput(
  operation: Operation,
  { schema }: Spelling,
  fixed: { type: string } | undefined,
  request: Request,
): unknown {
  const body: unknown = request.body ?? {}
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new AppError('VALIDATION_ERROR', { message: 'The body must be a JSON object' })
  const objects = objectsIn(schema)
  const query = Object.fromEntries(
    Object.entries(request.query).map(([name, value]) => [name, readQuery(objects, name, value)]),
  )
  const { type, room, ...path } = request.params
  const where = fixed
    ? { ...path, room: fixed }
    : room === undefined
      ? request.params
      : { ...path, room: { type, id: room } }
  const key = request.get('idempotency-key')
  const keyed = operation.idempotency && key !== undefined ? { [operation.idempotency.key]: key } : {}
  return { ...query, ...body, ...keyed, ...where }
}

function readQuery(objects: readonly z.ZodObject[], name: string, value: unknown): unknown {
  if (typeof value !== 'string') throw new AppError('VALIDATION_ERROR', { message: `${name}: given more than once` })
  for (const object of objects) {
    const field = bare(object.shape[name] as z.ZodType | undefined)
    if (field instanceof z.ZodNumber && /^-?\d{1,15}$/.test(value)) return Number(value)
    if (field instanceof z.ZodBoolean && /^(true|false)$/.test(value)) return value === 'true'
  }
  return value
}

/** The type inside optional, nullable and defaulted wrappers. */
function bare(field: z.ZodType | undefined): z.ZodType | undefined {
  const inner = (field as unknown as { def?: { innerType?: z.ZodType } } | undefined)?.def?.innerType
  return inner ? bare(inner) : field
}

/** One credential a request. */
function credentialOf(request: Request): string | null {
  const header = request.get('authorization')
  const bearer = header === undefined ? null : (/^Bearer ([^\s]+)$/i.exec(header)?.[1] ?? '')
  const cookies = (request.get('cookie') ?? '').split(';').filter((pair) => pair.trim().startsWith(`${sessionCookie}=`))
  if (cookies.length > 1) throw new AppError('VALIDATION_ERROR', { message: 'More than one session cookie' })
  const cookie = cookies[0] === undefined ? null : (parseCookie(cookies[0].trim())[sessionCookie] ?? null)
  if (bearer !== null && cookie && bearer !== cookie)
    throw new AppError('VALIDATION_ERROR', { message: 'Two different credentials' })
  return bearer ?? (cookie || null)
}

function setCookie(response: Response, token: string | null): void {
  const attributes = { httpOnly: true, secure: true, sameSite: 'strict', path: '/' } as const
  response.cookie(sessionCookie, token ?? '', { ...attributes, maxAge: token === null ? 0 : sessionSeconds * 1000 })
}

function rateHeaders(response: Response, { limit, remaining, reset }: Rate): void {
  response.setHeader('X-RateLimit-Limit', limit)
  response.setHeader('X-RateLimit-Remaining', remaining)
  response.setHeader('X-RateLimit-Reset', reset)
}

/** A known path with another method is 405, everything else 404. */
const unknownRoute = ({ bound }: HttpDoor): RequestHandler => {
  const paths = bound.flatMap(({ operation }) => spellingsOf(operation).flatMap(({ route }) => expandRoute(route)))
  const known = paths.map(({ path }) => new RegExp(`^${path.replace(/:[a-zA-Z_]+/g, '[^/]+')}/?$`, 'i'))
  return (request) => {
    throw new AppError(known.some((path) => path.test(request.path)) ? 'METHOD_NOT_ALLOWED' : 'NOT_FOUND')
  }
}

const parserErrors: Record<string, AppError> = {
  'entity.too.large': new AppError('PAYLOAD_TOO_LARGE'),
  'encoding.unsupported': new AppError('UNSUPPORTED_MEDIA_TYPE'),
  'charset.unsupported': new AppError('UNSUPPORTED_MEDIA_TYPE'),
}

/** Errors of express and its parser, in our words. */
function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const { type, status, statusCode } = (error ?? {}) as { type?: string; status?: number; statusCode?: number }
  const known = parserErrors[type ?? '']
  if (known) return known
  const code = status ?? statusCode ?? 500
  if (code >= 400 && code < 500) return new AppError('VALIDATION_ERROR', { message: 'The request could not be read' })
  return new AppError('INTERNAL_ERROR', { cause: error })
}

const answerError: ErrorRequestHandler = (thrown, _request, response, _next) => {
  const error = asAppError(thrown)
  if (response.headersSent) return void response.destroy()
  if (error.retryAfter !== undefined) response.setHeader('Retry-After', error.retryAfter)
  response.status(error.status).json(errorBody(error, response.locals.errorBody === 'text' ? 'text' : 'coded'))
}

export function errorBody({ code, message, retryAfter, verdict, details }: AppError, shape: ErrorBody): object {
  const extras = { ...(retryAfter === undefined ? {} : { retryAfter }), ...(verdict === undefined ? {} : { verdict }) }
  if (shape === 'text') return { ...details, error: message, code, ...extras }
  return { success: false, error: { code, message, ...extras, ...(details ? { details } : {}) } }
}
