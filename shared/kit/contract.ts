import type { z } from 'zod'
import type { ErrorCode } from '#shared/errors'
import { singleTypes } from './room-kinds.ts'

export const namespaces = ['/rooms', '/agents', '/streams', '/notifications', '/moderation', '/meetings'] as const
export type Namespace = (typeof namespaces)[number]
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * `METHOD /path`. `:name` is a field of the input, and `{room}` a room key (`channel/<id>`, or `alpha`). `?name=value` at its end
 * selects another operation of the path, by the query or the body. `?name` selects it for any value, which is a field of the input.
 */
export type Route = `${Method} /${string}`
/** `/namespace event:name`; `*` is every namespace. */
export type SocketEvent = `${Namespace | '*'} ${string}`

/** The callers of an operation. Finders decide on the access to objects. */
type Access = 'public' | 'user' | 'admin'
export type Tier = 'auth' | 'session' | 'strict' | 'contact' | 'messaging' | 'search' | 'ai' | 'paid' | 'general'

/**
 * The cost of a call by the data it reads. `cheap` does not depend on the stored data. Otherwise it is the number of rooms or
 * messages for one call. The action counts them (`context.charge`), and more of them cost more calls. A call that is `judged`
 * costs more calls if judging its texts takes many steps.
 */
export type Cost = 'cheap' | 'judged' | { readonly rooms: number } | { readonly messages: number }

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
   * The claimed identity of a caller without a session. Tries are counted for each address and claim, so that people behind one
   * address do not share them. `RATE_LIMIT_SCALE` does not loosen them. Null is counted as any other call.
   */
  claim?(input: z.output<Input>): string | null | undefined
  input: Input
  output: Output
  /** A shorter answer for connections of protocol 2, without values that the caller has sent (`raw`). */
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
   * A repeat creates nothing: it sets, ends, looks up, uses a proof once, or sends an email, which guards count. Each POST has this
   * or an `idempotency`.
   */
  repeat?: 'harmless'
  /**
   * Callers must have signed in within `freshMilliseconds`, or get REAUTHENTICATION_REQUIRED. `unless`: input fields that are a
   * proof of their own, or affect no account.
   */
  freshProof?: { unless: readonly (keyof z.output<Input> & string)[] }
  /**
   * The reason why suspended callers may call a writing operation. Others get SUSPENDED before input, known keys and limits are
   * checked.
   *
   * - `reads`: it changes nothing that others see.
   * - `signs in`: it proves an identity.
   * - `withdraws`: it ends, leaves or deletes their own.
   * - `protects`: it keeps them safe, or is for their eyes alone.
   * - `judged`: the room's log refuses them by its verdict, and answers a known key with its result.
   */
  whileSuspended?: 'reads' | 'signs in' | 'withdraws' | 'protects' | 'judged'
  /** Headers of a request, in lower case, and the input field that each of them gives. */
  headers?: Readonly<Record<string, keyof z.output<Input> & string>>
  /** Pages of every site may ask: who is signed in here does not matter to it. */
  anyOrigin?: true
  /** Written to the audit log, refusals too. A name is the input field with the account or room that the call is about. */
  audit?: boolean | (keyof z.output<Input> & string)
  errorBody?: ErrorBody
  /** The most bytes of JSON, which needs a session; by default 100 KiB, from anybody. */
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
 * Declares an operation whose answer is a sequence. `output` is one item, an object without a field `success`; others do not
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
  /** The receiving sockets: of a room, stream, meeting or its member, account, moderation scope, or the caller. */
  audience: 'room' | 'stream' | 'meeting' | 'account' | 'moderators' | 'socket'
  payload: Payload
}

/** An event with a shorter form for connections of protocol 2. */
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
 * The path that new clients use in place of this alias: the operation's own, or its first alias. Null for that path itself, and
 * for other methods of it.
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
 * The part that refuses suspended callers: `caller` is the pipeline, `judge` the room's log. Operations write unless all their
 * routes are GET. Suspended admins are no admins, so operations of admins are not among them.
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
 * The scope that a service token needs for a call: to read or to write in a domain. Operations over a socket alone are reading if
 * suspended callers may use them, as to subscribe.
 */
export const scopeOf = ({ name, operation }: Named): string => {
  const routes = routesOf(operation)
  const reads = routes.length > 0 ? onlyReads(routes) : operation.whileSuspended !== undefined
  return `${name.split('.')[0]}:${reads ? 'read' : 'write'}`
}

/** The scope that a service token needs for the events of a domain. */
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
