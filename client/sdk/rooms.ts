import type { RoomEvent } from '#shared/api/rooms/room-events'
import type { RoomRef } from '#shared/kit/primitives'
import type { Source } from './feed.ts'
import { keyIn, keyOf } from './keys.ts'
import { OpenRoom } from './room.ts'
import { table } from './table.ts'
import type { Transport } from './transport.ts'
import type { AccessNotice, LiveRoom, PayloadOf } from './types.ts'
import type { ViewOptions } from './view.ts'

const { events } = table
const leaveMilliseconds = 1_000

/** The open rooms, each of them once. */
export class OpenRooms {
  readonly #options: Omit<ViewOptions, 'ref'>
  readonly #open = new Map<string, OpenRoom>()
  #source: Source = 'soon'

  constructor(options: Omit<ViewOptions, 'ref'>) {
    this.#options = options
  }

  of(key: string): OpenRoom | undefined {
    return this.#open.get(key)
  }

  open({ type, id }: RoomRef): LiveRoom {
    const ref = { type, id: id ?? null }
    const key = keyOf(ref)
    const known = this.#open.get(key)
    if (known) return known
    const room = new OpenRoom({ ...this.#options, ref, closed: () => this.#closed(key, room) })
    this.#open.set(key, room)
    room.follow(this.#source)
    return room
  }

  /** The source from which all rooms follow their logs from now on. */
  follow(source: Source): void {
    this.#source = source
    for (const room of this.#open.values()) room.follow(source)
  }

  /** Another account views the rooms now. */
  startOver(): void {
    for (const room of this.#open.values()) room.startOver()
  }

  closeAll(): void {
    for (const room of [...this.#open.values()]) room.close()
  }

  /** Takes the changes of membership that this client's own calls make. */
  called(name: string, input: object): void {
    const { room } = input as { room?: unknown }
    if (name === 'rooms.join') this.#open.get(keyIn(room))?.joined()
    if (name === 'rooms.leave') this.#open.get(keyIn(room))?.left()
  }

  listen(transport: Transport): void {
    const hear = <Payload>(event: { name: string }, act: (payload: Payload) => void) =>
      transport.hear('/rooms', event.name, (payload) => act(payload as Payload))
    hear<RoomEvent>(events.roomEvent, (event) => this.of(keyOf(event.room))?.feed.deliver([event]))
    hear<PayloadOf<typeof events.roomEventBatch>>(events.roomEventBatch, (batch) =>
      this.of(keyOf(batch.room))?.feed.deliver(batch.events),
    )
    hear<PayloadOf<typeof events.ephemeral>>(events.ephemeral, (passing) =>
      this.of(keyIn(passing.room))?.view.hearEphemeral(passing),
    )
    hear<PayloadOf<typeof events.agentWriting>>(events.agentWriting, (word) =>
      this.of(keyIn(word.room))?.view.hearWriting(word),
    )
    hear<PayloadOf<typeof events.capabilitiesChanged>>(events.capabilitiesChanged, (changed) =>
      this.of(keyIn(changed.room))?.view.hearCapabilities(changed),
    )
    hear<AccessNotice>(events.access, (notice) => this.of(keyIn(notice.room))?.hearAccess(notice))
    hear<PayloadOf<typeof events.heads>>(events.heads, ({ heads }) => {
      for (const [key, seq] of Object.entries(heads)) this.of(key)?.feed.head(seq)
    })
  }

  /** Leaves a closed room after a moment: a room that is opened again at once stays joined. */
  #closed(key: string, room: OpenRoom): void {
    if (this.#open.get(key) === room) this.#open.delete(key)
    if (this.#source !== 'socket') return
    setTimeout(() => {
      if (this.#source !== 'socket' || this.#open.has(key)) return
      this.#options.call('messages.leave', { room: room.ref }, { tries: 1 }).catch(() => undefined)
    }, leaveMilliseconds)
  }
}
