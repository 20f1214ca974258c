import type { z } from 'zod'
import type { LiveNodes, RoomLog } from '#server/log/types'
import type { Attendance } from '#server/ports/attendance/port'
import type { Calendars } from '#server/ports/calendar/port'
import type { Chains } from '#server/ports/chain/port'
import type { VectorSearch } from '#server/ports/database/port'
import type { Facilitator } from '#server/ports/facilitator/port'
import type { HumanProofs } from '#server/ports/human-proof/port'
import type { Issues } from '#server/ports/issues/port'
import type { Mail } from '#server/ports/mail/port'
import type { Meetings } from '#server/ports/meetings/port'
import type { Embedder, Model } from '#server/ports/model/port'
import type { Onramp } from '#server/ports/onramp/port'
import type { PartnerTokens } from '#server/ports/partner/port'
import type { Peers } from '#server/ports/peers/port'
import type { Pinning } from '#server/ports/pinning/port'
import type { PlatformData } from '#server/ports/platform-data/port'
import type { Prices } from '#server/ports/prices/port'
import type { Push } from '#server/ports/push/port'
import type { Reader } from '#server/ports/reader/port'
import type { Sms } from '#server/ports/sms/port'
import type { Storage } from '#server/ports/storage/port'
import type { OpenToolServers } from '#server/ports/tool-servers/port'
import type { Video } from '#server/ports/video/port'
import type { Web } from '#server/ports/web/port'
import { AppError } from '#shared/errors'
import type { AnswerOf, CallOf, Contract, Event, EventInTwoForms, InputOf, Operation } from '#shared/kit/contract'
import type { Limits } from './limits/limits.ts'
import type { Logger } from './operate/logger.ts'
import type { Metrics } from './operate/metrics.ts'
import type { NodeStats } from './operate/node-stats.ts'

export type Role = 'user' | 'admin' | 'super_admin'

interface Session {
  id: string
  authMethod: string
  chainId: number | null
  /** The passkey of the sign-in; null for other methods. */
  passkeyCredentialId: string | null
  expiresAt: number
  /** The last sign-in of the person; null for a bot. */
  provenAt: number | null
  userId: string
}

/** The caller as the door identified it. Bodies and queries never change it. */
export interface Caller {
  /** The account id; null without a session. */
  account: string | null
  session: Session | null
  ip: string
  userAgent: string
  /** The scopes of a service token; absent for people, who need none. */
  scopes?: readonly string[]
  /** The request has `CRON_SECRET`: it may start scheduled work, and has no account. */
  isScheduler?: true
}

export interface SignedIn extends Caller {
  account: string
  session: Session
}

/** The names of audiences that a socket can join. */
export const audiences = {
  room: (key: string) => `r:${key}`,
  stream: (id: string) => `s:${id}`,
  meeting: (room: string) => `c:${room}`,
  /** One participant of a meeting. */
  peer: (room: string, peer: string) => `c:${room} ${peer}`,
  account: (account: string) => `u:${account}`,
  moderators: (scope: string) => `m:${scope}`,
}

/** The live connection of a call. */
export interface Connection {
  id: string
  /** The connection below, which all its namespaces share. */
  readonly wire: object
  readonly isOpen: boolean
  /** Has the client so much unread that items wait? */
  readonly isBusyReading: boolean
  join(audience: string): void
  leave(audience: string): void
  has(audience: string): boolean
  /** Ends a sequence of this connection, if it exists. */
  endStream(id: string): void
  /** Ends the connection after the answer. */
  close(): void
  /** If the session ends during this call, the connection ends after its answer. */
  answerFirst(requestId: string): void
  emit<Payload extends z.ZodType>(event: Event<Payload>, payload: z.input<Payload>): void
  /** Values that domains keep for this connection, until it closes. */
  readonly memory: Map<string, unknown>
  /** Calls back when the connection closes; at once if it is closed. */
  onClose(listener: () => void): void
  /** Replaces the session this connection speaks for. */
  renew(caller: SignedIn): void
}

/** The part of a call that only HTTP has. */
interface Http {
  setBrowserCookie(id: string): void
  /** Sets a cookie that returns from another site within ten minutes, to paths below `path`. */
  setReturnCookie(value: string, path: string): void
  /** Sets or clears the session cookie. */
  setSessionCookie(token: string | null): void
  setHeader(name: string, value: string): void
  /** Answers 304 if the client's `If-None-Match` is current, without the output. */
  answerUnchanged(): void
}

/** The facts about a call that a door gives to actions. */
export interface CallFacts {
  caller: Caller
  /** Identifies the caller again, for long answers. It throws the refusal that the next call would get. */
  recognise(): Promise<Caller>
  requestId: string
  /** `inside`: the server itself calls. */
  door: 'http' | 'socket' | 'inside'
  /** The host and port that the client used, for documents that name it. */
  origin: string | null
  /** The request comes from this machine by a local name and no proxy, as development features require. */
  isLocal: boolean
  connection: Connection | null
  /** The secret id of the browser, if it has one; it grants nothing else. */
  browser: string | null
  /** Null for sockets and calls within the server. */
  http: Http | null
  /** Adds a last check before a socket's answer is written; its error is sent instead. */
  onAnswer(check: () => void): void
}

/** The values that an action may use. */
export interface Context extends CallFacts {
  /** The id of the created object, equal for each repeat of a call with a key. */
  creationId: string
  node: Node
  /**
   * Charges units of the operation's cost before they are read. It refuses if the budget of the account or address is
   * spent.
   */
  charge(count: number): Promise<void>
  logger: Logger
  /** Sends an event to an audience after the action succeeds. */
  emit<Payload extends z.ZodType>(event: Event<Payload>, audience: string, payload: z.input<Payload>): void
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal
}

/** The values of one running server, shared by its actions. */
export interface Node {
  id: string
  /** Is this the only node on the store? */
  alone: boolean
  /** Has the store not answered recently? */
  isStoreAway(): boolean
  log: RoomLog
  nodes: LiveNodes
  /** Messages to the other nodes, which may be lost. */
  peers: Peers
  stats: NodeStats
  metrics: Metrics
  /** Only for `nodeState`: the state of each part, by its maker. */
  state: Map<() => object, object>
  /** Only for tests of crashes: reports a named place, where the process may end. */
  reached(place: string): void
  now(): number
  limits: Limits
  logger: Logger
  settings: Settings
  services: Services
  jobs: Jobs
  live: Live
  /** Calls an operation for an account, within the server. */
  callAs: CallAs
}

/** Work that is stored before the answer and done after it at least once. A repeat must do no harm. */
export interface Job<Payload extends z.ZodType = z.ZodType> {
  /** `domain.verb`. */
  kind: string
  payload: Payload
  /**
   * The most runs of this kind on one node, so that long ones leave room for others. By default the limit of all kinds.
   */
  atOnce?: number
  /** Returns the time of its next run, if it is not over. */
  run(payload: z.output<Payload>, run: JobRun): Promise<void> | Promise<number | undefined>
}

export interface JobRun {
  /** Equal at each attempt. */
  id: string
  attempt: number
  node: Node
  /** Aborted when another worker may run the job, or the server stops. */
  signal: AbortSignal
}

export interface Jobs {
  /** Stores a job, which runs when it is due, and again until it succeeds. An id of its own makes a job unique. */
  add<Payload extends z.ZodType>(
    job: Job<Payload>,
    payload: z.input<Payload>,
    id?: string,
    dueAt?: number,
  ): Promise<void>
}

/** Outside services; null if one is not configured. */
export interface Services {
  mail: Mail | null
  sms: Sms | null
  humanProofs: HumanProofs | null
  partnerTokens: PartnerTokens | null
  onramp: Onramp | null
  prices: Prices | null
  /** The issues of this installation's repository. */
  issues: Issues | null
  /** The owners of attendance tokens. */
  attendance: Attendance | null
  /** Calendars that people keep elsewhere. */
  calendars: Calendars | null
  /** The language model of agents. */
  model: Model | null
  /** Never null: without a service, texts are compared by their words. */
  embedder: Embedder
  /** Null if the database cannot search vectors. */
  vectors: VectorSearch | null
  /** Opens tool servers through the guarded web port. */
  toolServers: OpenToolServers
  platformData: PlatformData | null
  /** The service that executes payments. */
  facilitator: Facilitator | null
  /** Chains with an `RPC_URL_<chainId>`. */
  chains: Chains
  /** The parser of strangers' documents; never null. */
  reader: Reader
  /** Web push; never null, because a missing key is generated. */
  push: Push
  /** The fetcher of URLs that people name; never null. */
  web: Web
  /** The IPFS storage of pixel art. */
  pinning: Pinning | null
  /** The storage of uploads. */
  storage: Storage | null
  /** The service of livestreams. */
  video: Video | null
  /** The service of meetings; never null, because this server can relay them. */
  meetings: Meetings
}

/** For how long what is stored of people beside their own data stays. */
export interface Retention {
  auditMilliseconds: number
  ipMilliseconds: number
  analyticsDays: number
  jobMilliseconds: { done: number; failed: number }
  deletedFileMilliseconds: number
  readNoticeMilliseconds: number
  /** All of it, in Markdown. */
  table: string
}

/** The configuration that the kernel and several domains read. */
export interface Settings {
  publicUrl: string
  /** The URL of stored media. */
  storageUrl: string
  /** The host name that serves files alone; null if they share the other hosts. */
  filesHost: string | null
  sessionKeys: readonly { id: string; secret: Uint8Array }[]
  production: boolean
  /** The directory of this node. It may be missing if the database is MongoDB. */
  dataDirectory: string
  /** The secret of an external scheduler; null if there is none. */
  cronSecret: string | null
  demo: boolean
  /** The budget of steps for judging one text. */
  verdictSteps: number
  /** The time for which a livestream waits for its lost video. */
  streamGraceMilliseconds: number
  retention: Retention
  /** Only for `defineSettings`: the settings of each domain, by its declaration. */
  domains: ReadonlyMap<object, object>
}

/** The function that makes the lean form of an event, if it has one. */
type LeanForm<E extends Event> = E extends EventInTwoForms<z.ZodType, infer Lean> ? [() => z.output<Lean>] : []

/** Sends to the sockets of this node. */
export interface Live {
  /**
   * Sends one frame to every local socket of an audience, in the order of calls. `lean` makes the form of protocol 2,
   * if a socket needs it.
   */
  send<E extends Event>(event: E, audience: string, payload: z.output<E['payload']>, ...lean: LeanForm<E>): void
  /** As `send`, but dropped for slow sockets. */
  sendVolatile<Payload extends z.ZodType>(event: Event<Payload>, audience: string, payload: z.output<Payload>): void
  audienceSize(namespace: string, audience: string): number
  /** The number of clients of this node. */
  connections(): number
  connectionsOf(namespace: string, audience: string): readonly (Connection & { account: string | null })[]
  /** Sends the reason and closes every connection of these sessions on this node. */
  endSessions(account: string, sessionIds: readonly string[] | 'all', code: string): void
}

/**
 * The action of a sequence refuses before it returns. Code that waits, fails or reads `signal` belongs in the
 * generator.
 */
export type Action<O extends Operation> = (input: InputOf<O>, context: Context) => Promise<AnswerOf<O>> | AnswerOf<O>

/** The signed-in caller. Before such an action, the pipeline has refused all others. */
export const signedIn = (context: Context): SignedIn => {
  const { account, session } = context.caller
  if (account === null || session === null) throw new AppError('UNAUTHORIZED')
  return { ...context.caller, account, session }
}

/**
 * Calls an operation with every step of the pipeline except the rate limit. Operations that need a fresh sign-in are
 * refused.
 */
export type CallAs = <O extends Operation>(account: string, operation: O, input: CallOf<O>) => Promise<AnswerOf<O>>

export interface Bound {
  name: string
  operation: Operation
  action: (input: never, context: Context) => unknown
}

export type Actions<C extends Contract> = { [K in keyof C]: Action<C[K]> }

export const bindActions = <C extends Contract>(domain: string, contract: C, actions: Actions<C>): Bound[] =>
  Object.entries(contract).map(([name, operation]) => ({
    name: `${domain}.${name}`,
    operation,
    action: actions[name as keyof C] as Bound['action'],
  }))
