import type { Fact, RoomKey, Row } from '#server/log/types'

/** What somebody asks of the log, as data. */
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

/** What happened, as anybody outside could have seen it. */
export type Happening =
  | { op: 'started' | 'killed' | 'stopped' | 'paused'; node: string }
  | { op: 'split' | 'rejoined'; nodes: readonly string[] }
  | { op: 'stepped'; node: string; by: number }
  /** No answer at all in the time that is promised for one, by a node that lives. */
  | { op: 'silent'; request: number; node: string }
  | { op: 'asked'; request: number; node: string; deed: Deed }
  | { op: 'acknowledged'; request: number; seq: number; id: string; pending: number }
  | { op: 'already'; request: number }
  | { op: 'refused'; request: number; code: string }
  /** No answer that says anything: the deed may be done, now or later. */
  | { op: 'unknown'; request: number }
  | { op: 'stored'; row: Row }
  | { op: 'recorded'; room: RoomKey; key: string; seq: number }
  /** At the end, with everything healed: what a record says. */
  | { op: 'read'; room: RoomKey; key: string; value: Fact }
  | { op: 'listens'; reader: string; user: string; room: RoomKey; node: string }
  | { op: 'told'; reader: string; rows: readonly Shown[] }
  /** A page, and the head at which its reader was found to be a member. */
  | { op: 'paged'; reader: string; head: number; rows: readonly Shown[] }
  /** What the client itself made of it: the next rows, or that it begins anew. */
  | { op: 'applied'; reader: string; seqs: readonly number[] }
  | { op: 'reset'; reader: string }
  | { op: 'left'; reader: string }
  /** At the end, with everything healed: how far a node and a reader have come. */
  | { op: 'follows'; node: string; room: RoomKey; seq: number }
  /** At the end, with everything healed: what a node answers a newcomer. */
  | { op: 'welcomed'; node: string; room: RoomKey; answer: string }
  | { op: 'finished'; reader: string; user: string; room: RoomKey }
  | { op: 'over' }

export type Event = { at: number } & Happening

/** All that happened, in order, each told to whoever looks on. */
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
