import type { z } from 'zod'
import type { agentWriting } from '#shared/api/agents/agent-rooms'
import type { MessageType, Rules } from '#shared/api/moderation/verdict'
import type { Snapshot } from '#shared/api/rooms/listening'
import type { Mention, Message } from '#shared/api/rooms/message'
import type { Poll } from '#shared/api/rooms/polls'
import type { Room } from '#shared/api/rooms/room'
import type { Notice } from '#shared/api/rooms/room-events'
import type { access } from '#shared/api/rooms/rooms'
import type { AppError } from '#shared/errors'
import type { CallOf, Contract, Event, Operation, OutputOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import type { KeyStore } from './direct/store.ts'
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
  /**
   * Where the keys of this device are kept, by which direct messages are sealed: `browserKeys()`, `fileKeys(path)` in Node, or `memoryKeys()`. With it the
   * device is sent to the server as soon as an account is signed in; without it direct messages can be neither sent nor opened.
   */
  keys?: KeyStore
  /** The wallet that vouches for a new device of an account without asking anybody; null where there is none. The one that signs in is asked first. */
  vouchedBy?: (account: string) => Promise<Wallet | null>
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
  /** A person is asked at each signature: then the device is vouched for by `vouch` alone. */
  isInteractive?: boolean
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
    ? (input?: CallOf<O>, options?: Abortable) => Promise<OutputOf<O>>
    : (input: CallOf<O>, options?: Abortable) => Promise<OutputOf<O>>
export interface Abortable {
  /** Over REST the request is aborted; over a socket a call that was sent is not taken back. */
  signal?: AbortSignal
  /** Called with the share of a file that is sent, from 0 to 1; where the runtime does not tell it, only with 1, once it is stored. */
  onProgress?: (share: number) => void
}
export type Methods<C extends Contract> = { readonly [K in keyof C]: Method<C[K]> }
/** Every operation of the contract as `client.<domain>.<operation>(input)`. */
export type Calls = { readonly [D in keyof PlazaApi]: Methods<PlazaApi[D]> }

/** `unknown` fields that name a room hold `{ type, id }`. */
export type PayloadOf<E extends Event> = z.output<E['payload']>

export interface Client extends Calls {
  readonly connection: Connection
  readonly session: SessionInfo
  /** What has to outlive a reload is kept here. */
  readonly storage: ClientStorage
  readonly account: string | null
  /** Listens to a declared event; its namespace is connected on first use. */
  on<E extends Event>(event: E, listener: (payload: PayloadOf<E>) => void): Unsubscribe
  signIn(wallet: Wallet): Promise<SignInUser>
  /** Continues with the session that another way of signing in answered: `client.enter(await client.email.login({ email, code }))`. */
  enter(answer: SignedIn): SignInUser
  signOut(): Promise<void>
  /** Sets the function that asks the person to sign in again when a call needs a fresh proof; the call is then repeated. */
  provedBy(prove: () => Promise<void>): Unsubscribe
  /** Signs by the account's own key that this device is its own, so that others can verify it. */
  vouch(wallet: Wallet): Promise<void>
  /** The id by which others know this device; null where it keeps no keys. */
  deviceId(): Promise<string | null>
  /** Gives this device new keys, after it was removed. */
  renewDevice(): Promise<void>
  /** Opens the live view of a room; returns the same one until it is closed. */
  room(ref: RoomRef): LiveRoom
  /** Cuts the connection on purpose: nothing is sent or received until `resume`. */
  pause(): void
  resume(): void
  close(): void
}

/** `sending`: sent, unanswered. `queued`: waits for the connection. `refused`: refused by the verdict, final. `failed`: without a verdict, may be retried. */
export type LocalStatus = 'sending' | 'queued' | 'refused' | 'failed' | 'sent'
export type LocalMessage = Message & {
  readonly local: LocalStatus
  readonly refusal: AppError | null
  /** The reactions of this account. */
  readonly reacted: readonly string[]
  /** Of a direct message, and of one in a room with a shared key; its fields are those of the opened message. */
  readonly secrecy?: Secrecy
}

/** Whether a direct message, or one of a room with a shared key, could be opened on this device. */
export interface Secrecy {
  readonly state: 'clear' | 'opening' | 'locked'
  /**
   * Why it is locked. `no key`: its key was not given to this device, and was asked for. `untrusted`: its key comes from a device that waits to be
   * accepted. `damaged`: it was changed on its way. `malformed`: what was sealed is no message. `no storage`: this client keeps no keys.
   * `no member`: only members get the shared key of its room.
   */
  readonly why: 'no key' | 'untrusted' | 'damaged' | 'malformed' | 'no storage' | 'no member' | null
  /** False: sealed by an older client, under a key that anybody can derive who knows the ids of the two people; or stored in clear, in a room whose messages were not sealed yet. It never was secret. */
  readonly isSecret: boolean
  /** The epoch whose key opens the media that it names; null where that is the shared key of the room. */
  readonly epochId: string | null
  /** By which its sender has committed to the media that it names, for `isCommittedTo`; absent where they have not. */
  readonly mediaSalt?: string
}

/** A device of one of the two people of a direct conversation. */
export interface DirectDevice {
  readonly address: string
  readonly deviceId: string
  readonly key: string
  /** The account's own key vouches for it; else it is shown as not verified. */
  readonly isVouched: boolean
  /** It came after others of its account; milliseconds since when it is known here. */
  readonly isNew: boolean
  readonly since: number
  /**
   * Messages are sealed to `trusted` devices. `waiting`: new, and nobody vouches for it. `changed`: known with another key. `forged`: its certificate is not of
   * its account. While there is one of these three nothing is sent. `left out`: the person goes on without it.
   */
  readonly state: 'trusted' | 'waiting' | 'changed' | 'forged' | 'left out'
}

/** How a direct conversation is sealed. */
export interface DirectState {
  /** `stopped`: nothing is sent until devices are accepted. `unavailable`: this device has no keys here; `why` says so in a sentence. */
  readonly state: 'opening' | 'ready' | 'stopped' | 'unavailable'
  readonly why: string | null
  /** Devices of both people, without this one. */
  readonly devices: readonly DirectDevice[]
  readonly deviceId: string | null
}

/** The key of an epoch, or the shared one of a room, whose `epochId` is null; for `encryptMedia` and `decryptMedia`. */
export interface ConversationKey {
  readonly epochId: string | null
  /** 32 bytes. */
  readonly key: Uint8Array
}

/** What a voter has read of a poll. */
export type PollRead = Pick<Poll, 'question' | 'options' | 'is_anonymous'>

/** A poll with the votes of this account, `user_votes`. */
export type LocalPoll = Poll & {
  /** The version of the server's last `user_votes`; 0 before the first. */
  readonly votesKnownAt: number
  /** The last version that may have changed them: `user_votes` is out of date while this is greater. */
  readonly votesChangedAt: number
}

export interface Draft {
  text: string
  type?: MessageType
  reply_to?: string | null
  /** Of a direct message that names media: the `epochId` of the key that sealed them. */
  mediaEpoch?: string | null
  /** The salt of the commitment to them, which `uploadImage` and `uploadVoice` tell. */
  mediaSalt?: string
  mentions?: z.input<typeof Mention>[]
  attachments?: Message['attachments']
}

export type RoomStatus = 'joining' | 'live' | 'catching-up' | 'offline' | 'refused' | 'left'
export type Me = Snapshot['me']
export type Typist = { readonly id: string; readonly name: string; readonly until: string }
/** What an agent writes in a room, before it is a message. */
export interface Writing {
  readonly runId: string
  readonly agent: PayloadOf<typeof agentWriting>['agent']
  /** The message that is answered. */
  readonly replyTo: string
  /** Where `text` begins in the answer, in UTF-16 code units: earlier parts may have been lost. */
  readonly from: number
  readonly text: string
  /** When it is forgotten if no more arrives. */
  readonly until: number
}
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
  /** What agents write now, in the order in which they began; each gives way to its message. */
  readonly writing: readonly Writing[]
  /** The last act of a moderator against this account in the room. */
  readonly access: AccessNotice | null
  /** Acts of moderators and changes of the room, to show between the messages by `seq`. */
  readonly notices: readonly Notice[]
  /** The votes of this account are loaded for polls of loaded messages. */
  readonly polls: ReadonlyMap<string, LocalPoll>
  /** Of a direct conversation; null of other rooms. */
  readonly direct: DirectState | null
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
  /** Refused by CONFLICT where the poll asks something else by now than what was read. */
  vote(pollId: string, optionIndex: number, read?: PollRead): Promise<void>
  loadOlder(): Promise<void>
  /** Shows the messages around a seq instead of the newest. */
  loadAround(seq: number): Promise<void>
  loadNewest(): Promise<void>
  /** Marks messages as read, up to this seq or all that are loaded; sent to the server at most every 2 seconds. */
  markRead(seq?: number): void
  /** Sent to the server at most every 3 seconds. */
  setTyping(on: boolean): void
  /**
   * Of a direct conversation: the key by which media are sealed now, or that of an epoch (`secrecy.epochId` of a message). It begins an epoch
   * where there is none. Of a room with a shared key: that key. Rejects in other rooms, and where this device was not given the key.
   */
  conversationKey(epochId?: string | null): Promise<ConversationKey>
  /** Of a direct conversation: twelve groups of five digits, equal on both sides where nobody stands between them. */
  safetyNumber(): Promise<readonly string[]>
  /** Of a direct conversation: messages are sealed to the devices as they are shown now, and forged ones are left out. */
  acceptDevices(): Promise<void>
  /** Stops listening. Queued messages are still sent. */
  close(): void
}
