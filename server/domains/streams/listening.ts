import { eventsOf } from '#server/domains/messages/pages'
import { readBy } from '#server/domains/room-state/access'
import { type Action, audiences, type Connection, type Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import type { RoomKey, Row, View } from '#server/log/types'
import { leanBatch, leanEvent } from '#shared/api/lean'
import type { RoomEvent } from '#shared/api/room-events'
import { type streams as contract, streamChatClosed, streamRoomEvent, streamRoomEvents } from '#shared/api/streams'
import { AppError } from '#shared/errors'
import { roomKey, roomOfKey } from '#shared/kit/primitives'
import { roomOf } from './chat.ts'
import { streamOf } from './life.ts'

const namespace = '/streams'
const keyOf = (stream: string): RoomKey => roomKey(roomOf(stream))

/** The chats that a connection listens to, each with the function that lets its room go. */
function chatsOf(connection: Connection): Map<RoomKey, () => void> {
  const known = connection.memory.get('chats') as Map<RoomKey, () => void> | undefined
  if (known) return known
  const chats = new Map<RoomKey, () => void>()
  connection.memory.set('chats', chats)
  connection.onClose(() => {
    for (const key of [...chats.keys()]) leave(connection, key)
  })
  return chats
}

/** The connection hears the room before its head is read, so that nothing falls between the two. */
export const listen: Action<typeof contract.listen> = async ({ stream_id }, context) => {
  const { node, connection, caller } = context
  await streamOf(stream_id)
  if (!connection) throw new AppError('VALIDATION_ERROR', { message: 'Listen over a socket' })
  const key = keyOf(stream_id)
  const audience = audiences.room(key)
  const release = await node.log.hold(key)
  let isOver = false
  try {
    const head = await node.log.ask(
      key,
      (view, now) => {
        readBy(view, caller.account, now)
        return { epoch: view.epoch, head_seq: view.seq }
      },
      () => {
        if (isOver || !connection.isOpen) throw new AppError('SERVICE_UNAVAILABLE')
        connection.join(audience)
        const chats = chatsOf(connection)
        if (chats.has(key)) release()
        else chats.set(key, release)
      },
    )
    // Who was taken out meanwhile has been told so, and must not be told afterwards that they listen.
    context.onAnswer(() => {
      if (!connection.has(audience)) throw new AppError('NOT_A_MEMBER')
    })
    return { room: roomOfKey(key), ...head }
  } catch (error) {
    isOver = true
    release()
    throw error
  }
}

export const unlisten: Action<typeof contract.unlisten> = ({ stream_id }, { connection }) => {
  if (connection) leaveChat(connection, stream_id)
  return {}
}

export const leaveChat = (connection: Connection, stream: string): void => leave(connection, keyOf(stream))

function leave(connection: Connection, key: RoomKey): void {
  const chats = chatsOf(connection)
  connection.leave(audiences.room(key))
  chats.get(key)?.()
  chats.delete(key)
}

/** What is told of a room waits for what was told of it before. */
const turnsOn = nodeState(() => new Map<RoomKey, Promise<void>>())

/** Tells what happens in the chats of streams to those here who listen from outside the room. */
export function followChats(node: Node): void {
  const turns = turnsOn(node)
  node.log.onRows((key, rows) => {
    if (node.live.audienceSize(namespace, audiences.room(key)) === 0) return
    const turn = (turns.get(key) ?? Promise.resolve())
      .then(() => tell(node, key, rows))
      // Who listens finds the hole with the next event, and begins anew.
      .catch((error: unknown) => node.logger.warn({ error, room: key }, 'the chat of a stream could not be told'))
      .finally(() => {
        if (turns.get(key) === turn) turns.delete(key)
      })
    turns.set(key, turn)
  })
}

async function tell(node: Node, key: RoomKey, rows: readonly Row[]): Promise<void> {
  await takeOutRefused(node, key)
  const audience = audiences.room(key)
  if (node.live.audienceSize(namespace, audience) === 0) return
  const events = await eventsOf(rows, false)
  const [first] = events
  if (first && events.length === 1) node.live.send(streamRoomEvent, audience, first, () => leanEvent(first, true))
  else sendBatch(node, key, events)
}

function sendBatch(node: Node, key: RoomKey, events: RoomEvent[]): void {
  const batch = { room: roomOfKey(key), events }
  // The first of a frame says its epoch: nobody here is known to have heard the frame before it.
  const saysEpoch = (event: RoomEvent) => event === events[0] || event.epoch !== events[0]?.epoch
  node.live.send(streamRoomEvents, audiences.room(key), batch, () => leanBatch(batch, saysEpoch))
}

/** Whoever may not read the room as it stands now, be it by these very rows, is told so and nothing else. */
async function takeOutRefused(node: Node, key: RoomKey): Promise<void> {
  const readers = node.live.connectionsOf(namespace, audiences.room(key))
  const accounts = new Set(readers.map(({ account }) => account))
  const refusalsIn = (view: View) => {
    const now = Math.max(view.at, node.now())
    return new Map([...accounts].map((account) => [account, refusalOf(view, account, now)]))
  }
  const refusals = node.log.answerHere(key, refusalsIn) ?? (await node.log.ask(key, refusalsIn))
  for (const reader of readers) {
    const code = refusals.get(reader.account) ?? null
    if (code === null) continue
    leave(reader, key)
    reader.emit(streamChatClosed, { stream_id: roomOfKey(key).id ?? '', code })
  }
}

function refusalOf(view: View, account: string | null, now: number): string | null {
  try {
    readBy(view, account, now)
    return null
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}
