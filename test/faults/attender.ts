import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { call } from '#test/support/wallet'
import type { Person } from './client.ts'
import type { Entered, History } from './history.ts'
import type { Random } from './random.ts'
import type { Place } from './sender.ts'

/** A channel for those who hold a token of an event. */
export interface Meeting {
  id: string
  key: string
  event: number
}

const Scanned = z.object({ events: z.array(z.object({ eventId: z.number() })), error: z.string().optional() })

/** Somebody who holds the token of every event, or of none, and joins and leaves their channels. */
export class Attender {
  readonly name: string
  readonly person: Person
  readonly isHolder: boolean
  readonly #meetings: readonly Meeting[]
  readonly #doors: () => readonly string[]
  readonly #history: History
  readonly #random: Random
  #isStopped = false
  #running: Promise<unknown> = Promise.resolve()

  constructor(
    name: string,
    { person, isHolder }: { person: Person; isHolder: boolean },
    meetings: readonly Meeting[],
    { doors, history, random }: Place,
  ) {
    this.name = name
    this.person = person
    this.isHolder = isHolder
    this.#meetings = meetings
    this.#doors = doors
    this.#history = history
    this.#random = random
  }

  start(): void {
    this.#running = this.#keepJoining()
  }

  /** After all faults: tries to be a member of every channel once more. False where one does not answer. */
  async conclude(milliseconds: number): Promise<boolean> {
    this.#isStopped = true
    const end = Date.now() + milliseconds
    await Promise.race([this.#running, pause(milliseconds)])
    for (const meeting of this.#meetings)
      while ((await this.#join(meeting)) === 'info') {
        if (Date.now() > end) return false
        await pause(100)
      }
    return true
  }

  async #keepJoining(): Promise<void> {
    while (!this.#isStopped) {
      const meeting = this.#random.pick(this.#meetings as [Meeting])
      if ((await this.#join(meeting)) === 'ok') await this.#ask(`POST /api/channels/${meeting.id}/leave`)
      if (this.#random.next() < 0.3) await this.#scan()
      await pause(150 * this.#random.next())
    }
  }

  async #join({ id, key }: Meeting): Promise<Entered['type']> {
    const { status, body } = await this.#ask(`POST /api/channels/${id}/join`)
    const isIn = status === 200 || body.error === 'Already a member of this channel'
    const type = isIn ? 'ok' : status >= 400 && status < 500 && status !== 429 ? 'fail' : 'info'
    this.#note({ op: 'enter', type, channel: key, outcome: `${status} ${body.code ?? ''}` })
    return type
  }

  async #scan(): Promise<void> {
    const { status, body } = await this.#ask(`GET /api/attendance/scan?address=${this.person.account}`)
    const scanned = Scanned.safeParse(body)
    if (status !== 200 || !scanned.success || scanned.data.error !== undefined) return
    this.#note({ op: 'scan', type: 'ok', events: scanned.data.events.map(({ eventId }) => eventId).sort() })
  }

  #note(what: { op: 'enter'; type: Entered['type']; channel: string; outcome: string } | Scan): void {
    const { account } = this.person
    const about = { t: this.#history.now(), proc: this.name, room: '', account, isHolder: this.isHolder } as const
    this.#history.add({ ...about, ...what })
  }

  #ask(route: string) {
    const door = this.#random.pick(this.#doors() as [string])
    const input = route.startsWith('POST') ? {} : null
    return call(door, route, input, this.person.token).catch(() => ({ status: 0, body: {} as Record<string, unknown> }))
  }
}

interface Scan {
  op: 'scan'
  type: 'ok'
  events: readonly number[]
}
