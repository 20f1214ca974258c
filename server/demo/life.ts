import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { onlineCountIn } from '#server/domains/rooms/messages/presence'
import type { Node } from '#server/kernel/context'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { isSameAccount } from '#shared/kit/accounts'
import { roomKey } from '#shared/kit/primitives'
import { withMentions } from './agents.ts'
import { people, tolerate } from './people.ts'
import { type Line, oneOf, readLine, type ScriptedLine, shuffled } from './script.ts'
import type { Stage } from './stage.ts'

/** Past so many messages a room says no more. */
const mostMessages = 5_000
const recent = 30

/** The running dialogue of a demo room: its lines, their senders, and the time of the next line. */
export class Life {
  readonly #node: Node
  readonly #stage: Stage
  readonly #signal: AbortSignal
  #ahead: (readonly Line[])[]
  #lines: Line[] = []
  #cast: string[] = []
  #before: string | null = null
  #restsUntil = 0

  constructor(node: Node, stage: Stage, signal: AbortSignal) {
    this.#node = node
    this.#stage = stage
    this.#signal = signal
    this.#ahead = shuffled(stage.dialogues.slice(stage.spoken))
  }

  get isReady(): boolean {
    return this.#node.now() >= this.#restsUntil
  }
  get isWatched(): boolean {
    return onlineCountIn(this.#node, roomKey(this.#stage.room)) > 0
  }

  /** One thing that somebody does here. */
  async goOn(): Promise<void> {
    const { total } = await this.#node.log.head(roomKey(this.#stage.room))
    if (total >= mostMessages) return
    const chance = randomInt(100)
    if (chance < 14) return this.#react()
    if (chance < 20 && this.#stage.polls.length > 0) return this.#vote()
    return this.#speak()
  }

  async #speak(): Promise<void> {
    const said = readLine(this.#nextLine())
    const sender = this.#cast[said.role] ?? oneOf(people)
    const { room, restSeconds } = this.#stage
    await tolerate(this.#node.callAs(sender, messages.typing, { room, on: true }))
    await this.#pause(Math.min(4_000, 600 + 30 * said.text.length))
    const reply_to = said.isReply ? this.#before : null
    const sent = await tolerate(
      this.#node.callAs(sender, messages.send, { room, text: withMentions(said.text), reply_to }),
    )
    this.#restsUntil = this.#node.now() + restSeconds * 1_000
    this.#before = sent?.message.id ?? null
    if (sent) await this.#afterwards(said, sender, sent.message.id)
  }

  async #afterwards({ corrected, reactions }: ScriptedLine, sender: string, id: string): Promise<void> {
    const { room } = this.#stage
    if (corrected !== null) {
      await this.#pause(2_500)
      await tolerate(this.#node.callAs(sender, messages.edit, { room, id, text: corrected }))
    }
    for (const emoji of reactions) {
      await this.#pause(randomInt(500, 2_000))
      const other = oneOf(people.filter((one) => !isSameAccount(one, sender)))
      await tolerate(this.#node.callAs(other, messages.react, { room, id, emoji, on: true }))
    }
  }

  /** The next of a dialogue; when all have been spoken they begin anew, in another order and with other people. */
  #nextLine(): Line {
    if (this.#lines.length === 0) {
      if (this.#ahead.length === 0) this.#ahead = shuffled(this.#stage.dialogues)
      this.#lines = [...(this.#ahead.shift() ?? [])]
      this.#cast = shuffled(people)
      this.#before = null
    }
    return this.#lines.shift() ?? 'a Hello'
  }

  async #react(): Promise<void> {
    const key = roomKey(this.#stage.room)
    const { seq } = await this.#node.log.head(key)
    const rows = await this.#node.log.read(key, Math.max(0, seq - recent), recent)
    const written = rows.filter(({ n }) => n !== null)
    if (written.length === 0) return
    const { _id: id, sender } = oneOf(written)
    const other = oneOf(people.filter((one) => !isSameAccount(one, sender)))
    const emoji = oneOf(['👍', '❤️', '😄', '👏'])
    await tolerate(this.#node.callAs(other, messages.react, { room: this.#stage.room, id, emoji, on: true }))
  }

  async #vote(): Promise<void> {
    const { room } = this.#stage
    const voter = oneOf(people)
    const listed = await tolerate(this.#node.callAs(voter, polls.list, { room }))
    const poll = listed?.polls.find(({ is_closed }) => !is_closed)
    if (!poll) return
    const options = poll.options.map((_, index) => index).filter((index) => !poll.user_votes.includes(index))
    await tolerate(this.#node.callAs(voter, polls.vote, { room, pollId: poll.id, optionIndex: oneOf(options) }))
  }

  #pause(milliseconds: number): Promise<void> {
    return sleep(milliseconds, undefined, { signal: this.#signal })
  }
}
