import type { Message } from '#shared/api/rooms/message'
import type { Poll } from '#shared/api/rooms/polls'
import type { access } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import type { RoomRef } from '#shared/kit/primitives'
import { signForm } from '#shared/kit/reaction-sign'
import { Direct } from './directs.ts'
import { Feed, type Source } from './feed.ts'
import { echoOf } from './outbox.ts'
import { answerPoll } from './polls.ts'
import { applyRows, editedRow, emptyRoom, reactedRow } from './timeline.ts'
import { atMostEvery } from './timing.ts'
import type { ConversationKey, Draft, LiveRoom, LocalMessage, Me, PayloadOf, PollRead, RoomState } from './types.ts'
import { View, type ViewOptions } from './view.ts'

interface RoomOptions extends ViewOptions {
  closed(): void
}

const typingMilliseconds = 3_000

/** One open room: its actions and its visible state. */
export class OpenRoom implements LiveRoom {
  readonly ref: RoomRef
  readonly feed: Feed
  readonly view: View
  readonly #options: RoomOptions
  #typingSaidAt = 0
  #readUpTo = 0

  constructor(options: RoomOptions) {
    this.ref = options.ref
    this.#options = options
    this.view = new View(options)
    this.feed = new Feed(options.ref, options.call, this.view)
  }

  get state(): RoomState {
    return this.view.state
  }
  subscribe(listener: () => void): () => void {
    return this.view.subscribe(listener)
  }

  send(draft: Draft): LocalMessage {
    if (!this.view.told.atNewest) void this.loadNewest().catch(() => undefined)
    this.#typingSaidAt = 0
    const pending = this.#options.outbox.add(this.ref, draft)
    return echoOf(pending, this.view.told, this.#options.account())
  }
  retry(clientMessageId: string): void {
    this.#options.outbox.retry(clientMessageId)
  }
  discard(clientMessageId: string): void {
    this.#options.outbox.discard(clientMessageId)
  }

  async edit(id: string, text: string): Promise<void> {
    const shown = this.view.state.messages.find((message) => message.id === id)
    const version = shown?.version
    const by = await this.#options.directs.toSend(this.ref)
    if (by && shown) return by.edit(shown, text, (sealed) => this.#edit(id, sealed, version))
    return this.#edit(id, { text }, version)
  }
  async #edit(id: string, said: { text: string; blobs?: string[] }, version: number | undefined): Promise<void> {
    const input = { id, ...said, ...(version === undefined ? {} : { version }) }
    const { message } = await this.#ask<{ message: Message }>('messages.edit', input)
    this.view.change({ messages: editedRow(this.view.told.messages, message) })
  }
  async remove(id: string, reason?: string): Promise<void> {
    await this.#ask('messages.remove', { id, ...(reason === undefined ? {} : { reason }) })
  }
  async react(id: string, emoji: string, on?: boolean): Promise<void> {
    type Answer = { counts: Message['reactions']; on: boolean; seq: number }
    const answer = await this.#ask<Answer>('messages.react', {
      id,
      emoji,
      ...(on === undefined ? {} : { on }),
    })
    const { messages, seq: applied } = this.view.told
    if (answer.seq > applied)
      this.view.change({ messages: reactedRow(messages, { ...answer, id, emoji: signForm(emoji), isOwn: true }) })
  }
  async pin(id: string, pinned: boolean): Promise<void> {
    await this.#ask('messages.pin', { id, pinned })
  }
  async vote(pollId: string, optionIndex: number, read?: PollRead): Promise<void> {
    const { question, options = [], is_anonymous } = read ?? {}
    const as_read = read && { question, option: options[optionIndex], is_anonymous }
    const { poll } = await this.#ask<{ poll: Poll }>('polls.vote', { pollId, optionIndex, as_read })
    this.view.become(answerPoll(this.view.told, poll))
  }

  loadOlder(): Promise<void> {
    return this.view.loadOlder()
  }
  async loadAround(seq: number): Promise<void> {
    const { messages } = await this.view.history.load(this.view.told, { around_seq: seq })
    const atNewest = (messages.at(-1)?.seq ?? 0) >= this.view.newest
    this.view.change({ messages, atNewest, hasOlder: (messages[0]?.n ?? 0) > 1 })
  }
  async loadNewest(): Promise<void> {
    const { messages, hasMore } = await this.view.history.load(this.view.told)
    this.view.become(applyRows({ ...this.view.told, messages: [], atNewest: true, hasOlder: hasMore }, messages))
  }

  markRead(seq?: number): void {
    const { seq: newest, atNewest } = this.view.told
    if (seq === undefined && !atNewest) return
    this.#readUpTo = Math.max(this.#readUpTo, Math.min(seq ?? newest, newest))
    this.#tellRead()
  }
  readonly #tellRead = atMostEvery(2_000, () => {
    const seq = this.#readUpTo
    if (seq <= this.view.told.me.read_seq) return
    this.#ask<Pick<Me, 'read_seq' | 'unread'>>('messages.read', { seq }).then(
      ({ read_seq, unread }) => this.view.change({ me: { ...this.view.told.me, read_seq, unread } }),
      () => undefined,
    )
  })

  setTyping(on: boolean): void {
    const now = this.#options.now()
    if (on ? now - this.#typingSaidAt < typingMilliseconds : this.#typingSaidAt === 0) return
    this.#typingSaidAt = on ? now : 0
    this.#ask('messages.typing', { on }).catch(() => undefined)
  }

  async conversationKey(epochId?: string | null): Promise<ConversationKey> {
    const sealed = await this.#options.directs.toSend(this.ref)
    if (!sealed) throw new AppError('VALIDATION_ERROR', { message: 'The messages of this room are not sealed' })
    const sealer = await sealed.load()
    return epochId ? sealer.keyOf(epochId) : sealer.sendingKey()
  }
  async safetyNumber(): Promise<readonly string[]> {
    return (await this.#direct.load()).safetyNumber()
  }
  async acceptDevices(): Promise<void> {
    await (await this.#direct.load()).acceptDevices()
    for (const { client_msg_id, refusal } of this.state.messages)
      if (refusal?.details?.devices === 'waiting') this.retry(client_msg_id)
  }
  get #direct(): Direct {
    const { sealed: direct } = this.view
    if (!(direct instanceof Direct))
      throw new AppError('VALIDATION_ERROR', { message: 'This room is no direct conversation' })
    return direct
  }

  close(): void {
    this.#tellRead.cancel()
    this.feed.follow('none')
    this.view.forget()
    this.#options.closed()
  }

  /** Follows the room from this source from now on. */
  follow(source: Source): void {
    if (source === 'none') this.view.change({ status: 'offline' })
    if (source === 'soon') this.view.catchingUp()
    this.feed.follow(source)
  }

  /** Another account views the room now. */
  startOver(): void {
    this.#readUpTo = 0
    this.feed.startOver()
    this.view.become(emptyRoom(this.ref))
  }

  /** Called when this client's own call has changed the membership. */
  joined(): void {
    this.view.sealed?.membershipChanged()
    this.feed.restart()
  }
  left(): void {
    this.view.sealed?.membershipChanged()
    this.feed.halt()
    this.view.change({ status: 'left' })
  }

  hearAccess(notice: PayloadOf<typeof access>): void {
    const { status } = this.state
    this.view.hearAccess(notice)
    if (notice.state === 'banned' || notice.state === 'removed') {
      this.view.sealed?.membershipChanged()
      this.feed.halt()
    }
    if (notice.state === 'granted' && (status === 'refused' || status === 'left')) this.joined()
  }

  #ask<Answer>(name: string, input: object): Promise<Answer> {
    return this.#options.call(name, { room: this.ref, ...input }) as Promise<Answer>
  }
}
