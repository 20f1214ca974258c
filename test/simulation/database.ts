import { AsyncLocalStorage } from 'node:async_hooks'
import { records } from '#server/domains/rooms/room-state/records'
import { GLOBAL } from '#server/log/index'
import type { Records, RoomKey, Row } from '#server/log/types'
import type { Document } from '#server/ports/database/embedded/values'
import { Memory } from '#test/log/memory-store'
import { Collections, type Table, type Tables } from './collections.ts'
import { roomFact } from './product.ts'
import type { World } from './world.ts'

type OnRecord = (room: RoomKey, key: string, seq: number) => void

/** One database: the log, and beside it the collections in which the records of the product are kept. */
export class Database {
  readonly memory = new Memory()
  readonly collections: Collections
  /** The snapshot that reads see, if it differs from the current state. */
  readonly #seen = new AsyncLocalStorage<Tables>()

  constructor(world: World, rooms: readonly RoomKey[], mishaps: { torn: number }, onRecord: OnRecord) {
    this.collections = new Collections(world, { lost: 0, ...mishaps }, (name, before, after) => {
      const record = recordOf(name, after)
      if (record && record.seq !== (before && recordOf(name, before))?.seq)
        onRecord(record.room, record.key, record.seq)
    })
    this.collections.seen = () => this.#seen.getStore()
    this.collections.adopt('room_events', rowsOf(this.memory))
    this.collections.connect()
    for (const room of rooms) this.collections.put('rooms', roomDocument(room))
  }

  /** The records as they are now, or as they were when these tables were copied. */
  load(room: RoomKey, keys: readonly string[], tables: Tables | undefined): ReturnType<Records['load']> {
    return tables ? this.#seen.run(tables, () => records.load(room, keys)) : records.load(room, keys)
  }

  /** A copy of the tables, over a copy of the log. */
  copyOver(memory: Memory): Tables {
    return this.collections.copy().set('room_events', rowsOf(memory))
  }

  close(): void {
    this.#seen.disable()
  }
}

/** The rows of a log as the documents of a collection. */
function rowsOf(memory: Memory): Table {
  const places = new Map<string, { room: RoomKey; seq: number }>()
  const known = new Map<RoomKey, number>()
  const placeOf = (id: string) => {
    for (const [room, log] of memory.logs) {
      for (const { _id, seq } of log.slice(known.get(room) ?? 0)) places.set(_id, { room, seq })
      known.set(room, log.length)
    }
    return places.get(id)
  }
  const documents = (room: RoomKey) => memory.log(room) as unknown as Document[]
  return {
    get(id) {
      const place = placeOf(id)
      return place && documents(place.room)[place.seq - 1]
    },
    set(_id, after) {
      const row = after as unknown as Row
      memory.log(row.room)[row.seq - 1] = row
    },
    has: (id) => placeOf(id) !== undefined,
    values: () => [...memory.logs.keys()].flatMap(documents),
    in: documents,
  }
}

/** The fact that a document stores, and the last row that was applied to it. */
function recordOf(name: string, document: Document): { room: RoomKey; key: string; seq: number } | null {
  const { _id, room, applied_seq, banned_seq } = document
  if (name === 'rooms') return { room: _id, key: 'room', seq: Number(applied_seq) }
  if (name === 'room_events') return { room: String(room), key: `message:${_id}`, seq: Number(applied_seq) }
  if (name === 'accounts') return { room: GLOBAL, key: `suspension:${_id}`, seq: Number(banned_seq) }
  const key = String(_id).slice(String(room).length + 1)
  return typeof applied_seq === 'number' ? { room: String(room), key, seq: applied_seq } : null
}

function roomDocument(room: RoomKey): Document {
  const [type = '', id = ''] = room.split(':')
  return { _id: room, type, id, peers: [], applied_seq: 0, ...roomFact(id) }
}
