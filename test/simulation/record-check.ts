import type { RoomKey, Row } from '#server/log/types'
import { projection } from '#test/log/chat'
import type { Note } from './checker.ts'
import type { Event } from './history.ts'
import type { Ledger } from './ledger.ts'

/** What is written beside the log: it never goes back, is there before an ack, and in the end is what the log says. */
export class RecordCheck {
  readonly #ledger: Ledger
  readonly #note: Note
  readonly #records = new Map<string, { json: string; seq: number }>()

  constructor(ledger: Ledger, note: Note) {
    this.#ledger = ledger
    this.#note = note
  }

  recorded({ room, key, value, seq }: Extract<Event, { op: 'recorded' }>): void {
    const before = this.#records.get(`${room} ${key}`)
    if (before && before.seq > seq) this.#note('a record went back')
    if (seq > this.#ledger.log(room).length) this.#note('a record of a row that is not stored')
    this.#records.set(`${room} ${key}`, { json: JSON.stringify(value), seq })
  }

  /** Is all written that follows from this row? */
  areWritten(row: Row): boolean {
    return projection
      .changes(row)
      .every(({ key }) => !isKept(key) || (this.#records.get(`${row.room} ${key}`)?.seq ?? 0) >= row.seq)
  }

  over(): void {
    for (const room of this.#ledger.rooms()) this.#compare(room)
  }

  #compare(room: RoomKey): void {
    for (const [key, value] of this.#ledger.facts(room)) {
      const json = this.#records.get(`${room} ${key}`)?.json ?? 'null'
      if (isKept(key) && json !== JSON.stringify(value)) this.#note('a record differs from the log')
    }
  }
}

/** The last message of a sender has no record: it is the row itself. */
const isKept = (key: string) => !key.startsWith('last:')
