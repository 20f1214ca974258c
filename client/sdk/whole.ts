import { wholeBatch, wholeEvent, wholeSent } from '#shared/api/lean'
import type { LeanBatch, LeanEvent } from '#shared/api/room-events'
import type { LeanSent } from '#shared/api/sent'
import { table } from './table.ts'

const { events, operations } = table

/** Puts back what a connection of protocol 2 leaves out; other payloads and answers stay as they are. */
export class Whole {
  /** Of each room the epoch that was told last. */
  readonly #epochs = new Map<string, string>()
  #protocol: unknown = 1
  #last: { told: unknown; whole: unknown } | undefined

  /** A connection begins, by the protocol that the server says. */
  begin(protocol: unknown): void {
    this.#protocol = protocol
    this.#epochs.clear()
  }

  /** Made once of a payload, however many listen. */
  payload(event: string, told: unknown): unknown {
    if (this.#protocol !== 2 || (event !== events.roomEvent.name && event !== events.roomEventBatch.name)) return told
    if (this.#last?.told !== told) this.#last = { told, whole: this.#wholeOf(told as LeanEvent | LeanBatch) }
    return this.#last?.whole
  }

  answer(event: string, answer: unknown, input: object): unknown {
    if (this.#protocol !== 2 || event !== operations['messages.send']?.socket) return answer
    return wholeSent(answer as LeanSent, JSON.parse(JSON.stringify(input)))
  }

  #wholeOf(told: LeanEvent | LeanBatch): unknown {
    const before = this.#epochs.get(told.room) ?? ''
    const whole = 'events' in told ? wholeBatch(told, before) : wholeEvent(told, before)
    const last = 'events' in whole ? whole.events.at(-1) : whole
    if (last) this.#epochs.set(told.room, last.epoch)
    return whole
  }
}
