import type { Reaction } from '#shared/api/message'
import type { RoomRef } from '#shared/kit/primitives'
import type { Call } from './calls.ts'
import type { LocalMessage, Reactor, RoomState } from './types.ts'

/** So many people of a message are told. */
const mostTold = 100
/** In one call, as the ids stand in its address. */
const mostAsked = 100
const againMilliseconds = 1_000
const triesOfCounts = 2

/** Somebody put a reaction on a message, or took it off; nothing where it is not known who else did. */
export function reactedBy(
  state: RoomState,
  { id, emoji, on }: { id: string; emoji: string; on: boolean },
  account: string,
): RoomState {
  const known = state.reactors.get(id)
  if (!known) return state
  const others = known.filter((one) => one.account !== account || one.emoji !== emoji)
  return { ...state, reactors: new Map(state.reactors).set(id, on ? [...others, { account, emoji }] : others) }
}

/** Who reacted to these messages, from an answer. */
export function answerReactors(state: RoomState, ids: readonly string[], reactions: readonly Reaction[]): RoomState {
  const reactors = new Map(state.reactors)
  for (const id of ids)
    reactors.set(
      id,
      reactions.flatMap((one) => (one.message_id === id ? [{ account: one.user_address, emoji: one.emoji }] : [])),
    )
  return { ...state, reactors }
}

/** The loaded messages of which it is not known who reacted: those whose counts say otherwise. */
export const reactorsToAsk = ({ messages, reactors }: RoomState): LocalMessage[] =>
  messages.filter(
    ({ id, local, is_deleted, reactions }) => local === 'sent' && !is_deleted && !fits(reactors.get(id), reactions),
  )

function fits(known: readonly Reactor[] | undefined, reactions: LocalMessage['reactions']): boolean {
  const counts = Object.entries(reactions).filter(([, count]) => count > 0)
  if (counts.length === 0) return true
  if (known === undefined) return false
  if (counts.reduce((sum, [, count]) => sum + count, 0) >= mostTold) return true
  return counts.every(([emoji, count]) => known.filter((one) => one.emoji === emoji).length === count)
}

interface Options {
  ref: RoomRef
  call: Call
  account(): string | null
}

interface Room {
  readonly told: RoomState
  become(told: RoomState): void
}

/** Loads who reacted to the loaded messages, where that is not known. */
export class Reactors {
  readonly #options: Options
  readonly #room: Room
  /** The counts for which each message was last asked about, and how often. */
  readonly #asked = new Map<string, { counts: string; tries: number }>()
  #again: ReturnType<typeof setTimeout> | undefined
  #isAsking = false

  constructor(options: Options, room: Room) {
    this.#options = options
    this.#room = room
  }

  see(): void {
    const { told } = this.#room
    if (this.#isAsking || (told.status !== 'live' && told.status !== 'refused')) return
    const needed = reactorsToAsk(told)
      .filter(({ id, reactions }) => {
        const asked = this.#asked.get(id)
        return asked?.counts !== JSON.stringify(reactions) || asked.tries < triesOfCounts
      })
      .slice(-mostAsked)
    if (needed.length === 0) return
    for (const { id, reactions } of needed) {
      const counts = JSON.stringify(reactions)
      const before = this.#asked.get(id)
      this.#asked.set(id, { counts, tries: before?.counts === counts ? before.tries + 1 : 1 })
    }
    this.#isAsking = true
    void this.#ask(needed.map(({ id }) => id)).finally(() => {
      this.#isAsking = false
      clearTimeout(this.#again)
      // An event may be told before its records can be read.
      this.#again = setTimeout(() => this.see(), againMilliseconds)
    })
  }

  /** Asks again for what is not known at the next change. */
  forget(): void {
    clearTimeout(this.#again)
    this.#asked.clear()
  }

  async #ask(ids: readonly string[]): Promise<void> {
    const { call, ref, account } = this.#options
    const asker = account()
    const answer = await call('messages.reactions', { room: ref, messageIds: ids.join(',') }).catch(() => null)
    if (answer === null || asker !== account()) return
    this.#room.become(answerReactors(this.#room.told, ids, (answer as { reactions: Reaction[] }).reactions))
  }
}
