import { observable } from './observable.ts'
import type { SocketState } from './transport.ts'
import type { ClientOptions, ConnectionState } from './types.ts'

/** Holds how the server can be reached at present. */
export class Line {
  readonly #mode: NonNullable<ClientOptions['transport']>
  readonly #state
  #socket: SocketState = 'down'
  #rest: 'unknown' | 'answers' | 'silent' = 'unknown'
  #isPaused = false
  #isClosed = false
  #cut = new AbortController()

  constructor(mode: NonNullable<ClientOptions['transport']>) {
    this.#mode = mode
    this.#state = observable<ConnectionState>(this.#judge())
  }

  get state(): ConnectionState {
    return this.#state.value
  }
  subscribe(listener: () => void): () => void {
    return this.#state.subscribe(listener)
  }
  get isCut(): boolean {
    return this.#isPaused || this.#isClosed
  }
  /** Aborts when the connection is cut on purpose. */
  get signal(): AbortSignal {
    return this.#cut.signal
  }

  socketIs(state: SocketState): void {
    if (state === 'ready' || state === 'connecting') this.#rest = 'unknown'
    this.#socket = state
    this.#update()
  }

  restAnswered(answered: boolean): void {
    this.#rest = answered ? 'answers' : 'silent'
    this.#update()
  }

  pause(): void {
    this.#isPaused = true
    this.#cut.abort()
    this.#update()
  }
  resume(): void {
    this.#isPaused = false
    this.#rest = 'unknown'
    this.#cut = new AbortController()
    this.#update()
  }
  close(): void {
    this.#isClosed = true
    this.#cut.abort()
    this.#update()
  }

  #update(): void {
    this.#state.set(this.#judge())
  }

  #judge(): ConnectionState {
    if (this.#isClosed) return 'closed'
    if (this.#isPaused) return 'offline'
    if (this.#socket === 'ready') return 'online'
    if (this.#socket === 'connecting' || (this.#socket === 'down' && this.#rest === 'unknown')) return 'connecting'
    if (this.#mode === 'socket') return 'offline'
    return this.#rest === 'answers' ? 'rest' : 'offline'
  }
}
