import type { Server, Socket } from 'socket.io'
import { type Budget, budgets, scaledBudget } from '#server/kernel/limits/budgets'
import type { Logger } from '#server/kernel/operate/logger'
import { clientAddressOf } from '../addresses.ts'
import type { Caller, Node } from '../context.ts'
import { nodeState } from '../operate/node-state.ts'
import { eventLimitBytes, type SocketDoor } from './handshake.ts'

type Wire = Socket['conn']

/** The counts of one engine connection over all its namespaces. It outlives their sockets. */
interface Meter {
  /** Counts any packet; false if the connection is to be closed. */
  packet(data: unknown): boolean
  /** Counts a refused CONNECT; false if the connection is to be closed after it. */
  refusal(): boolean
  /** Counts an event; false if it is to be refused. */
  event(): boolean
  /** Counts a refused event; false if the connection is to be closed after it. */
  refusedEvent(): boolean
  /** The namespaces that it has joined, or is joining. */
  entered: Set<string>
  /** The caller of its first token, after its address has spent its CONNECTs. */
  asker: Promise<Caller> | null
}

/** Longer than an event of the limit with its name and room. */
const largeLength = 2 * eventLimitBytes

function openMeter(scale: number): Meter {
  const packets = counter(budgets.packets, 1_000, scale)
  const bytes = counter(budgets.bytes, 1_000, scale)
  const large = counter(budgets.largePackets, 60_000, scale)
  const events = counter(budgets.events, 1_000, scale)
  const connects = counter(budgets.connects, 60_000, scale)
  const refusedEvents = counter(budgets.refusedEvents, 60_000, scale)
  const refusals = counter(budgets.refusals, Number.POSITIVE_INFINITY, scale)
  return {
    packet(data) {
      const length = lengthOf(data)
      const isWithin = packets(1) && bytes(length) && (length <= largeLength || large(1))
      return (!isOfType(data, connect) || connects(1)) && isWithin
    },
    refusal: () => refusals(1),
    event: () => events(1),
    refusedEvent: () => refusedEvents(1),
    entered: new Set(),
    asker: null,
  }
}

/** A sum that restarts with each span of the monotonic clock; the function returns whether it is within the budget. */
function counter(budget: Budget, milliseconds: number, scale: number): (amount: number) => boolean {
  const most = scaledBudget(budget, scale)
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

const addressesOn = nodeState(() => ({ span: 0, sums: new Map<string, number>() }))

/** Counts bytes by address and second; false beyond the budget. */
export function spendBytes(node: Pick<Node, 'limits' | 'state'>, address: string, length: number): boolean {
  const counted = addressesOn(node)
  const now = Math.floor(performance.now() / 1_000)
  if (now !== counted.span) {
    counted.span = now
    counted.sums.clear()
  }
  const sum = (counted.sums.get(address) ?? 0) + length
  counted.sums.set(address, sum)
  return sum <= scaledBudget(budgets.bytesOfAddress, node.limits.scale)
}

/** The first characters of Socket.IO packets. */
const connect = '0'
const connectError = '4'
const isOfType = (data: unknown, type: string): boolean => typeof data === 'string' && data.startsWith(type)
const lengthOf = (data: unknown): number => (data as { length?: number } | undefined)?.length ?? 0

const meters = new WeakMap<Wire, Meter>()

/** The meter of the engine connection below a socket. */
export function connectionMeterOf({ conn }: Pick<Socket, 'conn'>, scale: number): Meter {
  const known = meters.get(conn) ?? openMeter(scale)
  meters.set(conn, known)
  return known
}

const goodbyeMilliseconds = 1_000

interface EnginePacket {
  type: string
  data?: unknown
}

/**
 * Ends a WebSocket without waiting for the client. An HTTP connection stays: a proxy may carry other requests on it.
 */
const endWebSocket = ({ transport }: Wire): void =>
  (transport as { socket?: { terminate(): void } }).socket?.terminate()

/** Closes a connection over its budget, even against its client. */
export function endConnection(conn: Wire, logger: Logger, reason: string): void {
  if (conn.readyState !== 'open') return
  logger.warn({ reason }, 'closed a connection')
  conn.close(true)
  setImmediate(endWebSocket, conn)
}

/**
 * Counts all packets of each connection before they are read. It closes connections that send too much or are refused
 * too often.
 */
export function meterConnections({ engine }: Server, { proxies, kernel: { node } }: SocketDoor): void {
  engine.on('connection', (conn: Wire) => {
    const meter = connectionMeterOf({ conn }, node.limits.scale)
    const address = clientAddressOf(conn.request, proxies)
    // A client that ignores the close of its WebSocket could send for another half minute.
    conn.once('close', () => setTimeout(endWebSocket, goodbyeMilliseconds, conn).unref())
    // The engine delivers a packet after this event, and only if the connection is still open.
    conn.on('packet', ({ type, data }: EnginePacket) => {
      const isWithin = meter.packet(type === 'message' ? data : undefined)
      if (!isWithin || !spendBytes(node, address, lengthOf(data))) endConnection(conn, node.logger, 'too many packets')
    })
    conn.on('packetCreate', ({ type, data }: EnginePacket) => {
      if (type !== 'message' || !isOfType(data, connectError) || meter.refusal()) return
      // The refusal is written first.
      setImmediate(endConnection, conn, node.logger, 'too many refusals')
    })
  })
}
