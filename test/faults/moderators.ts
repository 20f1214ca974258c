import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { Client, type Person } from './client.ts'
import type { History } from './history.ts'
import type { Random } from './random.ts'
import type { Place, Room } from './sender.ts'

const everyMilliseconds = 50
const pinnables = 8
const retryMilliseconds = 100

/** A moderator that bans, mutes and changes rules, one act after the other, from its own node. */
export class Moderator {
  /** The number of acknowledged acts. */
  done = 0
  readonly #name: string
  readonly #client: Client
  readonly #room: Room
  readonly #victims: readonly [Person, ...Person[]]
  readonly #random: Random
  readonly #slowModes: readonly [number, ...number[]]
  readonly #history: History
  /** A few messages that are repeatedly pinned and unpinned. */
  #pinnable: readonly string[] = []
  #acts = 0
  #isStopped = false
  #running: Promise<void> = Promise.resolve()

  constructor(
    name: string,
    person: Person,
    { doors, at, history, random }: Place & { at: number },
    {
      room,
      victims,
      slowModes,
    }: { room: Room; victims: readonly [Person, ...Person[]]; slowModes: readonly [number, ...number[]] },
  ) {
    this.#name = name
    this.#client = new Client(person, doors, at)
    this.#random = random
    this.#room = room
    this.#victims = victims
    this.#slowModes = slowModes
    this.#history = history
  }

  start(): void {
    this.#running = this.#flip()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  /** Lifts everything that prevents people from writing. */
  async pardon(): Promise<void> {
    for (const { account: target } of this.#victims) {
      await this.#act({ action: 'unban', target })
      await this.#act({ action: 'unmute', target })
    }
    await this.#act({ action: 'rules', patch: { read_only: false, slow_mode_seconds: 0 } })
  }

  leave(): void {
    this.#client.close()
  }

  async #flip(): Promise<void> {
    while (!this.#isStopped) {
      await this.#act(this.#next())
      await pause(everyMilliseconds * 2 * this.#random.next())
    }
  }

  #next(): object {
    const { account: target } = this.#random.pick(this.#victims)
    const acts: readonly [object, ...object[]] = [
      { action: 'ban', target, duration: '24h', reason: 'faults' },
      { action: 'unban', target },
      { action: 'unban', target },
      { action: 'mute', target, duration: '1h', reason: 'faults' },
      { action: 'unmute', target },
      ...this.#pins(),
      { action: 'rules', patch: { read_only: this.#random.next() < 0.3 } },
      { action: 'rules', patch: { read_only: false, slow_mode_seconds: this.#random.pick(this.#slowModes) } },
    ]
    return this.#random.pick(acts)
  }

  #pins(): object[] {
    if (this.#pinnable.length < pinnables) this.#pinnable = this.#firstAcked(pinnables)
    const [first, ...others] = this.#pinnable
    if (first === undefined) return []
    return ['pin', 'unpin'].map((action) => ({ action, message_id: this.#random.pick([first, ...others]) }))
  }

  #firstAcked(count: number): string[] {
    const acked = this.#history.entries.filter(
      (entry) => entry.op === 'send' && entry.type === 'ok' && entry.room === this.#room.key,
    )
    return acked.slice(0, count).flatMap((entry) => ('id' in entry && entry.id ? [entry.id] : []))
  }

  async #act(act: object): Promise<void> {
    const client_action_id = `${this.#name}-${++this.#acts}`
    const input = { room: { type: 'channel', id: this.#room.id }, client_action_id, ...act }
    for (;;) {
      const answer = await this.#client.ask('mod:act', input, 5_000)
      if (answer.ok) this.done++
      if (answer.ok !== null) return
      await pause(retryMilliseconds)
    }
  }
}

const Seen = z.object({
  head_seq: z.number(),
  rules: z.object({ slow_mode_seconds: z.number(), read_only: z.boolean() }),
  rules_version: z.number(),
  members_count: z.number(),
  pins: z.array(z.object({ id: z.string() })),
})
const lookMilliseconds = 400

/** Reads the state of a room from time to time, from one node after the other. */
export class Observer {
  readonly #clients: readonly Client[]
  readonly #history: History
  readonly #room: Room
  #isStopped = false

  constructor(person: Person, { doors, history }: Place, room: Room) {
    this.#clients = doors().map((_, at) => new Client(person, doors, at))
    this.#history = history
    this.#room = room
  }

  start(): void {
    void this.#watch()
  }

  stop(): void {
    this.#isStopped = true
    for (const client of this.#clients) client.close()
  }

  async #watch(): Promise<void> {
    for (let at = 0; !this.#isStopped; at++, await pause(lookMilliseconds)) {
      const answer = await this.#clients[at % this.#clients.length]?.ask('room:join', {
        room: { type: 'channel', id: this.#room.id },
      })
      if (!answer?.ok) continue
      const { head_seq: seq, rules, rules_version: version, members_count: members, pins } = Seen.parse(answer.data)
      const { slow_mode_seconds, read_only } = rules
      const state = {
        members,
        rules: { version, slow_mode_seconds, read_only },
        pins: pins.map(({ id }) => id),
      }
      this.#history.add({
        t: this.#history.now(),
        proc: 'observer',
        op: 'snapshot',
        room: this.#room.key,
        type: 'ok',
        seq,
        state,
      })
    }
  }
}
