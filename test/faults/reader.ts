import { setTimeout as pause } from 'node:timers/promises'
import type { Socket } from 'socket.io-client'
import { z } from 'zod'
import { Client, type Person } from './client.ts'
import type { History } from './history.ts'
import type { Place, Room } from './sender.ts'
import { until } from './setup.ts'

const RoomEvent = z.object({
  epoch: z.string(),
  seq: z.number(),
  type: z.string(),
  room: z.object({ id: z.string().nullable() }),
  data: z.object({
    message: z.object({ id: z.string(), client_msg_id: z.string(), content: z.string() }).optional(),
  }),
})
export type RoomEvent = z.infer<typeof RoomEvent>
const Batch = z.object({ events: z.array(RoomEvent) })
const Page = z.object({
  epoch: z.string(),
  events: z.array(RoomEvent),
  complete: z.boolean(),
  reset: z.boolean().optional(),
})

const openMilliseconds = 5_000
const holdMilliseconds = 100
const holdEvents = 200
const aliveMilliseconds = 1_000
const deadMilliseconds = 2_500

export interface CatchUp {
  events: number
  milliseconds: number
}

/** A reader that follows the protocol: applies the next seq, holds early events, requests missing ones. */
export class Reader {
  readonly name: string
  readonly room: Room
  readonly client: Client
  readonly catchUps: CatchUp[] = []
  /** The number of frames with rows that were shown before. */
  dropped = 0
  /** The number of gaps found in the received events. */
  holes = 0
  resets = 0
  last = 0
  #epoch = ''
  #openings = 0
  #isOpening = false
  #isOpen = false
  /** Incremented each time it is removed from the room or opens a new connection. */
  #outs = 0
  #isStopped = false
  #isStalled = false
  #isHoleWatched = false
  #asked: Promise<unknown> = Promise.resolve()
  readonly #early = new Map<number, RoomEvent>()
  readonly #history: History

  constructor(name: string, person: Person, { doors, at, history }: Place & { at: number }, room: Room) {
    this.name = name
    this.room = room
    this.#history = history
    this.client = new Client(person, doors, at, (socket) => this.#listen(socket))
  }

  start(): void {
    void this.#stayAlive()
  }

  stop(): void {
    this.#isStopped = true
    this.client.close()
  }

  /**
   * Stops reading from its socket, as a hung client does, while it is in the room and waits for no answer. The
   * connection is a new one, for which the operating system has not enlarged the receive buffer yet.
   */
  async stall(): Promise<void> {
    this.client.lose()
    await this.client.connected()
    await until(() => this.#isOpen, openMilliseconds)
    this.#isStalled = true
    await this.#asked
    wireOf(this.client.socket)?.pause()
  }

  wake(): void {
    this.#isStalled = false
    wireOf(this.client.socket)?.resume()
  }

  /** Opens the room and catches up; retries while it is refused. */
  async open(): Promise<void> {
    if (this.#isOpening) return
    this.#isOpening = true
    const outs = this.#outs
    try {
      const isIn = await this.#join()
      if (outs === this.#outs) this.#isOpen = isIn
    } finally {
      this.#isOpening = false
    }
  }

  async #stayAlive(): Promise<void> {
    while (!this.#isStopped) {
      if (!this.#isStalled) {
        await this.client.connected()
        if (!this.#isOpen) await this.open()
        this.#asked = this.client.ask('presence:set', { state: 'active' }, deadMilliseconds)
        await this.#asked
      }
      await pause(aliveMilliseconds)
    }
  }

  #listen(socket: Socket): void {
    socket.on('room:event', (event: unknown) => this.#arrive([RoomEvent.parse(event)]))
    socket.on('room:events', (frame: unknown) => this.#arrive(Batch.parse(frame).events))
    socket.on('room:access', ({ state }: { state: string }) => {
      if (state === 'banned' || state === 'removed') this.#shut()
    })
    this.#shut()
    void this.open()
  }

  #shut(): void {
    this.#outs++
    this.#isOpen = false
  }

  #arrive(events: readonly RoomEvent[]): void {
    const here = events.filter(({ room }) => room.id === this.room.id)
    const t = this.#history.now()
    const { name: proc, room } = this
    for (const { seq } of here)
      this.#history.add({ t, proc, op: 'arrive', room: room.key, type: 'ok', socket: this.#openings, seq })
    this.#take(here, true)
  }

  async #join(): Promise<boolean> {
    const began = this.#history.now()
    const from = this.last
    this.#openings++
    const input = { room: this.#ref, after_seq: this.last, ...(this.#epoch ? { epoch: this.#epoch } : {}) }
    const answer = await this.client.ask('room:join', input)
    if (!answer.ok) return false
    const page = Page.parse(answer.data)
    this.#epoch = page.epoch
    const isWhole = this.#turn(page) || (await this.#sync())
    if (isWhole) this.catchUps.push({ events: this.last - from, milliseconds: this.#history.now() - began })
    return isWhole
  }

  async #sync(): Promise<boolean> {
    for (;;) {
      const input = { room: this.#ref, epoch: this.#epoch, after_seq: this.last, limit: 200 }
      const answer = await this.client.ask('room:sync', input)
      if (!answer.ok) return false
      if (this.#turn(Page.parse(answer.data))) return true
    }
  }

  /** Applies a page; returns true if it was the last. */
  #turn({ events, complete, reset }: z.infer<typeof Page>): boolean {
    if (reset) this.resets++
    this.#take(events, false)
    return complete || reset === true
  }

  #take(events: readonly RoomEvent[], isLive: boolean): void {
    for (const event of events) {
      if (event.seq <= this.last) this.dropped++
      else if (event.seq === this.last + 1) this.#show(event, isLive)
      else this.#early.set(event.seq, event)
    }
    for (let next = this.#early.get(this.last + 1); next; next = this.#early.get(this.last + 1)) this.#show(next, true)
    for (const seq of this.#early.keys()) if (seq <= this.last) this.#early.delete(seq)
    if (this.#early.size > 0 && !this.#isHoleWatched) void this.#watchHole()
  }

  async #watchHole(): Promise<void> {
    this.#isHoleWatched = true
    this.holes++
    for (let waited = 0; waited < holdMilliseconds && this.#early.size < holdEvents; waited += 20) await pause(20)
    if (this.#early.size > 0 && !this.#isOpening) await this.#sync()
    this.#isHoleWatched = false
  }

  #show({ seq, epoch, type, data: { message } }: RoomEvent, isLive: boolean): void {
    this.last = seq
    const { name: proc, room } = this
    const { account } = this.client.person
    const isMessage = type === 'message.created' && message !== undefined
    this.#history.add({
      ...{ t: this.#history.now(), proc, op: 'recv', room: room.key, type: 'ok', account, seq, epoch, isLive },
      event: type,
      id: isMessage ? message.id : null,
      cid: isMessage ? message.client_msg_id : null,
      text: isMessage ? message.content : null,
    })
  }

  get #ref() {
    return { type: 'channel', id: this.room.id }
  }
}

interface Wire {
  pause(): void
  resume(): void
}

/** The TCP connection below a socket, whose reading can be paused. */
function wireOf(socket: Socket | null): Wire | null {
  const { transport } = (socket?.io.engine ?? {}) as { transport?: { ws?: Wire } }
  return transport?.ws ?? null
}
