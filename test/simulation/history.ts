import type { Fact, RoomKey, Row } from '#server/log/types'

/** A request to the log, as data. */
export interface Deed {
  room: RoomKey
  type: string
  sender: string
  cid: string
  target?: string
  /** The version that an edit starts from. */
  version?: number
  milliseconds?: number
  text?: string
}

/** A row as a reader gets it. */
export interface Shown {
  seq: number
  id: string
}

/** An event that can be observed from outside. */
export type Happening =
  | { op: 'started' | 'killed' | 'stopped' | 'paused'; node: string }
  | { op: 'split' | 'rejoined'; nodes: readonly string[] }
  | { op: 'stepped'; node: string; by: number }
  /** No answer within the promised time, by a node that is alive. */
  | { op: 'silent'; request: number; node: string }
  | { op: 'asked'; request: number; node: string; deed: Deed }
  | { op: 'acknowledged'; request: number; seq: number; id: string; pending: number }
  | { op: 'already'; request: number }
  | { op: 'refused'; request: number; code: string }
  /** An answer without an outcome: the act may have been carried out, or may be later. */
  | { op: 'unknown'; request: number }
  | { op: 'stored'; row: Row }
  | { op: 'recorded'; room: RoomKey; key: string; seq: number }
  /** At the end, without faults: the value of a record. */
  | { op: 'read'; room: RoomKey; key: string; value: Fact }
  | { op: 'listens'; reader: string; user: string; room: RoomKey; node: string }
  | { op: 'told'; reader: string; rows: readonly Shown[] }
  /** A page, and the head at which the reader was judged to be a member. */
  | { op: 'paged'; reader: string; head: number; rows: readonly Shown[] }
  /** The reaction of the client: it applies the next rows, or starts again. */
  | { op: 'applied'; reader: string; seqs: readonly number[] }
  | { op: 'reset'; reader: string }
  | { op: 'left'; reader: string }
  /** At the end, without faults: the head of a node and of a reader. */
  | { op: 'follows'; node: string; room: RoomKey; seq: number }
  /** At the end, without faults: the answer of a node to a new person. */
  | { op: 'welcomed'; node: string; room: RoomKey; answer: string }
  | { op: 'finished'; reader: string; user: string; room: RoomKey }
  | { op: 'over' }

export type Event = { at: number } & Happening

/** All events in order; each is passed to the observers. */
export class History {
  readonly events: Event[] = []
  readonly #now: () => number
  readonly #look: (event: Event) => void

  constructor(now: () => number, look: (event: Event) => void) {
    this.#now = now
    this.#look = look
  }

  note(happening: Happening): void {
    const event: Event = { at: this.#now(), ...happening }
    this.events.push(event)
    this.#look(event)
  }
}

/** One line for each event. */
export function textOf(events: readonly Event[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('')
}
