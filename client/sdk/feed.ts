import type { Snapshot } from '#shared/api/rooms/listening'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import type { AppError } from '#shared/errors'
import type { OutputOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import type { Call } from './calls.ts'
import { asAppError, isPassing, noAnswer } from './failures.ts'
import type { PlazaApi } from './table.ts'
import { backoff, pauseFor } from './timing.ts'

type Page = OutputOf<PlazaApi['messages']['sync']>

/** The callbacks by which a feed updates its room. */
export interface Fed {
  /** All state so far is void; the feed starts again from a snapshot or from the head. */
  reset(): void
  snapshot(snapshot: Snapshot): void
  /** There is no snapshot without a socket: load the state as of `seq`; the events after it follow. */
  openByRest(): Promise<void>
  /** The next events, without a gap. */
  events(events: readonly RoomEvent[]): void
  catchingUp(): void
  caughtUp(events: number, gaps: number): void
  refused(error: AppError): void
}

/** `socket`: events are pushed. `poll`: they are requested. `soon`: the socket is connecting. `none`: no server can be reached. */
export type Source = 'socket' | 'poll' | 'soon' | 'none'

const holeMilliseconds = 100
const heldAtMost = 200
const backlog = 60
const pollSeconds = 25
const pageSize = 200

/** Follows the log of one room: delivers every event once and in order, also when some are lost or repeated in transit. */
export class Feed {
  epoch: string | null = null
  seq = 0
  readonly #room: RoomRef
  readonly #call: Call
  readonly #fed: Fed
  readonly #held = new Map<number, RoomEvent>()
  #source: Source = 'none'
  #turn = new AbortController()
  #isBusy = false
  #hole: ReturnType<typeof setTimeout> | undefined
  #gaps = 0

  constructor(room: RoomRef, call: Call, fed: Fed) {
    this.#room = room
    this.#call = call
    this.#fed = fed
  }

  /** Continues from another source, after the last applied event. */
  follow(source: Source): void {
    if (source === this.#source) return
    this.#source = source
    this.restart()
  }

  restart(): void {
    this.halt()
    this.#isBusy = false
    this.#turn = new AbortController()
    const { signal } = this.#turn
    if (this.#source === 'socket') void this.#catchUp(signal, () => this.#join(signal))
    if (this.#source === 'poll') void this.#poll(signal)
  }

  /** Clears the state, as before the first event. */
  startOver(): void {
    this.#forget()
    this.restart()
  }

  /** Ignores all events until it is started again. */
  halt(): void {
    this.#turn.abort()
    this.#settleHole()
    this.#held.clear()
    this.#isBusy = true
  }

  /** Takes pushed events; they may be out of order or repeated. */
  deliver(events: readonly RoomEvent[]): void {
    if (this.#source !== 'socket') return
    if (events.some(({ epoch }) => this.epoch !== null && epoch !== this.epoch)) {
      this.#repair()
      return
    }
    for (const event of events)
      if (event.seq > this.seq && this.#held.size <= heldAtMost) this.#held.set(event.seq, event)
    if (!this.#isBusy) this.#drain()
  }

  /** Takes the newest seq that the server knows. */
  head(seq: number): void {
    if (this.#source === 'socket' && !this.#isBusy && seq > this.seq) this.#expectHole()
  }

  #drain(): void {
    const next: RoomEvent[] = []
    for (let event = this.#held.get(this.seq + 1); event; event = this.#held.get(this.seq + 1)) {
      next.push(event)
      this.#advance(event)
    }
    for (const seq of this.#held.keys()) if (seq <= this.seq) this.#held.delete(seq)
    if (next.length > 0) this.#fed.events(next)
    if (this.#held.size === 0) this.#settleHole()
    else if (this.#held.size >= heldAtMost) this.#repair()
    else this.#expectHole()
  }

  #advance({ seq, epoch }: RoomEvent): void {
    this.#held.delete(seq)
    this.seq = seq
    this.epoch = epoch
  }

  #expectHole(): void {
    this.#hole ??= setTimeout(() => this.#repair(), holeMilliseconds)
  }
  #settleHole(): void {
    clearTimeout(this.#hole)
    this.#hole = undefined
  }

  /** Requests missing events once. */
  #repair(): void {
    this.#settleHole()
    if (this.#isBusy) return
    this.#gaps++
    const { signal } = this.#turn
    void this.#catchUp(signal, () => this.#pull(signal))
  }

  /** Runs one task at a time; events that are pushed during it wait. */
  async #catchUp(signal: AbortSignal, act: () => Promise<number>): Promise<void> {
    this.#isBusy = true
    this.#fed.catchingUp()
    let pull = act
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const events = await pull()
        if (signal.aborted) return
        this.#isBusy = false
        this.#fed.caughtUp(events, this.#gaps)
        this.#drain()
        return
      } catch (error) {
        if (signal.aborted) return
        const refusal = asAppError(error)
        if (!isPassing(refusal)) return this.#fed.refused(refusal)
        await pauseFor((refusal.retryAfter ?? 0) * 1_000 + backoff(failures), signal)
        pull = () => this.#join(signal)
      }
    }
  }

  async #join(signal: AbortSignal): Promise<number> {
    const { epoch, seq } = this
    const since = epoch === null ? { backlog } : { after_seq: seq, epoch }
    const snapshot = (await this.#call('messages.join', { room: this.#room, ...since }, { tries: 1 })) as Snapshot
    if (signal.aborted) throw noAnswer()
    if (epoch !== null && (snapshot.reset || snapshot.epoch !== epoch)) return this.#reload(signal)
    this.#fed.snapshot(snapshot)
    if (epoch === null) this.seq = Math.max(0, (snapshot.events[0]?.seq ?? snapshot.head_seq + 1) - 1)
    this.epoch = snapshot.epoch
    const applied = this.#apply(snapshot.events)
    return snapshot.complete ? applied : applied + (await this.#pull(signal))
  }

  async #reload(signal: AbortSignal): Promise<number> {
    this.#forget()
    return this.#join(signal)
  }

  #forget(): void {
    this.epoch = null
    this.seq = 0
    this.#held.clear()
    this.#fed.reset()
  }

  /** Loads page after page, up to the newest event. */
  async #pull(signal: AbortSignal): Promise<number> {
    for (let applied = 0; ; ) {
      const page = await this.#page(signal, { limit: pageSize })
      if (signal.aborted) throw noAnswer()
      if (this.#isOther(page)) return this.#reload(signal)
      applied += this.#apply(page.events)
      if (page.complete || page.events.length === 0) return applied
    }
  }

  #page(signal: AbortSignal, more: { limit: number; wait?: number }): Promise<Page> {
    const input = { room: this.#room, after_seq: this.seq, ...(this.epoch && { epoch: this.epoch }), ...more }
    const door = this.#source === 'poll' ? { door: 'rest' as const } : {}
    return this.#call('messages.sync', input, { ...door, signal, tries: 1 }) as Promise<Page>
  }

  #isOther({ reset, epoch }: Page): boolean {
    return reset === true || (this.epoch !== null && epoch !== this.epoch)
  }

  #apply(events: readonly RoomEvent[]): number {
    const next = events.filter(({ seq }) => seq > this.seq)
    for (const event of next) this.#advance(event)
    if (next.length > 0) this.#fed.events(next)
    return next.length
  }

  async #poll(signal: AbortSignal): Promise<void> {
    this.#fed.catchingUp()
    let caughtUp: number | null = 0
    for (let failures = 0; !signal.aborted; ) {
      try {
        if (this.epoch === null) await this.#openByRest(signal)
        const page = await this.#page(signal, { limit: pageSize, ...(caughtUp === null && { wait: pollSeconds }) })
        if (signal.aborted) return
        if (this.#isOther(page)) {
          this.#forget()
          continue
        }
        const applied = this.#apply(page.events)
        failures = 0
        if (caughtUp !== null) caughtUp += applied
        if (caughtUp === null || !page.complete) continue
        this.#fed.caughtUp(caughtUp, this.#gaps)
        caughtUp = null
      } catch (error) {
        if (signal.aborted) return
        const refusal = asAppError(error)
        if (!isPassing(refusal)) return this.#fed.refused(refusal)
        await pauseFor((refusal.retryAfter ?? 0) * 1_000 + backoff(failures++), signal)
      }
    }
  }

  /** Reads the head first, then the state, so that the state is never older than the first event that follows. */
  async #openByRest(signal: AbortSignal): Promise<void> {
    const { head_seq, epoch } = await this.#page(signal, { limit: 1 })
    await this.#fed.openByRest()
    if (signal.aborted) throw noAnswer()
    this.epoch = epoch
    this.seq = head_seq
  }
}
