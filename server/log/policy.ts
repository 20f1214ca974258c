/** Points of an append at which a process may die. */
type Failpoint = 'before-append' | 'after-append' | 'before-publish' | 'before-materialise' | 'before-ack' | 'after-ack'

/**
 * The rules on which the promises of the log depend, one function each. A test replaces one by a weaker function, and
 * shows what it prevents.
 */
export interface Rules {
  /** The changes of a row that later acts of the turn see: all of them. */
  inDraft<T>(changes: readonly T[]): readonly T[]
  /** May a refusal be sent? The view was last read to the head at tick `readAt`, the act came at `cameAt`. */
  isFresh(readAt: number, cameAt: number): boolean
  /** May the refusals of a turn be sent, given whether all of its rows are committed? */
  mayRefuse(areAllCommitted: boolean): boolean
  /** Searches the row of an act's key before the act is refused. */
  beforeRefusal<T>(look: () => Promise<T>): Promise<T | null>
  /** May the rows of a failed insert have been stored nevertheless? */
  mayBeStored(isDuplicate: boolean): boolean
  /** Resolves when an act may be answered whose records are still being written. */
  beforeAck(written: Promise<void>): Promise<void>
  /** The number of nodes that have not confirmed a row that applies everywhere. */
  everyNode(wait: () => Promise<number>): Promise<number>
  /** Must the confirmation of a row of `global` wait for so many undecided inserts? */
  isHeldUp(inFlight: number): boolean
  /** Leases a room before its view is read. */
  beforeView(lease: () => Promise<void>): Promise<void>
  /** May this node act, given whether its leases are live? */
  mayAct(isLive: boolean): boolean
  /** May an insert be repeated, given whether the leases have been live since the judgement? */
  mayRepeat(isLive: boolean): boolean
  /** The time of a row, from the time of the previous row and the clock of the store. */
  timeOf(before: number, clock: number): number
}

export interface Policy extends Rules {
  /** The factor by which an act waits longer than promised, for the store and for other nodes. */
  deadlineFactor: number
  /** Called at each of these points; it may end the process. */
  reached(place: Failpoint): void
}

/** The policy of every server. */
export const strictPolicy: Readonly<Policy> = {
  inDraft: (changes) => changes,
  isFresh: (readAt, cameAt) => readAt > cameAt,
  mayRefuse: (areAllCommitted) => areAllCommitted,
  beforeRefusal: (look) => look(),
  mayBeStored: () => true,
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
