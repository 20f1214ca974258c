import { wholeBatch, wholeEvent, wholeSent } from '#shared/api/rooms/lean'
import type { LeanSent } from '#shared/api/rooms/message'
import type { LeanBatch, LeanEvent } from '#shared/api/rooms/room-events'
import { table } from './table.ts'

const { events, operations } = table

/** Restores the fields that protocol 2 leaves out; other payloads and answers stay as they are. */
export class Whole {
  /** The last epoch of each room. */
  readonly #epochs = new Map<string, string>()
  #protocol: unknown = 1
  #last: { told: unknown; whole: unknown } | undefined

  /** Starts a connection with the protocol that the server named. */
  begin(protocol: unknown): void {
    this.#protocol = protocol
    this.#epochs.clear()
  }

  /** Each payload is restored once, and shared by all listeners. */
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
