import type { z } from 'zod'
import type { AppError } from '#shared/errors'
import type { Policy } from './policy.ts'

/** A room's key as text: `type:id`, `alpha`, or `global`. */
export type RoomKey = string

/** The room whose log applies everywhere: suspensions, global words and moderators, admin roles, ended sessions. */
export const GLOBAL: RoomKey = 'global'

/** The version of a row's content and meaning. Rows stored without one are of version 1. */
export const ROW_VERSION = 2

/** The type that readers see for a quarantined row. */
export const UNREADABLE = 'log.unreadable'

/** The type of an empty row in the place of one that could not be stored. */
export const SKIPPED = 'log.skipped'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** The entry that an accepted act appends. */
export interface Entry {
  type: string
  body: { [key: string]: Json }
  /** The account that was acted on, if any. */
  target?: string | null
  until?: number | null
  reason?: string | null
  /** The moderation log leaves it out, whatever its type: an entry of that log is its cause. */
  isUnlisted?: true
}

/** One event of a room, as stored: the row is the commit. */
export interface Row extends Required<Omit<Entry, 'isUnlisted'>> {
  /** UUIDv7, made by the appending node. */
  _id: string
  v: number
  room: RoomKey
  /** 1, 2, 3, … without a gap. */
  seq: number
  epoch: string
  /** The ordinal among the messages of the room; null for other rows. */
  n: number | null
  /** Messages in the room up to and including this row. */
  total: number
  /** Account id of the actor. */
  sender: string
  /** The sender's key for this act; unique per room and sender. */
  cid: string
  /** Milliseconds on the log's clock; they never decrease within a room. */
  at: number
  /** The hash of the room's last moderation entry as of this row; '' before the first. */
  chain: string
  /** Is this row an entry of that chain? */
  chained: boolean
  /** On an entry of that chain that lost a person: the hash of its own `chain` and what is left. */
  erased?: string
  /** The seq of the last event applied to this row (an edit, a delete, a pin …); its own at first. */
  applied_seq: number
}

/** A value that follows from the log, under a key such as `rules` or `member:<account>`; null if absent. */
export type Fact = Json

/** A change of one fact by a row. A patch is called only if the previous value is known. */
export type Change = { key: string; value: Fact } | { key: string; patch: (before: Fact) => Fact }

/** The product's rules for the log: the facts that follow from a row. All are pure. */
export interface Projection {
  /** The facts in every open view; the others are loaded on demand. */
  readonly always: (room: RoomKey) => readonly string[]
  /** The changes may not depend on content that later events rewrite: the row may be a rewritten one. */
  changes(row: Row): readonly Change[]
  /** The fact whose record is this row. If it was cached as absent, it is loaded again. */
  isRecordOf?(row: Row): string | null
  /** Is this row a message, counted by `n`? */
  isMessage(type: string): boolean
  /** Is this row an entry of the moderation log's hash chain? */
  isChained(type: string): boolean
  /** May this row remove people from the room, or apply globally? Its answer then waits for every node. */
  holdsEverywhere(type: string): boolean
  /**
   * The change that an event makes in earlier rows (an edit, a purge); null if none. Unchanged rows are returned as
   * they are.
   */
  rewrites?(event: Row): ((row: Row) => Row) | null
}

/** The records that follow from the log: loaded into views, written before the answer. */
export interface Records {
  /** Each value with the seq of the last row applied to it; `{ value: null, seq: 0 }` if absent. */
  load(room: RoomKey, keys: readonly string[]): Promise<Map<string, { value: Fact; seq: number }>>
  /**
   * Writes each value whose stored seq is lower than the row's. It is idempotent, and ignores keys without a record.
   */
  save(room: RoomKey, changes: readonly { key: string; value: Fact; row: Row }[]): Promise<void>
}

/**
 * The state on which an act is judged. `get` of a fact not in memory returns null; the log loads it and judges again. A
 * judgement reads all facts that it may need first, so that they are loaded together.
 */
export interface View {
  readonly room: RoomKey
  readonly epoch: string
  readonly seq: number
  readonly total: number
  readonly at: number
  get(key: string): Fact
  /** Milliseconds since this node got the present value, on a monotonic clock; 0 if it is not in memory. */
  ageOf(key: string): number
  /** The view of `global`; a view of `global` is its own. */
  readonly global: View
}

/** A pure decision on a view; it may be made several times. */
export type Judgement<T> =
  | { accept: Entry }
  /** Nothing to append: the state is already as requested. */
  | { already: T }
  | { refuse: AppError }

/** The part of an event record that the log knows: its type and its body. */
export interface LoggedEvent {
  readonly type: string
  readonly body: z.ZodType
}
type BodyOf<M extends LoggedEvent> = z.output<M['body']>

export interface Act<T = never, M extends LoggedEvent = LoggedEvent> {
  sender: string
  /** The idempotency key; the log makes one if the caller gave none. */
  cid?: string | undefined
  /** The event that it appends. A key under which another event is stored is refused (CONFLICT). */
  makes: M
  /**
   * Does the row of a known key match this request? By default each row of the event does; if not, the key is refused
   * (CONFLICT).
   */
  isRepeat?(row: Row, body: BodyOf<M>): boolean
  judge(view: View, now: number): Judgement<T>
}

/** An act that cannot be "already so" always has a row. */
export type Outcome<T, M extends LoggedEvent = LoggedEvent> =
  | Appended<M>
  | ([T] extends [never] ? never : { row: null; body: null; already: T; view: View })
interface Appended<M extends LoggedEvent> {
  row: Row
  body: BodyOf<M>
  duplicate: boolean
  view: View
  pendingNodes: number
}

export interface RoomLog {
  readonly node: string
  /**
   * Judges and appends in one atomic step; a known key is answered with its first row. It throws the refusal, CONFLICT
   * if another act used the key, or SERVICE_UNAVAILABLE after 3 s.
   */
  act<M extends LoggedEvent, T = never>(room: RoomKey, act: Act<T, M>): Promise<Outcome<T, M>>
  /**
   * Asks a question of the view, read to the head after this call. The question is pure, as it may be repeated.
   * `atOnce` gets the answer before any further row is applied or delivered.
   */
  ask<T>(room: RoomKey, question: (view: View, now: number) => T, atOnce?: (answer: T) => void): Promise<T>
  /** At most 200 rows with seq > after, in order, from memory if possible. */
  read(room: RoomKey, after: number, limit: number): Promise<Row[]>
  /** The head that this node knows, without a read; it opens the room. */
  head(room: RoomKey): Promise<{ epoch: string; seq: number; total: number }>
  /** The head of an open room, and the row up to which all records are written; null if closed. */
  headHere(room: RoomKey): { seq: number; total: number; recorded: number } | null
  /**
   * The answer of the view in memory, without waiting. It is null if the room is closed, a fact is missing, or this
   * node may not act.
   */
  answerHere<T>(room: RoomKey, question: (view: View) => T): T | null
  /** Keeps a room open until the returned function is called. Its rows are delivered within one poll at the latest. */
  hold(room: RoomKey): Promise<() => void>
  /**
   * Called synchronously with the rows of each open room, in order of seq, each once. An error is only reported.
   * `isOurs`: this node appended the first of them, so that no other node reports them.
   */
  onRows(listener: (room: RoomKey, rows: readonly Row[], isOurs: boolean) => void): void
  /** Changes what is in memory of every room, as an erasure has changed the store. */
  replaceInMemory(change: InMemory): void
  close(): Promise<void>
}

export interface InMemory {
  row(row: Row): Row
  /** Null drops a fact, so that it is loaded anew. */
  fact(key: string, value: Fact, room: RoomKey): { value: Fact } | null
}

/**
 * The collections of rows, heads and leases. An error is thrown unchanged: the log finds out whether a row was stored.
 */
export interface LogStore {
  /** A single node: no polls, no leases, no read before a refusal. */
  readonly alone: boolean
  /** One ordered insert, durable when it returns. */
  insert(rows: readonly Row[]): Promise<void>
  /** Rows with after < seq <= after + limit, ascending; a range closed at both ends. */
  read(room: RoomKey, after: number, limit: number): Promise<Row[]>
  byCid(room: RoomKey, sender: string, cid: string): Promise<Row | null>
  /** Raises the heads and marks of many rooms in one write. */
  raiseHeads(heads: readonly RoomHead[], movedAt: number): Promise<void>
  headOf(room: RoomKey): Promise<RoomHead>
  headsMovedSince(movedAt: number): Promise<RoomHead[]>
  /** The rooms with a newer row than the given one. It asks the log itself: a head may never have been raised. */
  advanced(positions: readonly { room: RoomKey; seq: number }[]): Promise<RoomKey[]>
  /** `beat` rises with each write of a node, and has no other meaning. */
  writeLeases(
    node: string,
    leases: readonly { room: RoomKey; confirmed: number }[],
    at: number,
    beat: number,
  ): Promise<void>
  leasesOf(room: RoomKey, since: number): Promise<{ node: string; confirmed: number; beat: number }[]>
}

export interface RoomHead {
  room: RoomKey
  /** '' before the room's first row. */
  epoch: string
  seq: number
  total: number
  /** All records of the rows up to this one are written. */
  materialised: number
}

/** Does the error mean that a row with this key exists? Only code 11000 does. */
type IsDuplicate = (error: unknown) => boolean

/** Did the encoder fail, before anything was sent? */
type IsNeverSent = (error: unknown) => boolean

/** Notifies other nodes sooner. Hints may be lost, repeated or reordered, so no promise depends on them. */
export interface Hints {
  publish(hint: Hint): void
  subscribe(listener: (hint: Hint) => void): void
  /** Subscribes to the hints of this room. */
  follow?(room: RoomKey): void
  leave?(room: RoomKey): void
  /** The present interval of polls and renewals: longer while hints arrive. */
  pollMilliseconds(): number
}
export type Hint =
  | { kind: 'rows'; node: string; rows: readonly Row[] }
  | { kind: 'confirmed'; node: string; room: RoomKey; seq: number }
  /** The node has rows for the room, and lost a race for a seq. */
  | { kind: 'collided'; node: string; room: RoomKey }

/** The live nodes, by their leases. */
export interface LiveNodes {
  live(): ReadonlySet<string>
  onChange(listener: () => void): void
  stop(): void
}

export interface Clock {
  /** Milliseconds of the store's clock, for the times of rows. It may step. */
  now(): number
  /** Monotonic milliseconds of this process, by which all waiting is measured. */
  elapsed(): number
  sleep(milliseconds: number): Promise<void>
}

/** Receives the log's events for metrics. It must not throw. */
export interface Observer {
  /** One committed insert of this node. */
  appended(rows: readonly Row[]): void
  /** Rows were delivered to this node's listeners, with the age of the oldest. */
  delivered(lagMilliseconds: number): void
  /** Rows of an open room were read from the store, because no hint brought them. */
  healed(by: 'gap' | 'poll' | 'comparison', rows: number): void
  /** Another node had taken the seq. */
  collided(): void
  /** An insert without an answer is repeated. */
  retried(): void
  follows(rooms: number): void
  /** A room was isolated, because its turn is too long. */
  isolated?(room: RoomKey): void
  /** A row is quarantined: readers see an event of an unknown type, and nothing follows from it. */
  quarantined?(row: Row, error: unknown): void
  /** A listener threw; the others got the rows. */
  failed?(room: RoomKey, error: unknown): void
  /** The turn of an isolated room ended after this time. */
  released?(room: RoomKey, milliseconds: number): void
  /** Hints were published, received, or received after their rows were known. */
  hinted(how: 'published' | 'received' | 'late', rows: number): void
}

export interface LogDependencies {
  node: string
  store: LogStore
  records: Records
  projection: Projection
  hints: Hints
  clock: Clock
  random: () => number
  newId: () => string
  isDuplicate: IsDuplicate
  isNeverSent: IsNeverSent
  observer?: Observer
  /** Throws if an entry differs from its event's declaration; unset where only the compiler checks. */
  check?(entry: Entry): void
  /** Deviations from the `strict` policy; only tests have some. */
  policy?: Partial<Policy>
}
