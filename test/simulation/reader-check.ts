import type { RoomKey, Row } from '#server/log/types'
import type { Note } from './checker.ts'
import type { Event, Shown } from './history.ts'
import type { Ledger } from './ledger.ts'
import { removedBy } from './machine.ts'

/** What one client of a room has been shown, over all its visits. */
interface Client {
  user: string
  room: RoomKey
  isListening: boolean
  /** The row by which they were a member as they began to listen: a node behind it tells them of those before, too. */
  joinedAt: number
  /** The last row told on this visit; 0 before the first. */
  lastTold: number
  /** Up to here everything was shown, in order. */
  shown: number
  early: Set<number>
}

/** What reaches the readers: the log, each row once and in order, and nothing after their removal. */
export class ReaderCheck {
  readonly #ledger: Ledger
  readonly #note: Note
  readonly #clients = new Map<string, Client>()

  constructor(ledger: Ledger, note: Note) {
    this.#ledger = ledger
    this.#note = note
  }

  see(event: Event): void {
    if (event.op === 'listens') this.#listens(event)
    else if ('reader' in event) this.#seen(event, this.#clients.get(event.reader))
  }

  #seen(event: Exclude<Extract<Event, { reader: string }>, { op: 'listens' }>, client: Client | undefined): void {
    if (event.op === 'finished') this.#finished(event, client)
    else if (event.op === 'left') this.#left(client)
    else if (!client?.isListening) this.#note('shown to somebody who does not listen')
    else {
      if (event.op === 'told') this.#told(client, event.rows)
      else this.#paged(client, event)
      this.#take(client, event.rows)
    }
  }

  #left(client: Client | undefined): void {
    if (client) client.isListening = false
  }

  #listens({ reader, user, room }: Extract<Event, { op: 'listens' }>): void {
    const { shown } = this.#clients.get(reader) ?? { shown: 0 }
    const joinedAt = Number(this.#ledger.now(room, `member:${user}`) ?? 0)
    this.#clients.set(reader, { user, room, isListening: true, joinedAt, lastTold: 0, shown, early: new Set() })
  }

  #told(client: Client, rows: readonly Shown[]): void {
    const { user, room } = client
    for (const { seq } of rows) {
      if (client.lastTold !== 0 && seq !== client.lastTold + 1) this.#note('told out of order')
      const isMember = seq <= client.joinedAt || this.#ledger.before(room, `member:${user}`, seq) !== null
      if (!isMember) this.#note('an outsider was shown a row')
      client.lastTold = seq
    }
    const last = this.#row(room, rows.at(-1))
    // After the row that removes them they are told nothing more, whether they have left or not.
    if (last && removedBy(last) === user) client.isListening = false
  }

  /** Who may read is asked for each page, and the page ends where they were found to be a member. */
  #paged({ user, room }: Client, { head, rows }: Extract<Event, { op: 'paged' }>): void {
    if (this.#ledger.before(room, `member:${user}`, head + 1) === null) this.#note('an outsider was given a page')
    if (rows.some(({ seq }) => seq > head)) this.#note('a page goes beyond the head that was judged')
  }

  #take(client: Client, rows: readonly Shown[]): void {
    for (const row of rows) {
      if (this.#row(client.room, row)?._id !== row.id) this.#note('shown what is not in the log')
      if (row.seq > client.shown) client.early.add(row.seq)
    }
    while (client.early.delete(client.shown + 1)) client.shown++
  }

  #finished({ user, room }: Extract<Event, { op: 'finished' }>, client: Client | undefined): void {
    if (this.#ledger.now(room, `member:${user}`) === null) this.#note('somebody is still outside at the end')
    if ((client?.shown ?? 0) !== this.#ledger.log(room).length) this.#note('a reader missed a row')
  }

  #row(room: RoomKey, shown: Shown | undefined): Row | undefined {
    return shown && this.#ledger.log(room)[shown.seq - 1]
  }
}
