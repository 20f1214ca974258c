import type { RoomKey, Row } from '#server/log/types'
import type { Note } from './checker.ts'
import type { Event, Shown } from './history.ts'
import type { Ledger } from './ledger.ts'
import { joinedAt, keys, removedBy } from './product.ts'

/** What one client of a room has been shown, over all its visits. */
interface Client {
  user: string
  room: RoomKey
  isListening: boolean
  /** The row by which they were a member as they began to listen: a node behind it tells them of those before, too. */
  joinedAt: number
  /** The last row told on this visit; 0 before the first. */
  lastTold: number
  /** Up to here the client has applied everything, each row once. */
  applied: number
}

/** What reaches the readers: the log, each row once and in order, and nothing after their removal. */
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

  /** Only a primary without its majority may tell a client of an older head than the client has seen. */
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
    // After the row that removes them they are told nothing more, whether they have left or not.
    if (last && removedBy(last) === user) client.isListening = false
  }

  /** Who may read is asked for each page, and the page ends where they were found to be a member. */
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
