import { v7 as uuid } from 'uuid'
import { usualTo } from '#shared/api/rooms/lean'
import type { Message } from '#shared/api/rooms/message'
import type { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { asAppError, isAboutSession, isPassing } from './failures.ts'
import { keyOf } from './keys.ts'
import { readStored, writeStored } from './storage.ts'
import { backoff, pauseFor } from './timing.ts'
import type { ClientStorage, Draft, LocalMessage, LocalStatus, RoomState } from './types.ts'

/** A message that is not yet accepted. */
export interface Pending {
  readonly room: RoomRef
  readonly client_msg_id: string
  readonly draft: Draft
  readonly at: string
  readonly status: Exclude<LocalStatus, 'sent'>
  readonly refusal: AppError | null
}

type Kept = Pick<Pending, 'room' | 'client_msg_id' | 'draft' | 'at'>

interface OutboxOptions {
  storage: ClientStorage
  now(): number
  send(pending: Pending): Promise<Message>
  /** Called when the waiting messages of this room have changed. */
  changed(roomKey: string): void
  accepted(roomKey: string, message: Message): void
}

interface Lane {
  pending: readonly Pending[]
  isRunning: boolean
  waking: AbortController
}

/**
 * The queue of messages that are not yet accepted, for each room in the order they were written. A room sends one at a time,
 * so that none can overtake another; a retry has the id of the first try.
 */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #lanes = new Map<string, Lane>()
  #account: string | null = null
  #isOpen = false

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  /** Loads the messages that this account left unsent, and takes over those written before it was signed in. */
  belongTo(account: string | null): void {
    if (isSameAccount(account, this.#account)) return
    const early = this.#account === null ? [...this.#lanes.values()].flatMap(({ pending }) => pending) : []
    for (const { client_msg_id } of early) this.#forget(client_msg_id)
    this.#account = account
    const known = new Set(early.map(({ client_msg_id }) => client_msg_id))
    const left = this.#kept().filter(({ client_msg_id }) => !known.has(client_msg_id))
    for (const pending of early) this.#keep(pending)
    for (const [key, lane] of this.#lanes) {
      lane.pending = []
      lane.waking.abort()
      this.#options.changed(key)
    }
    for (const kept of left) this.#put({ ...kept, status: 'queued', refusal: null })
    for (const pending of early) this.#put(pending)
  }

  /** Sends while it is open; while it is closed, all messages wait. */
  setOpen(isOpen: boolean): void {
    this.#isOpen = isOpen
    for (const [key, lane] of this.#lanes) {
      lane.waking.abort()
      if (isOpen) void this.#run(key, lane)
    }
  }

  pendingOf(roomKey: string): readonly Pending[] {
    return this.#lanes.get(roomKey)?.pending ?? []
  }

  add(room: RoomRef, draft: Draft): Pending {
    const at = new Date(this.#options.now()).toISOString()
    const pending: Pending = { room, client_msg_id: uuid(), draft, at, status: 'queued', refusal: null }
    this.#keep(pending)
    this.#put(pending)
    return this.#find(pending.client_msg_id)?.pending ?? pending
  }

  retry(id: string): void {
    const { key, pending } = this.#find(id) ?? {}
    if (!pending || key === undefined || pending.status === 'sending') return
    this.#drop(id)
    const again: Pending = { ...pending, status: 'queued', refusal: null }
    this.#keep(again)
    this.#put(again)
  }

  /** Removes a message; if it is being sent, it may still arrive. */
  discard(id: string): void {
    this.#forget(id)
    this.#drop(id)
  }

  #put(pending: Pending): void {
    const key = keyOf(pending.room)
    const lane = this.#lanes.get(key) ?? { pending: [], isRunning: false, waking: new AbortController() }
    this.#lanes.set(key, lane)
    lane.pending = [...lane.pending, pending]
    if (this.#isOpen) void this.#run(key, lane)
    this.#options.changed(key)
  }

  async #run(key: string, lane: Lane): Promise<void> {
    if (lane.isRunning) return
    lane.isRunning = true
    for (let failures = 0; this.#isOpen; ) {
      const next = lane.pending.find(({ status }) => status === 'queued')
      if (!next) break
      this.#mark(next.client_msg_id, { status: 'sending' })
      try {
        const message = await this.#options.send(next)
        failures = 0
        this.#forget(next.client_msg_id)
        this.#options.accepted(key, message)
        this.discard(next.client_msg_id)
      } catch (error) {
        const refusal = asAppError(error)
        if (isPassing(refusal) && refusal.verdict === undefined) await this.#waitFor(lane, next, refusal, failures++)
        else this.#refuse(next, refusal)
      }
    }
    lane.isRunning = false
  }

  async #waitFor(lane: Lane, { client_msg_id }: Pending, refusal: AppError, failures: number): Promise<void> {
    this.#mark(client_msg_id, { status: 'queued' })
    lane.waking = new AbortController()
    const milliseconds = refusal.retryAfter === undefined ? backoff(failures) : refusal.retryAfter * 1_000 + 50
    if (this.#isOpen) await pauseFor(milliseconds, lane.waking.signal)
  }

  #refuse({ client_msg_id }: Pending, refusal: AppError): void {
    if (isAboutSession(refusal.code)) {
      this.#isOpen = false
      this.#mark(client_msg_id, { status: 'queued' })
      return
    }
    this.#forget(client_msg_id)
    const isJudged = refusal.verdict !== undefined || refusal.status === 403
    this.#mark(client_msg_id, { status: isJudged ? 'refused' : 'failed', refusal })
  }

  #find(id: string): { key: string; lane: Lane; pending: Pending } | undefined {
    for (const [key, lane] of this.#lanes) {
      const pending = lane.pending.find(({ client_msg_id }) => client_msg_id === id)
      if (pending) return { key, lane, pending }
    }
    return undefined
  }

  #mark(id: string, change: Partial<Pending>): void {
    const { key, lane } = this.#find(id) ?? {}
    if (!lane || key === undefined) return
    lane.pending = lane.pending.map((pending) => (pending.client_msg_id === id ? { ...pending, ...change } : pending))
    this.#options.changed(key)
  }

  #drop(id: string): void {
    const { key, lane } = this.#find(id) ?? {}
    if (!lane || key === undefined) return
    lane.pending = lane.pending.filter(({ client_msg_id }) => client_msg_id !== id)
    this.#options.changed(key)
  }

  get #storageKey(): string {
    return `plaza:outbox:${this.#account}`
  }
  #kept(): Kept[] {
    return readStored<Kept[]>(this.#options.storage, this.#storageKey) ?? []
  }
  #keep({ room, client_msg_id, draft, at }: Pending): void {
    const others = this.#kept().filter((kept) => kept.client_msg_id !== client_msg_id)
    writeStored(this.#options.storage, this.#storageKey, [...others, { room, client_msg_id, draft, at }])
  }
  #forget(id: string): void {
    const others = this.#kept().filter(({ client_msg_id }) => client_msg_id !== id)
    writeStored(this.#options.storage, this.#storageKey, others.length === 0 ? null : others)
  }
}

/** A message as it is shown before the server has accepted it: without a seq, and with its client id as id. */
export function echoOf(pending: Pending, state: RoomState, account: string | null): LocalMessage {
  const { client_msg_id, draft, at, status, refusal } = pending
  const mine = state.messages.findLast(({ sender_address }) => isSameAccount(sender_address, account))
  const answered = state.messages.find(({ id }) => id === draft.reply_to)
  const actor = mine?.sender ?? { id: account ?? '', name: account ?? '', role: state.me.role, isAgent: false }
  const place = { room: state.ref, seq: 0, at, actor }
  return {
    ...usualTo({ ...draft, room: state.ref, client_msg_id }, place, {}),
    id: client_msg_id,
    n: 0,
    version: 0,
    client_msg_id,
    content: draft.text,
    reply_to_id: draft.reply_to ?? null,
    reply_to: answered
      ? {
          id: answered.id,
          sender_address: answered.sender_address,
          content: answered.content,
          message_type: answered.message_type,
        }
      : null,
    local: status,
    refusal,
    reacted: [],
  }
}
