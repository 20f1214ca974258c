import { isRowOf } from '#server/domains/rooms/events/define'
import { roomUpdated } from '#server/domains/rooms/room-state/events/rooms'
import { roomIn } from '#server/domains/rooms/room-state/facts'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { roomKey, roomOfKey } from '#shared/kit/room-key'
import { streamRoomOf } from './chat.ts'
import { type StoredStream, Streams } from './model.ts'
import { notifyWatchers } from './notices.ts'

/** The fields of a stream that follow its room, with the name of each in the room. */
const names = { title: 'name', description: 'description' } as const
export type NamedField = keyof typeof names

const attempts = 5

/** Copies these fields from the room to the stream, and notifies watchers. Throws CONFLICT after too many races. */
export async function copyRoomNames(node: Node, id: string, fields: readonly NamedField[]): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const stream = await Streams.findOne({ _id: id }).lean<StoredStream>()
    const room = await node.log.ask(roomKey(streamRoomOf(id)), roomIn)
    if (!stream || !room) return
    const copied = Object.fromEntries(fields.map((field) => [field, room[names[field]] ?? null]))
    if (fields.every((field) => stream[field] === copied[field])) return
    const { matchedCount } = await Streams.updateOne({ _id: id, v: stream.v }, { $set: copied, $inc: { v: 1 } })
    if (matchedCount === 1) return notifyWatchers(node, id)
  }
  throw new AppError('CONFLICT')
}

/** Copies changes of the room to its stream. The node that appended the row does it. */
export function followRoomNames(node: Node): () => void {
  node.log.onRows((key, rows, isOurs) => {
    const id = roomOfKey(key).id ?? ''
    if (!isOurs || key !== roomKey(streamRoomOf(id))) return
    const changed = rows
      .filter((row) => isRowOf(row, roomUpdated))
      .flatMap(({ body }) => Object.keys(Object(body.patch)))
    const fields = (Object.keys(names) as NamedField[]).filter((field) => changed.includes(names[field]))
    if (fields.length === 0) return
    copyRoomNames(node, id, fields).catch((error: unknown) =>
      node.logger.warn({ error, stream: id }, 'a stream was not named as its room'),
    )
  })
  return () => {}
}
