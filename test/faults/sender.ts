import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { backoff } from '#client/sdk/timing'
import { type Answer, Client, type Person, type Settled } from './client.ts'
import type { History, Send } from './history.ts'
import type { Random } from './random.ts'

export interface Talk {
  room: Room
  /** How many messages may be unanswered at once; with 1 each is sent after the answer to the one before. */
  window: number
  pauseMilliseconds: number
  /** The text of each message, after its key. */
  words?: string
}

export interface Room {
  id: string
  key: string
}

export const Sent = z.object({
  message: z.object({ seq: z.number(), id: z.string() }),
  duplicate: z.boolean().optional(),
})
const retryMilliseconds = 100
const mostRetryMilliseconds = 2_000

/** Sends one message after the other, and repeats each with the same key until its outcome is known. */
export class Sender {
  readonly name: string
  readonly client: Client
  readonly #history: History
  readonly #talk: Talk
  readonly #random: Random
  readonly #latencies: number[]
  #sent = 0
  #isStopped = false
  #isGivenUp = false
  #running: Promise<unknown> = Promise.resolve()

  constructor(
    name: string,
    person: Person,
    { doors, at, history, random, latencies }: Place & { at: number },
    talk: Talk,
  ) {
    this.name = name
    this.client = new Client(person, doors, at)
    this.#history = history
    this.#random = random
    this.#latencies = latencies
    this.#talk = talk
  }

  start(): void {
    this.#running = Promise.all(Array.from({ length: this.#talk.window }, () => this.#speak()))
  }

  /** Sends no new messages, and waits for the pending ones. */
  async stop(milliseconds: number): Promise<void> {
    this.#isStopped = true
    await Promise.race([this.#running, pause(milliseconds)])
    this.#isGivenUp = true
    this.client.close()
  }

  async #speak(): Promise<void> {
    while (!this.#isStopped) {
      await this.say()
      await pause(this.#talk.pauseMilliseconds * (0.5 + this.#random.next()))
    }
  }

  async say(): Promise<void> {
    const cid = `${this.name}-${++this.#sent}`
    const text = `${cid} says ${this.#talk.words ?? 'hello'}`
    const asked = this.#history.now()
    for (let tries = 0; !this.#isGivenUp; tries++) {
      this.#note({ type: 'invoke', cid, text })
      const answer = await this.#ask(cid, text, tries)
      if (answer.ok === null) this.#note({ type: 'info', cid, ...(answer.code === null ? {} : { code: answer.code }) })
      else return await this.#settle(answer, cid, asked)
      await pause(backoff(tries, retryMilliseconds, mostRetryMilliseconds))
    }
  }

  /** Joins the room, if not a member yet. */
  async enter(): Promise<void> {
    const join = () => this.client.call(`/api/channels/${this.#talk.room.id}/join`, {})
    while ((await join()).ok === null && !this.#isGivenUp) await pause(retryMilliseconds)
  }

  /** A repeat may use the other door. */
  #ask(cid: string, text: string, tries: number): Promise<Answer> {
    const { room } = this.#talk
    if (tries === 0 || this.#random.next() < 0.7)
      return this.client.ask('message:send', { room: { type: 'channel', id: room.id }, client_msg_id: cid, text })
    return this.client.call(`/api/rooms/channel/${room.id}/messages`, { client_msg_id: cid, text })
  }

  async #settle(answer: Settled, cid: string, asked: number): Promise<void> {
    if (answer.ok) {
      const { message, duplicate = false } = Sent.parse(answer.data)
      this.#note({ type: 'ok', cid, seq: message.seq, id: message.id, duplicate })
      this.#latencies.push(this.#history.now() - asked)
    } else {
      const { code, verdict } = answer.refusal
      this.#note({ type: 'fail', cid, code, ...(verdict ? { seq: verdict.judged_seq } : {}) })
      if (code === 'NOT_A_MEMBER') await this.enter()
    }
  }

  #note(what: Pick<Send, 'type' | 'cid'> & Partial<Send>): void {
    const { account } = this.client.person
    this.#history.add({
      t: this.#history.now(),
      proc: this.name,
      op: 'send',
      room: this.#talk.room.key,
      account,
      ...what,
    })
  }
}

/** What all participants of a run share. */
export interface Place {
  doors: () => readonly string[]
  history: History
  random: Random
  latencies: number[]
}
