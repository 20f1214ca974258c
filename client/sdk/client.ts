import type { Message } from '#shared/api/rooms/message'
import { isSameAccount } from '#shared/kit/accounts'
import { type Call, callsOf, callThrough } from './calls.ts'
import { Directs } from './directs.ts'
import type { Source } from './feed.ts'
import { Line } from './line.ts'
import { Outbox, type Pending } from './outbox.ts'
import { restDoor } from './rest.ts'
import { OpenRooms } from './rooms.ts'
import { type AskIdentity, Session } from './session.ts'
import { defaultStorage } from './storage.ts'
import { Transport } from './transport.ts'
import type { Client, ClientOptions, ConnectionState } from './types.ts'

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
