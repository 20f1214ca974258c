/** A run as its clients saw it: one entry for each request, each answer and each received event. */
export type Entry =
  | Send
  | Heard
  | Arrival
  | Snapshot
  | { t: number; proc: string; op: 'fault'; room: ''; type: 'info'; kind: string; what: string }

/** An attempt to send a message: `ok` acknowledged, `fail` finally refused, `info` unknown. */
export interface Send {
  t: number
  proc: string
  op: 'send'
  room: string
  type: 'invoke' | 'ok' | 'fail' | 'info'
  cid: string
  account: string
  /** Of an `invoke`. */
  text?: string
  /** Of an `ok`: the seq of the message; of a `fail`: the seq at which it was judged. */
  seq?: number
  id?: string
  duplicate?: boolean
  code?: string
}

/** One event as a reader applied it to its view of the room, live or from a catch-up. */
export interface Heard {
  t: number
  proc: string
  op: 'recv'
  room: string
  type: 'ok'
  account: string
  seq: number
  epoch: string
  cid: string | null
  id: string | null
  event: string
  text: string | null
  isLive: boolean
}

/** One event as a connection received it live, before the reader sorted it in. */
export interface Arrival {
  t: number
  proc: string
  op: 'arrive'
  room: string
  type: 'ok'
  /** The number of times the reader has opened the room; the order of events is checked within each. */
  socket: number
  seq: number
}

/** The state of a room at a seq. */
export interface Snapshot {
  t: number
  proc: string
  op: 'snapshot'
  room: string
  type: 'ok'
  seq: number
  state: RoomState
}

/** The state of a room that a client knows beside its messages. */
export interface RoomState {
  members: number
  rules: { version: number; slow_mode_seconds: number; read_only: boolean }
  pins: readonly string[]
}

/** The part of a row that the checker uses; `effect` is what the row changes. */
export interface LogRow {
  room: string
  seq: number
  epoch: string
  id: string
  sender: string
  cid: string | null
  at: number
  effect: Effect
}

export type Effect =
  | { kind: 'message'; n: number; text: string }
  | { kind: 'ban' | 'unban' | 'mute' | 'unmute' | 'joined' | 'left' | 'removed'; who: string; members: number | null }
  | { kind: 'rules'; rules: RoomState['rules'] }
  | { kind: 'pinned' | 'unpinned'; message: string }
  | { kind: 'other' }

/** Grows while a run goes on. */
export class History {
  readonly entries: Entry[] = []
  readonly #texts = new Map<string, string>()
  readonly #began = performance.now()

  now(): number {
    return Math.round((performance.now() - this.#began) * 1_000) / 1_000
  }

  add(entry: Entry): void {
    this.entries.push('text' in entry ? { ...entry, ...this.#once(entry) } : entry)
  }

  /** Shares equal texts: a hundred readers would keep a long text a hundred times. */
  #once({ cid, text }: { cid: string | null; text?: string | null }): { text?: string } {
    if (cid === null || typeof text !== 'string') return {}
    const known = this.#texts.get(cid) ?? text
    this.#texts.set(cid, known)
    return known === text ? { text: known } : {}
  }
}
