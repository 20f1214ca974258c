import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** The faults of a link; `hole` is the side towards which nothing is forwarded. */
export interface Trouble {
  /** Nothing is forwarded, and nothing is lost: the bytes arrive when the fault ends, if the connection is still open. */
  hole?: 'both' | 'client' | undefined
  delayMilliseconds?: number
  jitterMilliseconds?: number
  bytesPerSecond?: number
  /** Flips one bit in one of this many chunks. */
  corruptEvery?: number
}

const LOOK_AGAIN = 10

/** A TCP proxy with faults, which apply to open connections and to new ones. */
export class Link {
  trouble: Trouble = {}
  isDown = false
  flips = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #pieces = 0
  #port = 0

  constructor(target: number) {
    this.#server = createServer((client) => this.#accept(client, target))
  }

  async open(): Promise<this> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
    return this
  }

  get port(): number {
    return this.#port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Closes every open connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  close(): void {
    this.#server.close()
    this.cut()
  }

  #accept(client: Socket, target: number): void {
    if (this.isDown) return void client.destroy()
    const server = connect(target, '127.0.0.1')
    for (const [from, to, way] of [
      [client, server, 'server'],
      [server, client, 'client'],
    ] as const) {
      this.#sockets.add(from)
      from.setNoDelay(true)
      from.on('error', () => from.destroy())
      from.on('close', () => {
        this.#sockets.delete(from)
        to.destroy()
      })
      void this.#forward(from, to, way).catch(() => to.destroy())
    }
  }

  async #forward(from: Socket, to: Socket, way: 'client' | 'server'): Promise<void> {
    for await (const piece of from) {
      const { hole, delayMilliseconds, jitterMilliseconds = 0, bytesPerSecond } = this.trouble
      if (hole !== undefined) while (this.#isHole(way) && !to.destroyed) await pause(LOOK_AGAIN)
      if (delayMilliseconds) await pause(delayMilliseconds + Math.random() * jitterMilliseconds)
      if (bytesPerSecond) await pause((1_000 * piece.length) / bytesPerSecond)
      if (!to.write(this.#corrupted(piece))) await once(to, 'drain')
    }
    to.end()
  }

  #isHole(way: 'client' | 'server'): boolean {
    return this.trouble.hole === 'both' || this.trouble.hole === way
  }

  #corrupted(piece: Buffer): Buffer {
    const { corruptEvery } = this.trouble
    if (!corruptEvery || ++this.#pieces % corruptEvery > 0) return piece
    const spoilt = Buffer.from(piece)
    const at = Math.floor(Math.random() * spoilt.length)
    spoilt[at] = (spoilt[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8))
    this.flips++
    return spoilt
  }
}
