import type { Message } from '#shared/api/rooms/message'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { type Call, callsOf, callThrough } from './calls.ts'
import { Directs } from './directs.ts'
import type { Source } from './feed.ts'
import { keyIn, keyOf } from './keys.ts'
import { observable } from './observable.ts'
import { Outbox, type Pending } from './outbox.ts'
import { restDoor } from './rest.ts'
import { OpenRoom } from './room.ts'
import { type AskIdentity, Session } from './session.ts'
import { defaultStorage } from './storage.ts'
import { table } from './table.ts'
import { type SocketState, Transport } from './transport.ts'
import type { AccessNotice, Client, ClientOptions, ConnectionState, LiveRoom, PayloadOf } from './types.ts'
import type { ViewOptions } from './view.ts'

/** Holds how the server can be reached at present. */
class Line {
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

const { events } = table
const leaveMilliseconds = 1_000

/** The open rooms, each of them once. */
class OpenRooms {
  readonly #options: Omit<ViewOptions, 'ref'>
  readonly #open = new Map<string, OpenRoom>()
  #source: Source = 'soon'

  constructor(options: Omit<ViewOptions, 'ref'>) {
    this.#options = options
  }

  of(key: string): OpenRoom | undefined {
    return this.#open.get(key)
  }

  open({ type, id }: RoomRef): LiveRoom {
    const ref = { type, id: id ?? null }
    const key = keyOf(ref)
    const known = this.#open.get(key)
    if (known) return known
    const room = new OpenRoom({ ...this.#options, ref, closed: () => this.#closed(key, room) })
    this.#open.set(key, room)
    room.follow(this.#source)
    return room
  }

  /** The source from which all rooms follow their logs from now on. */
  follow(source: Source): void {
    this.#source = source
    for (const room of this.#open.values()) room.follow(source)
  }

  /** Another account views the rooms now. */
  startOver(): void {
    for (const room of this.#open.values()) room.startOver()
  }

  closeAll(): void {
    for (const room of [...this.#open.values()]) room.close()
  }

  /** Takes the changes of membership that this client's own calls make. */
  called(name: string, input: object): void {
    const { room } = input as { room?: unknown }
    if (name === 'rooms.join') this.#open.get(keyIn(room))?.joined()
    if (name === 'rooms.leave') this.#open.get(keyIn(room))?.left()
  }

  listen(transport: Transport): void {
    const hear = <Payload>(event: { name: string }, act: (payload: Payload) => void) =>
      transport.hear('/rooms', event.name, (payload) => act(payload as Payload))
    hear<RoomEvent>(events.roomEvent, (event) => this.of(keyOf(event.room))?.feed.deliver([event]))
    hear<PayloadOf<typeof events.roomEventBatch>>(events.roomEventBatch, (batch) =>
      this.of(keyOf(batch.room))?.feed.deliver(batch.events),
    )
    hear<PayloadOf<typeof events.ephemeral>>(events.ephemeral, (passing) =>
      this.of(keyIn(passing.room))?.view.hearEphemeral(passing),
    )
    hear<PayloadOf<typeof events.agentWriting>>(events.agentWriting, (word) =>
      this.of(keyIn(word.room))?.view.hearWriting(word),
    )
    hear<PayloadOf<typeof events.capabilitiesChanged>>(events.capabilitiesChanged, (changed) =>
      this.of(keyIn(changed.room))?.view.hearCapabilities(changed),
    )
    hear<AccessNotice>(events.access, (notice) => this.of(keyIn(notice.room))?.hearAccess(notice))
    hear<PayloadOf<typeof events.heads>>(events.heads, ({ heads }) => {
      for (const [key, seq] of Object.entries(heads)) this.of(key)?.feed.head(seq)
    })
  }

  /** Leaves a closed room after a moment: a room that is opened again at once stays joined. */
  #closed(key: string, room: OpenRoom): void {
    if (this.#open.get(key) === room) this.#open.delete(key)
    if (this.#source !== 'socket') return
    setTimeout(() => {
      if (this.#source !== 'socket' || this.#open.has(key)) return
      this.#options.call('messages.leave', { room: room.ref }, { tries: 1 }).catch(() => undefined)
    }, leaveMilliseconds)
  }
}

/** A client of one server, in a browser or in Node. It connects as soon as somebody is signed in. */
export function createClient(options: ClientOptions): Client {
  const { transport: mode = 'auto', session: kind = 'token', storage = defaultStorage(), now = Date.now } = options
  const url = options.url.replace(/\/+$/, '')
  const line = new Line(mode)
  const ask: Call = (name, input, how) => call(name, input, how)
  const session = new Session(storage, options.token, ask as AskIdentity, kind === 'cookie')
  const transport = new Transport({
    url,
    now,
    token: () => session.bearer,
    welcomed(user, expiresAt) {
      session.welcomed(accountIn(user))
      session.expiresAt(expiresAt, now())
    },
    sessionExpiring: () => void session.refresh().catch(() => undefined),
    sessionRefused: (code) => void session.renewOrEnd(code),
  })
  const rest = restDoor({
    url,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    token: () => session.bearer,
    credentials: kind === 'cookie' ? 'same-origin' : 'omit',
    cut: () => line.signal,
    reached: (answered) => line.restAnswered(answered),
  })
  const outbox = new Outbox({
    storage,
    now,
    send: (pending) => sendThrough(ask, directs, session.account, pending),
    changed: (key) => rooms.of(key)?.view.show(),
    accepted: (key, message) => rooms.of(key)?.view.accepted(message),
  })
  const { keys: store = null, vouchedBy = async () => null } = options
  const host = hostOf(url)
  const directs = new Directs({ call: ask, store, host, vouchedBy, account: () => session.account, now })
  const rooms = new OpenRooms({ call: ask, outbox, directs, account: () => session.account, now })
  let prove: (() => Promise<void>) | undefined
  const direct = callThrough({
    transport,
    rest,
    session,
    mode,
    isCut: () => line.isCut,
    get prove() {
      return prove
    },
  })
  const call: Call = async (name, input, how) => {
    const answer = await direct(name, input, how)
    rooms.called(name, input)
    return answer
  }
  rooms.listen(transport)
  directs.listen(transport)
  const unbind = bind({ mode, line, session, transport, outbox, rooms, directs })

  return {
    ...callsOf(ask),
    connection: line,
    session,
    storage,
    get account() {
      return session.account
    },
    on: ({ namespace, name }, listener) =>
      transport.hear(namespace === '*' ? '/rooms' : namespace, name, (payload) => listener(payload as never)),
    signIn(wallet) {
      directs.signs(wallet)
      return session.signIn(wallet)
    },
    vouch: (wallet) => directs.vouch(wallet),
    deviceId: () => directs.deviceId(),
    renewDevice: () => directs.renew(),
    enter: (answer) => session.enter(answer),
    signOut: () => session.signOut(),
    provedBy(asked) {
      prove = asked
      return () => {
        if (prove === asked) prove = undefined
      }
    },
    room: (ref) => rooms.open(ref),
    pause() {
      line.pause()
      transport.close()
    },
    resume() {
      line.resume()
      unbind.connect()
    },
    close() {
      unbind()
      rooms.closeAll()
      outbox.setOpen(false)
      line.close()
      transport.close()
    },
  }
}

interface Parts {
  mode: NonNullable<ClientOptions['transport']>
  line: Line
  session: Session
  transport: Transport
  outbox: Outbox
  rooms: OpenRooms
  directs: Directs
}

/** Connects while an account is signed in, and tells the rooms how to follow their logs at each change of the connection. */
function bind({ mode, line, session, transport, outbox, rooms, directs }: Parts): { (): void; connect(): void } {
  let { token, account } = session

  const connect = () => {
    if (!session.isBegun || mode === 'rest' || line.isCut) transport.close()
    else if (transport.state === 'down') transport.open()
    else if (session.token !== null && session.token !== token)
      void transport.renew(session.token).catch(() => undefined)
    token = session.token
  }
  const sessionChanged = () => {
    if (account !== null && !isSameAccount(session.account, account)) {
      transport.close()
      rooms.startOver()
    }
    account = session.account
    outbox.belongTo(account)
    connect()
    lineChanged()
  }
  const lineChanged = () => {
    const { state } = line
    if (state === 'rest') void session.learnAccount()
    const isReached = session.account !== null && (state === 'online' || state === 'rest')
    outbox.setOpen(isReached)
    if (isReached) directs.begin()
    rooms.follow(sourceOf(state, mode, line.isCut))
  }
  const hurry = () => transport.hurry()
  const lost = () => transport.lost()

  const unsubscribe = [
    transport.subscribe(() => line.socketIs(transport.state)),
    line.subscribe(lineChanged),
    session.subscribe(sessionChanged),
  ]
  if (typeof window !== 'undefined') {
    window.addEventListener('online', hurry)
    window.addEventListener('offline', lost)
  }
  sessionChanged()
  void session.adopt()
  const unbind = () => {
    for (const end of unsubscribe) end()
    if (typeof window === 'undefined') return
    window.removeEventListener('online', hurry)
    window.removeEventListener('offline', lost)
  }
  return Object.assign(unbind, { connect })
}

function sourceOf(state: ConnectionState, mode: Parts['mode'], isCut: boolean): Source {
  if (state === 'online') return 'socket'
  if (state === 'connecting' && mode !== 'rest') return 'soon'
  if (isCut || mode === 'socket') return 'none'
  return 'poll'
}

async function sendThrough(call: Call, directs: Directs, account: string | null, pending: Pending): Promise<Message> {
  const { room, client_msg_id, draft } = pending
  const send = async (input: object) =>
    ((await call('messages.send', { room, client_msg_id, ...input }, { tries: 1 })) as { message: Message }).message
  const sealed = await directs.toSend(room)
  if (sealed) return sealed.send(pending, account ?? '', send)
  const { mediaEpoch: _, mediaSalt: __, ...said } = draft
  return send(said)
}

/** What certificates of devices name. */
function hostOf(url: string): string {
  try {
    return new URL(url).host
  } catch {
    return ''
  }
}

function accountIn(user: unknown): string {
  const { wallet_address, address, id } = (user ?? {}) as { wallet_address?: string; address?: string; id?: string }
  return wallet_address ?? address ?? id ?? ''
}
