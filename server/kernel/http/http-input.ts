import type { IncomingMessage } from 'node:http'
import type { Request } from 'express'
import { z } from 'zod'
import type { AdminProof } from '#server/kernel/domain'
import { objectsIn } from '#server/kernel/invoke'
import { AppError } from '#shared/errors'
import { type Alias, type ErrorBody, type Operation, type Route, successorOf } from '#shared/kit/contract'
import { sessionIn, sessionOf } from './cookies.ts'

/** One path of an operation, with its input and answer. */
export interface Spelling {
  route: Route
  schema: z.ZodType
  answer: (output: unknown, input: unknown) => unknown
  errorBody: ErrorBody
  /** The format of a sequence. */
  form: 'lines' | 'events'
  /** The path for new clients, if this is an older one. */
  successor: Route | null
}

/** All paths of an operation, the current one first. */
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

/** The path overrides the body, the body the query. Numbers and booleans of a query are converted by the schema. */
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

/** Values of headers, which other values must not contradict. Null and empty fields do not count. */
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

/** The type inside optional, nullable and default wrappers. */
function bare(field: z.ZodType | undefined): z.ZodType | undefined {
  const inner = (field as unknown as { def?: { innerType?: z.ZodType } } | undefined)?.def?.innerType
  return inner ? bare(inner) : field
}

/** An empty header counts as absent. */
export const hasBearer = (request: Request): boolean => Boolean(request.get('authorization'))

/** The session of a request, as a bearer or a cookie; null without one. It does not check for a second one. */
export function sessionInRequest({ headers }: IncomingMessage, origin: string): string | null {
  const bearer = /^Bearer +([^\s]+)$/i.exec(headers.authorization ?? '')?.[1]
  return bearer ?? (sessionOf(headers.cookie, origin) || null)
}

/** The one credential of a request. */
export function credentialOf(request: Request, origin: string): string | null {
  const header = request.get('authorization')
  const bearer = header ? (/^Bearer +([^\s]+)$/i.exec(header)?.[1] ?? '') : null
  const cookie = sessionIn(request.get('cookie'), origin)
  if (bearer !== null && cookie && bearer !== cookie)
    throw new AppError('VALIDATION_ERROR', { message: 'Two different credentials' })
  return bearer ?? (cookie || null)
}

/** The admin's proof in the headers; null if all are empty. */
export function adminProofOf(request: Request): AdminProof | null {
  const of = (name: string) => request.get(`x-admin-${name}`) ?? ''
  const proof = { address: of('address'), message: of('message'), signature: of('signature') }
  return Object.values(proof).some(Boolean) ? proof : null
}
