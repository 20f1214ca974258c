import type { IncomingMessage } from 'node:http'
import type { Request } from 'express'
import { z } from 'zod'
import { AppError } from '#shared/errors'
import { type Alias, type ErrorBody, type Operation, type Route, successorOf } from '#shared/kit/contract'
import { sessionIn, sessionOf } from './cookies.ts'
import type { AdminProof } from './domain.ts'
import { objectsIn } from './invoke.ts'

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

/** A header that is empty is none. */
export const hasBearer = (request: Request): boolean => Boolean(request.get('authorization'))

/** The session that a request shows, as a bearer or in a cookie; null without one. Whether it is the only one is not looked at. */
export function shownSession({ headers }: IncomingMessage, origin: string): string | null {
  const bearer = /^Bearer +([^\s]+)$/i.exec(headers.authorization ?? '')?.[1]
  return bearer ?? (sessionOf(headers.cookie, origin) || null)
}

/** One credential a request. */
export function credentialOf(request: Request, origin: string): string | null {
  const header = request.get('authorization')
  const bearer = header ? (/^Bearer +([^\s]+)$/i.exec(header)?.[1] ?? '') : null
  const cookie = sessionIn(request.get('cookie'), origin)
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
