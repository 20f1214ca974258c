import type { Node } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { type StoredPosition, type StoredWebhook, WebhookPositions, Webhooks } from './model.ts'

/** The due time of events without failures. */
export const alwaysDue = new Date(0)

/** Longer than any call. */
const unsureMilliseconds = 60 * 60_000
const settledAtOnce = 200

const idOf = (webhook: string, room: RoomKey) => `${webhook}|${room}`

/** Creates the position of a webhook behind this event, before it has the room; an existing one stays. */
export async function createPosition(node: Node, webhook: string, room: RoomKey, seq: number): Promise<void> {
  const fresh = { webhook, room, seq, attempts: 0, failing_since: null, due_at: alwaysDue, served_at: null }
  await WebhookPositions.updateOne(
    { _id: idOf(webhook, room) },
    { $set: { unsure_since: new Date(node.now()) }, $setOnInsert: fresh },
    { upsert: true },
  ).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
  })
}

/** Marks positions as unsure, before the webhook leaves the rooms or is removed. */
export const markUnsure = (node: Node, webhook: string, rooms: readonly RoomKey[]) =>
  WebhookPositions.updateMany({ webhook, room: { $in: [...rooms] } }, { $set: { unsure_since: new Date(node.now()) } })

export const deletePositions = (webhook: string, rooms: readonly RoomKey[]) =>
  WebhookPositions.deleteMany({ webhook, room: { $in: [...rooms] } })

/** Settles old unsure positions: those of current rooms stay, and the others are deleted. */
export async function settlePositions(node: Node): Promise<void> {
  const long = new Date(node.now() - unsureMilliseconds)
  const unsure = await WebhookPositions.find({ unsure_since: { $lte: long } })
    .limit(settledAtOnce)
    .lean<(StoredPosition & { unsure_since: Date })[]>()
  const hooks = await Webhooks.find({ _id: { $in: unsure.map(({ webhook }) => webhook) } }, { rooms: 1 }).lean<
    Pick<StoredWebhook, '_id' | 'rooms'>[]
  >()
  const rooms = new Map(hooks.map((hook) => [hook._id, hook.rooms]))
  for (const { _id, webhook, room, unsure_since } of unsure) {
    // A new start or leave changes the time.
    const asRead = { _id, unsure_since }
    if (rooms.get(webhook)?.includes(room)) await WebhookPositions.updateOne(asRead, { $unset: { unsure_since: 1 } })
    else await WebhookPositions.deleteOne(asRead)
  }
}

/** Retries waiting events at once. */
export const makePositionsDue = (webhook: string) =>
  WebhookPositions.updateMany({ webhook }, { $set: { due_at: alwaysDue, attempts: 0, failing_since: null } })

/** The due positions of a webhook, longest unserved first. */
export const duePositions = (node: Node, { _id: webhook, rooms }: StoredWebhook): Promise<StoredPosition[]> =>
  WebhookPositions.find({ webhook, room: { $in: rooms }, due_at: { $lte: new Date(node.now()) } })
    .sort({ served_at: 1, _id: 1 })
    .lean<StoredPosition[]>()

/** Changes a position; null if it changed since it was read. */
export async function movePosition(
  position: StoredPosition,
  change: Partial<StoredPosition>,
): Promise<StoredPosition | null> {
  const { _id, seq, attempts } = position
  const { matchedCount } = await WebhookPositions.updateOne({ _id, seq, attempts }, { $set: change })
  return matchedCount === 1 ? { ...position, ...change } : null
}

/** Moves a position behind an event, and lets other rooms go first. */
export const passEvent = (node: Node, position: StoredPosition, seq: number) =>
  movePosition(position, { seq, attempts: 0, failing_since: null, due_at: alwaysDue, served_at: new Date(node.now()) })
