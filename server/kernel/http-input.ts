import { parseCookie } from 'cookie'
import type { Request, Response } from 'express'
import { z } from 'zod'
import { AppError } from '#shared/errors'
import { type Alias, type ErrorBody, type Operation, type Route, successorOf } from '#shared/kit/contract'
import type { AdminProof } from './domain.ts'
import { objectsIn } from './invoke.ts'

export const sessionCookie = 'app_session'
/** Tells one browser from another, whoever is signed in there. */
const browserCookie = 'app_browser'
/** What a browser brings when it comes back from a site to which we have sent it. */
const returnCookie = 'app_return'

/** One path of an operation, and how it is read and answered. */
export interface Spelling {
  route: Route
  schema: z.ZodType
  answer: (output: unknown, input: unknown) => unknown
  errorBody: ErrorBody
  /** How a sequence is written. */
  form: 'lines' | 'events'
  /** The path that new clients use, where this is an older one. */
  successor: Route | null
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
          form: operation.serverSent ? 'events' : 'lines',
          successor: null,
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
      form: 'lines' as const,
      successor: successorOf(operation, alias),
    })),
  ]
}

/** Path wins over body, body over query; numbers and booleans of a query become what the schema asks for. */
export function readInput(
  operation: Operation,
  { schema }: Spelling,
  fixed: { type: string } | undefined,
  request: Request,
): unknown {
  const body: unknown = request.body === undefined ? {} : request.body
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
  return { ...query, ...body, ...fromHeaders(operation, objects, request, { ...query, ...body }), ...where }
}

/** What headers say, which nothing else may contradict; a field that is null or empty says nothing. */
function fromHeaders(
  operation: Operation,
  objects: readonly z.ZodObject[],
  request: Request,
  given: Record<string, unknown>,
) {
  const { idempotency } = operation
  const headers = { ...operation.headers, ...(idempotency ? { 'idempotency-key': idempotency.key } : {}) }
  const found: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(headers)) {
    const sent = request.get(name)
    if (sent === undefined) continue
    const value = readQuery(objects, field, sent)
    if (![undefined, null, '', value].includes(found[field] ?? given[field]))
      throw new AppError('VALIDATION_ERROR', { message: `${field}: two different ones` })
    found[field] = value
  }
  return found
}

function readQuery(objects: readonly z.ZodObject[], name: string, value: unknown): unknown {
  if (typeof value !== 'string') throw new AppError('VALIDATION_ERROR', { message: `${name}: given more than once` })
  for (const object of objects) {
    const field = bare(object.shape[name] as z.ZodType | undefined)
    if (field instanceof z.ZodNumber && /^-?\d{16,400}$/.test(value) && !Number.isSafeInteger(Number(value)))
      throw new AppError('VALIDATION_ERROR', { message: `${name}: is too large` })
    if (field instanceof z.ZodNumber && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) return Number(value)
    if (field instanceof z.ZodBoolean && /^(true|false)$/.test(value)) return value === 'true'
  }
  return value
}

/** The type inside optional, nullable and defaulted wrappers. */
function bare(field: z.ZodType | undefined): z.ZodType | undefined {
  const inner = (field as unknown as { def?: { innerType?: z.ZodType } } | undefined)?.def?.innerType
  return inner ? bare(inner) : field
}

/** The browser that sends these cookies, where it was given an id before. */
export function browserOf(cookies: string | undefined): string | null {
  const id = parseCookie(cookies ?? '')[browserCookie] ?? ''
  return /^[\w-]{43}$/.test(id) ? id : null
}

const attributes = { httpOnly: true, secure: true, sameSite: 'strict', path: '/' } as const
const sessionMilliseconds = 604_800_000
const yearMilliseconds = 31_536_000_000

export const keepSession = (response: Response, token: string | null) =>
  response.cookie(sessionCookie, token ?? '', { ...attributes, maxAge: token === null ? 0 : sessionMilliseconds })

export const keepBrowser = (response: Response, id: string) =>
  response.cookie(browserCookie, id, { ...attributes, maxAge: yearMilliseconds })

const returnMilliseconds = 600_000

/** The others stay behind where another site leads here: this one does not, and is good for nothing else. */
export const keepReturn = (response: Response, value: string, path: string) =>
  response.cookie(returnCookie, value, { ...attributes, sameSite: 'lax', path, maxAge: returnMilliseconds })

/** What `keepReturn` has given to the browser that sends these cookies. */
export const returnOf = (cookies: string | undefined): string | null => parseCookie(cookies ?? '')[returnCookie] ?? null

/** A header that is empty is none. */
export const hasBearer = (request: Request): boolean => Boolean(request.get('authorization'))

/** One credential a request. */
export function credentialOf(request: Request): string | null {
  const header = request.get('authorization')
  const bearer = header ? (/^Bearer +([^\s]+)$/i.exec(header)?.[1] ?? '') : null
  const cookies = (request.get('cookie') ?? '').split(';').filter((pair) => pair.trim().startsWith(`${sessionCookie}=`))
  if (cookies.length > 1) throw new AppError('VALIDATION_ERROR', { message: 'More than one session cookie' })
  const cookie = cookies[0] === undefined ? null : (parseCookie(cookies[0].trim())[sessionCookie] ?? null)
  if (bearer !== null && cookie && bearer !== cookie)
    throw new AppError('VALIDATION_ERROR', { message: 'Two different credentials' })
  return bearer ?? (cookie || null)
}

/** What the headers of an admin show; null where none of them is there. Headers that are empty are none. */
export function adminProofOf(request: Request): AdminProof | null {
  const of = (name: string) => request.get(`x-admin-${name}`) ?? ''
  const proof = { address: of('address'), message: of('message'), signature: of('signature') }
  return Object.values(proof).some(Boolean) ? proof : null
}
