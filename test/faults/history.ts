/** A run as its clients saw it: one entry for each request, each answer and each received event. */
export type Entry =
  | Send
  | Heard
  | Arrival
  | Snapshot
  | Asked
  | Told
  | Stopped
  | Recalled
  | Paid
  | Uploaded
  | Named
  | Entered
  | Scanned
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
  /** Of a `fail`, and of an `info` that was answered. */
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

interface OfAnswers {
  t: number
  proc: string
  /** Answers are in no room. */
  room: ''
}

/** A question to an agent: `ok` taken as a run, `fail` refused, `info` unknown. */
export interface Asked extends OfAnswers {
  op: 'ask'
  type: 'invoke' | 'ok' | 'fail' | 'info'
  account: string
  agent: string
  /** The `client_run_id`, and what was asked. */
  key: string
  message: string
  run?: string
  code?: string
}

/** Frames of a run as they came to one reader: those it asked for by `after`, in one answer, or one that came by itself. */
export interface Told extends OfAnswers {
  op: 'told'
  type: 'ok'
  run: string
  /** The connection; what comes on it by itself is in order. */
  stream: string
  /** The idx after which frames were asked for; null for one that came by itself. */
  after: number | null
  frames: readonly { idx: number; body: string }[]
}

/** The state that a request to stop a run was answered with. */
export interface Stopped extends OfAnswers {
  op: 'stop'
  type: 'ok'
  run: string
  state: string
}

/** What an agent's history says at the end. */
export interface Recalled extends OfAnswers {
  op: 'recall'
  type: 'ok'
  account: string
  agent: string
  messages: readonly { run: string; role: string; content: string }[]
}

/** A paid question: `ok` answered, `fail` refused, `info` unknown, or to be asked again. */
export interface Paid extends OfAnswers {
  op: 'pay'
  type: 'invoke' | 'ok' | 'fail' | 'info'
  payer: string
  nonce: string
  answer?: string
  /** The HTTP status and the code. */
  outcome?: string
}

/** An upload: `ok` stored, `fail` refused, `info` unknown, or to be made again. */
export interface Uploaded extends OfAnswers {
  op: 'upload'
  type: 'invoke' | 'ok' | 'fail' | 'info'
  key: string
  bytes: number
  sha256: string
  url?: string
  /** The HTTP status and the code. */
  outcome?: string
}

/** A message that names what was uploaded. */
export interface Named extends OfAnswers {
  op: 'name'
  type: 'ok' | 'fail'
  url: string
}

/** A try to join a channel for those who hold a token. */
export interface Entered extends OfAnswers {
  op: 'enter'
  type: 'ok' | 'fail' | 'info'
  account: string
  isHolder: boolean
  channel: string
  outcome: string
}

/** The events of somebody, where they were told without an error. */
export interface Scanned extends OfAnswers {
  op: 'scan'
  type: 'ok'
  account: string
  isHolder: boolean
  events: readonly number[]
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
  /** The faults under way, the begin of the first of them, and the time that earlier ones took. */
  #faults = 0
  #since = 0
  #taken = 0

  now(): number {
    return Math.round((performance.now() - this.#began) * 1_000) / 1_000
  }

  /** A part of the server is away, until the returned function is called. */
  disturb(): () => void {
    if (this.#faults++ === 0) this.#since = this.now()
    return () => {
      if (--this.#faults === 0) this.#taken += this.now() - this.#since
    }
  }

  /** The time so far without such a fault. */
  calm(): number {
    return (this.#faults > 0 ? this.#since : this.now()) - this.#taken
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
