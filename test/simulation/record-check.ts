import type { Json, RoomKey, Row } from '#server/log/types'
import type { Note } from './checker.ts'
import type { Event } from './history.ts'
import { followsFrom, type Ledger } from './ledger.ts'
import { keys } from './product.ts'

/** Checks the records: they never go back, are written before an acknowledgement, and at the end agree with the log. */
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

  /** True if all records of this row are written. A message is its own record. */
  areWritten(row: Row): boolean {
    return followsFrom(row).every(
      ({ key }) => !isKept(key) || key === keys.message(row._id) || this.#seqOf(row.room, key) >= row.seq,
    )
  }

  /** Checks a record that is read at the end. */
  read({ room, key, value }: Extract<Event, { op: 'read' }>): void {
    if (!isSame(value, this.#ledger.now(room, key))) this.#note('a record differs from the log')
  }

  #seqOf(room: RoomKey, key: string): number {
    return this.#seqs.get(`${room} ${key}`) ?? 0
  }
}

/** The time of a sender's last message has no record: it is in the row itself. */
export const isKept = (key: string) => !key.startsWith('clock:')

/** Compares the fields that follow from the log; other fields of a model are ignored. */
export function isSame(seen: Json, wanted: Json): boolean {
  if (wanted === null || typeof wanted !== 'object') return seen === wanted
  if (seen === null || typeof seen !== 'object') return false
  if (Array.isArray(wanted) && (!Array.isArray(seen) || seen.length !== wanted.length)) return false
  return Object.entries(wanted).every(([name, value]) => isSame((seen as Record<string, Json>)[name] ?? null, value))
}
