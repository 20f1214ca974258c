import { setTimeout as pause } from 'node:timers/promises'
import type { Socket } from 'socket.io-client'
import { z } from 'zod'
import { StreamState } from '#shared/api/streams/stream-records'
import type { Broadcaster } from './broadcaster.ts'
import { Client, type Person } from './client.ts'
import type { PlazaNode } from './cluster.ts'
import type { Standing } from './livestream-checker.ts'

const answerMilliseconds = 60_000

export interface Livestream {
  id: string
  owner: Person
  publisher: Broadcaster
}

const Watched = z.object({ state: StreamState })

/** Watches all streams on one node, again after each loss of the connection. */
export class Watcher {
  readonly told = new Map<string, Standing[]>()
  readonly #client: Client
  readonly #streams: readonly Livestream[]
  #isStopped = false

  constructor(person: Person, url: string, streams: readonly Livestream[]) {
    this.#streams = streams
    const opened = (socket: Socket) =>
      void socket.on('stream:state', (state: unknown) => this.#hear(StreamState.parse(state)))
    this.#client = new Client(person, () => [url], 0, opened, '/streams')
  }

  start(): void {
    void this.#keepWatching()
  }

  stop(): void {
    this.#isStopped = true
    this.#client.close()
  }

  async #keepWatching(): Promise<void> {
    let watched: unknown = null
    for (; !this.#isStopped; await pause(100)) {
      const socket = await this.#client.connected()
      if (socket === watched) continue
      const answers = await Promise.all(
        this.#streams.map(({ id }) => this.#client.ask('stream:watch', { stream_id: id })),
      )
      for (const answer of answers) if (answer.ok) this.#hear(Watched.parse(answer.data).state)
      if (answers.every(({ ok }) => ok)) watched = socket
    }
  }

  #hear(state: StreamState): void {
    this.told.set(state.stream_id, [...(this.told.get(state.stream_id) ?? []), state])
  }
}

/** Writes in the chat of a stream, each message with its key until it is answered. */
export class Talker {
  readonly acknowledged: string[] = []
  readonly #client: Client
  readonly #id: string
  #isStopped = false
  #talking: Promise<void> = Promise.resolve()

  constructor(person: Person, nodes: readonly PlazaNode[], { id }: Livestream) {
    this.#client = new Client(person, () => nodes.map(({ url }) => url), 0)
    this.#id = id
  }

  start(): void {
    this.#talking = this.#talk()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.race([this.#talking, pause(answerMilliseconds)])
    this.#client.close()
  }

  async #talk(): Promise<void> {
    for (let count = 0; !this.#isStopped; await pause(100)) {
      const client_msg_id = `chat-${count}`
      const answer = await this.#client.call(`/api/streams/${this.#id}/chat`, { message: 'hello', client_msg_id })
      if (answer.ok) this.acknowledged.push(client_msg_id)
      if (answer.ok === null) this.#client.lose()
      else count++
    }
  }
}
