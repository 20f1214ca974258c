import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import { clientAddressOf, isLocalRequest, type Proxies } from '#server/kernel/addresses'
import type { Bound, Caller } from '#server/kernel/context'
import type { Kernel } from '#server/kernel/invoke'
import type { Rate } from '#server/kernel/limits/limits'
import type { RequestMeter } from '#server/kernel/limits/request-meter'
import type { ConnectionSlots } from '#server/kernel/sockets/connection-slots'
import { AppError, errorHeaders } from '#shared/errors'
import { isFieldName } from '#shared/kit/field-name'
import { refuseLongBody } from './http-errors.ts'
import { dataHeaders, type Headers, type OriginRule, setHeaders } from './http-headers.ts'

const bodyLimitBytes = 100 * 1024

export function rateHeaders(response: Response, { limit, remaining, reset }: Rate): void {
  response.setHeader('X-RateLimit-Limit', limit)
  response.setHeader('X-RateLimit-Remaining', remaining)
  response.setHeader('X-RateLimit-Reset', reset)
}

export const answerAsData: RequestHandler = (_request, response, next) => {
  setHeaders(response, dataHeaders)
  next()
}

const unsafe = (method: string) => !['GET', 'HEAD', 'OPTIONS'].includes(method)
/** Clients of older servers send the address headers; they identify no caller here. */
const allowedHeaders =
  'Authorization, Content-Type, Idempotency-Key, X-Request-Id, X-API-Key, X-Address, X-User-Address, X-Wallet-Address, ' +
  'X-Admin-Address, X-Admin-Signature, X-Admin-Message, X-Contact-Source, X-Payment, PAYMENT-SIGNATURE'
const exposedHeaders =
  `X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id, ${Object.values(errorHeaders).join(', ')}, ` +
  'Deprecation, Link, ' +
  'X-Payment-Required, PAYMENT-REQUIRED, X-PAYMENT-RESPONSE, PAYMENT-RESPONSE'

/**
 * The pages that may read an answer. Pages of other sites may if `isOpen` says so, without the session in this browser.
 */
export type ReaderRule = (request: IncomingMessage, path: string) => { headers: Headers; isForeign: boolean }

export const readerRuleOf =
  (origins: OriginRule, isOpen: (method: string, path: string) => boolean): ReaderRule =>
  ({ headers, method: asked = '' }, path) => {
    const { origin } = headers
    const isOurs = origin !== undefined && origins.has(origin)
    const method = asked === 'OPTIONS' ? String(headers['access-control-request-method'] ?? '') : asked
    const isForeign = origin !== undefined && !isOurs && isOpen(method, path)
    const answered: [string, string][] = [['Vary', 'Origin']]
    if (isOurs) answered.push(['Access-Control-Allow-Credentials', 'true'])
    if (isOurs || isForeign)
      answered.push(
        ['Access-Control-Allow-Origin', isOurs ? origin : '*'],
        ['Access-Control-Expose-Headers', exposedHeaders],
      )
    return { headers: answered, isForeign }
  }

export const crossOrigin =
  (origins: OriginRule, readers: ReaderRule): RequestHandler =>
  (request, response, next) => {
    const { headers, isForeign } = readers(request, request.path)
    setHeaders(response, headers)
    if (request.method === 'OPTIONS') {
      response.setHeader('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE')
      response.setHeader('Access-Control-Allow-Headers', allowedHeaders)
      response.setHeader('Access-Control-Max-Age', '600')
      response.status(204).end()
      return
    }
    if (unsafe(request.method) && !isForeign) refuseForeignOrigins(origins, request)
    next()
  }

/** Refuses navigations and HEAD: a link, which anybody may have written, must not change anything. */
export function refuseVisits(request: Request): void {
  const isVisit = request.get('sec-fetch-site') === 'none' || request.get('sec-fetch-mode') === 'navigate'
  if (isVisit || request.method === 'HEAD')
    throw new AppError('FORBIDDEN', { message: 'This is asked by a page of ours alone' })
}

/** Pages of other sites may neither act for a signed-in user nor sign anybody in. */
export function refuseForeignOrigins(origins: OriginRule, request: Request): void {
  const bearer = /^bearer /i.test(request.get('authorization') ?? '')
  if (!bearer && !origins.allows(request.get('origin'), request.get('sec-fetch-site')))
    throw new AppError('FORBIDDEN', { message: 'This origin may not call' })
}

/** Sets the headers of the general bucket, until the operation's own is known. */
export const sendRate =
  ({ kernel: { node }, proxies }: Door): RequestHandler =>
  async (request, response, next) => {
    rateHeaders(response, await node.limits.peek('general', clientAddressOf(request, proxies)))
    next()
  }

/** A complete request keeps its connection until its answer. */
export const beginRequest =
  (slots: ConnectionSlots): RequestHandler =>
  (request, response, next) => {
    slots.begin(request, response)
    next()
  }

const host = /^(\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(:\d{0,5})?$/i

/**
 * Has a request several hosts, an invalid one, or another in its target? A proxy might then read another host than this
 * server (RFC 9112, 3.2).
 */
export function isHostUnclear({ headers, rawHeaders, url = '' }: IncomingMessage): boolean {
  const isNamed = (name: string, at: number) => at % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host'
  return rawHeaders.filter(isNamed).length > 1 || !host.test(headers.host ?? '') || !isTargetOf(headers.host ?? '', url)
}

/** Does a request target name this host, or none? Only its absolute form names one. */
function isTargetOf(named: string, target: string): boolean {
  if (target.startsWith('/') || target === '*') return true
  const [, authority = ''] = /^https?:\/\/([^/?#]+)/i.exec(target) ?? []
  return authority !== '' && authority.toLowerCase() === named.toLowerCase()
}

const singleFields = ['authorization', 'content-type'] as const

/** Has a request two values of a field that has one? A proxy might then read another than this server (RFC 9110, 5.3). */
export const hasUnclearFields = ({ rawHeaders }: IncomingMessage): boolean =>
  singleFields.some((field) => {
    const isNamed = (name = '') => name.length === field.length && name.toLowerCase() === field
    const values = rawHeaders.filter((_, at) => at % 2 === 1 && isNamed(rawHeaders[at - 1]))
    return values.some((value) => value !== values[0])
  })

export const refuseUnclearRequests =
  ({ headersOfRefusals }: Door): RequestHandler =>
  (request, response, next) => {
    const isUnclear = isHostUnclear(request)
    if (!isUnclear && !hasUnclearFields(request)) return next()
    setHeaders(response, headersOfRefusals)
    const message = isUnclear
      ? 'A request has one Host, which is the name of one'
      : 'A request has one Authorization and one Content-Type'
    throw new AppError('VALIDATION_ERROR', { message })
  }

/** The only supported expectation is `100-continue`. */
export const refuseExpectations: RequestHandler = (request, _response, next) => {
  if (/^(100-continue)?$/i.test(request.get('expect') ?? '')) return next()
  throw new AppError('VALIDATION_ERROR', { status: 417, message: 'Expect: 100-continue alone is known here' })
}

export const requireJson: RequestHandler = (request, _response, next) => {
  const hasBody = request.headers['transfer-encoding'] !== undefined || Number(request.get('content-length') ?? 0) > 0
  if (!hasBody) return next()
  const type = request.get('content-type') ?? ''
  const json = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type)
  if (!json) throw new AppError('UNSUPPORTED_MEDIA_TYPE', { message: 'Send application/json in UTF-8' })
  next()
}

const jsonOf = (limit: number): RequestHandler =>
  express.json({
    limit,
    strict: false,
    type: () => true,
    verify(_request, _response, bytes) {
      if (!isUtf8(bytes)) throw new AppError('VALIDATION_ERROR', { message: 'The body is not UTF-8' })
    },
  })
export const readBody = jsonOf(bodyLimitBytes)

/** Reads a JSON body with a higher limit. */
export async function readLongBody(request: Request, response: Response, limit: number): Promise<void> {
  refuseLongBody(request, response, limit)
  for (const handler of [requireJson, jsonOf(limit)])
    await new Promise<void>((resolve, reject) =>
      handler(request, response, (error?: unknown) => (error ? reject(error) : resolve())),
    )
}

const maxDepth = 8
const maxNodes = 2_000
const forbidden = new Set(['constructor', 'prototype'])

/**
 * Refuses values that are too deep or large, touch prototypes, or cannot be stored, before any schema reads them. It
 * does not recurse. Returns an upper bound of the JSON length.
 */
export function guardPayload(value: unknown): number {
  let level: unknown[] = [value]
  let [seen, length] = [0, 0]
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = []
    for (const node of level) {
      length += lengthOf(node)
      if (typeof node === 'number' && !Number.isFinite(node))
        throw new AppError('VALIDATION_ERROR', { message: 'A number out of range' })
      if (typeof node === 'string' && !node.isWellFormed())
        throw new AppError('VALIDATION_ERROR', { message: 'Invalid characters' })
      // The door received the file within its own limits.
      if (typeof node !== 'object' || node === null || node instanceof File) continue
      if (ArrayBuffer.isView(node) || node instanceof ArrayBuffer)
        throw new AppError('VALIDATION_ERROR', { message: 'Binary is not accepted here' })
      const names = Array.isArray(node) ? [] : Object.keys(node)
      const children = Array.isArray(node) ? node : names.map((name) => (node as Record<string, unknown>)[name])
      seen += children.length
      if (depth >= maxDepth || seen > maxNodes)
        throw new AppError('VALIDATION_ERROR', { message: 'Too deep or too many fields' })
      for (const name of names) {
        if (forbidden.has(name) || !isFieldName(name))
          throw new AppError('VALIDATION_ERROR', { message: 'Forbidden key' })
        length += lengthOf(name)
      }
      for (const child of children) next.push(child)
    }
    level = next
  }
  return length
}

const escaped = 6
const mark = 4
const longestScalar = 32

/** The most characters of JSON, with quotes and separators. */
const lengthOf = (value: unknown): number => (typeof value === 'string' ? value.length * escaped + mark : longestScalar)

/** The dependencies of both doors. */
export interface Door {
  kernel: Kernel
  bound: readonly Bound[]
  origins: OriginRule
  proxies: Proxies
  slots: ConnectionSlots
  meter: RequestMeter
  headersOfRefusals: Headers
  identify(credential: string | null, seen: { ip: string; userAgent: string }): Promise<Caller>
}

/** Passkeys belong to a name, never to an address: a page at a local address is redirected to `localhost`. */
export function redirectToLocalhost(app: Express, publicUrl: string): void {
  if (new URL(publicUrl).hostname !== 'localhost') return
  app.get('/{*path}', (request, response, next) => {
    const address = /^(?:127\.0\.0\.1|\[::1\])(:\d{1,5})?$/.exec(request.get('host') ?? '')
    const isPage = /\btext\/html\b/.test(request.get('accept') ?? '') && /^\/(?!api\/)/i.test(request.originalUrl)
    if (!address || !isPage || !isLocalRequest(request)) return next()
    response.setHeader('Cache-Control', 'no-store')
    response.redirect(302, `http://localhost${address[1] ?? ''}${request.originalUrl}`)
  })
}
