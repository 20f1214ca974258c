import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Door } from '#server/kernel/http/door'
import { errorBody, type RouteLookup } from '#server/kernel/http/http-errors'
import type { ReaderRule } from '#server/kernel/http/http-guards'
import { setHeaders } from '#server/kernel/http/http-headers'
import { newId } from '#server/kernel/ids'
import { AppError, errorHeaders } from '#shared/errors'
import type { ErrorBody } from '#shared/kit/contract'
import { budgets, scaledBudget } from './budgets.ts'
import type { EmptyBucket } from './metered.ts'

/** Answers requests that the meter refuses, with prepared bytes: a flood must cost almost nothing. */
export function refuseRequests(
  { kernel: { node }, headersOfRefusals }: Door,
  routeOf: RouteLookup,
  readers: ReaderRule,
) {
  const bodies = new Map<string, Buffer>()

  function bodyOf(shape: ErrorBody, retryAfter: number): Buffer {
    const key = `${shape} ${retryAfter}`
    const before = bodies.get(key)
    if (before) return before
    const body = Buffer.from(JSON.stringify(errorBody(new AppError('RATE_LIMIT_EXCEEDED', { retryAfter }), shape)))
    bodies.set(key, body)
    return body
  }

  return (
    request: IncomingMessage,
    response: ServerResponse,
    { path, emptied, retryAfter }: { path: string; emptied: EmptyBucket; retryAfter: number },
  ): void => {
    const shape = routeOf(request.method ?? '', path, response)
    const body = bodyOf(shape, retryAfter)
    setHeaders(response, headersOfRefusals)
    if (emptied === 'request')
      response.setHeader('X-RateLimit-Limit', scaledBudget(budgets.requestsOfAddress, node.limits.scale))
    setHeaders(response, readers(request, path).headers)
    response
      .writeHead(429, {
        'X-Request-Id': requestIdOf(request),
        'X-RateLimit-Remaining': 0,
        'X-RateLimit-Reset': Math.ceil(node.now() / 1_000) + retryAfter,
        'Retry-After': retryAfter,
        [errorHeaders.code]: 'RATE_LIMIT_EXCEEDED',
        [errorHeaders.shape]: shape,
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': body.length,
      })
      .end(body)
  }
}

/** The client's id of its request, or a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : newId()
}
