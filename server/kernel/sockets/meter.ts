import type { Server, Socket } from 'socket.io'
import { type Budget, budgets, scaled } from '../budgets.ts'
import type { Caller } from '../context.ts'
import type { Logger } from '../logger.ts'
import type { SocketDoor } from './door.ts'

type Wire = Socket['conn']

/** What one connection of the engine has sent, over all its namespaces. It outlives the sockets that come and go on it. */
interface Meter {
  /** Counts a packet of any kind; false where the connection is to be closed for it. */
  packet(data: unknown): boolean
  /** Counts a refused CONNECT; false where the connection is to be closed after it. */
  refusal(): boolean
  /** Counts an event; false where it is to be refused. */
  event(): boolean
  /** Counts one that was refused; false where the connection is to be closed after it. */
  refusedEvent(): boolean
  /** The namespaces that it is in, or about to be. */
  entered: Set<string>
  /** Whom its first token speaks for, where its address has spent its CONNECTs. */
  asker: Promise<Caller> | null
}

function openMeter(scale: number): Meter {
  const packets = counter(budgets.packets, 1_000, scale)
  const bytes = counter(budgets.bytes, 1_000, scale)
  const events = counter(budgets.events, 1_000, scale)
  const connects = counter(budgets.connects, 60_000, scale)
  const refusedEvents = counter(budgets.refusedEvents, 60_000, scale)
  const refusals = counter(budgets.refusals, Number.POSITIVE_INFINITY, scale)
  return {
    packet(data) {
      const isWithin = packets(1) && bytes(lengthOf(data))
      return (!isOfType(data, connect) || connects(1)) && isWithin
    },
    refusal: () => refusals(1),
    event: () => events(1),
    refusedEvent: () => refusedEvents(1),
    entered: new Set(),
    asker: null,
  }
}

/** Adds up, anew in each span of this process's own clock; the function returns whether the sum is within the budget. */
function counter(budget: Budget, milliseconds: number, scale: number): (amount: number) => boolean {
  const most = scaled(budget, scale)
  let span = 0
  let sum = 0
  return (amount) => {
    const now = Math.floor(performance.now() / milliseconds)
    if (now !== span) {
      span = now
      sum = 0
    }
    sum += amount
    return sum <= most
  }
}

/** The first signs of packets of Socket.IO. */
const connect = '0'
const connectError = '4'
const isOfType = (data: unknown, type: string): boolean => typeof data === 'string' && data.startsWith(type)
const lengthOf = (data: unknown): number => (data as { length?: number } | undefined)?.length ?? 0

const meters = new WeakMap<Wire, Meter>()

/** The meter of the connection that a socket of a namespace is on. */
export function meterOf({ conn }: Pick<Socket, 'conn'>, scale: number): Meter {
  const known = meters.get(conn) ?? openMeter(scale)
  meters.set(conn, known)
  return known
}

const goodbyeMilliseconds = 1_000

interface EnginePacket {
  type: string
  data?: unknown
}

/** Ends a WebSocket without waiting for the other side. A connection of HTTP stays: a proxy may send others' requests over it. */
const hangUp = ({ transport }: Wire): void => (transport as { socket?: { terminate(): void } }).socket?.terminate()

/** Closes a connection that has asked too much, whatever its client does. */
export function endConnection(conn: Wire, logger: Logger, reason: string): void {
  if (conn.readyState !== 'open') return
  logger.warn({ reason }, 'closed a connection')
  conn.close(true)
  setImmediate(hangUp, conn)
}

/** Counts what each connection sends before any of it is read, and closes those that send too much, or are refused too often. */
export function meterConnections({ engine }: Server, { kernel: { node } }: SocketDoor): void {
  engine.on('connection', (conn: Wire) => {
    const meter = meterOf({ conn }, node.limits.scale)
    // A client that does not answer the close of its WebSocket could go on sending for half a minute.
    conn.once('close', () => setTimeout(hangUp, goodbyeMilliseconds, conn).unref())
    // The engine passes a packet on after this event, and only where the connection is still open.
    conn.on('packet', ({ type, data }: EnginePacket) => {
      if (!meter.packet(type === 'message' ? data : undefined)) endConnection(conn, node.logger, 'too many packets')
    })
    conn.on('packetCreate', ({ type, data }: EnginePacket) => {
      if (type !== 'message' || !isOfType(data, connectError) || meter.refusal()) return
      // The refusal itself is written first.
      setImmediate(endConnection, conn, node.logger, 'too many refusals')
    })
  })
}
