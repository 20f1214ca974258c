import type { RoomEvent } from '#shared/api/rooms/room-events'
import type { OutputOf } from '#shared/kit/contract'
import type { Call } from './calls.ts'
import type { PlazaApi } from './table.ts'
import { applyEvents, applyRows, emptyRoom } from './timeline.ts'
import type { LocalMessage, RoomState } from './types.ts'

type Page = OutputOf<PlazaApi['messages']['history']>
type Where = { before_seq?: number; around_seq?: number }

const pageSize = 50

export interface Loaded {
  messages: readonly LocalMessage[]
  hasMore: boolean
}

/** Loads pages of older rows, and applies to them the events that arrive while a page is being loaded. */
export class History {
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
