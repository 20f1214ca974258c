import { capabilitiesIn } from '#server/domains/moderation/verdict/verdict'
import { eventsOf, rowsAfter } from '#server/domains/rooms/messages/pages'
import { readableRoomOf } from '#server/domains/rooms/room-state/access'
import { rulesIn } from '#server/domains/rooms/room-state/facts'
import { senderFactsOf } from '#server/domains/rooms/room-state/sender-facts'
import { type Action, audiences, type Connection, type Context, type Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import type { RoomKey, Row, View } from '#server/log/types'
import { leanBatch, leanEvent } from '#shared/api/lean'
import type { RoomEvent } from '#shared/api/room-events'
import { streamChatClosed, streamRoomEvent, streamRoomEvents } from '#shared/api/stream-events'
import type { streams as contract } from '#shared/api/streams'
import { sendables } from '#shared/api/verdict'
import { AppError, type ErrorCode } from '#shared/errors'
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

export const listen: Action<typeof contract.listen> = async ({ stream_id }, context) => {
  const { connection } = context
  await streamOf(stream_id)
  if (!connection) throw new AppError('VALIDATION_ERROR', { message: 'Listen over a socket' })
  const key = keyOf(stream_id)
  const head = await hear(context, connection, key, ({ epoch, seq }) => ({ epoch, head_seq: seq }))
  // Who was taken out meanwhile has been told so, and must not be told afterwards that they listen.
  context.onAnswer(() => {
    if (!connection.has(audiences.room(key))) throw new AppError('NOT_A_MEMBER')
  })
  return { room: roomOfKey(key), ...head }
}

/** The connection hears the room before its head is read, so that nothing falls between the two. */
async function hear<Read>(
  { node, caller }: Context,
  connection: Connection,
  key: RoomKey,
  read: (view: View, now: number) => Read,
): Promise<Read> {
  const audience = audiences.room(key)
  const release = await node.log.hold(key)
  let isOver = false
  try {
    return await node.log.ask(
      key,
      (view, now) => {
        readableRoomOf(view, caller.account, now)
        return read(view, now)
      },
      () => {
        if (isOver || !connection.isOpen) throw new AppError('SERVICE_UNAVAILABLE')
        connection.join(audience)
        const chats = chatsOf(connection)
        if (chats.has(key)) release()
        else chats.set(key, release)
      },
    )
  } catch (error) {
    isOver = true
    release()
    throw error
  }
}

export const unheard = { chat: null, rules: null, capabilities: null, next_send_at: null }
const mostMissed = 200
const backlog = 50
/** Who may not read the chat, or whose connection holds as many rooms as it may, watches without it. */
const without: readonly ErrorCode[] = [
  'UNAUTHORIZED',
  'NOT_A_MEMBER',
  'BANNED',
  'ROOM_NOT_FOUND',
  'RATE_LIMIT_EXCEEDED',
]
const guestsMay = Object.fromEntries(sendables.map((one) => [one, { ok: false, code: 'UNAUTHORIZED' }]))

/** The chat for who begins to watch: what comes is told from now on, and this is what was missed. */
export async function watchChat(context: Context, connection: Connection, stream: string, after: number | undefined) {
  const { node, caller } = context
  const key = keyOf(stream)
  const read = (view: View, now: number) => ({
    head: { epoch: view.epoch, head_seq: view.seq },
    rules: rulesIn(view),
    may: caller.account === null ? null : capabilitiesIn(senderFactsOf(view, { node, account: caller.account, now })),
  })
  const heard = await hear(context, connection, key, read).catch((error: unknown) => {
    if (error instanceof AppError && without.includes(error.code)) return null
    throw error
  })
  if (!heard) return unheard
  const { head, rules, may } = heard
  const isLost = after !== undefined && after > head.head_seq
  const from_seq = after === undefined || isLost ? Math.max(0, head.head_seq - backlog) : after
  const missed = Math.min(mostMissed, head.head_seq - from_seq)
  const rows = missed > 0 ? await rowsAfter(node, key, from_seq, missed) : []
  const events = await eventsOf(rows, false)
  // Who was taken out meanwhile has been told so.
  if (!connection.has(audiences.room(key))) return unheard
  const complete = (rows.at(-1)?.seq ?? from_seq) >= head.head_seq
  return {
    chat: { ...head, from_seq, events, complete, ...(isLost ? { reset: true } : {}) },
    rules,
    capabilities: may?.capabilities ?? guestsMay,
    next_send_at: may?.next_send_at ?? null,
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
    readableRoomOf(view, account, now)
    return null
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}
