import type { RoomKey } from '#server/log/types'
import { AnswerCheck } from './answer-check.ts'
import type { Event } from './history.ts'
import { Ledger } from './ledger.ts'
import { LogCheck } from './log-check.ts'
import { ReaderCheck } from './reader-check.ts'
import { isKept, RecordCheck } from './record-check.ts'

export interface Fault {
  what: string
  /** The index of the event that revealed the fault. */
  event: number
}

/** Records a fault; the checks share this function and are otherwise independent. */
export type Note = (what: string) => void

/** Checks every event of a history as it happens, and collects the faults. */
export class Checker {
  readonly faults: Fault[] = []
  #events = 0
  readonly #ledger = new Ledger()
  readonly #note: Note = (what) => void this.faults.push({ what, event: this.#events })
  readonly #log = new LogCheck(this.#ledger, this.#note)
  readonly #records = new RecordCheck(this.#ledger, this.#note)
  readonly #answers = new AnswerCheck(this.#ledger, this.#records, this.#note)
  readonly #readers = new ReaderCheck(this.#ledger, this.#note)

  /** The facts of every room that have a record. */
  facts(): [RoomKey, string[]][] {
    return this.#ledger.rooms().map((room) => [
      room,
      this.#ledger
        .facts(room)
        .map(([key]) => key)
        .filter(isKept),
    ])
  }

  see(event: Event): void {
    if (event.op === 'stored') {
      this.#log.stored(event.row, event.at)
      this.#answers.stored(event.row)
    } else if (event.op === 'recorded') this.#records.recorded(event)
    else if (event.op === 'read') this.#records.read(event)
    else if (event.op === 'follows') this.#log.follows(event.room, event.seq)
    else {
      this.#answers.see(event)
      this.#readers.see(event)
    }
    this.#events++
  }
}

/** The faults of a history, with their counts. */
export function check(events: readonly Event[]): Fault[] {
  const checker = new Checker()
  for (const event of events) checker.see(event)
  return checker.faults
}
