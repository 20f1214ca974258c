import { Manager, type Socket } from 'socket.io-client'
import type { Namespace, SocketEvent } from '#shared/kit/contract'
import { isAboutSession, noAnswer, toldError } from './failures.ts'
import { observable } from './observable.ts'
import { extrasOf } from './rest.ts'
import { backoff } from './timing.ts'
import { Whole } from './whole.ts'

interface TransportOptions {
  url: string
  now(): number
  token(): string | null
  /** Called when the server does not accept, or no longer accepts, the session of this connection. */
  sessionRefused(code: string): void
  sessionExpiring(): void
  /** Called at each connect with the account that the server names. */
  welcomed(user: unknown, sessionExpiresAt: string | null): void
}

export type SocketState = 'down' | 'connecting' | 'ready' | 'failing'
/** `protocol`: the requested version 2, or an older one if the server knows no newer. */
type Ready = { protocol: number; user?: unknown; session_expires_at?: string | null }
type Heard = (payload: unknown) => void
type Ack = { ok: true; data: unknown } | { ok: false; error: { code: string; message: string } & object }

const ackMilliseconds = 8_000
/** Milliseconds after which an attempt to connect counts as failing; it may still succeed. */
const deadlineMilliseconds = 3_000

/** Milliseconds by which a ping may be late before the connection counts as lost. */
const lateMilliseconds = 5_000

/** The one physical connection: connects, reconnects, and carries the events of every namespace. */
export class Transport {
  readonly #options: TransportOptions
  readonly #manager: Manager
  readonly #sockets = new Map<Namespace, Socket>()
  readonly #whole = new Whole()
  readonly #state = observable<SocketState>('down')
  #isWanted = false
  #failures = 0
  #notBefore = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #deadline: ReturnType<typeof setTimeout> | undefined

  constructor(options: TransportOptions) {
    this.#options = options
    this.#manager = new Manager(options.url, {
      autoConnect: false,
      reconnection: false,
      transports: ['websocket'],
      timeout: 10_000,
    })
    this.#socket('/rooms')
  }

  get state(): SocketState {
    return this.#state.value
  }
  subscribe(listener: () => void): () => void {
    return this.#state.subscribe(listener)
  }

  open(): void {
    if (this.#isWanted) return
    this.#isWanted = true
    this.#failures = 0
    this.#become('connecting')
    this.#connect()
  }

  close(): void {
    this.#isWanted = false
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const socket of this.#sockets.values()) socket.disconnect()
    this.#become('down')
  }

  /** Reconnects without waiting for the backoff: the network is back. */
  hurry(): void {
    if (this.#timer !== undefined) this.#connect()
  }

  /** Counts the connection as lost without waiting for a ping: the network is gone. */
  lost(): void {
    if (!this.#isWanted) return
    this.#failures++
    this.#manager.engine?.close()
    this.#become('failing')
  }

  hear(namespace: Namespace, event: string, heard: Heard): () => void {
    const socket = this.#socket(namespace)
    const hears = (payload: unknown) => heard(this.#whole.payload(event, payload))
    socket.on(event, hears)
    return () => void socket.off(event, hears)
  }

  /** Sends a request and waits for the answer; rejects as unanswered if the connection is lost before. */
  async ask(event: SocketEvent, input: object): Promise<unknown> {
    const [space, name] = event.split(' ') as [Namespace, string]
    const socket = this.#socket(space)
    if (!socket.connected) await connected(socket)
    const answer = (await socket.timeout(ackMilliseconds).emitWithAck(name, input).catch(lost)) as Ack
    if (answer.ok) return this.#whole.answer(event, answer.data, input)
    const { code, message, ...extras } = answer.error
    throw toldError(code, { message, ...extrasOf(extras) })
  }

  /** Continues every namespace with a newer session. */
  async renew(token: string): Promise<void> {
    const open = [...this.#sockets].filter(([, socket]) => socket.connected)
    await Promise.all(open.map(([namespace]) => this.ask(`${namespace} session:refresh`, { token })))
  }

  #socket(namespace: Namespace): Socket {
    const known = this.#sockets.get(namespace)
    if (known) return known
    const auth = (tell: (auth: object) => void) => tell({ token: this.#options.token(), protocol: 2 })
    const socket = this.#manager.socket(namespace, { auth })
    this.#sockets.set(namespace, socket)
    if (namespace === '/rooms') this.#lead(socket)
    else this.#follow(socket)
    if (this.#isWanted) socket.connect()
    return socket
  }

  /** The namespace of rooms decides the state of the connection; other namespaces share its socket. */
  #lead(socket: Socket): void {
    socket.on('session:ready', (ready: Ready) => {
      this.#whole.begin(ready.protocol)
      this.#failures = 0
      this.#options.welcomed(ready.user, ready.session_expires_at ?? null)
      this.#become('ready')
    })
    socket.on('session:expiring', () => this.#options.sessionExpiring())
    socket.on('session:ended', ({ code }: { code?: string }) => this.#refused(code ?? 'SESSION_NOT_FOUND'))
    socket.on('server:notice', ({ kind, reconnect_after_ms }: { kind?: string; reconnect_after_ms?: number }) => {
      if (kind === 'draining') this.#notBefore = this.#options.now() + (reconnect_after_ms ?? 0)
    })
    socket.on('disconnect', () => {
      if (!this.#isWanted) return
      this.#become('connecting')
      this.#connectLater()
    })
    socket.on('connect_error', (error: Error & { data?: { code?: string } }) => {
      if (!this.#isWanted) return
      const code = error.data?.code
      if (isAboutSession(code)) return this.#refused(code ?? '')
      this.#failures++
      this.#become('failing')
      this.#connectLater()
    })
  }

  #follow(socket: Socket): void {
    socket.on('connect_error', (error: Error & { data?: { code?: string } }) => {
      const isPassing = error.data?.code === undefined || error.data.code === 'SERVICE_UNAVAILABLE'
      if (this.#isWanted && isPassing && this.state === 'ready') this.#connectLater()
    })
    socket.on('disconnect', () => {
      if (this.#isWanted && this.state === 'ready') this.#connectLater()
    })
  }

  #become(state: SocketState): void {
    clearTimeout(this.#deadline)
    if (state === 'connecting') this.#deadline = setTimeout(() => this.#become('failing'), deadlineMilliseconds)
    this.#state.set(state)
  }

  #refused(code: string): void {
    this.close()
    this.#options.sessionRefused(code)
  }

  #connect(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const socket of this.#sockets.values()) socket.connect()
    this.#watch(this.#manager.engine)
  }

  /** Detects a missing ping itself: the engine's own timeout is longer. */
  #watch(engine: Manager['engine'] | undefined): void {
    engine?.once('handshake', ({ pingInterval }) => {
      let timer: ReturnType<typeof setTimeout> | undefined
      const wait = () => {
        clearTimeout(timer)
        timer = setTimeout(() => engine.close(), pingInterval + lateMilliseconds)
      }
      wait()
      engine.on('packet', wait)
      engine.once('close', () => clearTimeout(timer))
    })
  }

  #connectLater(): void {
    clearTimeout(this.#timer)
    const wait = Math.max(backoff(this.#failures, 100), this.#notBefore - this.#options.now())
    this.#timer = setTimeout(() => this.#connect(), wait)
  }
}

const lost = (cause: unknown): never => {
  throw noAnswer(cause)
}

/** Sockets do not buffer: a request that could not be sent is retried by the caller, and must not be sent later as well. */
function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => () => {
      clearTimeout(timer)
      socket.off('connect', succeed).off('connect_error', fail)
      settle()
    }
    const succeed = end(resolve)
    const fail = end(() => reject(noAnswer()))
    const timer = setTimeout(fail, ackMilliseconds)
    socket.on('connect', succeed).on('connect_error', fail)
  })
}
