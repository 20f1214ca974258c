import type { agentWriting } from '#shared/api/agents/agent-rooms'
import type { Rules } from '#shared/api/moderation/verdict'
import type { Snapshot } from '#shared/api/rooms/listening'
import type { Message } from '#shared/api/rooms/message'
import type { Poll } from '#shared/api/rooms/polls'
import type { Room } from '#shared/api/rooms/room'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import type { access, capabilitiesChanged, ephemeral } from '#shared/api/rooms/rooms'
import type { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { OutputOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { isChatType } from '#shared/kit/room-kinds'
import type { Call } from './calls.ts'
import { isUnderSharedKey } from './direct/layout.ts'
import type { Directs } from './directs.ts'
import { toldError } from './failures.ts'
import type { Fed } from './feed.ts'
import { keyOf } from './keys.ts'
import { observable } from './observable.ts'
import { echoOf, type Outbox } from './outbox.ts'
import { answerPoll, pollsToAsk } from './polls.ts'
import { beingOpened, type SealedRoom } from './sealed-room.ts'
import type { PlazaApi } from './table.ts'
import { applyEvents, applyRows, applySnapshot, emptyRoom } from './timeline.ts'
import type { LocalMessage, PayloadOf, RoomState } from './types.ts'
import { Writers } from './writing.ts'

type Page = OutputOf<PlazaApi['messages']['history']>
type Where = { before_seq?: number; around_seq?: number }

const pageSize = 50

interface Loaded {
  messages: readonly LocalMessage[]
  hasMore: boolean
}

/** Loads pages of older rows, and applies to them the events that arrive while a page is being loaded. */
class History {
  readonly #call: Call
  readonly #account: () => string | null
  readonly #loading = new Set<RoomEvent[]>()

  constructor({ call, account }: { call: Call; account(): string | null }) {
    this.#call = call
    this.#account = account
  }

  /** Remembers events, to apply them to the pages that are being loaded. */
  happened(events: readonly RoomEvent[]): void {
    for (const missed of this.#loading) missed.push(...events)
  }

  async load({ ref }: RoomState, where: Where = {}): Promise<Loaded> {
    const missed: RoomEvent[] = []
    this.#loading.add(missed)
    try {
      const page = (await this.#call('messages.history', { room: ref, limit: pageSize, ...where })) as Page
      const isNewest = where.before_seq === undefined && where.around_seq === undefined
      return {
        messages: this.#brought(page, missed, { ...emptyRoom(ref), atNewest: isNewest }),
        hasMore: page.has_more,
      }
    } finally {
      this.#loading.delete(missed)
    }
  }

  // A node of the version before does not tell what the account reacted with.
  #brought({ messages, reacted = {} }: Page, missed: readonly RoomEvent[], empty: RoomState): RoomState['messages'] {
    const rows = messages.map((message) => ({ ...message, reacted: reacted[message.id] ?? [] }))
    return applyEvents(applyRows(empty, rows), missed, this.#account()).messages
  }
}

interface Options {
  ref: RoomRef
  call: Call
  account(): string | null
}

interface VotedRoom {
  readonly told: RoomState
  become(told: RoomState): void
}

const againMilliseconds = 1_000

/** Loads the polls of loaded messages, with the votes of this account, where they are not known. */
class PollVotes {
  readonly #options: Options
  readonly #room: VotedRoom
  /** The version from which on each poll was needed when it was last asked for. */
  readonly #asked = new Map<string, number>()
  #again: ReturnType<typeof setTimeout> | undefined

  constructor(options: Options, room: VotedRoom) {
    this.#options = options
    this.#room = room
  }

  see(): void {
    const { told } = this.#room
    if (told.status !== 'live' && told.status !== 'refused') return
    const needed = pollsToAsk(told)
    if ([...needed].every(([id, version]) => (this.#asked.get(id) ?? -1) >= version)) return
    for (const [id, version] of needed) this.#asked.set(id, version)
    void this.#ask(needed)
  }

  /** Asks again for what is not known at the next change. */
  forget(): void {
    clearTimeout(this.#again)
    this.#asked.clear()
  }

  async #ask(needed: ReadonlyMap<string, number>): Promise<void> {
    const { call, ref, account } = this.#options
    const asker = account()
    const answer = await call('polls.list', { room: ref }).catch(() => null)
    if (!isSameAccount(asker, account())) return
    const polls = answer === null ? null : (answer as { polls: Poll[] }).polls
    if (polls) this.#room.become(polls.reduce<RoomState>(answerPoll, this.#room.told))
    // An event may arrive before its records can be read.
    const isBehind = polls?.some(({ id, version }) => version < (needed.get(id) ?? 0)) ?? true
    if (!isBehind) return
    for (const id of needed.keys()) this.#asked.delete(id)
    if (!polls) return
    clearTimeout(this.#again)
    this.#again = setTimeout(() => this.see(), againMilliseconds)
  }
}

export interface ViewOptions {
  ref: RoomRef
  call: Call
  outbox: Outbox
  directs: Directs
  account(): string | null
  now(): number
}

const typistMilliseconds = 6_000
const shownAtMost = 5_000
const shownAtLeast = 20

/** Until it is known whether the messages of the room are sealed. */
const withoutCiphertext = (state: RoomState): RoomState => ({
  ...state,
  messages: state.messages.map((message) => (isUnderSharedKey(message.content) ? closed(message) : message)),
})
const closed = (message: LocalMessage): LocalMessage => ({ ...message, content: '', secrecy: beingOpened })

/** The visible state of one room: the server's state, then the messages of this client that it has not accepted yet. */
export class View implements Fed {
  readonly history: History
  readonly #options: ViewOptions
  readonly #shown
  readonly #votes: PollVotes
  readonly #writers: Writers
  #told: RoomState
  #newest = 0
  #sealed: SealedRoom | null = null
  #unsubscribe: (() => void) | undefined
  #typists: ReturnType<typeof setTimeout> | undefined

  constructor(options: ViewOptions) {
    this.#options = options
    this.history = new History(options)
    this.#votes = new PollVotes(options, this)
    this.#writers = new Writers(options.now, this)
    this.#told = emptyRoom(options.ref)
    this.#shown = observable(this.#told)
    this.show()
  }

  get state(): RoomState {
    return this.#shown.value
  }
  /** The state that the server has sent, without messages that it has not accepted yet. */
  get told(): RoomState {
    return this.#told
  }
  /** The newest known message, loaded or not. */
  get newest(): number {
    return Math.max(this.#newest, this.#told.messages.at(-1)?.seq ?? 0)
  }
  subscribe(listener: () => void): () => void {
    return this.#shown.subscribe(listener)
  }

  change(change: Partial<RoomState>): void {
    this.become({ ...this.#told, ...change })
  }
  become(told: RoomState): void {
    this.#told = told
    if (told.room) this.#options.directs.learn(told.room)
    this.show()
    this.#votes.see()
  }
  show(): void {
    const { outbox, ref, account } = this.#options
    const { messages } = this.#told
    const pending = outbox
      .pendingOf(keyOf(ref))
      .filter(({ client_msg_id }) => !messages.some((message) => message.client_msg_id === client_msg_id))
    const echoes = pending.map((one) => echoOf(one, this.#told, account()))
    const shown = { ...this.#told, messages: echoes.length === 0 ? messages : [...messages, ...echoes] }
    const isUnknown = this.#options.directs.isUnknown(ref)
    this.#shown.set(this.sealed?.apply(shown) ?? (isUnknown ? withoutCiphertext(shown) : shown))
  }

  /** Opens and seals the messages, for the account that views the room; null where they are not sealed. */
  get sealed(): SealedRoom | null {
    const sealed = this.#options.directs.of(this.#options.ref)
    if (sealed !== this.#sealed) {
      this.#unsubscribe?.()
      this.#sealed = sealed
      this.#unsubscribe = sealed?.subscribe(() => this.show())
      if (this.#options.account() !== null) sealed?.begin()
    }
    return sealed
  }

  reset(): void {
    const { ref, room, access, notices, caughtUp } = this.#told
    this.#votes.forget()
    this.become({ ...emptyRoom(ref), room, access, notices, caughtUp, status: 'catching-up' })
  }

  snapshot(snapshot: Snapshot): void {
    const isFirst = this.#told.epoch === null
    const first = snapshot.events[0]?.seq ?? snapshot.head_seq + 1
    const told = isFirst ? this.#from(first) : this.#told
    this.become({ ...applySnapshot(told, snapshot), error: null })
    if (this.#told.room === null) this.#fill('rooms.get', ({ room }: { room: Room }) => this.change({ room }))
  }

  async openByRest(): Promise<void> {
    const { type, id } = this.#options.ref
    const { messages, hasMore } = await this.history.load(this.#told)
    this.become({ ...applyRows(this.#told, messages), hasOlder: hasMore, error: null })
    this.#fill('rooms.get', ({ room }: { room: Room }) => this.change({ room, membersCount: room.member_count }))
    this.#seePins()
    if (isChatType(type)) {
      type Answer = { rules: Rules & { rules_version: number } }
      const chat = { chatType: type, chatId: id ?? undefined }
      this.#fill('moderation.rules', ({ rules }: Answer) => this.#takeRules(rules, rules.rules_version), chat)
    }
  }

  events(events: readonly RoomEvent[]): void {
    this.sealed?.events(events)
    this.history.happened(events)
    // Polls of messages that are not loaded may have been dropped with those that the purge took.
    if (events.some(({ type }) => type === 'messages.purged')) this.#votes.forget()
    const { outbox, account } = this.#options
    const created = events.flatMap(({ type, data }) => (type === 'message.created' ? [data.message] : []))
    const after = this.#writers.giveWay(applyEvents(this.#told, events, account()), created)
    const isLong = after.atNewest && after.messages.length > shownAtMost
    this.become(isLong ? { ...after, messages: after.messages.slice(shownAtMost / 5), hasOlder: true } : after)
    const isPinUnknown = events.some((event) => event.type === 'message.pinned' && !this.#shows(event.data.id))
    if (isPinUnknown) this.#seePins()
    if (events.some((event) => event.type === 'role.changed' && isSameAccount(event.data.target.id, account())))
      this.#seeMe()
    for (const message of created) {
      this.#newest = Math.max(this.#newest, message.seq)
      if (isSameAccount(message.sender_address, account())) outbox.discard(message.client_msg_id)
    }
  }

  catchingUp(): void {
    if (this.#told.epoch !== null) this.change({ status: 'catching-up' })
    else this.change({ status: 'joining' })
  }

  caughtUp(events: number, gaps: number): void {
    this.change({ status: 'live', error: null, caughtUp: { events, gaps, at: this.#options.now() } })
    const { messages, hasOlder } = this.#told
    if (messages.length >= shownAtLeast || !hasOlder) return
    void this.loadOlder().catch(() => undefined)
  }

  refused(error: AppError): void {
    this.change({ status: 'refused', error })
    this.sealed?.membershipChanged()
    if (error.code === 'NOT_A_MEMBER')
      void this.openByRest()
        .catch(() => undefined)
        .then(() => this.change({ error }))
  }

  async loadOlder(): Promise<void> {
    const { hasOlder, messages } = this.#told
    if (!hasOlder) return
    const where = messages[0] ? { before_seq: messages[0].seq } : {}
    const loaded = await this.history.load(this.#told, where)
    const isEnd = !loaded.hasMore || loaded.messages.length === 0
    this.become({ ...applyRows(this.#told, loaded.messages), hasOlder: !isEnd })
  }

  /** Called when a message of this client was accepted; its event follows. */
  accepted(message: Message): void {
    if (this.#told.atNewest) this.become(applyRows(this.#told, [message]))
    else this.show()
  }

  hearEphemeral({ typing, online }: PayloadOf<typeof ephemeral>): void {
    clearTimeout(this.#typists)
    const others = typing.filter(({ id }) => !isSameAccount(id, this.#options.account()))
    this.change({ typing: others, online })
    if (others.length > 0) this.#typists = setTimeout(() => this.change({ typing: [] }), typistMilliseconds)
  }

  hearWriting(word: PayloadOf<typeof agentWriting>): void {
    this.#writers.hear(word)
  }

  hearCapabilities({ capabilities, next_send_at }: PayloadOf<typeof capabilitiesChanged>): void {
    this.change({ me: { ...this.#told.me, capabilities, next_send_at } })
  }

  hearAccess(notice: PayloadOf<typeof access>): void {
    const { state, code, text, until } = notice
    const isMuted = state === 'muted' || (state !== 'granted' && this.#told.me.is_muted)
    const muted_until = state === 'muted' ? until : isMuted ? this.#told.me.muted_until : null
    this.change({ access: notice, me: { ...this.#told.me, is_muted: isMuted, muted_until } })
    if (state === 'banned') this.change({ status: 'refused', error: toldError(code, { message: text }) })
    if (state === 'removed') this.change({ status: 'left' })
  }

  forget(): void {
    clearTimeout(this.#typists)
    this.#unsubscribe?.()
    this.#sealed = null
    this.#votes.forget()
    this.#writers.forget()
  }

  #takeRules(rules: Rules, version: number): void {
    if (version > this.#told.rulesVersion) this.change({ rules, rulesVersion: version })
  }

  /** Between the rows loaded before and the first event there may be a gap; rows before it are loaded again as older pages. */
  #from(first: number): RoomState {
    return { ...this.#told, messages: this.#told.messages.filter(({ seq }) => seq >= first), hasOlder: first > 1 }
  }

  #shows(id: string): boolean {
    return this.#told.messages.some((message) => message.id === id)
  }

  /** Reloads the rights: a new rank changes more than its event contains. */
  #seeMe(): void {
    const { ref: room, seq: after_seq, epoch } = this.#told
    this.#fill('messages.join', ({ me }: Snapshot) => this.change({ me }), { room, after_seq, epoch })
  }

  #seePins(): void {
    this.#fill('messages.pins', ({ pinnedMessages }: { pinnedMessages: Message[] }) =>
      this.change({ pins: pinnedMessages }),
    )
  }

  /** Loads optional parts; the room is usable without them. */
  #fill<Answer>(name: string, take: (answer: Answer) => void, input: object = { room: this.#options.ref }): void {
    this.#options.call(name, input).then(
      (answer) => take(answer as Answer),
      () => undefined,
    )
  }
}
