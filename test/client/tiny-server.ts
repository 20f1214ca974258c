import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server, type Socket } from 'socket.io'
import { defaultRules } from '#shared/api/moderation/verdict'
import { leanEvent, leanSent } from '#shared/api/rooms/lean'
import type { Snapshot } from '#shared/api/rooms/listening'
import type { Message, Sent } from '#shared/api/rooms/message'
import type { RoomEvent } from '#shared/api/rooms/room-events'

export const room = { type: 'channel' as const, id: 'plaza' }
export const key = 'channel:plaza'
const person = (id: string) => ({ id, name: id, role: 'member', isAgent: false })

/** A minimal server for the client: a log, a socket and REST, with faults on demand. */
export class TinyServer {
  readonly log: RoomEvent[] = []
  /** The number of requests by event or path. */
  readonly asked: string[] = []
  epoch = 'first'
  /** The protocol it answers with, whichever is requested. */
  protocol: 1 | 2 = 2
  #toldEpoch: string | null = null
  /** Events of these seqs are not pushed. */
  readonly lost = new Set<number>()
  /** The faults of the next sends, one for each. */
  readonly faults: ('no-ack' | 'cut-after' | 'unavailable' | 'refused')[] = []
  doesRest = true
  readonly #http = createServer((request, response) => void this.#rest(request, response))
  #io: Server | undefined
  #port = 0
  #waiting: (() => void)[] = []
  #refuses = false

  async start(): Promise<void> {
    this.#openSockets()
    await new Promise<void>((resolve) => this.#http.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (this.#http.address() as AddressInfo).port
  }
  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }
  async stop(): Promise<void> {
    this.#wake()
    await this.#io?.close()
    this.#http.closeAllConnections()
  }

  refuseSockets(): void {
    this.#refuses = true
    this.cut()
  }
  allowSockets(): void {
    this.#refuses = false
  }

  get messages(): Message[] {
    return this.log.flatMap(({ type, data }) => (type === 'message.created' ? [data.message] : []))
  }

  say(sender: string, content: string, client_msg_id = `server-${this.log.length}`): Message {
    const seq = this.log.length + 1
    const message = messageRow({ seq, n: this.messages.length + 1, sender, content, client_msg_id })
    this.tell('message.created', { message }, sender)
    return message
  }

  tell(type: string, data: object, actor = 'ada'): RoomEvent {
    const seq = this.log.length + 1
    const event = { room, epoch: this.epoch, seq, type, at: at(seq), actor: person(actor), data } as RoomEvent
    this.log.push(event)
    if (!this.lost.has(seq)) this.push(event)
    this.#wake()
    return event
  }

  push(...events: RoomEvent[]): void {
    for (const event of events) {
      const isNews = event.epoch !== this.#toldEpoch
      this.#toldEpoch = event.epoch
      this.#io
        ?.of('/rooms')
        .to(key)
        .emit('room:event', this.protocol === 1 ? event : leanEvent(event, isNews))
    }
  }
  cut(): void {
    this.#io?.of('/rooms').disconnectSockets(true)
  }
  /** The connections stay open, and send nothing any more. */
  stopPings(): void {
    for (const { conn } of this.#io?.of('/rooms').sockets.values() ?? [])
      clearTimeout(Reflect.get(conn, 'pingIntervalTimer'))
  }
  emit(name: string, payload: object, namespace = '/rooms'): void {
    this.#io?.of(namespace).emit(name, payload)
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  #openSockets(): void {
    const io = new Server(this.#http, {
      transports: ['websocket'],
      pingInterval: 500,
      allowRequest: (_request, answer) => answer(null, !this.#refuses),
    })
    for (const name of ['/rooms', '/notifications', '/moderation'])
      io.of(name).on('connection', (socket) => this.#greet(socket))
    this.#io = io
  }

  #greet(socket: Socket): void {
    const user = { wallet_address: String(socket.handshake.auth.token) }
    socket.emit('session:ready', { protocol: this.protocol, user })
    socket.use(([event, input, ack]: unknown[]) => {
      this.asked.push(String(event))
      const answer = typeof ack === 'function' ? (ack as (answer: unknown) => void) : () => undefined
      this.#event(socket, String(event), input as Record<string, never>, user.wallet_address, answer)
    })
  }

  #event(
    socket: Socket,
    event: string,
    input: Record<string, never>,
    account: string,
    ack: (answer: unknown) => void,
  ): unknown {
    const ok = (data: unknown): void => ack({ ok: true, data, meta: {} })
    const no = (code: string, status: number) => ack({ ok: false, error: { code, status, message: code }, meta: {} })
    if (event === 'room:join') {
      void socket.join(key)
      this.#toldEpoch = null
      return ok(this.#join(input))
    }
    if (event === 'room:sync') return ok(this.#page(Number(input.after_seq), String(input.epoch ?? this.epoch)))
    if (event === 'room:history') return ok(this.#history(input))
    if (event !== 'message:send') return ok({})
    const fault = this.faults.shift()
    if (fault === 'unavailable') return no('SERVICE_UNAVAILABLE', 503)
    if (fault === 'refused')
      return ack({ ok: false, error: { code: 'READ_ONLY', status: 403, message: 'no', verdict: { ok: false } } })
    const sent = this.#send(account, input)
    if (fault === 'cut-after') socket.disconnect(true)
    const answer = this.protocol === 1 ? sent : leanSent(sent as Sent, input as never)
    return fault === undefined ? ok(answer) : undefined
  }

  #send(account: string, { text, client_msg_id }: Record<string, string>) {
    const before = this.messages.find((message) => message.client_msg_id === client_msg_id)
    const message = before ?? this.say(account, text ?? '', client_msg_id)
    return { message, verdict: { ok: true }, next_send_at: null }
  }

  #join({ after_seq, epoch, backlog }: { after_seq?: number; epoch?: string; backlog?: number }): Partial<Snapshot> {
    const isOther = epoch !== undefined && epoch !== this.epoch
    const from = after_seq ?? Math.max(0, this.log.length - (backlog ?? 0))
    const events = isOther ? [] : this.log.slice(from, from + 200)
    return {
      room,
      epoch: this.epoch,
      head_seq: this.log.length,
      from_seq: from + 1,
      events,
      complete: from + events.length >= this.log.length,
      ...(isOther ? { reset: true } : {}),
      rules: defaultRules,
      rules_version: 0,
      me: {
        role: 'member',
        permissions: {},
        capabilities: {},
        next_send_at: null,
        muted_until: null,
        is_muted: false,
        read_seq: 0,
        first_unread: null,
        unread: 0,
      },
      pins: [],
      members_count: 2,
      online: 1,
    }
  }

  #page(after: number, epoch: string) {
    const events = this.log.slice(after, after + 200)
    const next_after_seq = after + events.length
    const head = { head_seq: this.log.length, complete: next_after_seq >= this.log.length, epoch: this.epoch }
    if (epoch !== this.epoch) return { events: [], next_after_seq: 0, ...head, reset: true }
    return { events, next_after_seq, ...head }
  }

  #history({ before_seq, limit = 50 }: { before_seq?: number; limit?: number }) {
    const rows = this.messages.filter(({ seq }) => before_seq === undefined || seq < Number(before_seq))
    return {
      messages: rows.slice(-limit),
      reactions: [],
      has_more: rows.length > limit,
      has_older: rows.length > limit,
      has_newer: false,
    }
  }

  async #rest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/socket.io/')) return
    if (!this.doesRest) return void request.socket.destroy()
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://tiny')
    this.asked.push(`${request.method} ${pathname}`)
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const input = Object.fromEntries(searchParams)
    if (pathname.endsWith('/events')) {
      const after = Number(input.after_seq ?? 0)
      if (input.wait !== undefined && after >= this.log.length)
        await new Promise<void>((resolve) => this.#waiting.push(resolve))
      return void answer(200, this.#page(after, input.epoch ?? this.epoch))
    }
    if (pathname.endsWith('/messages') && request.method === 'GET') return void answer(200, this.#history(input))
    if (pathname.endsWith('/messages')) {
      const account = (request.headers.authorization ?? '').replace('Bearer ', '')
      return void answer(200, this.#send(account, await bodyOf(request)))
    }
    if (pathname === '/api/auth/session' && request.method === 'POST')
      return void answer(200, { sessionToken: 'bob', refreshToken: 'newer', userAddress: 'bob' })
    if (pathname === '/api/auth/session')
      return void answer(200, { userAddress: (request.headers.authorization ?? '').replace('Bearer ', '') })
    answer(404, { success: false, error: { code: 'NOT_FOUND', message: 'Not found.' } })
  }
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, string>> {
  let text = ''
  for await (const chunk of request) text += chunk
  return JSON.parse(text) as Record<string, string>
}

const at = (seq: number) => new Date(Date.UTC(2026, 0, 1) + seq * 1_000).toISOString()

interface Written {
  seq: number
  n: number
  sender: string
  content: string
  client_msg_id: string
}

export const messageRow = ({ seq, n, sender, content, client_msg_id }: Written): Message => ({
  id: `m${seq}`,
  room,
  channel_id: room.id,
  seq,
  n,
  version: 1,
  client_msg_id,
  sender_address: sender,
  sender: person(sender),
  content,
  message_type: 'text',
  attachments: [],
  mentions: [],
  created_at: at(seq),
  reply_to_id: null,
  reply_to: null,
  reactions: {},
  poll_id: null,
  is_pinned: false,
  pinned_by: null,
  pinned_at: null,
  is_edited: false,
  edited_at: null,
  is_deleted: false,
  deleted_by: null,
  deleted_at: null,
  delete_reason: null,
})
