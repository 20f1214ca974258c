import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isProxy } from '#server/kernel/addresses'
import type { Caller, Node } from '#server/kernel/context'
import { onAnswerEnd } from '#server/kernel/http/deadline'
import { errorBody, type RouteLookup } from '#server/kernel/http/http-errors'
import type { Door, ReaderRule } from '#server/kernel/http/http-guards'
import { setHeaders } from '#server/kernel/http/http-headers'
import { newId } from '#server/kernel/ids'
import type { Media } from '#server/kernel/media'
import { AppError, errorHeaders } from '#shared/errors'
import type { ErrorBody, Operation } from '#shared/kit/contract'
import { budgets, scaledBudget } from './budgets.ts'
import type { Rate } from './limits.ts'
import { offerSeconds } from './request-meter.ts'
import type { RequestServer } from './turnstile.ts'

/** The seconds to wait after an empty bucket; viewers ask several times in each. */
const retryAfter = { request: 60, media: 2, offer: offerSeconds } as const
type EmptyBucket = keyof typeof retryAfter
type Refuse = (
  request: IncomingMessage,
  response: ServerResponse,
  refusal: { path: string; emptied: EmptyBucket; retryAfter: number },
) => void

/**
 * Counts each request and refuses excess ones before any look-up. A client that continues after refusals loses its
 * connection.
 */
export function meterRequests(door: Door, media: Media, refuse: Refuse, answer: RequestListener): RequestServer {
  const { kernel, proxies, slots, meter } = door
  const { node } = kernel
  const mostRefused = scaledBudget(budgets.refusedRequests, node.limits.scale)
  const refused = new WeakMap<Socket, number>()

  /** The bucket that refuses a request; null if none does. */
  async function emptiedBy(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    address: string,
  ): Promise<EmptyBucket | null> {
    const kind = media.kindOf(request, path)
    if (kind !== null) response.setHeader('Access-Control-Allow-Origin', '*')
    if (kind === 'there' && !(await meter.takeMedia(address))) return 'media'
    if (kind === 'offer' && !(await meter.takeOffer(address))) return 'offer'
    const isCounted = kind === 'there' || kind === 'offer'
    if (!isCounted && !(await meter.takeRequest(request, address))) return 'request'
    if (kind !== null) return slots.view(request, response) ? null : 'media'
    const asker = () => meter.askerOf(request, address)
    return (await slots.arrive(request, response, asker, node.now())) ? null : 'request'
  }

  /** A proxy's connection carries other clients too. */
  const isShared = ({ remoteAddress = '' }: Socket) => isProxy(proxies, remoteAddress)

  const countRefusal = (socket: Socket) => void refused.set(socket, (refused.get(socket) ?? 0) + 1)

  /** Closes a connection with this answer after too many refusals. */
  function closeRefused(socket: Socket, response: ServerResponse): void {
    if ((refused.get(socket) ?? 0) < mostRefused || isShared(socket)) return
    node.logger.warn({ reason: 'too many refused requests' }, 'closed a connection')
    response.setHeader('Connection', 'close')
  }

  function turnAway(request: IncomingMessage, response: ServerResponse, path: string, emptied: EmptyBucket): void {
    node.metrics.turnedAway()
    countRefusal(request.socket)
    closeRefused(request.socket, response)
    refuse(request, response, { path, emptied, retryAfter: retryAfter[emptied] })
  }

  async function serve(request: IncomingMessage, response: ServerResponse, address: string): Promise<void> {
    const path = pathOf(request)
    const emptied = await emptiedBy(request, response, path, address)
    if (emptied !== null) return turnAway(request, response, path, emptied)
    closeRefused(request.socket, response)
    // Later refusals by budgets of accounts and operations count here too.
    onAnswerEnd(request, response, () => response.statusCode === 429 && countRefusal(request.socket))
    answer(request, response)
  }
  return (request, response, address) => {
    serve(request, response, address).catch((error: unknown) => {
      node.logger.error({ error }, 'a request was not counted')
      request.socket.destroy()
    })
  }
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? ''

/**
 * Counts a call that was refused before it was spent, by account or address. Returns the error to send: the refusal, or
 * that there were too many. Faults of the server and refusals by limits are free.
 */
export async function countRefused(
  { limits }: Pick<Node, 'limits'>,
  { limit }: Operation,
  { account, ip }: Pick<Caller, 'account' | 'ip'>,
  error: unknown,
  onRate: (rate: Rate) => void,
): Promise<unknown> {
  if (!(error instanceof AppError) || error.status >= 500 || error.status === 429) return error
  const { rate, retryAfterSeconds } = await limits.refusal(limit, account ?? ip)
  onRate(rate)
  return retryAfterSeconds === null
    ? error
    : new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: retryAfterSeconds, rate })
}

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
