import type { Message } from '#shared/api/rooms/message'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import type { AppError } from '#shared/errors'
import type { RoomRef } from '#shared/kit/primitives'
import { isPassing } from './failures.ts'
import { observable } from './observable.ts'
import { everySo, type StreamLine, untilAnswered } from './stream-line.ts'
import { table } from './table.ts'
import { applyEvents, applyRows, emptyRoom } from './timeline.ts'
import { pauseFor } from './timing.ts'
import type { Client, Listener, Unsubscribe } from './types.ts'

/** The newest messages of a stream for who is not in its room, as they are now; null until they are loaded. */
export interface StreamChatView {
  /** Why they cannot be read: it is asked again every few seconds. */
  readonly error: AppError | null
  readonly messages: readonly Message[] | null
}

/** The chat of a stream as those outside its room read it, until it is closed. Usable with `useSyncExternalStore`. */
export interface StreamChat {
  readonly state: StreamChatView
  subscribe(listener: Listener): Unsubscribe
  close(): void
}

export interface FollowedChat {
  view: { readonly value: StreamChatView; subscribe(listener: Listener): Unsubscribe }
  /** Goes on over another connection, or without one. */
  over(line: StreamLine | null): void
  end(): void
}

const { events } = table
const pollMilliseconds = 2_500
/** After a refusal: its rules may be others by then. */
const refusedMilliseconds = 5_000
const readAtOnce = 50
const keptAtMost = 500
/** A hole that a beginning left open is looked at again no sooner. */
const holeMilliseconds = 500

/** Follows a chat by events where there is a connection, and by polling every few seconds otherwise. */
export function followChat(client: Client, id: string): FollowedChat {
  const room: RoomRef = { type: 'stream', id }
  const view = observable<StreamChatView>({ error: null, messages: null })
  let leave = () => {}

  const read = async () => (await client.messages.history({ room, limit: readAtOnce })).messages
  /** Who may not read it sees no more of it. */
  const failed = (error: AppError) => view.set({ error, messages: isPassing(error) ? view.value.messages : null })

  function poll(): Unsubscribe {
    let isOver = false
    const ask = async () => {
      const messages = await read()
      if (!isOver) view.set({ error: null, messages })
    }
    const stop = everySo(pollMilliseconds, ask, failed)
    return () => {
      isOver = true
      stop()
    }
  }

  function hear(line: StreamLine): Unsubscribe {
    const gone = new AbortController()
    let turn = new AbortController()
    let state = emptyRoom(room)
    /** Null while the head and the messages are being read. */
    let seq: number | null = null
    let held: RoomEvent[] = []

    const take = (told: readonly RoomEvent[]) => {
      held.push(...told.filter((event) => event.room.type === room.type && event.room.id === id))
      if (seq === null) return
      const next: RoomEvent[] = []
      for (const event of held.sort((one, other) => one.seq - other.seq)) {
        if (event.seq <= seq) continue
        if (event.seq > seq + 1) return void beginAnew(holeMilliseconds)
        seq = event.seq
        next.push(event)
      }
      held = []
      if (next.length === 0) return
      state = applyEvents(state, next, client.account)
      state = { ...state, messages: state.messages.slice(-keptAtMost) }
      view.set({ error: null, messages: state.messages })
    }
    /** Events after the head apply to messages that are no older than it. */
    const begin = async (signal: AbortSignal) => {
      const { head_seq } = await line.listen({ stream_id: id })
      const messages = await read()
      if (signal.aborted) return
      state = applyRows(emptyRoom(room), messages)
      seq = head_seq
      view.set({ error: null, messages: state.messages })
      take([])
    }
    const beginAnew = async (wait = 0): Promise<void> => {
      seq = null
      turn.abort()
      turn = new AbortController()
      const signal = AbortSignal.any([gone.signal, turn.signal])
      if (wait > 0) await pauseFor(wait, signal)
      await untilAnswered(() => begin(signal), signal, failed)
      if (!signal.aborted && seq === null) await beginAnew(refusedMilliseconds)
    }
    const unhear = [
      line.hear(events.streamRoomEvent, (event) => take([event])),
      line.hear(events.streamRoomEvents, (batch) => take(batch.events)),
      line.hear(events.streamChatClosed, ({ stream_id }) => {
        if (stream_id !== id) return
        view.set({ ...view.value, messages: null })
        held = []
        void beginAnew()
      }),
    ]
    void beginAnew()
    return () => {
      gone.abort()
      for (const end of unhear) end()
    }
  }

  return {
    view,
    over(line) {
      leave()
      leave = line ? hear(line) : poll()
    },
    end: () => leave(),
  }
}
