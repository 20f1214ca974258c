import type { IncomingMessage } from 'node:http'
import { parseCookie } from 'cookie'
import { AppError } from '#shared/errors'
import { clientOf } from '../addresses.ts'
import { budgets } from '../budgets.ts'
import { isForFiles } from '../files-host.ts'
import { sessionCookie } from '../http-input.ts'
import type { SocketDoor } from './door.ts'

const refusals = { 403: 'Forbidden', 429: 'Too Many Requests', 503: 'Service Unavailable' } as const
type Refusal = keyof typeof refusals

/** The status with which a handshake is refused; null if it is allowed. */
export async function refusalOf(
  door: SocketDoor,
  request: IncomingMessage,
  isDraining: () => boolean,
): Promise<Refusal | null> {
  if (isDraining()) return 503
  if (isForFiles(door.kernel.node.settings, request)) return 403
  const { origins, proxies, slots } = door
  const { limits } = door.kernel.node
  const origin = request.headers.origin
  const several = request.rawHeaders.filter((name) => name.toLowerCase() === 'origin').length > 1
  if (several || !origins.allows(origin, request.headers['sec-fetch-site'] as string | undefined)) return 403
  const ip = clientOf(request, proxies)
  const allowed =
    (await slots.arrive(request, request.socket, asker, door.kernel.node.now())) &&
    ((await limits.throttle('handshake', ip, budgets.handshakesOfAddress.most, 60)) || (await mayStill())) &&
    (await limits.throttle('handshakes', 'node', budgets.handshakes.most, 1))
  if (allowed) slots.stay(request)
  return allowed ? null : 429

  function asker() {
    return door
      .identify(credentialOf(null, request), { ip, userAgent: '' })
      .catch(() => ({ account: null, session: null }))
  }
  /** Clients that send a session with the handshake are counted separately, with the same limit. */
  async function mayStill(): Promise<boolean> {
    const { account } = await asker()
    return account !== null && limits.throttle('handshake', account, budgets.handshakesOfAddress.most, 60)
  }
}

/** The engine answers 400 to every upgrade that it refuses, so the right status is written here. */
export function sayRefused({ socket }: IncomingMessage, status: Refusal): void {
  const wait = status === 403 ? '' : 'Retry-After: 1\r\n'
  socket.end(`HTTP/1.1 ${status} ${refusals[status]}\r\nConnection: close\r\nContent-Length: 0\r\n${wait}\r\n`)
}

/** The session that a client sends: in the payload of its connection, as a bearer, or in a cookie; null without one. */
export function credentialOf(auth: unknown, request: IncomingMessage): string | null {
  const { token } = (auth ?? {}) as { token?: unknown }
  if (token !== undefined && token !== null) {
    if (typeof token !== 'string') throw new AppError('SESSION_INVALID')
    return token
  }
  const bearer = /^Bearer ([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1]
  return bearer ?? parseCookie(request.headers.cookie ?? '')[sessionCookie] ?? null
}
