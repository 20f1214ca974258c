import { randomInt } from 'node:crypto'
import { eventsOf } from '#server/domains/rooms/messages/pages'
import type { Node } from '#server/kernel/context'
import { withLease } from '#server/kernel/lease'
import { rowById } from '#server/log/store'
import type { RoomKey, Row } from '#server/log/types'
import { roomEventTypes } from '#shared/api/room-events'
import { askedAgain, giveUp, note } from './deliveries.ts'
import { heldHook, hookLease, stop } from './lease.ts'
import { never, type StoredPosition, type StoredWebhook, WebhookPositions, Webhooks } from './model.ts'
import { atOnce, done, duePositions, move } from './positions.ts'
import { headFor, saysRightLost } from './rights.ts'
import { type Sent, send } from './send.ts'
import type { TurnEnd } from './turns.ts'

const second = 1_000
const hour = 3_600 * second
const day = 24 * hour
/** Before the second attempt; doubled before each one after it, up to an hour. */
const backOffMilliseconds = 5 * second
const pageRows = 25
/** Then others have their turn, and it goes on after them. An attempt that has begun is waited for. */
const turnMilliseconds = 10 * second
/** A receiver that takes longer is slow. */
const slowMilliseconds = 2 * second

/**
 * `through`: nothing is left. `more`: there is more, of this room or after this turn. `failed`: an attempt did, so that others have their turn
 * first. `lost`: it is somebody else's, paused or gone.
 */
type End = 'through' | 'more' | 'failed' | 'lost'

interface Turn {
  signal: AbortSignal
  isOver(): boolean
  /** Was the last attempt slow, or not taken? Null before the first. */
  isSlow: boolean | null
}

/** Sends what a webhook is behind in its rooms, one event at a time, those of each room in their order. */
export const deliver = (node: Node, hook: StoredWebhook, signal: AbortSignal): Promise<TurnEnd> =>
  withLease(hookLease, node, hook, async (held) => {
    const begun = performance.now()
    const turn: Turn = { signal, isOver: () => performance.now() - begun >= turnMilliseconds, isSlow: null }
    const replayed = await replay(node, hook, turn)
    const end = replayed === 'through' ? await roomByRoom(node, hook, turn) : replayed
    const due_at = end === 'through' ? await nextDue(node, hook._id) : end === 'more' ? atOnce : soon(node)
    await held.end({ $set: { holder: null, due_at } })
    return { isMore: end === 'more', isSlow: turn.isSlow }
  })

const soon = (node: Node) => new Date(node.now() + second)

/** When the next attempt is due of what failed. */
async function nextDue(node: Node, webhook: string): Promise<Date> {
  const waiting = { webhook, due_at: { $gt: new Date(node.now()) } }
  const next = await WebhookPositions.findOne(waiting).sort({ due_at: 1 }).lean<StoredPosition>()
  return next?.due_at ?? never
}

/** A page of each room after the other, so that a loud one holds up no other. */
async function roomByRoom(node: Node, hook: StoredWebhook, turn: Turn): Promise<End> {
  for (let left = await duePositions(node, hook); left.length > 0; ) {
    const further: StoredPosition[] = []
    for (const position of left) {
      const { end, at } = await page(node, hook, position, turn)
      if (end === 'failed' || end === 'lost') return end
      if (turn.isOver()) return 'more'
      if (end === 'more') further.push(at)
    }
    left = further
  }
  return 'through'
}

async function page(
  node: Node,
  hook: StoredWebhook,
  position: StoredPosition,
  turn: Turn,
): Promise<{ end: End; at: StoredPosition }> {
  const { room } = position
  const ended = (end: End) => ({ end, at: position })
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
      if (sent.error !== null) return ended(await failed(node, now, { at, passed, ...tried }))
      const next = await done(node, at, row.seq)
      if (next === null) return ended('lost')
      await taken(node, now, tried)
      at = next
    }
    passed = row.seq
    if (turn.isOver()) break
  }
  const last = passed > at.seq ? await done(node, at, passed) : at
  return last === null ? ended('lost') : { end: last.seq < head ? 'more' : 'through', at: last }
}

const isWanted = ({ kinds }: StoredWebhook, { type }: Row): boolean =>
  type in roomEventTypes && (kinds === null || kinds.includes(type))

/** The webhook as it is now, still ours and allowed; null where it is not. */
async function mayStillSend(node: Node, hook: StoredWebhook, room: RoomKey): Promise<StoredWebhook | null> {
  const now = await heldHook(hook)
  return now !== null && (await headOrStop(node, now, room)) !== null ? now : null
}

/** The head of a room; null where its events may not be sent any more, which stops the webhook. */
async function headOrStop(node: Node, hook: StoredWebhook, room: RoomKey): Promise<number | null> {
  try {
    return await headFor(node, hook.account, room)
  } catch (error) {
    if (!saysRightLost(error)) throw error
    await stop(node, hook, 'RIGHT_LOST', room)
    return null
  }
}

async function sendRow(node: Node, hook: StoredWebhook, row: Row, turn: Turn): Promise<Sent> {
  const [event] = await eventsOf([row], true)
  const sent = await send(node, hook, { id: row._id, ...event }, turn.signal)
  turn.isSlow = sent.error !== null || sent.milliseconds >= slowMilliseconds
  return sent
}

interface Tried {
  row: Row
  sent: Sent
  attempts: number
}

async function taken(node: Node, { _id, failing_since }: StoredWebhook, { row, sent, attempts }: Tried): Promise<void> {
  await note(node, _id, row, sent, { state: 'delivered', attempts, next_at: null })
  if (failing_since !== null) await Webhooks.updateOne({ _id }, { $set: { failing_since: null } })
}

/** An event that was not taken for a day is given up, and its room goes on. A receiver that takes nothing for five days is sent nothing more. */
async function failed(
  node: Node,
  hook: StoredWebhook,
  { at, passed, row, sent, attempts }: Tried & { at: StoredPosition; passed: number },
): Promise<End> {
  const now = node.now()
  const since = at.failing_since?.getTime() ?? now
  const isDead = now - since >= day
  const next_at = new Date(now + waitBefore(attempts, sent.retryAfterSeconds))
  const waiting = { seq: passed, attempts, failing_since: new Date(since), due_at: next_at }
  const moved = isDead ? await done(node, at, row.seq) : await move(at, waiting)
  if (moved === null) return 'lost'
  await note(node, hook._id, row, sent, {
    attempts,
    ...(isDead ? { state: 'dead', next_at: null } : { state: 'retrying', next_at }),
  })
  return isStopped(node, hook, sent)
}

async function isStopped(node: Node, hook: StoredWebhook, sent: Sent): Promise<End> {
  const { _id, failing_since } = hook
  const now = node.now()
  const isOver = failing_since !== null && now - failing_since.getTime() >= 5 * day
  const reason = sent.status === 410 ? 'GONE' : isOver ? 'FAILING' : null
  if (failing_since === null) await Webhooks.updateOne({ _id }, { $set: { failing_since: new Date(now) } })
  if (reason === null) return 'failed'
  await stop(node, hook, reason)
  return 'lost'
}

/** Give or take a quarter, so that what failed together does not come back together. What a receiver asks for counts up to an hour. */
function waitBefore(attempt: number, retryAfterSeconds: number | null): number {
  const backOff = Math.min(backOffMilliseconds * 2 ** (attempt - 1), hour)
  const asked = Math.min((retryAfterSeconds ?? 0) * second, hour)
  return Math.max(asked, Math.round((backOff * randomInt(75, 126)) / 100))
}

/** Sends what was asked for once more, beside the order of the rooms. What is not taken is dead again. */
async function replay(node: Node, hook: StoredWebhook, turn: Turn): Promise<End> {
  for (const asked of await askedAgain(hook._id)) {
    const { room, event, attempts: before } = asked
    if (!hook.rooms.includes(room)) {
      await giveUp(asked, 'The webhook has left the room')
      continue
    }
    const now = await mayStillSend(node, hook, room)
    if (now === null) return 'lost'
    const row = await rowById(room, event)
    if (row === null) {
      await giveUp(asked, 'The event is not there any more')
      continue
    }
    const sent = await sendRow(node, now, row, turn)
    const attempts = before + 1
    if (sent.error === null) await taken(node, now, { row, sent, attempts })
    else {
      await note(node, hook._id, row, sent, { state: 'dead', attempts, next_at: null })
      return isStopped(node, now, sent)
    }
    if (turn.isOver()) return 'more'
  }
  return 'through'
}
