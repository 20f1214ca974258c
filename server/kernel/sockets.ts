import { randomInt } from 'node:crypto'
import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { parseCookie } from 'cookie'
import { Server, type Socket } from 'socket.io'
import type { Fanout } from '#server/ports/fanout/port'
import { AppError } from '#shared/errors'
import {
  type Protocol,
  protocols,
  serverNotice,
  sessionEnded,
  sessionExpiring,
  sessionReady,
} from '#shared/kit/connection'
import { type Event, type Namespace, namespaces } from '#shared/kit/contract'
import { clientOf, isLocal } from './addresses.ts'
import { coalesceWrites } from './coalesced-writes.ts'
import { allConnections, LiveConnection, localConnections, partsOf, rememberConnection } from './connection.ts'
import { audiences, type Bound, type Caller, type Live, type Node } from './context.ts'
import { refusalFrom, whileThere } from './deadline.ts'
import type { Door } from './door.ts'
import { sessionCookie } from './http-input.ts'
import { newId } from './ids.ts'
import { type Delivery, invoke } from './invoke.ts'
import { tellItems } from './items.ts'
import type { Rate } from './limits.ts'
import { guardPayload } from './payload-guard.ts'
import { textParser } from './socket-encoder.ts'

interface SocketDoor extends Door {
  fanout: Fanout
  /** Which of these sessions still have their record. */
  alive(sessionIds: readonly string[]): Promise<ReadonlySet<string>>
  /** What `session:ready` says of the caller. */
  describe(caller: Caller): Promise<Record<string, unknown> | null>
  /** What the domains do with a new connection. */
  connected(namespace: Namespace, connection: LiveConnection): Promise<void> | void
}

const eventLimitBytes = 64 * 1024
const eventsPerSecond = 30
const handshakesPerSecond = 200
const handshakesPerMinuteAndAddress = 60
const socketsPerAccount = 10
const expiringMilliseconds = 5 * 60_000
const sweepMilliseconds = 1_000
const recheckSweeps = 60

interface OpenSockets {
  io: Server
  live: Live
  deliver(deliveries: readonly Delivery[]): void
  /** Tells everybody that a part is away, or back. */
  notice(kind: 'degraded' | 'restored', detail: string): void
  /** Tells everybody to go elsewhere, lets what runs finish, then closes. */
  drain(): Promise<void>
}

export function openSockets(server: HttpServer, door: SocketDoor): OpenSockets {
  const { limits } = door.kernel.node
  let draining = false
  const io = new Server(server, {
    transports: ['websocket'],
    serveClient: false,
    connectTimeout: 10_000,
    maxHttpBufferSize: 100_000,
    perMessageDeflate: false,
    pingInterval: 25_000,
    pingTimeout: 20_000,
    adapter: door.fanout,
    parser: textParser,
    allowRequest: (request, answer) => {
      void refusalOf(door, request)
        .catch(() => 503 as const)
        .then((status) => {
          if (status !== null) sayRefused(request, status)
          answer(null, status === null)
        })
    },
  })
  io.engine.on('connection', coalesceWrites)
  const events = new Map<string, Map<string, Bound>>(namespaces.map((name) => [name, eventsOf(door.bound, name)]))
  io.use((_socket, next) => next(new Error('Connect to a namespace')))
  for (const name of namespaces) {
    const namespace = io.of(name)
    namespace.use((socket, next) => {
      admit(door, socket, name).then(
        () => next(),
        (error: unknown) => next(connectError(error)),
      )
    })
    namespace.on('connection', (socket) => {
      const live = accepted.get(socket)
      if (!live) return void socket.disconnect(true)
      void greet(door, name, live)
      const known = events.get(name)
      socket.use(([event, ...args]) => {
        if (known) void receive(door, known, live, String(event), args, () => draining)
      })
    })
  }
  let sweeps = 0
  const sweep = setInterval(() => void sweepConnections(io, door, ++sweeps % recheckSweeps === 0), sweepMilliseconds)
  return {
    io,
    live: liveSockets(io),
    deliver: (deliveries) => {
      for (const delivery of deliveries) deliverOne(io, delivery)
    },
    notice(kind, detail) {
      for (const live of everybody(io)) live.emit(serverNotice, { kind, detail, reconnect_after_ms: 0 })
    },
    async drain() {
      draining = true
      clearInterval(sweep)
      await drainConnections(io)
    },
  }

  /** The status that refuses a handshake; null where it may go on. */
  async function refusalOf(door: SocketDoor, request: IncomingMessage): Promise<Refusal | null> {
    const { origins, proxies, slots } = door
    if (draining) return 503
    const origin = request.headers.origin
    const several = request.rawHeaders.filter((name) => name.toLowerCase() === 'origin').length > 1
    if (several || !origins.allows(origin, request.headers['sec-fetch-site'] as string | undefined)) return 403
    const ip = clientOf(request, proxies)
    const allowed =
      (await slots.arrive(request, request.socket, asker, door.kernel.node.now())) &&
      ((await limits.throttle('handshake', ip, handshakesPerMinuteAndAddress, 60)) || (await mayStill())) &&
      (await limits.throttle('handshakes', 'node', handshakesPerSecond, 1))
    if (allowed) slots.stay(request)
    return allowed ? null : 429

    function asker() {
      return door
        .identify(credentialOf(null, request), { ip, userAgent: '' })
        .catch(() => ({ account: null, session: null }))
    }
    /** A client that shows a session with the handshake has a limit of its own, of the same size. */
    async function mayStill(): Promise<boolean> {
      const { account } = await asker()
      return account !== null && limits.throttle('handshake', account, handshakesPerMinuteAndAddress, 60)
    }
  }
}

const refusals = { 403: 'Forbidden', 429: 'Too Many Requests', 503: 'Service Unavailable' } as const
type Refusal = keyof typeof refusals

/** The engine says 400 to every upgrade that it refuses, so the status is said here. */
function sayRefused({ socket }: IncomingMessage, status: Refusal): void {
  const wait = status === 403 ? '' : 'Retry-After: 1\r\n'
  socket.end(`HTTP/1.1 ${status} ${refusals[status]}\r\nConnection: close\r\nContent-Length: 0\r\n${wait}\r\n`)
}

const accepted = new WeakMap<Socket, LiveConnection>()

const eventsOf = (bound: readonly Bound[], namespace: string) =>
  new Map(
    bound.flatMap((one) => {
      const [space, event] = one.operation.socket?.split(' ') ?? []
      return event !== undefined && (space === namespace || space === '*') ? [[event, one] as const] : []
    }),
  )

const connectError = (error: unknown) => {
  const { code, message } = refusalFrom(error) ?? new AppError('INTERNAL_ERROR')
  return Object.assign(new Error(message), { data: { code, message } })
}

/** Finds out who connects; guests stay outside. */
async function admit(door: SocketDoor, socket: Socket, name: string): Promise<void> {
  const auth: unknown = socket.handshake.auth
  guardPayload(auth)
  const protocol = protocolOf(auth)
  const { request } = socket
  const userAgent = (request.headers['user-agent'] ?? '').slice(0, 200)
  const seen = { ip: clientOf(request, door.proxies), userAgent }
  const caller = await whileThere(door.kernel.node, performance.now(), door.identify(credentialOf(auth, request), seen))
  if (caller.account === null) throw new AppError('UNAUTHORIZED')
  if (!door.slots.recognise(request, caller, door.kernel.node.now()))
    throw new AppError('RATE_LIMIT_EXCEEDED', { message: 'Too many connections from this address', retryAfter: 10 })
  const { limits } = door.kernel.node
  const live = new LiveConnection(socket, caller, { perSecond: Math.ceil(eventsPerSecond * limits.scale) }, protocol)
  accepted.set(socket, live)
  rememberConnection(live)
  const mine = [...localConnections(socket.nsp, audiences.account(caller.account))]
  const surplus = mine.length + 1 - Math.ceil(socketsPerAccount * limits.scale)
  for (const old of mine.slice(0, Math.max(0, surplus))) {
    door.kernel.node.logger.info({ namespace: name }, 'closed the oldest socket of an account')
    old.close()
  }
  await socket.join(audiences.account(caller.account))
}

/** What the client speaks; who names nothing speaks the first one. */
function protocolOf(auth: unknown): Protocol {
  const { protocol } = (auth ?? {}) as { protocol?: unknown }
  const known = protocols.find((one) => one === (protocol ?? 1))
  if (known === undefined)
    throw new AppError('INVALID_PARAMETER', { message: `protocol: this server speaks ${protocols.join(' and ')}` })
  return known
}

function credentialOf(auth: unknown, request: IncomingMessage): string | null {
  const { token } = (auth ?? {}) as { token?: unknown }
  if (token !== undefined && token !== null) {
    if (typeof token !== 'string') throw new AppError('SESSION_INVALID')
    return token
  }
  const bearer = /^Bearer ([^\s]+)$/i.exec(request.headers.authorization ?? '')?.[1]
  return bearer ?? parseCookie(request.headers.cookie ?? '')[sessionCookie] ?? null
}

async function greet(door: SocketDoor, name: Namespace, live: LiveConnection): Promise<void> {
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
        events_per_second: Math.ceil(eventsPerSecond * node.limits.scale),
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

type Ack = (answer: unknown) => void

/** What became known of a call on its way. */
interface Seen {
  rate?: Rate
  check?: () => void
}

/** One event of a client. Never throws; always answers where an answer was asked for. */
async function receive(
  door: SocketDoor,
  known: ReadonlyMap<string, Bound>,
  live: LiveConnection,
  event: string,
  args: unknown[],
  draining: () => boolean,
) {
  const ack = typeof args.at(-1) === 'function' ? (args.pop() as Ack) : null
  const requestId = newId()
  const seen: Seen = {}
  try {
    const weight = live.meter()
    if (weight === 'abuse') return live.close()
    if (weight === 'limited') throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 1 })
    if (draining()) throw new AppError('SERVICE_UNAVAILABLE', { retryAfter: 1 })
    if (args.length > 1) throw new AppError('VALIDATION_ERROR', { message: 'One payload an event' })
    const bound = known.get(event)
    if (!bound) throw new AppError('NOT_FOUND', { message: 'Unknown event' })
    const { stream } = bound.operation
    if (stream && !ack) throw new AppError('VALIDATION_ERROR', { message: 'A stream is named by its ack' })
    const gone = stream ? live.beginStream(requestId) : null
    const data = await run(door, bound, live, args.length === 0 ? {} : args[0], requestId, seen, gone)
    seen.check?.()
    const answer = gone ? { stream: requestId } : data
    if (live.protocol === 1) ack?.({ ok: true, data: answer, meta: metaOf(door, requestId, seen) })
    else ack?.({ ok: true, data: bound.operation.lean?.of(answer, args[0] as never) ?? answer })
    if (gone) await tellItems(data as AsyncIterable<unknown>, live, requestId, gone.signal, door.kernel.node.metrics)
  } catch (error) {
    live.endStream(requestId)
    const { code, message, status, retryAfter, verdict, details } =
      error instanceof AppError ? error : new AppError('INTERNAL_ERROR')
    if (!(error instanceof AppError)) door.kernel.node.logger.error({ request_id: requestId, error }, 'event failed')
    const extras = {
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(verdict === undefined ? {} : { verdict }),
      ...(details ? { details } : {}),
    }
    ack?.({ ok: false, error: { code, message, status, ...extras }, meta: metaOf(door, requestId, seen) })
  }
}

const metaOf = ({ kernel }: SocketDoor, requestId: string, seen: Seen) => ({
  request_id: requestId,
  server_time: new Date(kernel.node.now()).toISOString(),
  rate: seen.rate ?? null,
})

async function run(
  door: SocketDoor,
  bound: Bound,
  live: LiveConnection,
  raw: unknown,
  requestId: string,
  seen: Seen,
  gone: AbortController | null,
): Promise<unknown> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw new AppError('VALIDATION_ERROR', { message: 'The payload must be an object' })
  if (guardPayload(raw) > eventLimitBytes && JSON.stringify(raw).length > eventLimitBytes)
    throw new AppError('PAYLOAD_TOO_LARGE')
  const unknown = Object.keys(raw).find((key) => !Object.hasOwn(bound.operation.input.shape, key))
  if (unknown !== undefined)
    throw new AppError('VALIDATION_ERROR', { message: `Unrecognized key: ${unknown.slice(0, 40)}` })
  const askedAt = performance.now()
  const release = await placeInTime(door.kernel.node, live, askedAt)
  try {
    const { output } = await invoke(door.kernel, bound, bound.operation.input, raw, {
      door: 'socket',
      caller: live.caller,
      recognise: () => stillSignedIn(door, live),
      requestId,
      askedAt,
      origin: live.socket.request.headers.host ?? null,
      isLocal: isLocal(live.socket.request),
      connection: live,
      get signal() {
        return gone?.signal ?? live.signal
      },
      setSessionCookie() {},
      browser: null,
      setBrowserCookie() {},
      setHeader() {},
      onAnswer(check) {
        seen.check = check
      },
      onRate(rate) {
        seen.rate = rate
      },
    })
    return output
  } finally {
    release()
  }
}

async function stillSignedIn({ alive, kernel: { node } }: SocketDoor, { caller }: LiveConnection): Promise<Caller> {
  const { session } = caller
  if (session && !(await alive([session.id])).has(session.id))
    throw new AppError(session.expiresAt <= node.now() ? 'SESSION_EXPIRED' : 'SESSION_NOT_FOUND')
  return caller
}

/** Gives back a slot that is granted after the wait for it has ended. */
async function placeInTime(node: Node, live: LiveConnection, askedAt: number): Promise<() => void> {
  let isGivenUp = false
  const placed = live.place().then((release) => {
    if (isGivenUp) release()
    return release
  })
  return whileThere(node, askedAt, placed).catch((error: unknown) => {
    isGivenUp = true
    throw error
  })
}

const liveSockets = (io: Server): Live => ({
  send(event, audience, payload, ...[lean]) {
    const [whole = audience, thin] = partsOf(audience)
    for (const space of spacesOf(event)) {
      const { local, adapter } = io.of(space)
      if (adapter.rooms.has(whole)) local.to(whole).emit(event.name, payload)
      if (thin !== undefined && adapter.rooms.has(thin)) local.to(thin).emit(event.name, lean ? lean() : payload)
    }
  },
  sendVolatile(event, audience, payload) {
    for (const space of spacesOf(event)) io.of(space).local.volatile.to(partsOf(audience)).emit(event.name, payload)
  },
  audienceSize(namespace, audience) {
    const { rooms } = io.of(namespace).adapter
    return partsOf(audience).reduce((sum, part) => sum + (rooms.get(part)?.size ?? 0), 0)
  },
  connections: () => io.engine.clientsCount,
  connectionsOf: (namespace, audience) => [...localConnections(io.of(namespace), audience)],
  endSessions(account, sessionIds, code) {
    for (const name of namespaces) {
      for (const live of localConnections(io.of(name), audiences.account(account))) {
        const { session } = live.caller
        if (sessionIds === 'all' || (session && sessionIds.includes(session.id))) endConnection(live, code)
      }
    }
  },
})

function endConnection(live: LiveConnection, code: string): void {
  live.emit(sessionEnded, { code })
  setImmediate(() => live.close())
}

function deliverOne(io: Server, { event, audience, payload }: Delivery): void {
  for (const space of spacesOf(event)) io.of(space).to(partsOf(audience)).emit(event.name, payload)
}

const spacesOf = ({ namespace }: Event) => (namespace === '*' ? namespaces : [namespace])

/** Ends expired connections, warns those that expire soon, drops clients that do not read, and checks from time to time whether sessions still exist. */
async function sweepConnections(io: Server, door: SocketDoor, isRecheck: boolean): Promise<void> {
  const now = door.kernel.node.now()
  const all = everybody(io)
  door.kernel.node.metrics.sockets(io.engine.clientsCount)
  for (const live of all) {
    const { session } = live.caller
    if (live.isBehind) {
      door.kernel.node.metrics.slowConsumer()
      door.kernel.node.logger.warn({ reason: 'slow-consumer' }, 'closed a socket')
      live.drop()
    } else if (session && session.expiresAt <= now) endConnection(live, 'SESSION_EXPIRED')
    else if (session && !live.warned && session.expiresAt - now <= expiringMilliseconds) {
      live.warned = true
      live.emit(sessionExpiring, { in_s: Math.floor((session.expiresAt - now) / 1000) })
    }
  }
  if (!isRecheck) return
  const ids = [...new Set(all.flatMap((live) => live.caller.session?.id ?? []))]
  const alive = await door.alive(ids).catch(() => new Set(ids))
  for (const live of all)
    if (live.caller.session && !alive.has(live.caller.session.id)) endConnection(live, 'SESSION_NOT_FOUND')
}

const drainMilliseconds = 8_000
const batchOfClosing = 200

const everybody = (io: Server): LiveConnection[] => namespaces.flatMap((name) => [...allConnections(io.of(name))])

async function drainConnections(io: Server): Promise<void> {
  const all = () => everybody(io)
  for (const live of all())
    live.emit(serverNotice, {
      kind: 'draining',
      detail: 'This server is restarting.',
      reconnect_after_ms: randomInt(8_000),
    })
  const until = performance.now() + drainMilliseconds
  const owes = (live: LiveConnection) => live.busy || !live.isFlushed
  // An answer is written a moment after its event has left its place.
  do await new Promise((resolve) => setTimeout(resolve, 50))
  while (performance.now() < until && all().some(owes))
  const open = all()
  for (let from = 0; from < open.length; from += batchOfClosing) {
    for (const live of open.slice(from, from + batchOfClosing)) live.drop()
    await new Promise((resolve) => setTimeout(resolve, from + batchOfClosing < open.length ? 100 : 0))
  }
  // A connection that is slow to end would be waited for; the process ends without it.
  void io.close()
}
