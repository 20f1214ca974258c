import { setTimeout as pause } from 'node:timers/promises'
import { io, type Socket } from 'socket.io-client'
import { z } from 'zod'
import { isPassing, toldError } from '#client/sdk/failures'

export interface Person {
  account: string
  token: string
}

/** The outcome of a request: answered, refused, or unknown; then `code` is what it was answered with, null where no answer came. */
export type Answer = Settled | { ok: null; code: string | null }
export type Settled = { ok: true; data: Record<string, unknown> } | { ok: false; refusal: Refusal }

const Refused = z.object({
  code: z.string(),
  status: z.number().optional(),
  verdict: z.object({ judged_seq: z.number() }).optional(),
})
export type Refusal = z.infer<typeof Refused>
const Ack = z.object({ ok: z.boolean(), data: z.record(z.string(), z.unknown()).optional(), error: Refused.optional() })

const noAnswer: Answer = { ok: null, code: null }

const connectMilliseconds = 4_000
/** As the SDK waits: whoever gives up sooner on a busy machine asks for so much anew that nothing is ever answered. */
export const answerMilliseconds = 8_000

/** A plain socket.io client; when its node fails, it connects to the next. */
export class Client {
  readonly person: Person
  readonly #doors: () => readonly string[]
  /** Called on each new connection before the first request. */
  readonly #opened: (socket: Socket) => void
  readonly #namespace: string
  #at: number
  #socket: Socket | null = null
  #connecting: Promise<Socket> | null = null
  #isClosed = false

  constructor(
    person: Person,
    doors: () => readonly string[],
    at: number,
    opened: (socket: Socket) => void = () => {},
    namespace = '/rooms',
  ) {
    this.person = person
    this.#doors = doors
    this.#at = at
    this.#opened = opened
    this.#namespace = namespace
  }

  get socket(): Socket | null {
    return this.#socket
  }

  async ask(event: string, input: object, milliseconds = answerMilliseconds): Promise<Answer> {
    const socket = await this.connected()
    try {
      return read(await answerOf(socket, event, input, milliseconds))
    } catch {
      this.lose(socket)
      return noAnswer
    }
  }

  /** Sends a request to the node of this client by REST. */
  async call(path: string, input: object, milliseconds = answerMilliseconds): Promise<Answer> {
    try {
      const answer = await fetch(this.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${this.person.token}` },
        body: JSON.stringify(input),
        signal: AbortSignal.timeout(milliseconds),
      })
      return readBody(answer.status, await answer.json())
    } catch {
      if (!this.#socket?.connected) this.#at++
      return noAnswer
    }
  }

  /** The ready connection; without one, a new connection to the next node. */
  connected(): Promise<Socket> {
    if (this.#socket?.connected) return Promise.resolve(this.#socket)
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = null
    })
    return this.#connecting
  }

  /** Drops a connection if it is still the one in use. */
  lose(socket: Socket | null = this.#socket): void {
    socket?.disconnect()
    if (socket !== this.#socket) return
    this.#socket = null
    this.#at++
  }

  close(): void {
    this.#isClosed = true
    this.#socket?.disconnect()
  }

  async #connect(): Promise<Socket> {
    for (;;) {
      if (this.#isClosed) return new Promise(() => {})
      const socket = await open(this.url + this.#namespace, this.person.token)
      if (socket) {
        this.#socket = socket
        this.#opened(socket)
        return socket
      }
      this.#at++
      await pause(50 + 150 * Math.random())
    }
  }

  /** The node that it asks at the moment. */
  get url(): string {
    const doors = this.#doors()
    return doors[this.#at % doors.length] ?? ''
  }
}

/** A ready connection to a namespace, or null if this node does not accept one in time. */
function open(url: string, token: string): Promise<Socket | null> {
  const options = { transports: ['websocket'], auth: { token }, forceNew: true, reconnection: false }
  const socket = io(url, { ...options, timeout: connectMilliseconds })
  return new Promise((resolve) => {
    const fail = () => {
      clearTimeout(late)
      socket.disconnect()
      resolve(null)
    }
    const late = setTimeout(fail, connectMilliseconds)
    socket.once('connect_error', fail)
    socket.once('session:ready', () => {
      clearTimeout(late)
      socket.off('connect_error', fail)
      resolve(socket)
    })
  })
}

/** Rejects if the connection ends or the time is up before the answer. */
function answerOf(socket: Socket, event: string, input: object, milliseconds: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(late)
      socket.off('disconnect', lost)
    }
    const lost = () => {
      end()
      reject(new Error('no answer'))
    }
    const late = setTimeout(lost, milliseconds)
    socket.once('disconnect', lost)
    socket.emit(event, input, (answer: unknown) => {
      end()
      resolve(answer)
    })
  })
}

function read(raw: unknown): Answer {
  const { ok, data = {}, error } = Ack.parse(raw)
  return ok ? { ok, data } : refused(error ?? { code: 'INTERNAL_ERROR' })
}

const TextRefusal = z.object({ code: z.string(), verdict: z.object({ judged_seq: z.number() }).optional() })
const CodedRefusal = z.object({ error: TextRefusal })

function readBody(status: number, body: unknown): Answer {
  if (status < 300) return { ok: true, data: z.record(z.string(), z.unknown()).parse(body) }
  const coded = CodedRefusal.safeParse(body)
  return refused(coded.success ? coded.data.error : TextRefusal.parse(body))
}

/** One that passes is independent of the request, which may be repeated with the same key. */
const refused = (refusal: Refusal): Answer =>
  isPassing(toldError(refusal.code, {})) ? { ok: null, code: refusal.code } : { ok: false, refusal }
