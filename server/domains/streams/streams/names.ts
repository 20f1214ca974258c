import { isRowOf } from '#server/domains/rooms/events/define'
import { roomUpdated } from '#server/domains/rooms/room-state/events/rooms'
import { roomIn } from '#server/domains/rooms/room-state/facts'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { roomKey, roomOfKey } from '#shared/kit/room-key'
import { roomOf } from './chat.ts'
import { type StoredStream, Streams } from './model.ts'
import { tellStream } from './told.ts'

/** What a stream says of itself, each under the name that its room has for it. */
const names = { title: 'name', description: 'description' } as const
export type Named = keyof typeof names

const attempts = 5

/** Has a stream say of itself what its room says, in these fields, and tells who watches. Of changes at once, the last one of the room holds. Throws CONFLICT where others always come between. */
export async function sayAsItsRoom(node: Node, id: string, fields: readonly Named[]): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
    const room = await node.log.ask(roomKey(roomOf(id)), roomIn)
    if (!stream || !room) return
    const said = Object.fromEntries(fields.map((field) => [field, room[names[field]] ?? null]))
    if (fields.every((field) => stream[field] === said[field])) return
    const { matchedCount } = await Streams.updateOne({ _id: id, v: stream.v }, { $set: said, $inc: { v: 1 } })
    if (matchedCount === 1) return tellStream(node, id)
  }
  throw new AppError('CONFLICT')
}

/** Whoever changes the room of a stream over any door changes the stream. Done by the node that has appended the row. */
export function followRooms(node: Node): () => void {
  node.log.onRows((key, rows, isOurs) => {
    const id = roomOfKey(key).id ?? ''
    if (!isOurs || key !== roomKey(roomOf(id))) return
    const changed = rows
      .filter((row) => isRowOf(row, roomUpdated))
      .flatMap(({ body }) => Object.keys(Object(body.patch)))
    const fields = (Object.keys(names) as Named[]).filter((field) => changed.includes(names[field]))
    if (fields.length === 0) return
    sayAsItsRoom(node, id, fields).catch((error: unknown) =>
      node.logger.warn({ error, stream: id }, 'a stream was not named as its room'),
    )
  })
  return () => {}
}
