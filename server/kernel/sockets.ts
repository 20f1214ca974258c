import type { Server as HttpServer } from 'node:http'
import { Server } from 'socket.io'
import { serverNotice } from '#shared/kit/connection'
import { namespaces } from '#shared/kit/contract'
import type { Live } from './context.ts'
import { ignoreUpgrades } from './http/upgrades.ts'
import type { Delivery } from './invoke.ts'
import { admitConnection, connectError, greetConnection } from './sockets/admission.ts'
import { connectionOf } from './sockets/connection.ts'
import type { SocketDoor } from './sockets/door.ts'
import { drainConnections } from './sockets/drain.ts'
import { answerRefusal, handshakeRefusalOf, unavailableRefusal } from './sockets/handshake.ts'
import { allLiveConnections, deliverOne, liveSockets } from './sockets/live.ts'
import { meterConnections } from './sockets/meter.ts'
import { eventsOf, receiveEvent } from './sockets/receive.ts'
import { textParser } from './sockets/socket-encoder.ts'
import { startSweep } from './sockets/sweep.ts'
import { coalesceWrites } from './store/coalesced-writes.ts'

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
