import type { Socket } from 'socket.io'
import { refusalFrom, whileStoreAnswers } from '#server/kernel/http/deadline'
import { guardPayload } from '#server/kernel/http/http-guards'
import { budgets, scaledBudget } from '#server/kernel/limits/budgets'
import { AppError } from '#shared/errors'
import { type Protocol, protocols, sessionReady } from '#shared/kit/connection'
import type { Namespace } from '#shared/kit/contract'
import { clientAddressOf } from '../addresses.ts'
import { audiences, type Caller } from '../context.ts'
import { LiveConnection, localConnections, rememberConnection } from './connection.ts'
import { credentialOf, eventLimitBytes, type SocketDoor } from './handshake.ts'
import { connectionMeterOf } from './meter.ts'

/** These namespaces admit guests: viewers of streams, and participants of meetings by code. */
const isOpenToGuests = (name: string) => ['/streams', '/meetings'].includes(name)

/** Finds the account of a connection; refuses connections without a session. */
export async function admitConnection(door: SocketDoor, socket: Socket, name: string): Promise<void> {
  const { entered } = connectionMeterOf(socket, door.kernel.node.limits.scale)
  if (entered.has(name)) throw new AppError('CONFLICT', { message: 'This connection is in the namespace already' })
  entered.add(name)
  socket.once('disconnect', () => entered.delete(name))
  try {
    await letIn(door, socket, name)
  } catch (error) {
    entered.delete(name)
    throw error
  }
}

async function letIn(door: SocketDoor, socket: Socket, name: string): Promise<void> {
  const auth: unknown = socket.handshake.auth
  guardPayload(auth)
  const protocol = protocolOf(auth)
  const { request } = socket
  const caller = await callerOf(door, socket, auth)
  if (caller.account === null && !isOpenToGuests(name)) throw new AppError('UNAUTHORIZED')
  if (!door.slots.recognise(request, caller, door.kernel.node.now()))
    throw new AppError('RATE_LIMIT_EXCEEDED', { message: 'Too many connections from this address', retryAfter: 10 })
  const { limits } = door.kernel.node
  const live = new LiveConnection(socket, caller, door.eventScopes, protocol)
  rememberConnection(live)
  if (caller.account === null) return
  const mine = [...localConnections(socket.nsp, audiences.account(caller.account))]
  const surplus = mine.length + 1 - scaledBudget(budgets.sockets, limits.scale)
  for (const old of mine.slice(0, Math.max(0, surplus))) {
    door.kernel.node.logger.info({ namespace: name }, 'closed the oldest socket of an account')
    old.close()
  }
  await socket.join(audiences.account(caller.account))
}

/**
 * The caller of a connection. Beyond the budget of its address, one token is checked and other CONNECTs wait for it.
 * Sessions then have their own budget, and others are refused.
 */
async function callerOf(door: SocketDoor, socket: Socket, auth: unknown): Promise<Caller> {
  const { request } = socket
  const { node } = door.kernel
  const seen = {
    ip: clientAddressOf(request, door.proxies),
    userAgent: (request.headers['user-agent'] ?? '').slice(0, 200),
  }
  const identify = () =>
    whileStoreAnswers(
      node,
      performance.now(),
      door.identify(credentialOf(auth, request, node.settings.publicUrl), seen),
    )
  const mayConnect = (key: string) => node.limits.throttle('connect', key, budgets.connectsOfAddress.most, 60)
  if (await mayConnect(seen.ip)) return identify()
  const meter = connectionMeterOf(socket, node.limits.scale)
  meter.asker ??= identify()
  const { account } = await meter.asker
  if (account === null || !(await mayConnect(account)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { message: 'Too many connections from this address', retryAfter: 60 })
  return identify()
}

/** The protocol that the client requests; 1 if it names none. */
function protocolOf(auth: unknown): Protocol {
  const { protocol } = (auth ?? {}) as { protocol?: unknown }
  const known = protocols.find((one) => one === (protocol ?? 1))
  if (known === undefined)
    throw new AppError('INVALID_PARAMETER', { message: `protocol: this server speaks ${protocols.join(' and ')}` })
  return known
}

/** A refusal in the form that the Socket.IO client expects. */
export const connectError = (error: unknown) => {
  const { code, message } = refusalFrom(error) ?? new AppError('INTERNAL_ERROR')
  return Object.assign(new Error(message), { data: { code, message } })
}

/** Sends `session:ready`, then calls the domains' handlers for new connections. */
export async function greetConnection(door: SocketDoor, name: Namespace, live: LiveConnection): Promise<void> {
  const { node } = door.kernel
  try {
    const user = await door.describe(live.caller)
    const { session } = live.caller
    live.emit(sessionReady, {
      protocol: live.protocol,
      feature_level: 1,
      server_time: new Date(node.now()).toISOString(),
      node: node.id,
      user,
      session_expires_at: session ? new Date(session.expiresAt).toISOString() : null,
      limits: {
        event_bytes: eventLimitBytes,
        events_per_second: scaledBudget(budgets.events, node.limits.scale),
        rooms: 100,
      },
      degraded: node.metrics.degradedParts(),
      recovered: false,
    })
    await door.connected(name, live)
  } catch (error) {
    if (refusalFrom(error)) node.logger.warn({ error }, 'greeting put off')
    else node.logger.error({ error }, 'greeting failed')
    live.drop()
  }
}
