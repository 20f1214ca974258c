/** What happened in a run, as those outside saw it: one entry for each question, each answer and each thing heard. */
export type Entry =
  | Send
  | Heard
  | Arrival
  | Snapshot
  | { t: number; proc: string; op: 'fault'; room: ''; type: 'info'; kind: string; what: string }

/** A try to send a message: `ok` acknowledged, `fail` refused for good, `info` nobody knows. */
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
  /** Of an `ok`: the place in the log; of a `fail`: the seq it was judged at. */
  seq?: number
  id?: string
  duplicate?: boolean
  code?: string
}

/** One event as a reader took it into the room it shows, live or from a page of the catch-up. */
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

/** One event as a connection was told of it, live, before the reader put it in its place. */
export interface Arrival {
  t: number
  proc: string
  op: 'arrive'
  room: string
  type: 'ok'
  /** Counts the times the reader opened the room: what is told in between is one course. */
  socket: number
  seq: number
}

/** The state of a room as of a seq. */
export interface Snapshot {
  t: number
  proc: string
  op: 'snapshot'
  room: string
  type: 'ok'
  seq: number
  state: RoomState
}

/** What a client knows of a room beside its messages. */
export interface RoomState {
  members: number
  rules: { version: number; slow_mode_seconds: number; read_only: boolean }
  pins: readonly string[]
}

/** A row of the log, as far as the checker judges it; `effect` says what it changes. */
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

  /** A hundred readers of one long text would else keep it a hundred times. */
  #once({ cid, text }: { cid: string | null; text?: string | null }): { text?: string } {
    if (cid === null || typeof text !== 'string') return {}
    const known = this.#texts.get(cid) ?? text
    this.#texts.set(cid, known)
    return known === text ? { text: known } : {}
  }
}
