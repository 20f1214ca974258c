import type { agentWriting } from '#shared/api/agents/agent-rooms'
import type { Message } from '#shared/api/rooms/message'
import type { PayloadOf, RoomState, Writing } from './types.ts'

type Word = PayloadOf<typeof agentWriting>

/** A node that dies says nothing: a living one does so at least every five seconds. */
const silenceMilliseconds = 15_000
/** The message may come a little later than the word that it stands. */
const messageMilliseconds = 1_500

/** What agents write, after the next word of one of them. */
export function heardWord(all: readonly Writing[], word: Word, now: number): readonly Writing[] {
  const before = all.find(({ runId }) => runId === word.run_id)
  if (!before && word.state === 'ended') return all
  const { run_id: runId, agent, reply_to: replyTo } = word
  const until = now + (word.state === 'ended' ? messageMilliseconds : silenceMilliseconds)
  const writing = { runId, agent, replyTo, ...joined(before, word), until }
  return before ? all.map((one) => (one === before ? writing : one)) : [...all, writing]
}

/** The text begins anew after a gap. A repeated part changes nothing. */
function joined(before: Writing | undefined, { off, text }: Word): Pick<Writing, 'from' | 'text'> {
  if (!before) return { from: off, text }
  const at = off - before.from
  if (text === '' || (at >= 0 && at + text.length <= before.text.length)) return before
  const isNext = at >= 0 && at <= before.text.length
  return isNext ? { from: before.from, text: before.text.slice(0, at) + text } : { from: off, text }
}

/** The run whose answer a message is: its key, or what stands before the colon of it. */
const runOf = ({ client_msg_id }: Message): string => client_msg_id.split(':')[0] ?? ''

const saidKept = 100

interface Shown {
  readonly told: RoomState
  change(change: Pick<RoomState, 'writing'>): void
}

/** Keeps what agents write in one room until its message comes, or no more parts arrive. */
export class Writers {
  readonly #now: () => number
  readonly #view: Shown
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The runs of the last messages of agents: words that come later than the message are not shown. */
  #said: readonly string[] = []

  constructor(now: () => number, view: Shown) {
    this.#now = now
    this.#view = view
  }

  hear(word: Word): void {
    if (!this.#said.includes(word.run_id)) this.#show(heardWord(this.#view.told.writing, word, this.#now()))
  }

  /** The room without what is a message by now. */
  giveWay(state: RoomState, messages: readonly Message[]): RoomState {
    const said = messages.filter(({ sender }) => sender.isAgent).map(runOf)
    if (said.length === 0) return state
    this.#said = [...this.#said, ...said].slice(-saidKept)
    return { ...state, writing: state.writing.filter(({ runId }) => !said.includes(runId)) }
  }

  forget(): void {
    clearTimeout(this.#timer)
  }

  #show(writing: RoomState['writing']): void {
    clearTimeout(this.#timer)
    if (writing !== this.#view.told.writing) this.#view.change({ writing })
    if (writing.length === 0) return
    const next = Math.min(...writing.map(({ until }) => until)) - this.#now()
    const forgetSilent = () => this.#show(this.#view.told.writing.filter(({ until }) => until > this.#now()))
    this.#timer = setTimeout(forgetSilent, Math.max(next, 0) + 1)
  }
}
