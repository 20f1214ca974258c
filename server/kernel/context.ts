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
import type { Limits } from './limits.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import type { NodeStats } from './node-stats.ts'

export type Role = 'user' | 'admin' | 'super_admin'

export interface Session {
  id: string
  authMethod: string
  chainId: number | null
  /** The passkey that signed in; null for every other method. */
  passkeyCredentialId: string | null
  expiresAt: number
  /** When the person last signed in; null for a bot, which never does. */
  provenAt: number | null
  userId: string
}

/** Who is calling, as the door found out. Nothing in a body or query ever changes it. */
export interface Caller {
  /** Account id; null where nobody is signed in. */
  account: string | null
  session: Session | null
  ip: string
  userAgent: string
  /** What a service token may do; absent for people, who may do all they may. */
  scopes?: readonly string[]
  /** Showed `CRON_SECRET`: may start what is done at set times, and is nobody else. */
  isScheduler?: true
}

export interface SignedIn extends Caller {
  account: string
  session: Session
}

/** Names of the audiences a socket can be in. */
export const audiences = {
  room: (key: string) => `r:${key}`,
  stream: (id: string) => `s:${id}`,
  meeting: (room: string) => `c:${room}`,
  /** One of those in a meeting. */
  peer: (room: string, peer: string) => `c:${room} ${peer}`,
  account: (account: string) => `u:${account}`,
  moderators: (scope: string) => `m:${scope}`,
}

/** The live connection a call came over, where it came over one. */
export interface Connection {
  id: string
  /** What it shares with the connections to other namespaces. */
  readonly wire: object
  readonly isOpen: boolean
  /** The client has left so much unread that what can wait, waits. */
  readonly isBusyReading: boolean
  join(audience: string): void
  leave(audience: string): void
  has(audience: string): boolean
  /** Ends a sequence that is told over it, where there is such a one. */
  endStream(id: string): void
  /** Ends the connection after the answer. */
  close(): void
  emit<Payload extends z.ZodType>(event: Event<Payload>, payload: z.input<Payload>): void
  /** What a domain keeps about this connection; gone with it. */
  readonly memory: Map<string, unknown>
  /** At once where it is closed already. */
  onClose(listener: () => void): void
  /** Replaces the session this connection speaks for. */
  renew(caller: SignedIn): void
}

/** What only a call by HTTP has. */
export interface Http {
  /** Gives the browser an id. */
  setBrowserCookie(id: string): void
  /** Has the browser bring this when it comes back from another site, within ten minutes, to what is below a path. */
  setReturnCookie(value: string, path: string): void
  /** Sets or clears the session cookie. */
  setSessionCookie(token: string | null): void
  setHeader(name: string, value: string): void
  /** The caller has what they ask for, as the headers of the request say: the answer is 304, without what the action returns. */
  answerUnchanged(): void
}

/** What a door says of a call, and actions read. */
export interface Asked {
  caller: Caller
  /** Identifies the caller again, as the next call would, for answers that took long. Throws the refusal of that next call. */
  recognise(): Promise<Caller>
  requestId: string
  /** `inside`: the house itself calls. */
  door: 'http' | 'socket' | 'inside'
  /** The host name and port the client used, for documents that name it. */
  origin: string | null
  /** Asked from this very machine, by one of its own names and through no proxy: what development powers need. */
  isLocal: boolean
  connection: Connection | null
  /** The id of the browser that asks, where it was given one; secret, and good for nothing else. */
  browser: string | null
  /** Null over a socket and inside. */
  http: Http | null
  /** A last check of an answer over a socket, at the moment it is written: what it throws is answered instead. */
  onAnswer(check: () => void): void
}

/** What an action may use. */
export interface Context extends Asked {
  /** The id of what the call makes: the same each time that a call with a key is done again. */
  creationId: string
  node: Node
  /** Pays for so many more of the unit that the operation's cost counts, before they are read; refuses where the budget of the account or the address is spent. */
  charge(count: number): Promise<void>
  logger: Logger
  /** Tells an audience after the action has succeeded. */
  emit<Payload extends z.ZodType>(event: Event<Payload>, audience: string, payload: z.input<Payload>): void
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal
}

/** What one running server shares among its actions. */
export interface Node {
  id: string
  /** No other node writes to this store. */
  alone: boolean
  /** Has the store lately not answered? */
  isStoreAway(): boolean
  log: RoomLog
  nodes: LiveNodes
  /** Words to the other nodes, which may be lost. */
  peers: Peers
  stats: NodeStats
  metrics: Metrics
  /** Only for `nodeState`: what the parts of this node keep of it, each under its own maker. */
  state: Map<() => object, object>
  /** Only for tests of crashes: says that work has come to a named place, where the process may be ended. */
  reached(place: string): void
  now(): number
  limits: Limits
  logger: Logger
  settings: Settings
  services: Services
  jobs: Jobs
  live: Live
  /** Calls an operation for an account, from inside the house. */
  callAs: CallAs
}

/** A kind of work that is stored before the answer and done after it, at least once; so doing it twice must do no harm. */
export interface Job<Payload extends z.ZodType = z.ZodType> {
  /** `domain.verb`. */
  kind: string
  payload: Payload
  /** How many of it one node runs at once, so that those which take long leave room for others; as many as of all kinds, where left out. */
  atOnce?: number
  run(payload: z.output<Payload>, run: JobRun): Promise<void>
}

export interface JobRun {
  /** The same at each attempt. */
  id: string
  attempt: number
  node: Node
  /** Aborted when somebody else may run the job, or the server stops for good. */
  signal: AbortSignal
}

export interface Jobs {
  /** Stores a job; it is run soon or once it is due, and again until it succeeds. One with an id of its own is done once. */
  add<Payload extends z.ZodType>(
    job: Job<Payload>,
    payload: z.input<Payload>,
    id?: string,
    dueAt?: number,
  ): Promise<void>
}

/** Outside services; null where one is not configured. */
export interface Services {
  mail: Mail | null
  sms: Sms | null
  humanProofs: HumanProofs | null
  partnerTokens: PartnerTokens | null
  onramp: Onramp | null
  /** What coins cost. */
  prices: Prices | null
  /** The issues of this installation's repository. */
  issues: Issues | null
  /** Who holds tokens of attendance. */
  attendance: Attendance | null
  /** Those that people keep elsewhere. */
  calendars: Calendars | null
  /** What agents answer by. */
  model: Model | null
  /** Always there: without a service, texts are compared by their words. */
  embedder: Embedder
  /** Null where the database cannot search vectors. */
  vectors: VectorSearch | null
  /** Asks by what it is given, the guarded web. */
  toolServers: OpenToolServers
  platformData: PlatformData | null
  /** What has payments carried out. */
  facilitator: Facilitator | null
  /** Those with an `RPC_URL_<chainId>`; none where nothing is configured. */
  chains: Chains
  /** For documents of strangers; there always. */
  reader: Reader
  /** By which browsers are told something; there always, as its key is made where none is given. */
  push: Push
  /** For URLs that people name; there always. */
  web: Web
  /** Where pixel art is kept in IPFS. */
  pinning: Pinning | null
  /** Where uploads are kept. */
  storage: Storage | null
  /** Takes and shows livestreams. */
  video: Video | null
  /** Where people meet; there always, as they can meet over this server. */
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

/** The part of the configuration that the kernel and several domains read. */
export interface Settings {
  publicUrl: string
  /** Where stored media is served from. */
  storageUrl: string
  /** The host name that serves files, and nothing else; null where they are served by the others. */
  filesHost: string | null
  sessionKeys: readonly { id: string; secret: Uint8Array }[]
  production: boolean
  /** By which a scheduler outside is known; null where there is none. */
  cronSecret: string | null
  demo: boolean
  /** What judging the words of one text may cost. */
  verdictSteps: number
  /** So long a livestream whose picture is away waits for it. */
  streamGraceMilliseconds: number
  retention: Retention
  /** Only for `defineSettings`: those of the domains, each under its own declaration. */
  domains: ReadonlyMap<object, object>
}

/** What makes the shorter form of an event, where it has one. */
export type LeanOf<E extends Event> = E extends EventInTwoForms<z.ZodType, infer Lean> ? [() => z.output<Lean>] : []

/** Reaches the sockets of this node. */
export interface Live {
  /** One frame to every local socket of an audience, in the order of the calls. `lean` makes the form of protocol 2, where somebody hears it. */
  send<E extends Event>(event: E, audience: string, payload: z.output<E['payload']>, ...lean: LeanOf<E>): void
  /** As `send`, but dropped for a socket that is behind. */
  sendVolatile<Payload extends z.ZodType>(event: Event<Payload>, audience: string, payload: z.output<Payload>): void
  audienceSize(namespace: string, audience: string): number
  /** How many clients are connected to this node. */
  connections(): number
  /** The connections of an audience on this node. */
  connectionsOf(namespace: string, audience: string): readonly (Connection & { account: string | null })[]
  /** Says why, then closes every connection of these sessions on this node. */
  endSessions(account: string, sessionIds: readonly string[] | 'all', code: string): void
}

/** The action of a sequence refuses before it returns; what waits, fails or reads `signal` belongs into the generator. */
export type Action<O extends Operation> = (input: InputOf<O>, context: Context) => Promise<AnswerOf<O>> | AnswerOf<O>

/** The caller, signed in; the pipeline has refused everybody else before an action that asks for it runs. */
export const signedIn = (context: Context): SignedIn => {
  const { account, session } = context.caller
  if (account === null || session === null) throw new AppError('UNAUTHORIZED')
  return { ...context.caller, account, session }
}

/**
 * Takes the path of every call: access, input, known key, output check, what is told, the audit log. Only the rate is not counted,
 * and nothing is done that wants a fresh sign-in.
 */
export type CallAs = <O extends Operation>(account: string, operation: O, input: CallOf<O>) => Promise<AnswerOf<O>>

export interface Bound {
  name: string
  operation: Operation
  action: (input: never, context: Context) => unknown
}

export type Actions<C extends Contract> = { [K in keyof C]: Action<C[K]> }

/** Binds actions to their declarations; a missing or wrong one does not compile. */
export const implement = <C extends Contract>(domain: string, contract: C, actions: Actions<C>): Bound[] =>
  Object.entries(contract).map(([name, operation]) => ({
    name: `${domain}.${name}`,
    operation,
    action: actions[name as keyof C] as Bound['action'],
  }))
