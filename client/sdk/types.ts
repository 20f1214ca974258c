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

/** Storage that survives a restart of the page or process. `localStorage` implements it. */
export interface ClientStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

export interface ClientOptions {
  /** The base address of the server: `https://plaza.example`. */
  url: string
  /** A session token; without it, the one kept in `storage` is used. */
  token?: string | null
  /** `auto`: the socket, and REST while it is down. `socket`: REST only for operations without a socket event. `rest`: no socket. */
  transport?: 'auto' | 'socket' | 'rest'
  /**
   * Where the session is kept. `token`: in `storage`. `cookie`: in the server's HttpOnly cookie, for pages of its own origin;
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

/** The part of a sign-in's answer that the client uses. */
export type SignedIn = Pick<
  OutputOf<PlazaApi['identity']['verify']>,
  'sessionToken' | 'refreshToken' | 'userAddress' | 'user'
>
export type SignInUser = SignedIn['user']

/** The account that is signed in; `endedBy` is the code with which the server ended the last session. */
export interface SessionInfo {
  readonly account: string | null
  readonly endedBy: string | null
  subscribe(listener: Listener): Unsubscribe
}

/** A sequence is requested over REST. It ends by an error, by leaving the loop over it, or by `signal`. */
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
  /** Listens to a declared event; its namespace is connected on first use. */
  on<E extends Event>(event: E, listener: (payload: PayloadOf<E>) => void): Unsubscribe
  signIn(wallet: Wallet): Promise<SignInUser>
  /** Continues with the session that another way of signing in answered: `client.enter(await client.email.login({ email, code }))`. */
  enter(answer: SignedIn): SignInUser
  signOut(): Promise<void>
  /** Sets the function that asks the person to sign in again when a call needs a fresh proof; the call is then repeated. */
  provedBy(prove: () => Promise<void>): Unsubscribe
  /** Opens the live view of a room; returns the same one until it is closed. */
  room(ref: RoomRef): LiveRoom
  /** Cuts the connection on purpose: nothing is sent or received until `resume`. */
  pause(): void
  resume(): void
  close(): void
}

/** `sending`: sent, unanswered. `queued`: waits for the connection. `refused`: refused by the verdict, final. `failed`: without a verdict, may be retried. */
export type LocalStatus = 'sending' | 'queued' | 'refused' | 'failed' | 'sent'
export type LocalMessage = Message & { readonly local: LocalStatus; readonly refusal: AppError | null }

/** A poll with the votes of this account, `user_votes`. */
export type LocalPoll = Poll & {
  /** The version as of which the server told `user_votes`; 0 if it has not. */
  readonly votesKnownAt: number
  /** The last version that may have changed them: `user_votes` is out of date while this is greater. */
  readonly votesChangedAt: number
}

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

/** The state of a room at `seq`. Immutable: every change creates a new object. */
export interface RoomState {
  readonly status: RoomStatus
  /** Why the room was refused or could not be reached. */
  readonly error: AppError | null
  readonly ref: RoomRef
  /** The record of the room; null until it is loaded. */
  readonly room: Room | null
  readonly epoch: string | null
  /** The seq of the last applied event. */
  readonly seq: number
  /** The seq of the newest known event. */
  readonly headSeq: number
  /** Accepted messages in the order of the server, then those not yet accepted in the order they were written. */
  readonly messages: readonly LocalMessage[]
  readonly hasOlder: boolean
  /** False after `loadAround` has loaded older messages: `messages` does not contain the newest then. */
  readonly atNewest: boolean
  readonly pins: readonly Message[]
  readonly rules: Rules
  readonly rulesVersion: number
  readonly me: Me
  readonly membersCount: number
  readonly online: number
  readonly typing: readonly Typist[]
  /** The last act of a moderator against this account in the room. */
  readonly access: AccessNotice | null
  /** Acts of moderators and changes of the room, to show between the messages by `seq`. */
  readonly notices: readonly Notice[]
  /** The votes of this account are loaded for polls of loaded messages. */
  readonly polls: ReadonlyMap<string, LocalPoll>
  /** The last catch-up: how many events it brought, and how many gaps were closed since the room was opened. */
  readonly caughtUp: { readonly events: number; readonly gaps: number; readonly at: number } | null
}

export interface LiveRoom {
  readonly ref: RoomRef
  readonly state: RoomState
  /** Together with `state`, usable with `useSyncExternalStore`. */
  subscribe(listener: Listener): Unsubscribe
  /** Shows the message at once, and sends it after those written before it as soon as the server can be reached. */
  send(draft: Draft): LocalMessage
  retry(clientMessageId: string): void
  discard(clientMessageId: string): void
  edit(id: string, text: string): Promise<void>
  remove(id: string, reason?: string): Promise<void>
  /** Without `on`, toggles the reaction. */
  react(id: string, emoji: string, on?: boolean): Promise<void>
  pin(id: string, pinned: boolean): Promise<void>
  vote(pollId: string, optionIndex: number): Promise<void>
  loadOlder(): Promise<void>
  /** Shows the messages around a seq instead of the newest. */
  loadAround(seq: number): Promise<void>
  loadNewest(): Promise<void>
  /** Marks the loaded messages as read; sent to the server at most every 2 seconds. */
  markRead(): void
  /** Sent to the server at most every 3 seconds. */
  setTyping(on: boolean): void
  /** Stops listening. Queued messages are still sent. */
  close(): void
}
