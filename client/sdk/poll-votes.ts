import type { Poll } from '#shared/api/rooms/poll'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import type { Call } from './calls.ts'
import { answerPoll, pollsToAsk } from './polls.ts'
import type { RoomState } from './types.ts'

interface Options {
  ref: RoomRef
  call: Call
  account(): string | null
}

interface Room {
  readonly told: RoomState
  become(told: RoomState): void
}

const againMilliseconds = 1_000

/** Loads the polls of loaded messages, with the votes of this account, where they are not known. */
export class PollVotes {
  readonly #options: Options
  readonly #room: Room
  /** The version from which on each poll was needed when it was last asked for. */
  readonly #asked = new Map<string, number>()
  #again: ReturnType<typeof setTimeout> | undefined

  constructor(options: Options, room: Room) {
    this.#options = options
    this.#room = room
  }

  see(): void {
    const { told } = this.#room
    if (told.status !== 'live' && told.status !== 'refused') return
    const needed = pollsToAsk(told)
    if ([...needed].every(([id, version]) => (this.#asked.get(id) ?? -1) >= version)) return
    for (const [id, version] of needed) this.#asked.set(id, version)
    void this.#ask(needed)
  }

  /** Asks again for what is not known at the next change. */
  forget(): void {
    clearTimeout(this.#again)
    this.#asked.clear()
  }

  async #ask(needed: ReadonlyMap<string, number>): Promise<void> {
    const { call, ref, account } = this.#options
    const asker = account()
    const answer = await call('polls.list', { room: ref }).catch(() => null)
    if (!isSameAccount(asker, account())) return
    const polls = answer === null ? null : (answer as { polls: Poll[] }).polls
    if (polls) this.#room.become(polls.reduce<RoomState>(answerPoll, this.#room.told))
    // An event may be told before its records can be read.
    const isBehind = polls?.some(({ id, version }) => version < (needed.get(id) ?? 0)) ?? true
    if (!isBehind) return
    for (const id of needed.keys()) this.#asked.delete(id)
    if (!polls) return
    clearTimeout(this.#again)
    this.#again = setTimeout(() => this.see(), againMilliseconds)
  }
}
