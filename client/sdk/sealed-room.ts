import type { RoomEvent } from '#shared/api/rooms/room-events'
import type { RoomRef } from '#shared/kit/primitives'
import type { Opened } from './direct/opened.ts'
import type { Sealer } from './direct/shared.ts'
import type { Pending } from './outbox.ts'
import type { DirectState, LocalMessage, RoomState, Secrecy } from './types.ts'

const attempts = 4
const inClear: Secrecy = { state: 'clear', why: null, isSecret: false, epochId: null }
export const beingOpened: Secrecy = { state: 'opening', why: null, isSecret: true, epochId: null }

/** The public part of a sealed message: the server keeps the files that it names as long as the message. */
interface Sealed {
  text: string
  /** Paths of the files that it names. */
  blobs: string[]
}

type Find = (id: string) => LocalMessage | undefined

/** One room whose messages are sealed, as it is shown: messages are opened, and what is sent is sealed. */
export abstract class SealedRoom<By extends Sealer = Sealer> {
  readonly #ref: RoomRef
  readonly #make: () => Promise<By>
  readonly #opened = new Map<string, Opened | 'opening'>()
  /** What could not be opened and may be by now; it stays as it is until that is known. */
  readonly #stale = new Set<string>()
  readonly #shown = new WeakMap<object, { opened: unknown; quoted: unknown; shown: LocalMessage }>()
  readonly #clear = new WeakMap<LocalMessage, LocalMessage>()
  readonly #listeners = new Set<() => void>()
  #loading: Promise<By> | null = null
  #sealer: By | null = null
  #isUnavailable = false
  #telling: ReturnType<typeof setTimeout> | undefined
  /** The number of events about keys or devices. */
  #news = 0
  /** How often it was started over: what was opened by keys of before is not shown any more. */
  #round = 0

  constructor(ref: RoomRef, make: () => Promise<By>) {
    this.#ref = ref
    this.#make = make
  }

  /** How a direct conversation is sealed; null of other rooms. */
  abstract get state(): DirectState | null
  /** What takes no key of the room to be read; null where it does. */
  protected abstract keyless(content: string): Promise<Opened | null>

  protected get sealer(): By | null {
    return this.#sealer
  }
  protected get isUnavailable(): boolean {
    return this.#isUnavailable
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async load(): Promise<By> {
    this.#loading ??= this.#make().catch((error: unknown) => {
      this.#loading = null
      this.#isUnavailable = true
      this.told()
      throw error
    })
    this.#sealer = await this.#loading
    return this.#sealer
  }

  /** Keys, or what is known of devices, have changed: what could not be opened is tried again. */
  told(): void {
    this.#news++
    for (const [key, opened] of this.#opened) if (opened !== 'opening' && opened.why !== null) this.#stale.add(key)
    this.#tellSoon()
  }
  #tellSoon(): void {
    clearTimeout(this.#telling)
    this.#telling = setTimeout(() => {
      for (const listener of [...this.#listeners]) listener()
    }, 5)
  }

  startOver(): void {
    this.#round++
    this.#loading = null
    this.#sealer = null
    this.#opened.clear()
    this.#stale.clear()
    this.begin()
    this.#tellSoon()
  }

  /** The account has become a member, or is one no more. */
  membershipChanged(): void {}

  begin(): void {
    void this.load()
      .then((sealer) => sealer.ready())
      .catch(() => undefined)
  }

  refresh(devicesToo: boolean): Promise<void> {
    return this.load().then((sealer) => sealer.refresh(devicesToo))
  }

  events(_events: readonly RoomEvent[]): void {}

  /** A message as it is shown: opened, or with the reason why it is not. The same object while nothing has changed. */
  read(message: LocalMessage, find: Find): LocalMessage {
    if (message.is_deleted || message.local !== 'sent') return message
    const opened = this.#open(message)
    const inner = opened === 'opening' ? null : opened.inner
    const answered = inner?.reply_to ?? (inner && message.reply_to_id)
    const quoted = answered ? find(answered) : undefined
    const known = this.#shown.get(message)
    if (known && known.opened === opened && known.quoted === quoted) return known.shown
    const shown = shownOf(message, opened, quoted && this.read(quoted, () => undefined))
    this.#shown.set(message, { opened, quoted, shown })
    return shown
  }

  /** A message that was stored in clear, as it is shown: the same object each time. */
  protected clear(message: LocalMessage): LocalMessage {
    const shown = this.#clear.get(message) ?? { ...message, secrecy: inClear }
    this.#clear.set(message, shown)
    return shown
  }

  #open(message: LocalMessage): Opened | 'opening' {
    const { sender_address: sender, client_msg_id, content } = message
    const key = `${sender} ${client_msg_id} ${content}`
    const known = this.#opened.get(key)
    if (known && !this.#stale.delete(key)) return known
    const meanwhile = known ?? 'opening'
    this.#opened.set(key, meanwhile)
    const [news, round] = [this.#news, this.#round]
    const settle = (opened: Opened) => {
      if (round !== this.#round) return
      // An event during the attempt may have brought the key.
      if (opened.why !== null && news !== this.#news) this.#stale.add(key)
      else this.#opened.set(key, opened)
      this.#tellSoon()
    }
    const open = async () => {
      const former = await this.keyless(content)
      settle(former ?? (await (await this.load()).open({ sender, client_msg_id }, content)))
    }
    void open().catch(() => {
      if (this.#isUnavailable)
        settle({ state: 'locked', why: 'no storage', isSecret: true, epochId: null, inner: null })
      else this.#stale.add(key)
    })
    return meanwhile
  }

  /** Seals and sends, anew where the keys have changed meanwhile. */
  async send<Answer>(
    { client_msg_id, draft }: Pick<Pending, 'client_msg_id' | 'draft'>,
    sender: string,
    call: (sealed: Sealed) => Promise<Answer>,
  ): Promise<Answer> {
    const [sealer, { pathsIn }] = await Promise.all([this.load(), import('./direct/named.ts')])
    const blobs = pathsIn(draft, sender)
    for (let attempt = 1; ; attempt++) {
      const text = await sealer.seal({ sender, client_msg_id }, draft)
      try {
        return await call({ text, blobs })
      } catch (error) {
        if (attempt >= attempts || !(await sealer.isStale(error))) throw error
      }
    }
  }

  /** Seals what a message becomes, under its own id. */
  edit(message: LocalMessage, text: string, call: (sealed: Sealed) => Promise<void>): Promise<void> {
    const { client_msg_id, message_type: type, reply_to_id: reply_to, attachments, mentions, secrecy } = message
    const { epochId: mediaEpoch, mediaSalt } = secrecy ?? {}
    const sealedBy = { ...(mediaEpoch ? { mediaEpoch } : {}), ...(mediaSalt ? { mediaSalt } : {}) }
    const draft = { text, type, reply_to, attachments, mentions, ...sealedBy }
    return this.send({ client_msg_id, draft }, message.sender_address, call)
  }

  /** The messages of a state, as they are shown. */
  apply(state: RoomState): RoomState {
    const find: Find = (id) => state.messages.find((message) => message.id === id)
    return {
      ...state,
      direct: this.state,
      messages: state.messages.map((message) => this.read(message, find)),
      pins: state.pins.map((pin) => this.read({ ...pin, local: 'sent', refusal: null, reacted: [] }, find)),
    }
  }

  get ref(): RoomRef {
    return this.#ref
  }
}

function shownOf(message: LocalMessage, opened: Opened | 'opening', quoted: LocalMessage | undefined): LocalMessage {
  if (opened === 'opening') return { ...message, content: '', reply_to: null, secrecy: beingOpened }
  const { inner, ...secrecy } = opened
  if (!inner) return { ...message, content: '', reply_to: null, secrecy }
  if (!secrecy.isSecret) {
    const answered = message.reply_to_id
    return { ...message, content: inner.text, reply_to: answered === null ? null : quoteOf(answered, quoted), secrecy }
  }
  const { type, text, reply_to = null, attachments = [], mentions = [] } = inner
  return {
    ...message,
    content: text,
    message_type: type,
    attachments,
    mentions,
    reply_to_id: reply_to,
    reply_to: reply_to === null ? null : quoteOf(reply_to, quoted),
    secrecy,
  }
}

const quoteOf = (id: string, quoted: LocalMessage | undefined): LocalMessage['reply_to'] => ({
  id,
  sender_address: quoted?.sender_address ?? '',
  content: quoted?.content ?? '',
  message_type: quoted?.message_type ?? 'text',
})
