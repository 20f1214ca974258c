import type { Json, RoomKey, Row } from '#server/log/types'
import type { Note } from './checker.ts'
import type { Event } from './history.ts'
import { followsFrom, type Ledger } from './ledger.ts'
import { keys } from './product.ts'

/** What is written beside the log: it never goes back, is there before an ack, and in the end is what the log says. */
export class RecordCheck {
  readonly #ledger: Ledger
  readonly #note: Note
  readonly #seqs = new Map<string, number>()

  constructor(ledger: Ledger, note: Note) {
    this.#ledger = ledger
    this.#note = note
  }

  recorded({ room, key, seq }: Extract<Event, { op: 'recorded' }>): void {
    if (seq < this.#seqOf(room, key)) this.#note('a record went back')
    if (seq > this.#ledger.log(room).length) this.#note('a record of a row that is not stored')
    this.#seqs.set(`${room} ${key}`, seq)
  }

  /** Is all written that follows from this row? A message is its own record. */
  areWritten(row: Row): boolean {
    return followsFrom(row).every(
      ({ key }) => !isKept(key) || key === keys.message(row._id) || this.#seqOf(row.room, key) >= row.seq,
    )
  }

  /** A record as it is read when all is over. */
  read({ room, key, value }: Extract<Event, { op: 'read' }>): void {
    if (!isSame(value, this.#ledger.now(room, key))) this.#note('a record differs from the log')
  }

  #seqOf(room: RoomKey, key: string): number {
    return this.#seqs.get(`${room} ${key}`) ?? 0
  }
}

/** When somebody last wrote has no record: it is in the row itself. */
export const isKept = (key: string) => !key.startsWith('clock:')

/** Every field that follows from the log is as it says; what a model adds beside them is its own. */
export function isSame(seen: Json, wanted: Json): boolean {
  if (wanted === null || typeof wanted !== 'object') return seen === wanted
  if (seen === null || typeof seen !== 'object') return false
  if (Array.isArray(wanted) && (!Array.isArray(seen) || seen.length !== wanted.length)) return false
  return Object.entries(wanted).every(([name, value]) => isSame((seen as Record<string, Json>)[name] ?? null, value))
}
