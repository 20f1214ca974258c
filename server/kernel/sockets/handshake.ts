import { type IncomingMessage, ServerResponse } from 'node:http'
import { type Door, hasUnclearFields, isHostUnclear } from '#server/kernel/http/http-guards'
import { isForFiles, setHeaders } from '#server/kernel/http/http-headers'
import { sessionInRequest } from '#server/kernel/http/http-input'
import { budgets } from '#server/kernel/limits/budgets'
import type { Fanout } from '#server/ports/fanout/port'
import { AppError, type ErrorCode, errorHeaders, errors } from '#shared/errors'
import type { Namespace } from '#shared/kit/contract'
import { clientAddressOf } from '../addresses.ts'
import type { Caller } from '../context.ts'
import type { EventScopes, LiveConnection } from './connection.ts'

export interface SocketDoor extends Door {
  fanout: Fanout
  eventScopes: EventScopes
  /** The sessions among these that are still stored. */
  alive(sessionIds: readonly string[]): Promise<ReadonlySet<string>>
  /** The caller's part of `session:ready`. */
  describe(caller: Caller): Promise<Record<string, unknown> | null>
  /** Calls the domains' handlers for a new connection. */
  connected(namespace: Namespace, connection: LiveConnection): Promise<void> | void
}

export const eventLimitBytes = 64 * 1024

/** `retryAfter`: in seconds; null if a retry changes nothing. */
interface Refusal {
  code: ErrorCode
  retryAfter: number | null
}
const unclear: Refusal = { code: 'VALIDATION_ERROR', retryAfter: null }
const foreign: Refusal = { code: 'FORBIDDEN', retryAfter: null }
const tooMany = (retryAfter: number): Refusal => ({ code: 'RATE_LIMIT_EXCEEDED', retryAfter })
/** A slot of an address is free when one of its connections closes. */
const noPlaceSeconds = 10
export const unavailableRefusal: Refusal = { code: 'SERVICE_UNAVAILABLE', retryAfter: 1 }

/** The refusal of a handshake; null if it is allowed. */
export async function handshakeRefusalOf(
  door: SocketDoor,
  request: IncomingMessage,
  isDraining: () => boolean,
): Promise<Refusal | null> {
  if (isDraining()) return unavailableRefusal
  const { origins, proxies, slots, meter } = door
  const { limits } = door.kernel.node
  const ip = clientAddressOf(request, proxies)
  if (!(await meter.takeRequest(request, ip))) return tooMany(60)
  if (isHostUnclear(request) || hasUnclearFields(request)) return unclear
  if (isForFiles(door.kernel.node.settings, request)) return foreign
  const origin = request.headers.origin
  const several = request.rawHeaders.filter((name) => name.toLowerCase() === 'origin').length > 1
  if (several || !origins.allows(origin, request.headers['sec-fetch-site'] as string | undefined)) return foreign
  if (!(await slots.arrive(request, request.socket, asker, door.kernel.node.now()))) return tooMany(noPlaceSeconds)
  const wait = (await waitOfCaller()) ?? (await limits.wait('handshakes', 'node', budgets.handshakes.most, 1))
  if (wait !== null) return tooMany(wait)
  slots.stay(request)
  return null

  function asker() {
    return meter.askerOf(request, ip)
  }
  /** Clients with a session are counted separately, with the same limit. */
  async function waitOfCaller(): Promise<number | null> {
    const { most } = budgets.handshakesOfAddress
    const wait = await limits.wait('handshake', ip, most, 60)
    const account = wait === null ? null : (await asker()).account
    return account === null ? wait : limits.wait('handshake', account, most, 60)
  }
}

/** The engine answers every refused upgrade by 400, so the right status is written here, with the usual headers. */
export function answerRefusal(request: IncomingMessage, { code, retryAfter }: Refusal, door: SocketDoor): void {
  const response = new ServerResponse(request)
  setHeaders(response, door.headersOfRefusals)
  response.setHeader('Connection', 'close')
  response.setHeader(errorHeaders.code, code)
  if (retryAfter !== null) response.setHeader('Retry-After', retryAfter)
  response.assignSocket(request.socket)
  response.writeHead(errors[code][0], { 'Content-Length': 0 }).end()
  request.socket.end()
}

/** The session of a client: in its connection payload, as a bearer, or in a cookie; null without one. */
export function credentialOf(auth: unknown, request: IncomingMessage, origin: string): string | null {
  const { token } = (auth ?? {}) as { token?: unknown }
  if (token !== undefined && token !== null) {
    if (typeof token !== 'string') throw new AppError('SESSION_INVALID')
    return token
  }
  return sessionInRequest(request, origin)
}
