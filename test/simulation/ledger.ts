import { keys, messageFactOf } from '#server/domains/rooms/room-state/facts'
import { projection } from '#server/domains/rooms/room-state/projection'
import type { Change, Fact, RoomKey, Row } from '#server/log/types'
import { roomFact } from './product.ts'

interface Step {
  seq: number
  /** When the row that set this value was stored. */
  from: number
  value: Fact
}

/** The stored rows of every log, and every value that each fact has had. */
export class Ledger {
  readonly #logs = new Map<RoomKey, Row[]>()
  readonly #storedAt = new Map<string, number>()
  readonly #courses = new Map<RoomKey, Map<string, Step[]>>()

  log(room: RoomKey): readonly Row[] {
    return this.#logs.get(room) ?? []
  }

  rooms(): RoomKey[] {
    return [...this.#logs.keys()]
  }

  /** The facts of a room as they are now. */
  facts(room: RoomKey): [key: string, value: Fact][] {
    return [...(this.#courses.get(room) ?? [])].map(([key, course]) => [key, course.at(-1)?.value ?? null])
  }

  now(room: RoomKey, key: string): Fact {
    return this.#course(room, key).at(-1)?.value ?? null
  }

  /** The last row that was applied to a fact. */
  seqOf(room: RoomKey, key: string): number {
    return this.#course(room, key).at(-1)?.seq ?? 0
  }

  /** The value as of the rows before this one. */
  before(room: RoomKey, key: string, seq: number): Fact {
    return this.#course(room, key).findLast((step) => step.seq < seq)?.value ?? null
  }

  /** True if the condition held at any time in this interval. */
  was(room: RoomKey, key: string, [from, to]: readonly [number, number], is: (value: Fact) => boolean): boolean {
    const course = this.#course(room, key)
    for (let index = course.length - 1; ; index--) {
      const step = course[index]
      if (!step) return is(null)
      if (step.from <= to && is(step.value)) return true
      if (step.from <= from) return false
    }
  }

  /** When the row with this key was stored. */
  storedAt(room: RoomKey, sender: string, cid: string): number | undefined {
    return this.#storedAt.get(`${room} ${sender} ${cid}`)
  }

  take(row: Row, at: number): void {
    const log = this.#logs.get(row.room) ?? []
    this.#logs.set(row.room, log)
    log.push(row)
    this.#storedAt.set(`${row.room} ${row.sender} ${row.cid}`, at)
    for (const change of followsFrom(row)) {
      const value =
        'value' in change
          ? change.value
          : change.patch(this.now(row.room, change.key) ?? foundedAs(row.room, change.key))
      this.#course(row.room, change.key).push({ seq: row.seq, from: at, value })
    }
  }

  #course(room: RoomKey, key: string): Step[] {
    const courses = this.#courses.get(room) ?? new Map<string, Step[]>()
    this.#courses.set(room, courses)
    const course = courses.get(key) ?? []
    courses.set(key, course)
    return course
  }
}

/** The changes of facts by a row; none by a row that cannot be applied. A message is its own record. */
export function followsFrom(row: Row): Change[] {
  const own = { key: keys.message(row._id), value: messageFactOf(row) as unknown as Fact }
  try {
    return [...(row.type === 'message.created' ? [own] : []), ...projection.changes(row)]
  } catch {
    return []
  }
}

const foundedAs = (room: RoomKey, key: string): Fact =>
  key === keys.room ? roomFact(room.slice('channel:'.length)) : null
