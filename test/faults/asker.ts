import { setTimeout as pause } from 'node:timers/promises'
import type { Socket } from 'socket.io-client'
import { z } from 'zod'
import { isTerminal } from '#shared/api/agents/run-frames'
import { linesOf } from '#test/support/wallet'
import { Client, type Person } from './client.ts'
import type { Asked, History, Told } from './history.ts'
import type { Random } from './random.ts'
import type { Place } from './sender.ts'
import { until } from './setup.ts'

const Frame = z.looseObject({ run_id: z.string(), idx: z.number(), t: z.string() })
type Frame = z.infer<typeof Frame>
const Page = z.object({ frames: z.array(Frame), head_idx: z.number() })
const Begun = z.object({ run_id: z.string() })
const State = z.object({ state: z.string() })
const Chats = z.object({
  chats: z.array(z.object({ id: z.string(), run_id: z.string(), role: z.string(), content: z.string() })),
})

const retryMilliseconds = 150
const readMilliseconds = 8_000
const pageLength = 200

/** What a scripted model is told to do, each as often as it is named. */
const orders = ['', '', '', '/break', '/fail', '/endless'] as const
export type Order = (typeof orders)[number] | '/stall'
/** These have no end of their own, or a late one. */
const stopped: readonly Order[] = ['/endless', '/stall']

interface Device {
  client: Client
  /** The name of its connection. */
  stream(): string
}

interface Run {
  id: string
  head: number
  isOver: boolean
  /** The calm of the history when something was last heard of it. */
  heardAt: number
}

/** Somebody with an agent who asks it from one device, reads the answers on this and another one, and stops some of them. */
export class Asker {
  readonly name: string
  readonly person: Person
  readonly agent: string
  /** How long the ends of runs whose node was lost were waited for, while no part of the server was away. */
  readonly lostMilliseconds: number[] = []
  readonly #devices: readonly [Device, Device]
  readonly #runs = new Map<string, Run>()
  readonly #history: History
  readonly #random: Random
  #asked = 0
  #readings = 0
  #isStopped = false
  #isGivenUp = false
  #running: Promise<unknown> = Promise.resolve()

  constructor(name: string, person: Person, agent: string, { doors, at, history, random }: Place & { at: number }) {
    this.name = name
    this.person = person
    this.agent = agent
    this.#history = history
    this.#random = random
    const device = (number: number): Device => {
      let openings = 0
      const stream = () => `${name}-${number}-${openings}`
      const listen = (socket: Socket) => {
        openings++
        const mine = stream()
        socket.on('run:frame', (frame: unknown) => this.#told(mine, null, [Frame.parse(frame)]))
      }
      return { client: new Client(person, doors, at + number, listen, '/agents'), stream }
    }
    this.#devices = [device(0), device(1)]
  }

  start(): void {
    this.#running = this.#keepAsking()
  }

  /** Asks this beside what it asks otherwise. */
  provoke(these: readonly Order[]): void {
    this.#running = Promise.all([this.#running, ...these.map((order) => this.#ask(order))])
  }

  /** Asks nothing new, and waits for what is being answered. */
  async stop(milliseconds: number): Promise<void> {
    this.#isStopped = true
    await Promise.race([this.#running, pause(milliseconds)])
  }

  /** Asks a last time, and reads what was said. True where all of that was answered. */
  async conclude(milliseconds: number): Promise<boolean> {
    const isDone = await Promise.race([this.#ask('', 0).then(() => true), pause(milliseconds, false)])
    const isRead = isDone && (await until(() => this.#recall(), milliseconds))
    this.#isGivenUp = true
    for (const { client } of this.#devices) client.close()
    return isRead
  }

  async #keepAsking(): Promise<void> {
    while (!this.#isStopped) {
      await this.#ask(this.#random.pick(orders))
      await pause(300 * this.#random.next())
    }
  }

  /** Asks, and follows the answer to its end. */
  async #ask(order: Order, stops = 0.15): Promise<void> {
    const key = `${this.name}-${++this.#asked}`
    const message = `${order} ${key} asks`.trim()
    const run = await this.#begin(key, message)
    if (!run) return
    if (stopped.includes(order) || this.#random.next() < stops) void this.#stop(run)
    while (!run.isOver && !this.#isGivenUp) {
      await this.#read(run)
      for (let waited = 0; waited < 400 * this.#random.next() && !run.isOver; waited += 25) await pause(25)
    }
  }

  async #begin(key: string, message: string): Promise<Run | null> {
    const [first, other] = this.#devices
    const note = (what: Pick<Asked, 'type'> & Partial<Asked>) => {
      const { account } = this.person
      const about = { op: 'ask', room: '', account, agent: this.agent, key, message } as const
      this.#history.add({ t: this.#history.now(), proc: this.name, ...about, ...what })
    }
    const ask = ({ client }: Device) => client.ask('agent:run', { agent_id: this.agent, message, client_run_id: key })
    while (!this.#isGivenUp) {
      note({ type: 'invoke' })
      const answer = await ask(first)
      if (answer.ok === null) note({ type: 'info' })
      else if (!answer.ok && answer.refusal.code === 'TOO_MANY_QUESTIONS') note({ type: 'info' })
      else if (!answer.ok) {
        note({ type: 'fail', code: answer.refusal.code })
        return null
      } else {
        const { run_id } = Begun.parse(answer.data)
        note({ type: 'ok', run: run_id })
        const again = this.#random.next() < 0.3 ? await ask(other) : null
        if (again?.ok) note({ type: 'ok', run: Begun.parse(again.data).run_id })
        else if (again?.ok === false) note({ type: 'fail', code: again.refusal.code })
        return this.#runOf(run_id)
      }
      await pause(retryMilliseconds)
    }
    return null
  }

  /** From anywhere, also from behind the end. */
  #read(run: Run): Promise<void> {
    const after = Math.floor(this.#random.between(-1, run.head + 3))
    const [first, other] = this.#devices
    const ways = [() => this.#resume(other, run, after), () => this.#resume(first, run, after)] as const
    return this.#random.pick([...ways, () => this.#readLines(run, after)])()
  }

  async #resume({ client, stream }: Device, { id: run_id }: Run, after_idx: number): Promise<void> {
    await client.connected()
    const mine = stream()
    const answer = await client.ask('run:resume', { run_id, after_idx })
    if (answer.ok && mine === stream()) this.#told(mine, after_idx, Page.parse(answer.data).frames, run_id)
  }

  async #readLines({ id }: Run, after: number): Promise<void> {
    const stream = `${this.name}-lines-${++this.#readings}`
    const path = `/api/agents/runs/${id}/frames?after_idx=${after}`
    const frames: Frame[] = []
    try {
      const answer = await this.#fetch(path, readMilliseconds * this.#random.next())
      if (answer.status === 200) for await (const line of linesOf(answer)) frames.push(Frame.parse(JSON.parse(line)))
    } catch {
      // What had come before the connection broke counts.
    }
    this.#told(stream, after, frames, id)
  }

  #fetch(path: string, milliseconds: number): Promise<Response> {
    const headers = { authorization: `Bearer ${this.person.token}` }
    return fetch(this.#random.pick(this.#devices).client.url + path, {
      headers,
      signal: AbortSignal.timeout(milliseconds),
    })
  }

  async #stop(run: Run): Promise<void> {
    await pause(1_500 * this.#random.next())
    const [, { client }] = this.#devices
    const overSocket = () => client.ask('run:cancel', { run_id: run.id })
    const ways = [overSocket, () => client.call(`/api/agents/runs/${run.id}/cancel`, {})] as const
    while (!run.isOver && !this.#isGivenUp) {
      const answer = await this.#random.pick(ways)()
      if (answer.ok) {
        const { state } = State.parse(answer.data)
        const about = { op: 'stop', room: '', type: 'ok', run: run.id, state } as const
        this.#history.add({ t: this.#history.now(), proc: this.name, ...about })
        if (state !== 'running') return
      }
      await pause(retryMilliseconds)
    }
  }

  async #recall(): Promise<boolean> {
    const all: z.infer<typeof Chats>['chats'] = []
    for (let before = ''; ; ) {
      const path = `/api/agents/${this.agent}/chat?limit=${pageLength}${before}`
      const answer = await this.#fetch(path, readMilliseconds).catch(() => null)
      if (answer?.status !== 200) return false
      const { chats } = Chats.parse(await answer.json())
      all.unshift(...chats)
      // Its end is told before it is in the history.
      if (all.at(-1)?.role !== 'assistant') return false
      if (chats.length < pageLength) break
      before = `&before=${chats[0]?.id}`
    }
    const messages = all.map(({ run_id: run, role, content }) => ({ run, role, content }))
    const { account } = this.person
    const about = { op: 'recall', room: '', type: 'ok', account, agent: this.agent, messages } as const
    this.#history.add({ t: this.#history.now(), proc: this.name, ...about })
    return true
  }

  #runOf(id: string): Run {
    const known = this.#runs.get(id) ?? { id, head: -1, isOver: false, heardAt: this.#history.calm() }
    this.#runs.set(id, known)
    return known
  }

  #told(stream: string, after: number | null, frames: readonly Frame[], run = frames[0]?.run_id ?? ''): void {
    const [t, calm] = [this.#history.now(), this.#history.calm()]
    const told = frames.map(({ run_id: _, idx, ...body }) => ({ idx, body: canonical(body) }))
    const entry: Told = { t, proc: this.name, op: 'told', room: '', type: 'ok', run, stream, after, frames: told }
    this.#history.add(entry)
    const known = this.#runOf(run)
    for (const { idx, t: kind, code } of frames) {
      const isEnd = isTerminal({ t: kind as 'done' })
      if (isEnd && !known.isOver && code === 'RUN_LOST') this.lostMilliseconds.push(calm - known.heardAt)
      if (idx > known.head) known.heardAt = calm
      known.head = Math.max(known.head, idx)
      known.isOver ||= isEnd
    }
  }
}

/** The same text for the same value, in whatever order a store gives its fields. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  )
}
