import { setTimeout as sleep } from 'node:timers/promises'
import type { Protocol } from '#shared/kit/connection'
import { settleMilliseconds } from './crowd.ts'
import type { Spoken } from './driver.ts'
import type { Scatter } from './load.ts'
import type { Driver, Measured, Reading } from './processes.ts'
import type { Report, Setting, Side } from './report.ts'

export interface Plan {
  /** The protocol with our own server. */
  protocol: Protocol
  rounds: number
  load: { warmSeconds: number; slices: number }
  pacedSeconds: number
  rooms: readonly { size: number; senders: number; windows: readonly number[] }[]
  idleConnections: number
  many: Scatter & { rooms: number; members: number }
}

export interface Server {
  side: Side
  nodes: readonly Measured[]
  /** The rooms of the run by this server's names; the first is the measured one. */
  rooms: readonly string[]
  driver: Driver
}

interface Place {
  size: number
  senders: number
  window: number
}

/** The driver's core is saturated: the server could do more. */
const fullShare = 0.97
/** Unacknowledged sends a sender at full load: so many that latencies are not meaningful. */
const floodWindow = 16
const idleParts = 10

/** Measures servers under the same load, one after the other, in several rounds. */
export class Race {
  readonly #setting: Setting
  readonly #plan: Plan
  readonly #servers: readonly Server[]
  readonly #tokens: readonly string[]
  readonly #report: Report

  constructor(parts: {
    setting: Setting
    plan: Plan
    servers: readonly Server[]
    tokens: readonly string[]
    report: Report
  }) {
    this.#setting = parts.setting
    this.#plan = parts.plan
    this.#servers = parts.servers
    this.#tokens = parts.tokens
    this.#report = parts.report
  }

  async #open(): Promise<void> {
    for (const { side, nodes, rooms, driver } of this.#servers) {
      const dialect: Spoken = { side, room: rooms[0] ?? '', protocol: this.#plan.protocol }
      await driver.tell({ order: 'open', crowd: side, urls: urlsOf(nodes), dialect })
    }
  }

  /** Rooms of each size, at full load and at a tenth of it. */
  async talk(): Promise<void> {
    for (const { side, nodes } of this.#servers)
      this.#report.note(this.#setting, side, 0, 'start to listening ms', nodes[0]?.startMilliseconds ?? 0)
    await this.#open()
    let size = 0
    for (const room of this.#plan.rooms) {
      for (const server of this.#servers) await this.#grow(server, size, room.size)
      size = room.size
      for (let round = 0; round < this.#plan.rounds; round++)
        for (const window of room.windows) await this.#round({ ...room, window })
    }
  }

  /** Many small rooms, of which some are active at any moment. */
  async scatter(): Promise<void> {
    const { members, rooms: _, ...plan } = this.#plan.many
    for (const { side, nodes, rooms, driver } of this.#servers) {
      const filled = rooms.map((room, at) => ({
        dialect: { side, room, protocol: this.#plan.protocol },
        tokens: Array.from({ length: members }, (_, of) => this.#tokens[memberOf(at, of, this.#tokens.length)] ?? ''),
      }))
      await driver.tell({ order: 'fill', crowd: side, urls: urlsOf(nodes), rooms: filled })
    }
    await sleep(settleMilliseconds)
    for (let round = 0; round < this.#plan.rounds; round++)
      for (const server of this.#servers) await this.#scatter(server, plan)
  }

  async #scatter({ side, nodes, rooms, driver }: Server, plan: Scatter): Promise<void> {
    const note = (what: string, value: number) =>
      this.#report.note(
        this.#setting,
        side,
        this.#plan.many.members,
        `${what}, ${rooms.length.toLocaleString('en')} rooms, ${plan.perSecond.toLocaleString('en')} messages/s`,
        value,
      )
    await driver.pace({ order: 'scatter', crowd: side, plan: { ...plan, seconds: plan.turnSeconds } })
    const before = await readings(nodes)
    const { messages, ack, last } = await driver.pace({ order: 'scatter', crowd: side, plan })
    const after = await readings(nodes)
    const each = (total(after) - total(before)) / messages
    note('server CPU us/message', each)
    note('send to ack p50 ms', ack.p50)
    note('send to ack p99 ms', ack.p99)
    note('send to last delivery p50 ms', last.p50)
    note('send to last delivery p99 ms', last.p99)
    console.error(`${side.padEnd(5)} ${rooms.length} rooms  ${Math.round(each)} us of the server a message`)
  }

  /** Each server at full load, then all at a tenth of the rate of the slowest. */
  async #round(place: Place): Promise<void> {
    const full: number[] = []
    for (const server of this.#servers) full.push(await this.#saturate(server, place))
    if (place.window === floodWindow) return
    const perSecond = Math.max(1, Math.min(...full) / 10)
    for (const { side, driver } of this.#servers) {
      const seconds = this.#plan.pacedSeconds
      const { ack, last } = await driver.pace({ order: 'pace', crowd: side, perSecond, seconds })
      const note = (what: string, value: number) =>
        this.#report.note(this.#setting, side, place.size, `${what}, a tenth of the load`, value)
      note('send to ack p50 ms', ack.p50)
      note('send to ack p99 ms', ack.p99)
      note('send to last delivery p50 ms', last.p50)
      note('send to last delivery p99 ms', last.p99)
    }
  }

  /** Sends acknowledged per second. */
  async #saturate({ side, nodes, driver }: Server, { size, senders, window }: Place): Promise<number> {
    const note = (what: string, value: number) =>
      this.#report.note(this.#setting, side, size, `${what}, ${window} unacknowledged each of ${senders}`, value)
    const before = await readings(nodes)
    const plan = { senders, window, ...this.#plan.load }
    const full = await driver.saturate({ order: 'saturate', crowd: side, plan })
    const after = await readings(nodes)
    if (full.driverShare > fullShare)
      console.error(`The driver was the limit: ${side} in a room of ${size} can do more than this says.`)
    note('acknowledged sends/s', full.acknowledgedPerSecond)
    note('deliveries/s', full.deliveriesPerSecond)
    note('server CPU us/delivery', (total(after) - total(before)) / full.deliveries)
    const lags = after.flatMap(({ lagMilliseconds }) => lagMilliseconds ?? [])
    if (lags.length > 0) note('event loop lag p99 ms', Math.max(...lags))
    note('driver CPU share', full.driverShare)
    console.error(`${side.padEnd(5)} ${String(size).padStart(5)}  ${Math.round(full.acknowledgedPerSecond)} sends/s`)
    return full.acknowledgedPerSecond
  }

  /** The memory of idle connections. They are opened in batches, to each server in turn. */
  async gather(): Promise<void> {
    const { idleConnections } = this.#plan
    await this.#open()
    const part = idleConnections / idleParts
    const resting = () => Promise.all(this.#servers.map(({ nodes: [node] }) => (node ? restingBytes(node) : 0)))
    const note = (side: Side, what: string, value: number) =>
      this.#report.note(this.#setting, side, idleConnections, what, value)
    const before = await resting()
    for (let parts = 0; parts < idleParts; parts++) {
      for (const server of this.#servers) {
        const startedAt = performance.now()
        await this.#grow(server, parts * part, (parts + 1) * part)
        const seconds = (performance.now() - startedAt - settleMilliseconds) / 1_000
        // The first connections warm the servers up.
        if (parts > 0) note(server.side, 'connect, sign in and join, per second', part / seconds)
      }
    }
    const after = await resting()
    for (const [at, { side }] of this.#servers.entries())
      note(side, 'kB heap per idle joined connection', ((after[at] ?? 0) - (before[at] ?? 0)) / idleConnections / 1_024)
  }

  async #grow({ side: crowd, driver }: Server, from: number, to: number): Promise<void> {
    const tokens = Array.from({ length: to - from }, (_, at) => this.#tokens[(from + at) % this.#tokens.length] ?? '')
    await driver.tell({ order: 'grow', crowd, tokens })
  }
}

/** The memory after garbage collection; memory held by a timer or a promise is freed a little later. */
async function restingBytes(node: Measured): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let times = 0; times < 4; times++) {
    await sleep(500)
    least = Math.min(least, (await node.probe('memory')).heapBytes)
  }
  return least
}

const urlsOf = (nodes: readonly Measured[]): string[] => nodes.map(({ url }) => url)

/** The account that is the nth member of a room, so that all accounts are in about the same number of rooms. */
export const memberOf = (room: number, nth: number, accounts: number): number => (room + nth * 101) % accounts

const readings = (nodes: readonly Measured[]): Promise<Reading[]> => Promise.all(nodes.map((node) => node.probe()))
const total = (readings: readonly Reading[]): number =>
  readings.reduce((sum, { cpuMicroseconds }) => sum + cpuMicroseconds, 0)
