import { AppError } from '#shared/errors'
import type { RoomRef } from '#shared/kit/primitives'
import { layouts } from '#shared/kit/sealed-layout'
import type { Call } from '../calls.ts'
import { asAppError, isPassing } from '../failures.ts'
import type { ConversationKey, Draft } from '../types.ts'
import { fromBase64 } from './bytes.ts'
import { innerFrom, NoMessage, openMessage, type Place, saltOf, sealMessage } from './message.ts'
import type { Opened } from './opened.ts'

interface SharedKeyOptions {
  call: Call
  room: RoomRef
  changed(): void
}

const pauseMilliseconds = 2_000
const secret = { isSecret: true, epochId: null } as const

/** The key that the members of one room share. The server tells it to them; it is kept in memory, as long as this is. */
export class SharedKey implements Sealer {
  readonly #options: SharedKeyOptions
  #asked: Promise<Uint8Array> | null = null

  constructor(options: SharedKeyOptions) {
    this.#options = options
  }

  async ready(): Promise<void> {}
  async refresh(): Promise<void> {}
  async isStale(): Promise<boolean> {
    return false
  }

  async seal(place: Omit<Place, 'dm'>, draft: Draft): Promise<string> {
    return sealMessage(await this.#key(), null, this.#at(place), innerFrom(draft, place.client_msg_id))
  }

  /** Rejects where the key could not be asked for; it is tried again after a moment. */
  async open(place: Omit<Place, 'dm'>, text: string): Promise<Opened> {
    try {
      const key = await this.#key()
      const inner = await openMessage(key, this.#at(place), text, layouts['shared-key'])
      return { state: 'clear', why: null, ...secret, ...saltOf(inner), inner }
    } catch (error) {
      if (error instanceof AppError && isPassing(error)) throw error
      const why =
        error instanceof AppError ? 'no member' : error instanceof NoMessage ? 'malformed' : ('damaged' as const)
      return { state: 'locked', why, ...secret, inner: null }
    }
  }

  async sendingKey(): Promise<ConversationKey> {
    return { epochId: null, key: await this.#key() }
  }
  async keyOf(): Promise<ConversationKey> {
    throw new AppError('NOT_FOUND', { message: 'A room with a shared key has no epochs' })
  }

  #at(place: Omit<Place, 'dm'>): Place {
    return { ...place, dm: this.#options.room.id ?? '' }
  }

  #key(): Promise<Uint8Array> {
    this.#asked ??= this.#ask()
    return this.#asked
  }

  async #ask(): Promise<Uint8Array> {
    const { call, room, changed } = this.#options
    try {
      const { p2p_symmetric_key } = (await call('rooms.sharedKey', { room })) as { p2p_symmetric_key: string }
      return fromBase64(p2p_symmetric_key)
    } catch (error) {
      const failure = asAppError(error)
      if (isPassing(failure)) {
        setTimeout(() => {
          this.#asked = null
          changed()
        }, pauseMilliseconds)
      }
      throw failure
    }
  }
}

type In = Omit<Place, 'dm'>

/** What seals the messages of one room, and opens them. */
export interface Sealer {
  ready(): Promise<unknown>
  refresh(devicesToo: boolean): Promise<void>
  /** The text of a message, as the server takes it. */
  seal(place: In, draft: Draft): Promise<string>
  open(place: In, text: string): Promise<Opened>
  /** Does this error ask to seal the message anew? */
  isStale(error: unknown): Promise<boolean>
  /** The key for what is sent now. */
  sendingKey(): Promise<ConversationKey>
  keyOf(epochId: string): Promise<ConversationKey>
}
