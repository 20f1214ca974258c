import { setTimeout as pause } from 'node:timers/promises'
import { Client, type Person } from './client.ts'
import type { Cluster, PlazaNode } from './cluster.ts'
import type { History, Send } from './history.ts'
import { type Room, Sent } from './sender.ts'

/** How long a node may take to answer while a service it needs is unreachable. */
export const promised = {
  P13: { what: 'a send while the store is away', milliseconds: 3_000 },
  P14: { what: 'a call while a part hangs', milliseconds: 5_000 },
} as const
export type Promised = keyof typeof promised

const patience = 60_000
const everyMilliseconds = 100

interface Absence {
  tests: readonly Promised[]
  /** The store is unreachable during the whole probe, so that nothing can be acknowledged. */
  isStoreGone?: boolean
}

/** Sends requests to every node while a service is unreachable, and measures how long each waits. */
export class Probe {
  readonly waited: Record<Promised, number[]> = { P13: [], P14: [] }
  readonly falseAcks: string[] = []
  isStoreAway = false
  readonly #person: Person
  readonly #room: Room
  readonly #history: History
  #sent = 0

  constructor(person: Person, room: Room, history: History) {
    this.#person = person
    this.#room = room
    this.#history = history
  }

  async while({ nodes }: Cluster, { tests, isStoreGone = false }: Absence, away: () => Promise<void>): Promise<void> {
    let isOver = false
    if (tests.includes('P13')) this.isStoreAway = true
    const working = away().finally(() => {
      isOver = true
      if (tests.includes('P13')) this.isStoreAway = false
    })
    const questions = nodes.flatMap((node) => {
      const client = new Client(this.#person, () => [node.url], 0)
      const send = async () => {
        const cid = await this.#isAcked(client)
        if (cid && isStoreGone && !isOver) this.falseAcks.push(`P13: ${cid} was acknowledged without a store`)
      }
      const look = () => client.call('/api/presence/status', { addresses: [this.#person.account] }, patience)
      return [
        { node, tests, ask: send },
        { node, tests: tests.filter((id) => id === 'P14'), ask: look },
      ]
    })
    await Promise.all(
      questions.map(async (question) => {
        for (; !isOver; await pause(everyMilliseconds)) await this.#measure(question)
      }),
    )
    await working
  }

  /** Sends one request to a node. */
  async sendThrough(node: PlazaNode, isOver: () => boolean): Promise<void> {
    const client = new Client(this.#person, () => [node.url], 0)
    for (; !isOver(); await pause(everyMilliseconds)) await this.#isAcked(client)
  }

  /** The answers of a node that was paused, stopped or started during the request are ignored. */
  async #measure({ node, tests, ask }: { node: PlazaNode; tests: readonly Promised[]; ask: () => Promise<unknown> }) {
    const [changes, began] = [node.process.changes, performance.now()]
    await ask()
    if (node.process.changes !== changes) return
    for (const id of tests) this.waited[id].push(performance.now() - began)
  }

  async #isAcked(client: Client): Promise<string | null> {
    const cid = `probe-${++this.#sent}`
    const text = `${cid} asks`
    this.#note({ type: 'invoke', cid, text })
    const path = `/api/rooms/channel/${this.#room.id}/messages`
    const answer = await client.call(path, { client_msg_id: cid, text }, patience)
    if (!answer.ok) {
      if (answer.ok === null) this.#note({ type: 'info', cid, ...(answer.code === null ? {} : { code: answer.code }) })
      else this.#note({ type: 'fail', cid, code: answer.refusal.code })
      return null
    }
    const { seq, id } = Sent.parse(answer.data).message
    this.#note({ type: 'ok', cid, seq, id })
    return cid
  }

  #note(what: Pick<Send, 'type' | 'cid'> & Partial<Send>): void {
    const { account } = this.#person
    const t = this.#history.now()
    this.#history.add({ t, proc: 'probe', op: 'send', room: this.#room.key, account, ...what })
  }
}
