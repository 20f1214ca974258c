import type { z } from 'zod'
import type { Snapshot } from '#shared/api/listening'
import type { Mention, Message } from '#shared/api/message'
import type { Poll } from '#shared/api/poll'
import type { Room } from '#shared/api/room'
import type { Notice } from '#shared/api/room-events'
import type { access } from '#shared/api/rooms'
import type { MessageType, Rules } from '#shared/api/verdict'
import type { AppError } from '#shared/errors'
import type { CallOf, Contract, Event, Operation, OutputOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import type { PlazaApi } from './table.ts'

/** What a page or a process keeps between two starts. `localStorage` fits. */
export interface ClientStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

export interface ClientOptions {
  /** Where the server answers: `https://plaza.example`. */
  url: string
  /** A session token that is already there; otherwise the one kept in `storage` is used. */
  token?: string | null
  /** `auto`: the socket, and REST while it is down. `socket`: never REST where an event exists. `rest`: never a socket. */
  transport?: 'auto' | 'socket' | 'rest'
  /**
   * Where the session is. `token`: in `storage`. `cookie`: in the HttpOnly cookie of the server, whose own page this is;
   * then no token is stored, and none is sent unless the browser does not keep the cookie.
   */
  session?: 'token' | 'cookie'
  storage?: ClientStorage
  fetch?: typeof fetch
  now?: () => number
}

export type ConnectionState = 'connecting' | 'online' | 'offline' | 'rest' | 'closed'
export type Listener = () => void
export type Unsubscribe = () => void

export interface Connection {
  readonly state: ConnectionState
  subscribe(listener: Listener): Unsubscribe
}

export interface Wallet {
  address: string
  signMessage(message: string): Promise<string>
}

/** What every way of signing in answers, as far as a client goes on with it. */
export type SignedIn = Pick<
  OutputOf<PlazaApi['identity']['verify']>,
  'sessionToken' | 'refreshToken' | 'userAddress' | 'user'
>
export type SignInUser = SignedIn['user']

/** Who is signed in; `endedBy` is the code with which the server ended the last session. */
export interface SessionInfo {
  readonly account: string | null
  readonly endedBy: string | null
  subscribe(listener: Listener): Unsubscribe
}

/** A sequence is asked for over REST; it ends with an error, or where the loop over it or `signal` ends it. */
export type Sequence<O extends Operation> = (
  input: CallOf<O>,
  options?: { signal?: AbortSignal },
) => AsyncIterable<OutputOf<O>>
export type Method<O extends Operation> = O extends { stream: true } ? Sequence<O> : Asked<O>
type Asked<O extends Operation> =
  Record<never, never> extends CallOf<O>
    ? (input?: CallOf<O>) => Promise<OutputOf<O>>
    : (input: CallOf<O>) => Promise<OutputOf<O>>
export type Methods<C extends Contract> = { readonly [K in keyof C]: Method<C[K]> }
/** Every operation of the contract as `client.<domain>.<operation>(input)`. */
export type Calls = { readonly [D in keyof PlazaApi]: Methods<PlazaApi[D]> }

/** `unknown` fields that name a room hold `{ type, id }`. */
export type PayloadOf<E extends Event> = z.output<E['payload']>

export interface Client extends Calls {
  readonly connection: Connection
  readonly session: SessionInfo
  readonly account: string | null
  /** Hears a declared event; its namespace is connected on first use. */
  on<E extends Event>(event: E, listener: (payload: PayloadOf<E>) => void): Unsubscribe
  signIn(wallet: Wallet): Promise<SignInUser>
  /** Goes on as whoever another way of signing in has answered: `client.enter(await client.email.login({ email, code }))`. */
  enter(answer: SignedIn): SignInUser
  signOut(): Promise<void>
  /** Who asks the person to sign in again where a call wants a fresh proof; the call is then made once more. */
  provedBy(prove: () => Promise<void>): Unsubscribe
  /** The one live view of a room; asked for again, it is the same one until it is closed. */
  room(ref: RoomRef): LiveRoom
  /** Cuts the connection on purpose: nothing is sent or heard until `resume`. */
  pause(): void
  resume(): void
  close(): void
}

/** `sending`: on its way. `queued`: waits for the connection. `refused`: judged, final. `failed`: not judged; may be retried. */
export type LocalStatus = 'sending' | 'queued' | 'refused' | 'failed' | 'sent'
export type LocalMessage = Message & { readonly local: LocalStatus; readonly refusal: AppError | null }

export interface Draft {
  text: string
  type?: MessageType
  reply_to?: string | null
  mentions?: z.input<typeof Mention>[]
  attachments?: Message['attachments']
}

export type RoomStatus = 'joining' | 'live' | 'catching-up' | 'offline' | 'refused' | 'left'
export type Me = Snapshot['me']
export type Typist = { readonly id: string; readonly name: string; readonly until: string }
export type AccessNotice = PayloadOf<typeof access>

/** What is known of a room at `seq`. Never changed in place: every change is a new object. */
export interface RoomState {
  readonly status: RoomStatus
  /** Why a room is refused or could not be reached. */
  readonly error: AppError | null
  readonly ref: RoomRef
  /** The row of the room; null until it is known. */
  readonly room: Room | null
  readonly epoch: string | null
  /** The last event applied. */
  readonly seq: number
  /** The newest event known of. */
  readonly headSeq: number
  /** In the order of the server, then those not yet accepted, in the order they were written. */
  readonly messages: readonly LocalMessage[]
  readonly hasOlder: boolean
  /** False while an older stretch is shown by `loadAround`: what is newest is not in `messages`. */
  readonly atNewest: boolean
  readonly pins: readonly Message[]
  readonly rules: Rules
  readonly rulesVersion: number
  readonly me: Me
  readonly membersCount: number
  readonly online: number
  readonly typing: readonly Typist[]
  /** The last thing a moderator did to this account here. */
  readonly access: AccessNotice | null
  /** Acts of moderators and changes of the room, to be shown between the messages by `seq`. */
  readonly notices: readonly Notice[]
  readonly polls: ReadonlyMap<string, Poll>
  /** What the last catch-up brought: how many events, and how many holes were mended since the room was opened. */
  readonly caughtUp: { readonly events: number; readonly gaps: number; readonly at: number } | null
}

export interface LiveRoom {
  readonly ref: RoomRef
  readonly state: RoomState
  /** With `state`, fits `useSyncExternalStore`. */
  subscribe(listener: Listener): Unsubscribe
  /** Shows the message at once and sends it as soon as that is possible, after those written before it. */
  send(draft: Draft): LocalMessage
  retry(clientMessageId: string): void
  discard(clientMessageId: string): void
  edit(id: string, text: string): Promise<void>
  remove(id: string, reason?: string): Promise<void>
  /** Without `on`, a reaction is put on or taken off. */
  react(id: string, emoji: string, on?: boolean): Promise<void>
  pin(id: string, pinned: boolean): Promise<void>
  vote(pollId: string, optionIndex: number): Promise<void>
  loadOlder(): Promise<void>
  /** Shows the messages around a seq instead of the newest. */
  loadAround(seq: number): Promise<void>
  loadNewest(): Promise<void>
  /** Marks what is shown as read; said to the server at most every 2 seconds. */
  markRead(): void
  /** Said to the server at most every 3 seconds. */
  setTyping(on: boolean): void
  /** Stops listening. Messages that are not yet sent are still sent. */
  close(): void
}
