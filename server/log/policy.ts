/** Moments in the life of an append at which a process may die. */
type Failpoint = 'before-append' | 'after-append' | 'before-publish' | 'before-materialise' | 'before-ack' | 'after-ack'

/**
 * The rules that the promises of the log rest on, one function each, asked where the rule decides. A server runs with all of
 * them; a test puts a weaker function in the place of one, and shows what the rule is for.
 */
export interface Rules {
  /** The changes that follow from a row and that acts judged after it in the same turn see: all of them. */
  inDraft<T>(changes: readonly T[]): readonly T[]
  /** May a refusal leave on a view last read to the head at tick `readAt`, for an act that came at tick `cameAt`? */
  isFresh(readAt: number, cameAt: number): boolean
  /** May the refusals of a turn leave, given whether all rows of the turn stand? */
  mayRefuse(doAllStand: boolean): boolean
  /** Looks for the row of an act's key before the act is refused. */
  beforeRefusal<T>(look: () => Promise<T>): Promise<T | null>
  /** May the rows of an insert that failed have been stored all the same? */
  mayStand(isDuplicate: boolean): boolean
  /** Resolves when an act may be answered whose records are being written. */
  beforeAck(written: Promise<void>): Promise<void>
  /** How many nodes have not confirmed a row that holds everywhere. */
  everyNode(wait: () => Promise<number>): Promise<number>
  /** Must a row of `global` wait to be confirmed, while so many inserts are undecided? */
  isHeldUp(inFlight: number): boolean
  /** Leases a room before its view is read. */
  beforeView(lease: () => Promise<void>): Promise<void>
  /** May this node act, given whether its leases are live? */
  mayAct(isLive: boolean): boolean
  /** May an insert be sent again, given whether the leases have been live since it was judged? */
  mayRepeat(isLive: boolean): boolean
  /** The time of a row, from that of the row before it and the clock of the store. */
  timeOf(before: number, clock: number): number
}

export interface Policy extends Rules {
  /** How many times as long as promised an act waits, for the store and for the other nodes. */
  deadlineFactor: number
  /** Told at each of these moments; may end the process. */
  reached(place: Failpoint): void
}

/** What a server runs with. */
export const strict: Readonly<Policy> = {
  inDraft: (changes) => changes,
  isFresh: (readAt, cameAt) => readAt > cameAt,
  mayRefuse: (doAllStand) => doAllStand,
  beforeRefusal: (look) => look(),
  mayStand: () => true,
  beforeAck: (written) => written,
  everyNode: (wait) => wait(),
  isHeldUp: (inFlight) => inFlight > 0,
  beforeView: (lease) => lease(),
  mayAct: (isLive) => isLive,
  mayRepeat: (isLive) => isLive,
  timeOf: Math.max,
  deadlineFactor: 1,
  reached: () => {},
}
