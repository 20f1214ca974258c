import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { Client, type Person } from './client.ts'
import type { History, Uploaded } from './history.ts'
import type { Random } from './random.ts'
import type { Place, Room } from './sender.ts'

const Stored = z.object({ url: z.string() })
const Coded = z.object({ code: z.string() })

const uploadMilliseconds = 9_000
const retryMilliseconds = 200
/** What says that the file is not good, which it is. */
const refusal = /^4(?!08|29)/
const pieces = 4
const atOnce = 3

/** Somebody who uploads sealed images, each until it is stored, and names them in messages of a room. */
export class Uploader {
  readonly name: string
  readonly #client: Client
  readonly #room: Room
  readonly #doors: () => readonly string[]
  readonly #history: History
  readonly #random: Random
  #uploads = 0
  #isStopped = false
  #isGivenUp = false
  #running: Promise<unknown> = Promise.resolve()

  constructor(name: string, person: Person, room: Room, { doors, at, history, random }: Place & { at: number }) {
    this.name = name
    this.#client = new Client(person, doors, at)
    this.#room = room
    this.#doors = doors
    this.#history = history
    this.#random = random
  }

  start(): void {
    this.#running = Promise.all(Array.from({ length: atOnce }, () => this.#keepUploading()))
  }

  /** Uploads nothing new, and waits until what was begun is stored and named. False where it is not in time. */
  async stop(milliseconds: number): Promise<boolean> {
    this.#isStopped = true
    const isDone = await Promise.race([this.#running.then(() => true), pause(milliseconds, false)])
    this.#isGivenUp = true
    this.#client.close()
    return isDone
  }

  async #keepUploading(): Promise<void> {
    while (!this.#isStopped) {
      const key = `${this.name}-${++this.#uploads}`
      const url = await this.#upload(key, randomBytes(Math.ceil(this.#random.between(1_000, 200_000))))
      if (url !== null) await this.#say(key, url)
      await pause(300 * this.#random.next())
    }
  }

  async #upload(key: string, bytes: Buffer): Promise<string | null> {
    const about = { key, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
    const note = (what: Pick<Uploaded, 'type'> & Partial<Uploaded>) =>
      this.#history.add({ t: this.#history.now(), proc: this.name, op: 'upload', room: '', ...about, ...what })
    while (!this.#isGivenUp) {
      note({ type: 'invoke' })
      const { url, outcome } = await this.#try(bytes)
      if (url !== null) {
        note({ type: 'ok', url })
        return url
      }
      note({ type: refusal.test(outcome) ? 'fail' : 'info', outcome })
      await pause(retryMilliseconds)
    }
    return null
  }

  /** Sends it piece by piece, so that nodes die and clients leave in its midst. */
  async #try(bytes: Buffer): Promise<{ url: string | null; outcome: string }> {
    const leaves = this.#random.next() < 0.1
    const form = new Response(formOf(bytes))
    const type = form.headers.get('content-type') ?? ''
    const body = inPieces(Buffer.from(await form.arrayBuffer()), 60 * this.#random.next(), leaves)
    try {
      const answer = await fetch(`${this.#random.pick(this.#doors() as [string])}/api/upload/image`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#client.person.token}`, 'content-type': type },
        body: body as unknown as BodyInit,
        duplex: 'half',
        signal: AbortSignal.timeout(uploadMilliseconds),
      } as RequestInit)
      const told: unknown = await answer.json()
      if (answer.status === 200) return { url: Stored.parse(told).url, outcome: '200' }
      return { url: null, outcome: `${answer.status} ${Coded.safeParse(told).data?.code ?? ''}` }
    } catch {
      return { url: null, outcome: 'none' }
    }
  }

  async #say(key: string, url: string): Promise<void> {
    const asked = {
      room: { type: 'channel', id: this.#room.id },
      text: `[ENC_IMAGE:image/png]${url}`,
      client_msg_id: key,
    }
    while (!this.#isGivenUp) {
      const answer = await this.#client.ask('message:send', asked)
      const about = { t: this.#history.now(), proc: this.name, op: 'name', room: '', url } as const
      if (answer.ok !== null) return this.#history.add({ ...about, type: answer.ok ? 'ok' : 'fail' })
      await pause(retryMilliseconds)
    }
  }
}

function formOf(bytes: Buffer): FormData {
  const form = new FormData()
  form.set('conversationId', 'faults')
  form.set('file', new Blob([new Uint8Array(bytes)]))
  return form
}

async function* inPieces(bytes: Buffer, milliseconds: number, leaves: boolean): AsyncGenerator<Uint8Array> {
  const length = Math.ceil(bytes.length / pieces)
  for (let at = 0; at < bytes.length; at += length) {
    if (leaves && at > length) throw new Error('The client has left')
    yield bytes.subarray(at, at + length)
    await pause(milliseconds)
  }
}
