import { setTimeout as pause } from 'node:timers/promises'
import { pictures } from '#test/media/pictures'
import { publishRtmp, type RtmpClient } from '#test/media/rtmp-client'
import { closed } from '#test/support/closed'

const fps = 5
const againMilliseconds = 300
const { config, frames } = pictures(2 * fps, { fps, keyEvery: fps })

/** Publishes a clock by RTMP as an encoder does: it comes back with the same key whenever it is cut off, until it is told not to. */
export class Broadcaster {
  /** How often it was let in, and sent away. */
  accepted = 0
  refused = 0
  #isFrozen = false
  #isAway = false
  #isStopped = false
  #client: RtmpClient | null = null
  readonly #port: number
  readonly #key: string

  constructor(port: number, key: string) {
    this.#port = port
    this.#key = key
  }

  start(): void {
    void this.#keepPublishing()
  }

  /** As one whose power is cut: it does not come back before it is told to. */
  kill(): void {
    this.#isAway = true
    this.#client?.socket.resetAndDestroy()
  }

  comeBack(): void {
    this.#isAway = false
  }

  /** Keeps its connection, and sends nothing. */
  freeze(isFrozen: boolean): void {
    this.#isFrozen = isFrozen
  }

  stop(): void {
    this.#isStopped = true
    this.kill()
  }

  async #keepPublishing(): Promise<void> {
    for (; !this.#isStopped; await pause(againMilliseconds)) {
      if (this.#isAway) continue
      const client = await publishRtmp(this.#port, this.#key).catch(() => null)
      this.#client = client
      const answer = await client?.answer
      if (client && answer === 'NetStream.Publish.Start') await this.#publish(client)
      else if (answer) this.refused++
      client?.socket.destroy()
    }
  }

  async #publish({ socket, ...client }: RtmpClient): Promise<void> {
    this.accepted++
    const ended = closed(socket)
    client.configure({ video: config })
    for (let count = 0; socket.writable && !this.#isAway; count++) {
      const frame = frames[count % frames.length]
      if (frame && !this.#isFrozen) client.video({ ...frame, time: Math.round((count * 90_000) / fps) })
      await Promise.race([ended, pause(1_000 / fps)])
    }
  }
}
