import { capabilitiesIn } from '#server/domains/moderation/verdict/verdict'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import { eventsOf, rowsAfter } from '#server/domains/rooms/messages/pages'
import { readableRoomOf } from '#server/domains/rooms/room-state/access'
import { rulesIn } from '#server/domains/rooms/room-state/facts'
import { senderFactsOf } from '#server/domains/rooms/room-state/judge-draft'
import { type Action, audiences, type Connection, type Context, type Node, signedIn } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { RoomKey, Row, View } from '#server/log/types'
import { sendables } from '#shared/api/moderation/verdict'
import { leanBatch, leanEvent } from '#shared/api/rooms/lean'
import type { Message } from '#shared/api/rooms/message'
import { messages } from '#shared/api/rooms/messages'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { streamChatClosed, streamRoomEvent, streamRoomEvents } from '#shared/api/streams/stream-events'
import type { StreamChatMessage } from '#shared/api/streams/stream-records'
import type { streams as contract } from '#shared/api/streams/streams'
import { AppError, type ErrorCode } from '#shared/errors'
import { roomKey, roomOfKey } from '#shared/kit/primitives'
import { signForm } from '#shared/kit/reaction-sign'
import { visibleStream } from './life.ts'

export const streamRoomOf = (stream: string) => ({ type: 'stream' as const, id: stream })

export const chat: Action<typeof contract.chat> = async ({ id, since, ...page }, context) => {
  const { account } = signedIn(context)
  await visibleStream(context, id)
  const { messages: found, has_more } = await context.node.callAs(account, messages.history, {
    ...{ room: streamRoomOf(id), ...page },
    ...(since === undefined ? {} : { after: since }),
  })
  return { messages: await rowsOf(context.node, found), has_more }
}

/** The sender becomes a member of the room, as moderation applies to members. */
export const say: Action<typeof contract.say> = async ({ id, message, type, client_msg_id }, context) => {
  const { account } = signedIn(context)
  const { node } = context
  await visibleStream(context, id)
  const text = type === 'reaction' ? signForm(message) : message
  if (type === 'reaction' && !isReaction(text))
    throw new AppError('VALIDATION_ERROR', { message: 'message: a reaction is one emoji' })
  const { message: sent } = await node.callAs(account, messages.send, {
    room: streamRoomOf(id),
    text,
    ...(client_msg_id === undefined ? {} : { client_msg_id }),
  })
  const [row] = await rowsOf(node, [sent])
  if (!row) throw new AppError('MESSAGE_NOT_FOUND')
  return { message: row }
}

const isReaction = (text: string) => /^\p{RGI_Emoji}$/v.test(text)

async function rowsOf(node: Node, all: readonly Message[]): Promise<StreamChatMessage[]> {
  const left = all.filter(({ is_deleted }) => !is_deleted)
  const profiles = await profilesOf(
    node,
    left.map(({ sender_address }) => sender_address),
  )
  return left.map(({ id, seq, room, sender_address, content, created_at }) => {
    const profile = profiles.get(sender_address)
    const sign = signForm(content)
    const type = isReaction(sign) ? ('reaction' as const) : ('message' as const)
    const text = type === 'reaction' ? sign : content
    return {
      ...{ id, seq, stream_id: room.id ?? '', user_address: sender_address, message: text, content: text, created_at },
      type,
      user: profile
        ? {
            username: profile.username,
            display_name: profile.display_name,
            ens_name: null,
            avatar_url: profile.avatar_url,
          }
        : null,
    }
  })
}

const namespace = '/streams'
const keyOf = (stream: string): RoomKey => roomKey(streamRoomOf(stream))

/** The chats that a connection listens to, each with the function that releases its room. */
function chatsOf(connection: Connection): Map<RoomKey, () => void> {
  const known = connection.memory.get('chats') as Map<RoomKey, () => void> | undefined
  if (known) return known
  const chats = new Map<RoomKey, () => void>()
  connection.memory.set('chats', chats)
  connection.onClose(() => {
    for (const key of [...chats.keys()]) leaveRoom(connection, key)
  })
  return chats
}

export const listen: Action<typeof contract.listen> = async ({ stream_id }, context) => {
  const { connection } = context
  await visibleStream(context, stream_id)
  if (!connection) throw new AppError('VALIDATION_ERROR', { message: 'Listen over a socket' })
  const key = keyOf(stream_id)
  const head = await joinRoom(context, connection, key, ({ epoch, seq }) => ({ epoch, head_seq: seq }))
  // A reader who was removed meanwhile has been notified, so the answer must not say that they listen.
  context.onAnswer(() => {
    if (!connection.has(audiences.room(key))) throw new AppError('NOT_A_MEMBER')
  })
  return { room: roomOfKey(key), ...head }
}

/** The connection joins before the head is read, so that no event is missed between the two. */
async function joinRoom<Read>(
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

export const emptyChat = { chat: null, rules: null, capabilities: null, next_send_at: null }
const maxMissed = 200
const backlog = 50
/** With these refusals, a viewer watches without the chat. */
const codesWithoutChat: readonly ErrorCode[] = [
  'UNAUTHORIZED',
  'NOT_A_MEMBER',
  'BANNED',
  'ROOM_NOT_FOUND',
  'RATE_LIMIT_EXCEEDED',
]
const guestCapabilities = Object.fromEntries(sendables.map((one) => [one, { ok: false, code: 'UNAUTHORIZED' }]))

/** The chat for a new watcher: the missed events now, and later events as they come. */
export async function watchChat(context: Context, connection: Connection, stream: string, after: number | undefined) {
  const { node, caller } = context
  const key = keyOf(stream)
  const read = (view: View, now: number) => ({
    head: { epoch: view.epoch, head_seq: view.seq },
    rules: rulesIn(view),
    may: caller.account === null ? null : capabilitiesIn(senderFactsOf(view, { node, account: caller.account, now })),
  })
  const joined = await joinRoom(context, connection, key, read).catch((error: unknown) => {
    if (error instanceof AppError && codesWithoutChat.includes(error.code)) return null
    throw error
  })
  if (!joined) return emptyChat
  const { head, rules, may } = joined
  const isLost = after !== undefined && after > head.head_seq
  const from_seq = after === undefined || isLost ? Math.max(0, head.head_seq - backlog) : after
  const missed = Math.min(maxMissed, head.head_seq - from_seq)
  const rows = missed > 0 ? await rowsAfter(node, key, from_seq, missed) : []
  const events = await eventsOf(rows, false)
  // The reader was removed meanwhile, and notified.
  if (!connection.has(audiences.room(key))) return emptyChat
  const complete = (rows.at(-1)?.seq ?? from_seq) >= head.head_seq
  return {
    chat: { ...head, from_seq, events, complete, ...(isLost ? { reset: true } : {}) },
    rules,
    capabilities: may?.capabilities ?? guestCapabilities,
    next_send_at: may?.next_send_at ?? null,
  }
}

export const unlisten: Action<typeof contract.unlisten> = ({ stream_id }, { connection }) => {
  if (connection) leaveChat(connection, stream_id)
  return {}
}

export const leaveChat = (connection: Connection, stream: string): void => leaveRoom(connection, keyOf(stream))

function leaveRoom(connection: Connection, key: RoomKey): void {
  const chats = chatsOf(connection)
  connection.leave(audiences.room(key))
  chats.get(key)?.()
  chats.delete(key)
}

/** Batches of one room are sent in order. */
const turnsOn = nodeState(() => new Map<RoomKey, Promise<void>>())

/** Sends the events of stream chats to the listeners at this node. */
export function followChats(node: Node): void {
  const turns = turnsOn(node)
  node.log.onRows((key, rows) => {
    if (node.live.audienceSize(namespace, audiences.room(key)) === 0) return
    const turn = (turns.get(key) ?? Promise.resolve())
      .then(() => sendRows(node, key, rows))
      // The listener finds the hole at the next event, and starts again.
      .catch((error: unknown) => node.logger.warn({ error, room: key }, 'the chat of a stream could not be told'))
      .finally(() => {
        if (turns.get(key) === turn) turns.delete(key)
      })
    turns.set(key, turn)
  })
}

async function sendRows(node: Node, key: RoomKey, rows: readonly Row[]): Promise<void> {
  await removeRefused(node, key)
  const audience = audiences.room(key)
  if (node.live.audienceSize(namespace, audience) === 0) return
  const events = await eventsOf(rows, false)
  const [first] = events
  if (first && events.length === 1) node.live.send(streamRoomEvent, audience, first, () => leanEvent(first, true))
  else sendBatch(node, key, events)
}

function sendBatch(node: Node, key: RoomKey, events: RoomEvent[]): void {
  const batch = { room: roomOfKey(key), events }
  // The first event of a frame names its epoch, as a listener may have missed the frame before it.
  const hasEpoch = (event: RoomEvent) => event === events[0] || event.epoch !== events[0]?.epoch
  node.live.send(streamRoomEvents, audiences.room(key), batch, () => leanBatch(batch, hasEpoch))
}

/** Readers whom these very rows exclude get the refusal and nothing else. */
async function removeRefused(node: Node, key: RoomKey): Promise<void> {
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
    leaveRoom(reader, key)
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
