import { roomTerms } from '#server/domains/rooms/room-state/search-index'
import { uniqueFormOf } from '#server/domains/rooms/rooms/names'
import { newId } from '#server/kernel/ids'
import { openEmbedded } from '#server/ports/database/embedded'
import { textOf } from './load.ts'

const batch = 5_000

interface Stored {
  _id: string
  seq: number
  n: number
  total: number
  cid: string
  at: number
  applied_seq: number
  body: { text: string }
}

/** Extends the log of a room to a length by copies of its last message, while its server is stopped. */
export async function growLog(
  directory: string,
  room: string,
  toLength: number,
  textAt: (steps: number) => string = (steps) => textOf(steps, 60 + (steps % 141)),
): Promise<void> {
  const store = await openEmbedded(directory)
  try {
    const events = store.db().collection('room_events')
    const heads = store.db().collection('room_heads')
    const [found] = await events.find({ room, type: 'message.created' }).sort({ seq: -1 }).limit(1).toArray()
    const last = found as unknown as Stored | undefined
    if (!last) throw new Error('The room has no message to begin with')
    for (let seq = last.seq; seq < toLength; ) {
      const size = Math.min(batch, toLength - seq)
      await events.insertMany(Array.from({ length: size }, (_, at) => after(last, seq + at + 1 - last.seq, textAt)))
      seq += size
    }
    const { seq, total } = after(last, toLength - last.seq, textAt)
    await heads.updateOne({ _id: room }, { $set: { seq, total, applied: seq } })
  } finally {
    await store.close()
  }
}

function after(last: Stored, steps: number, textAt: (steps: number) => string): Stored {
  const seq = last.seq + steps
  return {
    ...last,
    _id: newId(),
    seq,
    n: last.n + steps,
    total: last.total + steps,
    cid: `grown-${steps}`,
    at: last.at + steps,
    applied_seq: seq,
    body: { ...last.body, text: textAt(steps) },
  }
}

/** Where the rows of a room are, and which of their fields names it. */
const placesOfRooms = {
  rooms: '_id',
  members: 'room',
  room_facts: 'room',
  room_heads: '_id',
  room_events: 'room',
} as const
const roomsAtOnce = 500

/** Copies a channel and its log under each of these names, while its server is stopped. */
export async function growRooms(directory: string, id: string, names: readonly string[]): Promise<void> {
  const ids = names.map(() => newId())
  const store = await openEmbedded(directory)
  try {
    for (const [place, field] of Object.entries(placesOfRooms)) {
      const collection = store.db().collection(place)
      const originals = await collection.find({ [field]: `channel:${id}` }).toArray()
      for (let from = 0; from < names.length; from += roomsAtOnce) {
        const some = names.slice(from, from + roomsAtOnce)
        const copies = some.flatMap((name, at) => copiesOf(originals, place, id, { id: ids[from + at] ?? '', name }))
        if (copies.length > 0) await collection.insertMany(copies)
      }
    }
  } finally {
    await store.close()
  }
}

function copiesOf(originals: readonly object[], place: string, id: string, other: { id: string; name: string }) {
  const copies = JSON.parse(JSON.stringify(originals).replaceAll(id, other.id)) as { _id: string }[]
  if (place === 'room_events') return copies.map((row) => ({ ...row, _id: newId() }))
  if (place !== 'rooms') return copies
  const { name } = other
  return copies.map((row) => ({ ...row, name, unique_name: uniqueFormOf(name), terms: roomTerms({ name }) }))
}
