import { isUtf8 } from 'node:buffer'
import type { ServerResponse } from 'node:http'
import express, { type Request, type RequestHandler, type Response } from 'express'
import helmet from 'helmet'
import { AppError, errorHeaders } from '#shared/errors'
import { clientOf } from './addresses.ts'
import type { ConnectionSlots } from './connection-slots.ts'
import type { Door } from './door.ts'
import { credentialOf } from './http-input.ts'
import type { Rate } from './limits.ts'
import { refuseLong } from './long-body.ts'
import type { OriginRule } from './origins.ts'

const bodyLimitBytes = 100 * 1024
const floodPerMinute = 1_200

export function rateHeaders(response: Response, { limit, remaining, reset }: Rate): void {
  response.setHeader('X-RateLimit-Limit', limit)
  response.setHeader('X-RateLimit-Remaining', remaining)
  response.setHeader('X-RateLimit-Reset', reset)
}

/**
 * Pictures and sound come from here, from where media are stored, and from what the page itself has opened (`blob:`); connections go to this
 * very host and to stored media. Livestreams may be shown by other sites, which `shownAt` names.
 */
export function securityHeaders(
  { publicUrl, storageUrl }: { publicUrl: string; storageUrl: string },
  shownAt: readonly string[],
): ReturnType<typeof helmet> {
  const stored = sourceOf(storageUrl)
  const shown = shownAt.filter((origin) => URL.canParse(origin)).map((origin) => new URL(origin).origin)
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:', 'blob:', stored],
        mediaSrc: ["'self'", 'blob:', stored, ...shown],
        // Older browsers do not take WebSockets of the same host for 'self'.
        connectSrc: ["'self'", new URL(publicUrl).origin.replace(/^http/, 'ws'), stored, ...shown],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
    crossOriginEmbedderPolicy: false,
    // For plug-ins and browsers that no longer exist.
    xDownloadOptions: false,
    xXssProtection: false,
    xPermittedCrossDomainPolicies: false,
  })
}

/** A source of the Content-Security-Policy for everything below an address: a storage host may be shared by many customers. */
function sourceOf(address: string): string {
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname.replace(/[;,']/g, encodeSign)}`.replace(/\/?$/, '/')
}
const encodeSign = (sign: string) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`

/** The policy of what is no document: even where a browser opens it by itself, it loads and runs nothing. */
export const nothingRuns = (response: ServerResponse): void => {
  response.setHeader('Content-Security-Policy', "default-src 'none';frame-ancestors 'none'")
}

/** Answers of the API are data, and are kept nowhere. */
export const asData: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'no-store')
  nothingRuns(response)
  next()
}

const unsafe = (method: string) => !['GET', 'HEAD', 'OPTIONS'].includes(method)
/** Those of addresses are sent by clients of older servers; they name nobody here. */
const allowedHeaders =
  'Authorization, Content-Type, Idempotency-Key, X-Request-Id, X-API-Key, X-Address, X-User-Address, X-Wallet-Address, ' +
  'X-Admin-Address, X-Admin-Signature, X-Admin-Message, X-Contact-Source, X-Payment, PAYMENT-SIGNATURE'
const exposedHeaders =
  `X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Request-Id, ${Object.values(errorHeaders).join(', ')}, ` +
  'Deprecation, Link, ' +
  'X-Payment-Required, PAYMENT-REQUIRED, X-PAYMENT-RESPONSE, PAYMENT-RESPONSE'

/** Pages of other sites are let in where `isOpen` says so, without the session that this browser may have here. */
export const crossOrigin =
  (origins: OriginRule, isOpen: (method: string, path: string) => boolean): RequestHandler =>
  (request, response, next) => {
    response.vary('Origin')
    const origin = request.get('origin')
    const isOurs = origin !== undefined && origins.has(origin)
    const method = request.method === 'OPTIONS' ? request.get('access-control-request-method') : request.method
    const isForeign = origin !== undefined && !isOurs && isOpen(method ?? '', request.path)
    if (isOurs) response.setHeader('Access-Control-Allow-Credentials', 'true')
    if (isOurs || isForeign) {
      response.setHeader('Access-Control-Allow-Origin', isOurs ? origin : '*')
      response.setHeader('Access-Control-Expose-Headers', exposedHeaders)
    }
    if (request.method === 'OPTIONS') {
      response.setHeader('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE')
      response.setHeader('Access-Control-Allow-Headers', allowedHeaders)
      response.setHeader('Access-Control-Max-Age', '600')
      response.status(204).end()
      return
    }
    if (unsafe(request.method) && !isForeign) refuseForeign(origins, request)
    next()
  }

/** Refuses navigations and HEAD: opening a link must not change anything, as somebody else may have written the address. */
export function refuseVisits(request: Request): void {
  const isVisit = request.get('sec-fetch-site') === 'none' || request.get('sec-fetch-mode') === 'navigate'
  if (isVisit || request.method === 'HEAD')
    throw new AppError('FORBIDDEN', { message: 'This is asked by a page of ours alone' })
}

/** A page of another site may neither act for whoever is signed in here, nor sign anybody in. */
export function refuseForeign(origins: OriginRule, request: Request): void {
  const bearer = /^bearer /i.test(request.get('authorization') ?? '')
  if (!bearer && !origins.allows(request.get('origin'), request.get('sec-fetch-site')))
    throw new AppError('FORBIDDEN', { message: 'This origin may not call' })
}

/**
 * Runs before anything is parsed or looked up. Every answer carries the headers of the general bucket until its own is known.
 * When an address is over its limit, each signed-in account there has a limit of its own.
 */
export const flood =
  ({ kernel: { node }, proxies, slots, identify }: Door): RequestHandler =>
  async (request, response, next) => {
    const ip = clientOf(request, proxies)
    rateHeaders(response, await node.limits.peek('general', ip))
    const asker = () => identify(credentialOf(request), { ip, userAgent: '' }).catch(() => nobody)
    const allowed =
      (await slots.arrive(request, response, asker, node.now())) &&
      ((await node.limits.throttle('http', ip, floodPerMinute, 60)) || (await mayStill()))
    if (!allowed) {
      const rate = { limit: Math.floor(floodPerMinute * node.limits.scale), reset: Math.ceil(node.now() / 1_000) + 60 }
      throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 60, rate })
    }
    next()

    async function mayStill(): Promise<boolean> {
      const { account } = await asker()
      return account !== null && node.limits.throttle('http', account, floodPerMinute, 60)
    }
  }

const nobody = { account: null, session: null }

/** A request that has arrived whole keeps its connection until it is answered. */
export const begin =
  (slots: ConnectionSlots): RequestHandler =>
  (request, response, next) => {
    slots.begin(request, response)
    next()
  }

/** What a request expects of the server beyond its answer: to hear that it may go on (`100-continue`), and nothing else. */
export const refuseExpectations: RequestHandler = (request, _response, next) => {
  if (/^(100-continue)?$/i.test(request.get('expect') ?? '')) return next()
  throw new AppError('VALIDATION_ERROR', { status: 417, message: 'Expect: 100-continue alone is known here' })
}

export const jsonOnly: RequestHandler = (request, _response, next) => {
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

/** Reads a body of JSON that may be longer than others. */
export async function readLongBody(request: Request, response: Response, limit: number): Promise<void> {
  refuseLong(request, response, limit)
  for (const handler of [jsonOnly, jsonOf(limit)])
    await new Promise<void>((resolve, reject) =>
      handler(request, response, (error?: unknown) => (error ? reject(error) : resolve())),
    )
}
