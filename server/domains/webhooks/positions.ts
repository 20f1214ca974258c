import type { Node } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { type StoredPosition, type StoredWebhook, WebhookPositions } from './model.ts'

/** The due time of what has not failed. */
export const atOnce = new Date(0)

const idOf = (webhook: string, room: RoomKey) => `${webhook}|${room}`

/** Begins a webhook in a room behind this event; one that has begun there stays where it is. */
export async function beginIn(webhook: string, room: RoomKey, seq: number): Promise<void> {
  const fresh = { webhook, room, seq, attempts: 0, failing_since: null, due_at: atOnce, served_at: null }
  await WebhookPositions.updateOne({ _id: idOf(webhook, room) }, { $setOnInsert: fresh }, { upsert: true }).catch(
    (error: unknown) => {
      if (!isDuplicate(error)) throw error
    },
  )
}

/** Leaves these rooms. */
export const leave = (webhook: string, rooms: readonly RoomKey[]) =>
  WebhookPositions.deleteMany({ webhook, room: { $in: [...rooms] } })

/** Leaves all rooms but these. */
export const leaveAllBut = (webhook: string, rooms: readonly RoomKey[]) =>
  WebhookPositions.deleteMany({ webhook, room: { $nin: [...rooms] } })

/** Tries at once what waits for its next attempt. */
export const tryAtOnce = (webhook: string) =>
  WebhookPositions.updateMany({ webhook }, { $set: { due_at: atOnce, attempts: 0, failing_since: null } })

/** The rooms of a webhook where something may be sent now, those that have waited longest first. */
export const duePositions = (node: Node, { _id: webhook, rooms }: StoredWebhook): Promise<StoredPosition[]> =>
  WebhookPositions.find({ webhook, room: { $in: rooms }, due_at: { $lte: new Date(node.now()) } })
    .sort({ served_at: 1, _id: 1 })
    .lean<StoredPosition[]>()

/** Changes a position that is still as it was read; null where it is not. */
export async function move(position: StoredPosition, change: Partial<StoredPosition>): Promise<StoredPosition | null> {
  const { _id, seq, attempts } = position
  const { matchedCount } = await WebhookPositions.updateOne({ _id, seq, attempts }, { $set: change })
  return matchedCount === 1 ? { ...position, ...change } : null
}

/** Done with everything up to an event: other rooms have their turn first. */
export const done = (node: Node, position: StoredPosition, seq: number) =>
  move(position, { seq, attempts: 0, failing_since: null, due_at: atOnce, served_at: new Date(node.now()) })
