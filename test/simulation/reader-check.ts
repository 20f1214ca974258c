import type { RoomKey, Row } from '#server/log/types'
import type { Note } from './checker.ts'
import type { Event, Shown } from './history.ts'
import type { Ledger } from './ledger.ts'
import { joinedAt, keys, removedBy } from './product.ts'

/** The rows that one client of a room has received, over all its visits. */
interface Client {
  user: string
  room: RoomKey
  isListening: boolean
  /** The row that made the reader a member before they listened: a node that is behind also sends the rows before it. */
  joinedAt: number
  /** The last row sent on this visit; 0 before the first. */
  lastTold: number
  /** The client has applied each row once up to this seq. */
  applied: number
}

/** Checks that readers receive each row of the log once and in order, and nothing after their removal. */
export class ReaderCheck {
  readonly #ledger: Ledger
  readonly #note: Note
  readonly #clients = new Map<string, Client>()
  #wasSplit = false

  constructor(ledger: Ledger, note: Note) {
    this.#ledger = ledger
    this.#note = note
  }

  see(event: Event): void {
    if (event.op === 'split') this.#wasSplit = true
    if (event.op === 'listens') this.#listens(event)
    else if ('reader' in event) this.#seen(event, this.#clients.get(event.reader))
  }

  #seen(event: Exclude<Extract<Event, { reader: string }>, { op: 'listens' }>, client: Client | undefined): void {
    if (event.op === 'finished') this.#finished(event, client)
    else if (event.op === 'left') this.#left(client)
    else if (event.op === 'reset') this.#reset(client)
    else if (event.op === 'applied') this.#applied(client, event.seqs)
    else if (!client || (event.op === 'told' && !client.isListening))
      this.#note('shown to somebody who does not listen')
    else {
      if (event.op === 'told') this.#told(client, event.rows)
      else this.#paged(client, event)
      this.#take(client, event.rows)
    }
  }

  /** Checks that a head older than one the client has seen comes only from a primary without its majority. */
  #reset(client: Client | undefined): void {
    if (!this.#wasSplit) this.#note('a client began anew')
    if (client) client.applied = 0
  }

  #applied(client: Client | undefined, seqs: readonly number[]): void {
    if (!client) return
    if (seqs.some((seq, at) => seq !== client.applied + at + 1)) this.#note('applied out of order')
    client.applied = seqs.at(-1) ?? client.applied
  }

  #left(client: Client | undefined): void {
    if (client) client.isListening = false
  }

  #listens({ reader, user, room }: Extract<Event, { op: 'listens' }>): void {
    const { applied } = this.#clients.get(reader) ?? { applied: 0 }
    const since = joinedAt(this.#ledger.now(room, keys.member(user)))
    const fresh = { isListening: true, joinedAt: since, lastTold: 0 }
    this.#clients.set(reader, { user, room, applied, ...fresh })
  }

  #told(client: Client, rows: readonly Shown[]): void {
    const { user, room } = client
    for (const { seq } of rows) {
      if (client.lastTold !== 0 && seq !== client.lastTold + 1) this.#note('told out of order')
      const isMember = seq <= client.joinedAt || this.#ledger.before(room, keys.member(user), seq) !== null
      if (!isMember) this.#note('an outsider was shown a row')
      client.lastTold = seq
    }
    const last = this.#row(room, rows.at(-1))
    // Nothing is sent to readers after the row that removes them, whether they left or were removed.
    if (last && removedBy(last) === user) client.isListening = false
  }

  /** Checks that access is judged for each page, and that the page ends at the head of that judgement. */
  #paged({ user, room }: Client, { head, rows }: Extract<Event, { op: 'paged' }>): void {
    if (this.#ledger.before(room, keys.member(user), head + 1) === null) this.#note('an outsider was given a page')
    if (rows.some(({ seq }) => seq > head)) this.#note('a page goes beyond the head that was judged')
  }

  #take(client: Client, rows: readonly Shown[]): void {
    for (const row of rows) if (this.#row(client.room, row)?._id !== row.id) this.#note('shown what is not in the log')
  }

  #finished({ user, room }: Extract<Event, { op: 'finished' }>, client: Client | undefined): void {
    if (this.#ledger.now(room, keys.member(user)) === null) this.#note('somebody is still outside at the end')
    if ((client?.applied ?? 0) !== this.#ledger.log(room).length) this.#note('a reader missed a row')
  }

  #row(room: RoomKey, shown: Shown | undefined): Row | undefined {
    return shown && this.#ledger.log(room)[shown.seq - 1]
  }
}
