import { randomInt } from 'node:crypto'
import type { Server as HttpServer, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as breathe } from 'node:timers/promises'
import { Server } from 'socket.io'
import { Decoder, Encoder, type Packet } from 'socket.io-parser'
import { repeatWork } from '#server/kernel/beat'
import { serverNotice, sessionEnded, sessionExpiring } from '#shared/kit/connection'
import { type Event, namespaces } from '#shared/kit/contract'
import { audiences, type Live } from './context.ts'
import { endUnreadable } from './http/plain-errors.ts'
import type { Delivery } from './invoke.ts'
import { admitConnection, connectError, greetConnection } from './sockets/admission.ts'
import {
  allConnections,
  connectionOf,
  type EventScopes,
  type LiveConnection,
  localConnections,
  socketRoomsOf,
} from './sockets/connection.ts'
import { answerRefusal, handshakeRefusalOf, type SocketDoor, unavailableRefusal } from './sockets/handshake.ts'
import { meterConnections } from './sockets/meter.ts'
import { eventsOf, receiveEvent } from './sockets/receive.ts'

/** Node reports only about so many headers: the body's length could be among the others. */
const reportedHeaders = 1_000

/**
 * Answers upgrade requests as if they had not asked for one (RFC 9110, 7.8), such as those of HTTP/2 clients. Node
 * hands over the connection of each, which would otherwise get no answer.
 */
function ignoreUpgrades(server: HttpServer, isSpoken: (request: IncomingMessage) => boolean): void {
  server.on('upgrade', (request, socket, rest) => {
    if (isSpoken(request)) return
    if (request.rawHeaders.length >= 2 * reportedHeaders) return endUnreadable(socket, 'HPE_HEADER_OVERFLOW')
    socket.unshift(Buffer.concat([Buffer.from(withoutUpgrade(request), 'latin1'), rest]))
    server.emit('connection', socket)
  })
}

function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    if (/^(upgrade|http2-settings)$/i.test(name)) continue
    const isConnection = /^connection$/i.test(name)
    const kept = value.split(',').filter((option) => !/^\s*(upgrade|http2-settings)\s*$/i.test(option))
    if (!isConnection) lines.push(`${name}: ${value}`)
    else if (kept.length > 0) lines.push(`${name}: ${kept.join(',')}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}

const liveSockets = (io: Server, eventScopes: EventScopes): Live => ({
  send(event, audience, payload, ...[lean]) {
    const [whole = audience, thin] = socketRoomsOf(audience)
    for (const space of spacesOf(event)) {
      const { local, adapter } = io.of(space)
      const to = (part: string) => local.to(part).except(eventScopes.excludedRooms(event))
      if (adapter.rooms.has(whole)) to(whole).emit(event.name, payload)
      if (thin !== undefined && adapter.rooms.has(thin)) to(thin).emit(event.name, lean ? lean() : payload)
    }
  },
  sendVolatile(event, audience, payload) {
    const excluded = eventScopes.excludedRooms(event)
    for (const space of spacesOf(event))
      io.of(space).local.volatile.to(socketRoomsOf(audience)).except(excluded).emit(event.name, payload)
  },
  audienceSize(namespace, audience) {
    const { rooms } = io.of(namespace).adapter
    return socketRoomsOf(audience).reduce((sum, part) => sum + (rooms.get(part)?.size ?? 0), 0)
  },
  connections: () => io.engine.clientsCount,
  connectionsOf: (namespace, audience) => [...localConnections(io.of(namespace), audience)],
  endSessions(account, sessionIds, code) {
    const mine = namespaces.flatMap((name) => [...localConnections(io.of(name), audiences.account(account))])
    const isEnded = ({ caller: { session } }: LiveConnection) =>
      sessionIds === 'all' || (session !== null && sessionIds.includes(session.id))
    for (const live of mine.filter(isEnded)) {
      // The end of one namespace ends the connection below, so all its namespaces wait.
      const asking = mine.find(({ wire, owesAnswer }) => owesAnswer && wire === live.wire)
      if (asking) asking.afterAnswers(() => endConnection(live, code))
      else endConnection(live, code)
    }
  },
})

/** Sends the reason, then closes the connection. */
function endConnection(live: LiveConnection, code: string): void {
  live.emit(sessionEnded, { code })
  setImmediate(() => live.close())
}

/** Sends an event to every socket of an audience, on all nodes. */
function deliverOne(io: Server, eventScopes: EventScopes, { event, audience, payload }: Delivery): void {
  const excluded = eventScopes.excludedRooms(event)
  for (const space of spacesOf(event))
    io.of(space).to(socketRoomsOf(audience)).except(excluded).emit(event.name, payload)
}

const spacesOf = ({ namespace }: Event) => (namespace === '*' ? namespaces : [namespace])

const allLiveConnections = (io: Server): LiveConnection[] =>
  namespaces.flatMap((name) => [...allConnections(io.of(name))])

const drainMilliseconds = 8_000
const batchOfClosing = 200

/** Asks clients to reconnect to another node, waits for running calls and unsent answers, then closes the connections in batches. */
async function drainConnections(io: Server): Promise<void> {
  const all = () => allLiveConnections(io)
  for (const live of all())
    live.emit(serverNotice, {
      kind: 'draining',
      detail: 'This server is restarting.',
      reconnect_after_ms: randomInt(8_000),
    })
  const until = performance.now() + drainMilliseconds
  const owes = (live: LiveConnection) => live.busy || !live.isFlushed
  // An answer is written a moment after its call has released its slot.
  do await new Promise((resolve) => setTimeout(resolve, 50))
  while (performance.now() < until && all().some(owes))
  const open = all()
  for (let from = 0; from < open.length; from += batchOfClosing) {
    for (const live of open.slice(from, from + batchOfClosing)) live.drop()
    await new Promise((resolve) => setTimeout(resolve, from + batchOfClosing < open.length ? 100 : 0))
  }
  // The process does not wait for connections that are slow to close.
  void io.close()
}

/** Socket.IO's parser for text only: it does not search binary parts. */
class TextEncoder extends Encoder {
  override encode({ type, nsp, id, data }: Packet): string[] {
    const space = nsp === '/' ? '' : `${nsp},`
    const json = data === undefined || data === null ? '' : JSON.stringify(data)
    return [`${type}${space}${id ?? ''}${json}`]
  }
}

/** It accepts no binary parts either: a client that omits the last would hold the others in memory. */
class TextDecoder extends Decoder {
  constructor() {
    super({ maxAttachments: 0 })
  }
}

const textParser = { Encoder: TextEncoder, Decoder: TextDecoder }

const expiringMilliseconds = 5 * 60_000
const roundMilliseconds = 1_000
const checkedAtOnce = 500
const recheckMilliseconds = 60_000

/** Checks every open connection once a second; returns the function that stops it. */
function startSweep(io: Server, door: SocketDoor): () => void {
  let isUnderWay = false
  const sweep = async () => {
    if (isUnderWay) return
    isUnderWay = true
    await lookAfterAll(io, door).finally(() => {
      isUnderWay = false
    })
  }
  const ends = [
    repeatWork(roundMilliseconds, () => void sweep()),
    repeatWork(recheckMilliseconds, () => void endWithoutSession(io, door)),
  ]
  return () => {
    for (const end of ends) end()
  }
}

async function lookAfterAll(io: Server, door: SocketDoor): Promise<void> {
  door.kernel.node.metrics.sockets(io.engine.clientsCount)
  let checked = 0
  for (const name of namespaces)
    for (const live of allConnections(io.of(name))) {
      lookAfter(live, door)
      if (++checked % checkedAtOnce === 0) await breathe()
    }
}

/** Ends an expired connection, warns before the expiry, and drops a client that does not read. */
function lookAfter(live: LiveConnection, door: SocketDoor): void {
  const { metrics, logger, now } = door.kernel.node
  const { session } = live.caller
  if (live.looksStuck()) {
    metrics.slowConsumer()
    logger.warn({ reason: 'slow-consumer' }, 'closed a socket')
    live.drop()
    return
  }
  if (!session) return
  const left = session.expiresAt - now()
  if (left <= 0) endConnection(live, 'SESSION_EXPIRED')
  else if (!live.warned && left <= expiringMilliseconds) {
    live.warned = true
    live.emit(sessionExpiring, { in_s: Math.floor(left / 1000) })
  }
}

/** Ends connections of ended sessions. Usually a message of another node does so; this finds lost ones. */
async function endWithoutSession(io: Server, door: SocketDoor): Promise<void> {
  const all = allLiveConnections(io)
  const ids = [...new Set(all.flatMap((live) => live.caller.session?.id ?? []))]
  const alive = await door.alive(ids).catch(() => new Set(ids))
  for (const live of all)
    if (live.caller.session && !alive.has(live.caller.session.id)) endConnection(live, 'SESSION_NOT_FOUND')
}

interface OpenSockets {
  live: Live
  deliver(deliveries: readonly Delivery[]): void
  /** Notifies all clients that a part is degraded, or restored. */
  notice(kind: 'degraded' | 'restored', detail: string): void
  /** Asks all clients to reconnect elsewhere, waits for running calls, then closes. */
  drain(): Promise<void>
}

/** Packets above the limit of events are read up to here, so that their sender is notified. */
const longestPacket = 1_000_000

export function openSockets(server: HttpServer, door: SocketDoor): OpenSockets {
  let draining = false
  const isDraining = () => draining
  const plain = server.listeners('request')
  const io = new Server(server, {
    transports: ['websocket'],
    serveClient: false,
    destroyUpgrade: false,
    connectTimeout: 10_000,
    maxHttpBufferSize: longestPacket,
    perMessageDeflate: false,
    pingInterval: 25_000,
    pingTimeout: 20_000,
    adapter: door.fanout,
    parser: textParser,
    allowRequest: (request, answer) => {
      void handshakeRefusalOf(door, request, isDraining)
        .catch(() => unavailableRefusal)
        .then((refusal) => {
          if (refusal) answerRefusal(request, refusal, door)
          answer(null, refusal === null)
        })
    },
  })
  // Polling is not supported, so plain requests to the socket path are handled by the HTTP door.
  server.removeAllListeners('request')
  for (const listener of plain) server.on('request', listener as () => void)
  io.engine.on('connection', coalesceWrites)
  meterConnections(io, door)
  io.use((_socket, next) => next(new Error('Connect to a namespace')))
  for (const name of namespaces) {
    const namespace = io.of(name)
    const known = eventsOf(door.bound, name)
    namespace.use((socket, next) => {
      admitConnection(door, socket, name).then(
        () => next(),
        (error: unknown) => next(connectError(error)),
      )
    })
    namespace.on('connection', (socket) => {
      const live = connectionOf(socket)
      if (!live) return void socket.disconnect(true)
      void greetConnection(door, name, live)
      socket.use(([event, ...args]) => {
        void receiveEvent(door, known, live, String(event), args, isDraining)
      })
    })
  }
  ignoreUpgrades(server, ({ url = '' }) => url.startsWith(`${io.path()}/`))
  const endSweep = startSweep(io, door)
  return {
    live: liveSockets(io, door.eventScopes),
    deliver: (deliveries) => {
      for (const delivery of deliveries) deliverOne(io, door.eventScopes, delivery)
    },
    notice(kind, detail) {
      for (const live of allLiveConnections(io)) live.emit(serverNotice, { kind, detail, reconnect_after_ms: 0 })
    },
    async drain() {
      draining = true
      endSweep()
      await drainConnections(io)
    },
  }
}

/** The used part of an Engine.IO connection; `flush` writes all buffered packets. */
interface Wire {
  request: { socket: Pick<Socket, 'cork' | 'uncork'> }
  flush(): void
}

/** Writes all frames of one event-loop turn in one system call, which costs more than many frames. */
export function coalesceWrites(wire: Wire): void {
  const { socket } = wire.request
  const flush = wire.flush.bind(wire)
  let isDue = false
  const flushNow = () => {
    isDue = false
    socket.cork()
    flush()
    socket.uncork()
  }
  wire.flush = () => {
    if (isDue) return
    isDue = true
    process.nextTick(flushNow)
  }
}
