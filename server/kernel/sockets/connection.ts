import type { Namespace as IoNamespace, Socket } from 'socket.io'
import { audiences, type Caller, type Connection } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import type { Protocol } from '#shared/kit/connection'
import { type Event, scopeOfEvents } from '#shared/kit/contract'

const maxRoomsPerSocket = 100
const runningAtOnce = 8
const waitingAtMost = 256
const maxBufferedBytes = 1_000_000
const maxBufferedPackets = 256
/** The time for which more packets may be unread. */
const unreadMilliseconds = 1_000

/**
 * The Socket.IO rooms of an audience. Protocols 1 and 2 encode room events differently, so each has its own Socket.IO
 * room.
 */
export const socketRoomsOf = (audience: string): string[] =>
  audience.startsWith(audiences.room('')) ? [audience, `${audience} lean`] : [audience]

/** One socket of one namespace: its caller, its running calls, and its memory. */
export class LiveConnection implements Connection {
  caller: Caller
  warned = false
  readonly socket: Socket
  readonly protocol: Protocol
  readonly #eventScopes: EventScopes
  readonly #onClose: (() => void)[] = []
  #memory: Map<string, unknown> | undefined
  #ended: AbortController | undefined
  #streams: Map<string, AbortController> | undefined
  #owed: Set<string> | undefined
  #afterAnswers: (() => void)[] = []
  #running = 0
  #waiting: (() => void)[] = []
  #behindSince: number | null = null

  constructor(socket: Socket, caller: Caller, eventScopes: EventScopes, protocol: Protocol = 1) {
    this.socket = socket
    this.protocol = protocol
    this.caller = caller
    this.#eventScopes = eventScopes
    this.#joinExcludedRooms(caller)
  }

  get id(): string {
    return this.socket.id
  }
  get wire(): object {
    return this.socket.conn
  }
  get isOpen(): boolean {
    return this.socket.connected
  }
  get account(): string | null {
    return this.caller.account
  }
  get memory(): Map<string, unknown> {
    this.#memory ??= new Map()
    return this.#memory
  }

  /** Aborted when the connection closes; created on first use. */
  get signal(): AbortSignal {
    if (!this.#ended) {
      const ended = new AbortController()
      this.#ended = ended
      this.onClose(() => ended.abort())
    }
    return this.#ended.signal
  }

  join(audience: string): void {
    const rooms = [...this.socket.rooms].filter((name) => name.startsWith(audiences.room('')))
    if (rooms.length >= maxRoomsPerSocket && !this.has(audience))
      throw new AppError('RATE_LIMIT_EXCEEDED', { message: `A connection holds at most ${maxRoomsPerSocket} rooms` })
    void this.socket.join(this.#partOf(audience))
  }
  leave(audience: string): void {
    void this.socket.leave(this.#partOf(audience))
  }
  has(audience: string): boolean {
    return this.socket.rooms.has(this.#partOf(audience))
  }
  #partOf(audience: string): string {
    const [whole = audience, lean = whole] = socketRoomsOf(audience)
    return this.protocol === 1 ? whole : lean
  }
  close(): void {
    this.socket.disconnect(true)
  }
  answerFirst(requestId: string): void {
    this.#owed ??= new Set()
    this.#owed.add(requestId)
  }
  answered(requestId: string): void {
    if (!this.#owed?.delete(requestId) || this.owesAnswer) return
    for (const listener of this.#afterAnswers.splice(0)) listener()
  }
  get owesAnswer(): boolean {
    return this.#owed !== undefined && this.#owed.size > 0
  }
  /** Calls back when the calls named by `answerFirst` are answered; at once if there are none. */
  afterAnswers(listener: () => void): void {
    if (this.owesAnswer) this.#afterAnswers.push(listener)
    else listener()
  }
  /** Ends as a lost connection, after which clients reconnect. After `close` they do not. */
  drop(): void {
    this.socket.conn.close(true)
  }
  emit(event: { name: string }, payload: unknown): void {
    if (this.#eventScopes.mayReceive(this.caller, event)) this.socket.emit(event.name, payload)
  }
  onClose(listener: () => void): void {
    if (!this.socket.connected) return void listener()
    if (this.#onClose.length === 0)
      this.socket.once('disconnect', () => {
        for (const each of this.#onClose) each()
      })
    this.#onClose.push(listener)
  }
  /** The controller that ends the sequence of this id. It also ends with the connection. */
  beginStream(id: string): AbortController {
    if (!this.#streams) {
      const streams = new Map<string, AbortController>()
      this.#streams = streams
      this.onClose(() => {
        for (const one of streams.values()) one.abort()
      })
    }
    const gone = new AbortController()
    this.#streams.set(id, gone)
    if (!this.isOpen) gone.abort()
    return gone
  }
  endStream(id: string): void {
    this.#streams?.get(id)?.abort()
    this.#streams?.delete(id)
  }
  renew(caller: Caller): void {
    for (const room of this.#eventScopes.excludedRoomsOf(this.caller)) void this.socket.leave(room)
    this.#joinExcludedRooms(caller)
    this.caller = caller
    this.warned = false
  }

  #joinExcludedRooms(caller: Caller): void {
    for (const room of this.#eventScopes.excludedRoomsOf(caller)) void this.socket.join(room)
  }

  /** Waits, in order, for a slot among the running calls of this connection. */
  async takeSlot(): Promise<() => void> {
    if (this.#running >= runningAtOnce) {
      if (this.#waiting.length >= waitingAtMost) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 1 })
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#running++
    return () => {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running--
    }
  }

  get busy(): boolean {
    return this.#running > 0
  }
  /** Has the client left more bytes or packets unread than it may? */
  get isBehind(): boolean {
    const { packets, bytes } = this.#unread
    return packets > maxBufferedPackets || bytes > maxBufferedBytes
  }
  /**
   * Does the client not read? It is called at each sweep, because a client that reads a burst is behind only briefly.
   */
  looksStuck(now = performance.now()): boolean {
    this.#behindSince = this.isBehind ? (this.#behindSince ?? now) : null
    if (this.#behindSince === null) return false
    return now - this.#behindSince >= unreadMilliseconds || this.#unread.bytes > maxBufferedBytes
  }
  /** Has the client so much unread that a sequence waits with its next item? */
  get isBusyReading(): boolean {
    const { packets, bytes } = this.#unread
    return packets > maxBufferedPackets / 4 || bytes > maxBufferedBytes / 4
  }
  /** Have all packets left this process? */
  get isFlushed(): boolean {
    const { packets, bytes } = this.#unread
    return packets === 0 && bytes === 0
  }

  get #unread(): { packets: number; bytes: number } {
    const { conn } = this.socket
    const transport = conn.transport as unknown as { socket?: { bufferedAmount?: number } }
    const { writeBuffer } = conn as unknown as { writeBuffer: readonly { data?: string | Buffer }[] }
    const waiting = writeBuffer.reduce((sum, { data }) => sum + (data?.length ?? 0), 0)
    return { packets: writeBuffer.length, bytes: waiting + (transport.socket?.bufferedAmount ?? 0) }
  }
}

const connections = new WeakMap<Socket, LiveConnection>()
export const rememberConnection = (live: LiveConnection) => connections.set(live.socket, live)
export const connectionOf = (socket: Socket) => connections.get(socket)

export function* localConnections(namespace: IoNamespace, audience: string): Generator<LiveConnection> {
  for (const part of socketRoomsOf(audience)) {
    for (const id of namespace.adapter.rooms.get(part) ?? []) {
      const socket = namespace.sockets.get(id)
      const live = socket && connections.get(socket)
      if (live) yield live
    }
  }
}

export function* allConnections(namespace: IoNamespace): Generator<LiveConnection> {
  for (const socket of namespace.sockets.values()) {
    const live = connections.get(socket)
    if (live) yield live
  }
}

/** The receivers of events. A service token receives those of domains that its scopes may read; people receive all. */
export interface EventScopes {
  mayReceive(caller: Caller, event: object): boolean
  /** The Socket.IO rooms of connections that may not receive an event. */
  excludedRooms(event: Event): string[]
  /** Such rooms of this caller's connections. */
  excludedRoomsOf(caller: Caller): string[]
}

type EventsByDomain = Readonly<Record<string, Readonly<Record<string, Event>>>>

/** Events by their domain; events of the connection itself have none, and reach all. */
export function eventScopesOf(byDomain: EventsByDomain): EventScopes {
  const scopes = new Map<object, string>(
    Object.entries(byDomain).flatMap(([domain, events]) =>
      Object.values(events).map((event) => [event, scopeOfEvents(domain)] as const),
    ),
  )
  const without = (scope: string) => `without ${scope}`
  return {
    mayReceive({ scopes: granted }, event) {
      const scope = scopes.get(event)
      return granted === undefined || scope === undefined || granted.includes(scope)
    },
    excludedRooms(event) {
      const scope = scopes.get(event)
      return scope === undefined ? [] : [without(scope)]
    },
    excludedRoomsOf({ scopes: granted }) {
      if (granted === undefined) return []
      return [...new Set(scopes.values())].filter((scope) => !granted.includes(scope)).map(without)
    },
  }
}
