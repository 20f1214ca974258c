import type { z } from 'zod'
import type { AppError } from '#shared/errors'
import type { Policy } from './policy.ts'

/** A room's key as text: `type:id`, `alpha`, or `global`. */
export type RoomKey = string

/** The room whose log carries what holds everywhere: suspensions, global words and moderators, admin roles, ended sessions. */
export const GLOBAL: RoomKey = 'global'

/** The version of what a row says and how, on each row this server writes; rows of before there was one are of version 1. */
export const ROW_VERSION = 2

/** The type that a row is shown with which the projection of this server cannot apply. */
export const UNREADABLE = 'log.unreadable'

/** The type of a row that only fills the place of one that could not be stored. */
export const SKIPPED = 'log.skipped'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** What an accepted act asks the log to append. */
export interface Entry {
  type: string
  body: { [key: string]: Json }
  /** The account acted on, where there is one. */
  target?: string | null
  until?: number | null
  reason?: string | null
}

/** One event of a room, as stored: the row is the commit. */
export interface Row extends Required<Entry> {
  /** UUIDv7, made by the appending node. */
  _id: string
  v: number
  room: RoomKey
  /** 1, 2, 3, … without a gap. */
  seq: number
  epoch: string
  /** Ordinal among the messages of the room; null on rows that are no message. */
  n: number | null
  /** Messages in the room up to and including this row. */
  total: number
  /** Account id of the actor. */
  sender: string
  /** The sender's own key for this act; unique per room and sender. */
  cid: string
  /** Milliseconds on the log's clock; never runs back within a room. */
  at: number
  /** Head of the room's chain of moderation entries as of this row; '' before the first. */
  chain: string
  /** Is this row itself an entry of that chain? */
  chained: boolean
  /** Seq of the last event applied to this row (an edit, a delete, a pin …); its own seq at first. */
  applied_seq: number
}

/** A value that follows from the log, under a key such as `rules` or `member:<account>`. `null` means there is none. */
export type Fact = Json

/** How a row changes one fact. A patch is called only where the value before is known. */
export type Change = { key: string; value: Fact } | { key: string; patch: (before: Fact) => Fact }

/** What the log must know of the product: which facts follow from a row. All pure. */
export interface Projection {
  /** Facts every open view holds; the others are loaded when an act asks for them. */
  readonly always: (room: RoomKey) => readonly string[]
  /** Rests on nothing that a later event may rewrite in a row: the row may come here as it is now. */
  changes(row: Row): readonly Change[]
  /** The fact whose record the row itself is: where it was found absent before, it is loaded anew. */
  isRecordOf?(row: Row): string | null
  /** Is this row a message, and so counted by `n`? */
  isMessage(type: string): boolean
  /** Is this row an entry of the hash-chained moderation log? */
  isChained(type: string): boolean
  /** May this row take people out of the room, or hold globally, so that its ack waits for every node? */
  holdsEverywhere(type: string): boolean
  /** How an event changes rows before it (an edit, a purge): the row as it is after, or the very same row. Null when it changes none. */
  rewrites?(event: Row): ((row: Row) => Row) | null
}

/** The records that follow from the log: loaded into views, written before the ack. */
export interface Records {
  /** Each value with the seq of the last row applied to it; an absent record is `{ value: null, seq: 0 }`. */
  load(room: RoomKey, keys: readonly string[]): Promise<Map<string, { value: Fact; seq: number }>>
  /** Writes each value where the record's own seq is below the row's. Idempotent; keys without a record are passed over. */
  save(room: RoomKey, changes: readonly { key: string; value: Fact; row: Row }[]): Promise<void>
}

/**
 * The state an act is judged on. `get` of a fact not yet in memory answers null for the moment, makes the log load it, and the
 * judgement is taken again; so ask first for every fact that may be needed, and they are loaded together.
 */
export interface View {
  readonly room: RoomKey
  readonly epoch: string
  readonly seq: number
  readonly total: number
  readonly at: number
  get(key: string): Fact
  /**
   * Milliseconds for which this node has held the fact as it is now, by what only rises: at most as long as it has been so, whatever the
   * clock that `at` is told by has done since. 0 where it is not in memory.
   */
  ageOf(key: string): number
  /** The view of `global`; a view of `global` is its own. */
  readonly global: View
}

/** A pure decision over a view; it may be taken several times before one of them stands. */
export type Judgement<T> =
  | { accept: Entry }
  /** Nothing to append: it is already so. */
  | { already: T }
  | { refuse: AppError }

/** The record of an event, as far as the log knows it: its type, and what is stored under it. */
export interface Makes {
  readonly type: string
  readonly body: z.ZodType
}
type BodyOf<M extends Makes> = z.output<M['body']>

export interface Act<T = never, M extends Makes = Makes> {
  sender: string
  /** The idempotency key; made by the log where the caller gave none. */
  cid?: string | undefined
  /** The event that it appends, and no other. A key under which another is stored is refused (CONFLICT). */
  makes: M
  /** Is the row of a known key what is asked for now? Left out, each row of that event is; where it is not, the key is refused (CONFLICT). */
  isRepeat?(row: Row, body: BodyOf<M>): boolean
  judge(view: View, now: number): Judgement<T>
}

/** An act that never finds it already so has a row for certain. */
export type Outcome<T, M extends Makes = Makes> =
  | Appended<M>
  | ([T] extends [never] ? never : { row: null; body: null; already: T; view: View })
interface Appended<M extends Makes> {
  row: Row
  /** What the row says. */
  body: BodyOf<M>
  duplicate: boolean
  view: View
  pendingNodes: number
}

export interface RoomLog {
  readonly node: string
  /**
   * Judges and appends as one atomic step; a known key is answered with its first row. Throws the refusal, CONFLICT where the key was used for
   * something else, or SERVICE_UNAVAILABLE after 3 s without an answer.
   */
  act<M extends Makes, T = never>(room: RoomKey, act: Act<T, M>): Promise<Outcome<T, M>>
  /**
   * Runs a question on the view, brought to the head by a read that begins after this call. The question is pure, as it may be
   * asked several times; `atOnce` gets the answer that stands before any further row is applied or delivered.
   */
  ask<T>(room: RoomKey, question: (view: View, now: number) => T, atOnce?: (answer: T) => void): Promise<T>
  /** Rows with seq > after, in order, from memory where it can. At most 200. */
  read(room: RoomKey, after: number, limit: number): Promise<Row[]>
  /** The head as this node knows it, without a read; opens the room. */
  head(room: RoomKey): Promise<{ epoch: string; seq: number; total: number }>
  /** The head of a room that is open on this node, and the row up to which all records are known to be written, at once; null where it is not. */
  headHere(room: RoomKey): { seq: number; total: number; recorded: number } | null
  /**
   * What the view in memory says, at once; null where the room is not open on this node, a fact that is asked for is not loaded, or this node
   * may not act, as what holds everywhere may have been acknowledged without it.
   */
  answerHere<T>(room: RoomKey, question: (view: View) => T): T | null
  /** Keeps a room followed while the hold is not released: its rows are delivered within one poll at the latest. */
  hold(room: RoomKey): Promise<() => void>
  /**
   * Called in seq order, each row once, for each room this node follows; runs synchronously. What it throws is told and no more. `isOurs`: this node
   * has just appended the first of them, and so no other says the same of them.
   */
  onRows(listener: (room: RoomKey, rows: readonly Row[], isOurs: boolean) => void): void
  close(): Promise<void>
}

/** The collection of rows, heads and leases. A lost answer is thrown as it is: the log finds out what happened. */
export interface LogStore {
  /** One node only: no polling, no leases, nothing to read before a refusal. */
  readonly alone: boolean
  /** One ordered insert, durable when it returns. */
  insert(rows: readonly Row[]): Promise<void>
  /** Rows in after < seq <= after + limit, ascending; a range closed at both ends. */
  read(room: RoomKey, after: number, limit: number): Promise<Row[]>
  byCid(room: RoomKey, sender: string, cid: string): Promise<Row | null>
  /** Raises the heads of many rooms in one write, and the mark up to which every record of a room is written. */
  raiseHeads(heads: readonly RoomHead[], movedAt: number): Promise<void>
  headOf(room: RoomKey): Promise<RoomHead>
  headsMovedSince(movedAt: number): Promise<RoomHead[]>
  /** Which of these rooms have a row after the given one? Asks the log itself, as a head may never have been raised. */
  advanced(positions: readonly { room: RoomKey; seq: number }[]): Promise<RoomKey[]>
  /** `beat` rises with each write of a node, and says nothing but that. */
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
  /** Every record that follows from the rows up to here is written. */
  materialised: number
}

/** Is this error the store's "a row with this key is there already"? Decided by code 11000 alone. */
type IsDuplicate = (error: unknown) => boolean

/** Did this error come before anything was sent, for what is to be stored can be encoded by no store? */
type IsNeverSent = (error: unknown) => boolean

/** What makes other nodes hear sooner. It may lose, double and reorder; nothing rests on it. */
export interface Hints {
  publish(hint: Hint): void
  subscribe(listener: (hint: Hint) => void): void
  /** From now on hints of this room are wanted. */
  follow?(room: RoomKey): void
  leave?(room: RoomKey): void
  /** How often heads are to be read and leases renewed now: seldom while hints come. */
  pollMilliseconds(): number
}
export type Hint =
  | { kind: 'rows'; node: string; rows: readonly Row[] }
  | { kind: 'confirmed'; node: string; room: RoomKey; seq: number }
  /** The node has rows for the room and lost a race for a seq. */
  | { kind: 'collided'; node: string; room: RoomKey }

/** Which nodes live, as their leases say. */
export interface LiveNodes {
  live(): ReadonlySet<string>
  onChange(listener: () => void): void
  stop(): void
}

export interface Clock {
  /** Milliseconds of the store's clock: the times of rows. It may step. */
  now(): number
  /** Milliseconds of this process, which only rise, whatever is done to any clock: all that is waited for is measured by it. */
  elapsed(): number
  /** Resolves after so many milliseconds. */
  sleep(milliseconds: number): Promise<void>
}

/** Told what the log does, for figures alone. Must not throw. */
export interface Observer {
  /** One insert of this node's, that stands. */
  appended(rows: readonly Row[]): void
  /** Rows were told to this node's listeners, so long after the oldest of them was appended. */
  delivered(lagMilliseconds: number): void
  /** Rows of an open room were read from the store because no hint had brought them. */
  healed(by: 'gap' | 'poll' | 'comparison', rows: number): void
  /** Another node had taken the seq. */
  collided(): void
  /** An insert of unknown fate is tried again. */
  retried(): void
  follows(rooms: number): void
  /** A turn of this room has lasted so long that its acts are refused at once until it ends. */
  isolated?(room: RoomKey): void
  /** A row that this server cannot apply: it is shown as an event of no known type, and nothing follows from it. */
  quarantined?(row: Row, error: unknown): void
  /** A listener threw; the others have heard the rows. */
  failed?(room: RoomKey, error: unknown): void
  /** Such a turn has ended after so long. */
  released?(room: RoomKey, milliseconds: number): void
  /** Rows were hinted at to others, by others, or by others when they were known already. */
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
  /** Throws where an entry is not what its event declares; left out where only the compiler says so. */
  check?(entry: Entry): void
  /** What differs from `strict`, by which a server runs. */
  policy?: Partial<Policy>
}
