import { randomInt } from 'node:crypto'
import { eventsOf } from '#server/domains/rooms/messages/pages'
import { actingRoom, mayRead } from '#server/domains/rooms/room-state/access'
import { ranks } from '#server/domains/rooms/room-state/standing'
import type { Node } from '#server/kernel/context'
import { type Lease, withLease } from '#server/kernel/work/lease'
import { rowById } from '#server/log/store'
import type { RoomKey, Row } from '#server/log/types'
import { roomEventTypes } from '#shared/api/rooms/room-events'
import { AppError, type ErrorCode } from '#shared/errors'
import {
  neverDue,
  type StopReason,
  type StoredPosition,
  type StoredWebhook,
  WebhookPositions,
  Webhooks,
} from './model.ts'
import {
  alwaysDue,
  duePositions,
  movePosition,
  passEvent,
  releaseRoomSlots,
  roomSlotsOf,
  type WebhookTurnEnd,
} from './positions.ts'
import { endReplay, noteDelivery, postToHook, requestedReplays, type SendResult } from './send.ts'

/** Longer than one attempt. A free webhook may be delivered before it is due, when an event wakes it. */
export const hookLease: Lease<StoredWebhook> = {
  model: Webhooks,
  holder: 'holder',
  held_until: 'due_at',
  milliseconds: 20_000,
  isFreeUnheld: true,
}

/** The current webhook; null if its lease is lost, or it is paused or gone. */
const heldHook = ({ _id, holder }: StoredWebhook): Promise<StoredWebhook | null> =>
  Webhooks.findOne({ _id, holder, enabled: true }).lean<StoredWebhook>()

/** The fields of a stopped webhook, until its owner enables it. The holder releases it after its request. */
export const stoppedFields = (node: Node, stopped_reason: StopReason, stopped_room: RoomKey | null = null) => {
  const at = new Date(node.now())
  return { enabled: false, stopped_reason, stopped_room, stopped_at: at, updated_at: at }
}

/** Stops a leased webhook unless it was paused, and releases its slots. */
async function stopHook(node: Node, { _id, holder }: StoredWebhook, reason: StopReason, room?: RoomKey): Promise<void> {
  const places = await roomSlotsOf(_id)
  const { modifiedCount } = await Webhooks.updateOne(
    { _id, holder, enabled: true },
    { $set: stoppedFields(node, reason, room) },
  )
  if (modifiedCount === 0) return
  node.metrics.webhookStopped(reason)
  await releaseRoomSlots(places)
}

/** Makes free webhooks due at once. */
export const makeHooksDue = (node: Node, ids: readonly string[]) =>
  Webhooks.updateMany(
    { _id: { $in: [...ids] }, enabled: true, holder: null },
    { $min: { due_at: new Date(node.now()) } },
  )

/** A single node releases its own leases after a crash. */
export const releaseAllHooks = (node: Node) =>
  Webhooks.updateMany({ holder: { $ne: null } }, { $set: { holder: null, due_at: new Date(node.now()) } })

/** The head of a room for its owner and admins, and server admins who may read. Throws ROOM_NOT_FOUND, BANNED, SUSPENDED, FORBIDDEN. */
export const roomHeadFor = (node: Node, account: string, room: RoomKey): Promise<number> =>
  node.log.ask(room, (view, now) => {
    const { standing } = actingRoom(view, account, now)
    if (!standing.isModerator || standing.rank < ranks.admin || !mayRead(view, standing))
      throw new AppError('FORBIDDEN', { message: 'Only owners and admins of a room may have its events sent' })
    return view.seq
  })

const rightLost: readonly ErrorCode[] = ['ROOM_NOT_FOUND', 'BANNED', 'SUSPENDED', 'FORBIDDEN']

/** Whether the error means a lost right, not a failed check. */
const isRightLost = (error: unknown): boolean => error instanceof AppError && rightLost.includes(error.code)

const second = 1_000
const hour = 3_600 * second
const day = 24 * hour
/** The wait before the second attempt; doubled for each later one, up to an hour. */
const backOffMilliseconds = 5 * second
const pageRows = 25
/** The length of a turn, after which others follow. A running attempt is awaited. */
const turnMilliseconds = 10 * second
const slowMilliseconds = 2 * second

/** `through`: nothing is left. `more`: there is more. `failed`: an attempt failed, so others are next. `lost`: the lease is gone. */
type DeliveryEnd = 'through' | 'more' | 'failed' | 'lost'

interface Turn {
  signal: AbortSignal
  isOver(): boolean
  /** Whether the last attempt was slow or failed; null before the first. */
  isSlow: boolean | null
}

/** Sends pending events of a webhook one at a time, those of each room in order. */
export const deliverWebhook = (node: Node, hook: StoredWebhook, signal: AbortSignal): Promise<WebhookTurnEnd> =>
  withLease(hookLease, node, hook, async (held) => {
    const begun = performance.now()
    const turn: Turn = { signal, isOver: () => performance.now() - begun >= turnMilliseconds, isSlow: null }
    const replayed = await replayDeliveries(node, hook, turn)
    const end = replayed === 'through' ? await sendRooms(node, hook, turn) : replayed
    const due_at = end === 'through' ? await nextDue(node, hook._id) : end === 'more' ? alwaysDue : soon(node)
    await held.end({ $set: { holder: null, due_at } })
    return { isMore: end === 'more', isSlow: turn.isSlow }
  })

const soon = (node: Node) => new Date(node.now() + second)

/** When the next retry is due. */
async function nextDue(node: Node, webhook: string): Promise<Date> {
  const waiting = { webhook, due_at: { $gt: new Date(node.now()) } }
  const next = await WebhookPositions.findOne(waiting).sort({ due_at: 1 }).lean<StoredPosition>()
  return next?.due_at ?? neverDue
}

/** Sends a page of each room in turn, so that a busy one delays no other. */
async function sendRooms(node: Node, hook: StoredWebhook, turn: Turn): Promise<DeliveryEnd> {
  for (let left = await duePositions(node, hook); left.length > 0; ) {
    const further: StoredPosition[] = []
    for (const position of left) {
      const { end, at } = await sendPage(node, hook, position, turn)
      if (end === 'failed' || end === 'lost') return end
      if (turn.isOver()) return 'more'
      if (end === 'more') further.push(at)
    }
    left = further
  }
  return 'through'
}

async function sendPage(
  node: Node,
  hook: StoredWebhook,
  position: StoredPosition,
  turn: Turn,
): Promise<{ end: DeliveryEnd; at: StoredPosition }> {
  const { room } = position
  const ended = (end: DeliveryEnd) => ({ end, at: position })
  const head = await headOrStop(node, hook, room)
  if (head === null) return ended('lost')
  const rows =
    head > position.seq ? await node.log.read(room, position.seq, Math.min(pageRows, head - position.seq)) : []
  let at = position
  let passed = position.seq
  let current = await heldHook(hook)
  for (const row of rows) {
    if (current === null || !current.rooms.includes(room)) return ended('lost')
    if (isWanted(current, row)) {
      const now = await mayStillSend(node, hook, room)
      if (now === null) return ended('lost')
      current = now
      if (!isWanted(now, row)) continue
      const sent = await sendRow(node, now, row, turn)
      const tried = { row, sent, attempts: at.attempts + 1 }
      if (sent.error !== null) return ended(await markFailed(node, now, { at, passed, ...tried }))
      const next = await passEvent(node, at, row.seq)
      if (next === null) return ended('lost')
      await markDelivered(node, now, tried)
      at = next
    }
    passed = row.seq
    if (turn.isOver()) break
  }
  const last = passed > at.seq ? await passEvent(node, at, passed) : at
  return last === null ? ended('lost') : { end: last.seq < head ? 'more' : 'through', at: last }
}

const isWanted = ({ kinds }: StoredWebhook, { type }: Row): boolean =>
  type in roomEventTypes && (kinds === null || kinds.includes(type))

/** The current webhook; null if it is not ours, or not allowed any more. */
async function mayStillSend(node: Node, hook: StoredWebhook, room: RoomKey): Promise<StoredWebhook | null> {
  const now = await heldHook(hook)
  return now !== null && (await headOrStop(node, now, room)) !== null ? now : null
}

/** The head of a room. Null if the right to its events is lost, which stops the webhook. */
async function headOrStop(node: Node, hook: StoredWebhook, room: RoomKey): Promise<number | null> {
  try {
    return await roomHeadFor(node, hook.account, room)
  } catch (error) {
    if (!isRightLost(error)) throw error
    await stopHook(node, hook, 'RIGHT_LOST', room)
    return null
  }
}

async function sendRow(node: Node, hook: StoredWebhook, row: Row, turn: Turn): Promise<SendResult> {
  const [event] = await eventsOf([row], true)
  const sent = await postToHook(node, hook, { id: row._id, ...event }, turn.signal)
  turn.isSlow = sent.error !== null || sent.milliseconds >= slowMilliseconds
  return sent
}

interface DeliveryAttempt {
  row: Row
  sent: SendResult
  attempts: number
}

async function markDelivered(
  node: Node,
  { _id, failing_since }: StoredWebhook,
  { row, sent, attempts }: DeliveryAttempt,
): Promise<void> {
  await noteDelivery(node, _id, row, sent, { state: 'delivered', attempts, next_at: null })
  if (failing_since !== null) await Webhooks.updateOne({ _id }, { $set: { failing_since: null } })
}

/** An event that fails for a day is given up, and its room continues. Five days of failures stop the webhook. */
async function markFailed(
  node: Node,
  hook: StoredWebhook,
  { at, passed, row, sent, attempts }: DeliveryAttempt & { at: StoredPosition; passed: number },
): Promise<DeliveryEnd> {
  const now = node.now()
  const since = at.failing_since?.getTime() ?? now
  const isDead = now - since >= day
  const next_at = new Date(now + waitBefore(attempts, sent.retryAfterSeconds))
  const waiting = { seq: passed, attempts, failing_since: new Date(since), due_at: next_at }
  const moved = isDead ? await passEvent(node, at, row.seq) : await movePosition(at, waiting)
  if (moved === null) return 'lost'
  await noteDelivery(node, hook._id, row, sent, {
    attempts,
    ...(isDead ? { state: 'dead', next_at: null } : { state: 'retrying', next_at }),
  })
  return isStopped(node, hook, sent)
}

async function isStopped(node: Node, hook: StoredWebhook, sent: SendResult): Promise<DeliveryEnd> {
  const { _id, failing_since } = hook
  const now = node.now()
  const isOver = failing_since !== null && now - failing_since.getTime() >= 5 * day
  const reason = sent.status === 410 ? 'GONE' : isOver ? 'FAILING' : null
  if (failing_since === null) await Webhooks.updateOne({ _id }, { $set: { failing_since: new Date(now) } })
  if (reason === null) return 'failed'
  await stopHook(node, hook, reason)
  return 'lost'
}

/** Varies by a quarter, so that failures do not return together. `Retry-After` counts up to an hour. */
function waitBefore(attempt: number, retryAfterSeconds: number | null): number {
  const backOff = Math.min(backOffMilliseconds * 2 ** (attempt - 1), hour)
  const asked = Math.min((retryAfterSeconds ?? 0) * second, hour)
  return Math.max(asked, Math.round((backOff * randomInt(75, 126)) / 100))
}

/** Replays requested deliveries, apart from the order of rooms. A failed one is dead again. */
async function replayDeliveries(node: Node, hook: StoredWebhook, turn: Turn): Promise<DeliveryEnd> {
  for (const asked of await requestedReplays(hook._id)) {
    const { room, event, attempts: before } = asked
    if (!hook.rooms.includes(room)) {
      await endReplay(asked, 'The webhook has left the room')
      continue
    }
    const now = await mayStillSend(node, hook, room)
    if (now === null) return 'lost'
    const row = await rowById(room, event)
    if (row === null) {
      await endReplay(asked, 'The event is not there any more')
      continue
    }
    const sent = await sendRow(node, now, row, turn)
    const attempts = before + 1
    if (sent.error === null) await markDelivered(node, now, { row, sent, attempts })
    else {
      await noteDelivery(node, hook._id, row, sent, { state: 'dead', attempts, next_at: null })
      return isStopped(node, now, sent)
    }
    if (turn.isOver()) return 'more'
  }
  return 'through'
}
