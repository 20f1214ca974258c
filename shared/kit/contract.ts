import type { z } from 'zod'
import type { ErrorCode } from '#shared/errors'
import { singleTypes } from './room-kinds.ts'

export const namespaces = ['/rooms', '/agents', '/streams', '/notifications', '/moderation', '/meetings'] as const
export type Namespace = (typeof namespaces)[number]
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * `METHOD /path`; `:name` is a field of the input, `{room}` is a room key (`channel/<id>`, or `alpha`). `?name=value` at its end
 * makes it another operation of the same path, for those who ask with exactly that, in the query or in the body; `?name` for those
 * who ask with any value of it, which is a field of the input.
 */
export type Route = `${Method} /${string}`
/** `/namespace event:name`; `*` is every namespace. */
export type SocketEvent = `${Namespace | '*'} ${string}`

/** Who may call at all. Who may touch an object is decided by the finder that loads it. */
export type Access = 'public' | 'user' | 'admin'
export type Tier = 'auth' | 'session' | 'strict' | 'contact' | 'messaging' | 'search' | 'ai' | 'paid' | 'general'

/**
 * What a call costs by what it reads. `cheap`: about the same, whatever is stored. Else for how many rooms, or messages of logs, one call pays;
 * its action counts them (`context.charge`), and more of them cost as much as more calls.
 */
export type Cost = 'cheap' | { readonly rooms: number } | { readonly messages: number }

/** `text`: `{ error: text, code }`. `coded`: `{ success: false, error: { code, message } }`. */
export type ErrorBody = 'text' | 'coded'

/** A second spelling of an operation, for clients that speak the documented REST paths. */
export interface Alias<Input, Output> {
  http: Route
  /** What this path accepts; it must come out as the operation's own input. Left out: the input itself. */
  input?: z.ZodType<Input>
  /** The body of this path's answer, where it differs from the output. */
  answer?: { schema: z.ZodType; of: (output: Output, input: Input) => unknown }
  errorBody?: ErrorBody
}

export interface Operation<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodType = z.ZodType> {
  summary: string
  /** The path of ours; absent where only aliases or the socket exist. */
  http?: Route
  aliases?: readonly Alias<z.output<Input>, z.output<Output>>[]
  socket?: SocketEvent
  /** Other namespaces where the same event is answered by the same operation. */
  alsoOn?: readonly Namespace[]
  access: Access
  /** The bucket out of which a call is paid. */
  limit: Tier
  cost: Cost
  /**
   * Whom a caller who is not signed in claims to be. Tries are then counted for each address and claim, so that people behind
   * one address do not share them, and `RATE_LIMIT_SCALE` does not loosen them. Null: counted as any other call.
   */
  claim?(input: z.output<Input>): string | null | undefined
  input: Input
  output: Output
  /** A shorter form of the answer, for connections of protocol 2: without what a caller knows from what they have sent (`raw`). */
  lean?: { output: z.ZodType; of(output: z.output<Output>, raw: z.input<Input>): unknown }
  /** Codes particular to this operation; those in `commonErrors` need not be named. */
  errors?: readonly ErrorCode[]
  /** The statuses that codes have over REST here, where the documents say another than the table. */
  statuses?: Readonly<Partial<Record<ErrorCode, readonly number[]>>>
  /**
   * The input field that makes a repeat answer the first result. `log`: the room log keeps it with the row.
   * `answer`: the answer is kept for 24 hours with a hash of the input.
   */
  idempotency?: { key: keyof z.output<Input> & string; kept: 'log' | 'answer' }
  /**
   * A repeat makes nothing new: it sets, ends or looks up, takes a proof that is good once, or writes to somebody, which the guards
   * of letters count. Each POST says this or has an `idempotency`.
   */
  repeat?: 'harmless'
  /**
   * Who is signed in must have proved it within `freshMilliseconds`, or hears REAUTHENTICATION_REQUIRED.
   * `unless`: input fields that are a proof of their own, or act on nobody's account.
   */
  freshProof?: { unless: readonly (keyof z.output<Input> & string)[] }
  /**
   * Why somebody who is suspended may call it although it writes; without it they hear SUSPENDED once they are known to be who may call, before the input, a key that is known, or a limit is looked at.
   * `reads`: it changes nothing that others see. `signs in`: it proves who somebody is. `withdraws`: it ends, leaves or deletes what is
   * their own. `protects`: it keeps them safe, or is for their eyes alone. `judged`: the room's log refuses them as well, with its verdict,
   * and answers a known key with what it made.
   */
  whileSuspended?: 'reads' | 'signs in' | 'withdraws' | 'protects' | 'judged'
  /** Headers of a request, in lower case, and the input field that each of them gives. */
  headers?: Readonly<Record<string, keyof z.output<Input> & string>>
  /** Pages of every site may ask: who is signed in here does not matter to it. */
  anyOrigin?: true
  /** Written to the audit log, refusals too. */
  audit?: boolean
  errorBody?: ErrorBody
  /** How many bytes of JSON it takes, of people alone who are signed in; 100 KiB of anybody, where nothing is said. */
  jsonBytes?: number
  /** The answer is a sequence of `output`; declared by `stream`. */
  stream?: true
  /** Of a sequence: nothing but its items is written, so that the last of them says how it ended. */
  lines?: 'only'
  /** Of a sequence: its own path answers with server-sent events (`text/event-stream`), and aliases with lines. */
  serverSent?: true
}

/** Declares an operation. Everything else about it (routes, socket handler, SDK method, documents) is derived. */
export const operation = <Input extends z.ZodObject, Output extends z.ZodType>(declared: Operation<Input, Output>) =>
  declared

/** The field that tells the last line of a sequence from its items. */
type End = 'success'
type FieldOf<Item> = Item extends object ? keyof Item : End

/**
 * Declares an operation whose answer is a sequence: `output` is one item, an object without a field `success`; another does not
 * compile. Over REST each item is a line of JSON or a server-sent event, over a socket a frame `stream:item`.
 */
export const stream = <Input extends z.ZodObject, Output extends z.ZodType>(
  declared: Omit<Operation<Input, Output>, 'stream' | 'aliases' | 'idempotency'> & {
    /** The same sequence by another path, in lines. */
    aliases?: readonly { http: Route; errorBody: ErrorBody }[]
    idempotency?: { key: keyof z.output<Input> & string; kept: 'log' }
  } & (End extends FieldOf<z.output<Output>> ? { output: never } : unknown),
) => ({ ...declared, stream: true as const })

export interface Event<Payload extends z.ZodType = z.ZodType> {
  name: string
  namespace: Namespace | '*'
  summary: string
  /** Which sockets hear it: those joined to a room, those that watch a stream, those in a meeting or one of them, all of an account, those of a moderation scope, or the one that asked. */
  audience: 'room' | 'stream' | 'meeting' | 'account' | 'moderators' | 'socket'
  payload: Payload
}

/** One that connections of protocol 2 are told in a shorter form. */
export type EventInTwoForms<
  Payload extends z.ZodType = z.ZodType,
  Lean extends z.ZodType = z.ZodType,
> = Event<Payload> & {
  lean: Lean
}
type Declared<E extends Event> = Omit<E, 'name' | 'namespace'>

/** Declares something the server tells. */
export function event<Payload extends z.ZodType, Lean extends z.ZodType>(
  name: SocketEvent,
  declared: Declared<EventInTwoForms<Payload, Lean>>,
): EventInTwoForms<Payload, Lean>
export function event<Payload extends z.ZodType>(name: SocketEvent, declared: Declared<Event<Payload>>): Event<Payload>
export function event(name: SocketEvent, declared: Declared<Event>): Event {
  const [namespace, bare] = name.split(' ') as [Namespace | '*', string]
  return { ...declared, namespace, name: bare }
}

export type Contract = { readonly [name: string]: Operation }
export type Api = { readonly [domain: string]: Contract }
export type InputOf<O extends Operation> = z.output<O['input']>
/** What it answers; where the answer is a sequence, one item of it. */
export type OutputOf<O extends Operation> = z.output<O['output']>
export type AnswerOf<O extends Operation> = O extends { stream: true } ? AsyncIterable<OutputOf<O>> : OutputOf<O>
/** What a caller writes: defaults and optional fields may be left out. */
export type CallOf<O extends Operation> = z.input<O['input']>

/** How long a sign-in counts as a fresh proof. A refreshed session is as old as the sign-in it goes back to. */
export const freshMilliseconds = 300_000

/** Codes every operation may answer without naming them. */
export const commonErrors: readonly ErrorCode[] = [
  'VALIDATION_ERROR',
  'INVALID_PARAMETER',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'UNAUTHORIZED',
  'SESSION_EXPIRED',
  'SESSION_INVALID',
  'SESSION_NOT_FOUND',
  'FORBIDDEN',
  'RATE_LIMIT_EXCEEDED',
  'CONFLICT',
  'INTERNAL_ERROR',
  'DATABASE_ERROR',
  'SERVICE_UNAVAILABLE',
]

export interface Named {
  /** `domain.operation`. */
  name: string
  operation: Operation
}

export const operationsOf = (api: Api): Named[] =>
  Object.entries(api).flatMap(([domain, contract]) =>
    Object.entries(contract).map(([name, declared]) => ({ name: `${domain}.${name}`, operation: declared })),
  )

const routesOf = ({ http, aliases = [] }: Operation): Route[] =>
  [http, ...aliases.map((alias) => alias.http)].filter((route) => route !== undefined)

/**
 * The path that new clients use in the place of this alias: the operation's own, or else that of its first alias. Null of what is as good:
 * another method of that path, and that path itself.
 */
export function successorOf(
  { http, aliases = [] }: Operation,
  alias: Pick<Alias<unknown, unknown>, 'http'>,
): Route | null {
  const first = http ?? aliases[0]?.http
  const pathIn = (route: Route) => route.replace(/^\w+ /, '')
  return first === undefined || pathIn(first) === pathIn(alias.http) ? null : first
}

const onlyReads = (routes: readonly Route[]): boolean => routes.every((route) => route.startsWith('GET '))

/**
 * Who hears SUSPENDED where they are suspended: whoever calls what writes, which is all that does more than GET, and what is open over a
 * socket alone. `caller`: the pipeline says so; `judge`: the room's log does. Admins who are suspended are no admins, so what asks for one is not among it.
 */
export const refusesSuspended = (operation: Operation): 'caller' | 'judge' | null => {
  const { access, anyOrigin, whileSuspended } = operation
  const routes = routesOf(operation)
  const writes = routes.length === 0 || !onlyReads(routes)
  if (!writes || access === 'admin' || anyOrigin) return null
  if (whileSuspended === undefined) return 'caller'
  return whileSuspended === 'judged' ? 'judge' : null
}

/**
 * What a service token must be allowed in order to call: to read or to write in a domain. What is open over a socket alone is reading
 * where somebody who is suspended may call it: hearing, and no longer hearing.
 */
export const scopeOf = ({ name, operation }: Named): string => {
  const routes = routesOf(operation)
  const reads = routes.length > 0 ? onlyReads(routes) : operation.whileSuspended !== undefined
  return `${name.split('.')[0]}:${reads ? 'read' : 'write'}`
}

/** What a service token must be allowed in order to be told the events of a domain. */
export const scopeOfEvents = (domain: string): string => `${domain}:read`

/** `{room}` stands for several paths: `/:type/:room`, and `/alpha` for a room without an id. */
export const expandRoute = (route: Route): Expanded[] => {
  const [method, whole] = route.split(' ') as [Method, string]
  const [path = '', query] = whole.split('?')
  const asked = query === undefined ? {} : { query: Object.fromEntries(new URLSearchParams(query)) }
  if (!path.includes('{room}')) return [{ method, path, ...asked }]
  return [
    ...singleTypes.map((type) => ({ method, path: path.replace('{room}', type), fixed: { type }, ...asked })),
    { method, path: path.replace('{room}', ':type/:room'), ...asked },
  ]
}

interface Expanded {
  method: Method
  path: string
  fixed?: { type: string }
  /** What a request for this path must ask with to mean this operation. */
  query?: Readonly<Record<string, string>>
}

export const pathParameters = (path: string): string[] =>
  [...path.matchAll(/:([a-zA-Z_]+)/g)].map((match) => match[1] ?? '')
