import type { Node } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { type StoredPosition, type StoredWebhook, WebhookPositions, Webhooks } from './model.ts'

/** The due time of what has not failed. */
export const atOnce = new Date(0)

/** Longer than any call takes. */
const unsureMilliseconds = 60 * 60_000
const settledAtOnce = 200

const idOf = (webhook: string, room: RoomKey) => `${webhook}|${room}`

/** Begins a webhook in a room behind this event, before the webhook has the room; one that has begun there stays where it is. */
export async function beginIn(node: Node, webhook: string, room: RoomKey, seq: number): Promise<void> {
  const fresh = { webhook, room, seq, attempts: 0, failing_since: null, due_at: atOnce, served_at: null }
  await WebhookPositions.updateOne(
    { _id: idOf(webhook, room) },
    { $set: { unsure_since: new Date(node.now()) }, $setOnInsert: fresh },
    { upsert: true },
  ).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
  })
}

/** Says, before a webhook leaves these rooms or is removed, that it is to be found out later whether it has. */
export const doubt = (node: Node, webhook: string, rooms: readonly RoomKey[]) =>
  WebhookPositions.updateMany({ webhook, room: { $in: [...rooms] } }, { $set: { unsure_since: new Date(node.now()) } })

export const leave = (webhook: string, rooms: readonly RoomKey[]) =>
  WebhookPositions.deleteMany({ webhook, room: { $in: [...rooms] } })

/** Keeps of what was begun or left long ago what a webhook has, and forgets the rest: whoever did it has died meanwhile. */
export async function settle(node: Node): Promise<void> {
  const long = new Date(node.now() - unsureMilliseconds)
  const unsure = await WebhookPositions.find({ unsure_since: { $lte: long } })
    .limit(settledAtOnce)
    .lean<(StoredPosition & { unsure_since: Date })[]>()
  const hooks = await Webhooks.find({ _id: { $in: unsure.map(({ webhook }) => webhook) } }, { rooms: 1 }).lean<
    Pick<StoredWebhook, '_id' | 'rooms'>[]
  >()
  const rooms = new Map(hooks.map((hook) => [hook._id, hook.rooms]))
  for (const { _id, webhook, room, unsure_since } of unsure) {
    // Whoever begins or leaves there again has changed the time.
    const asRead = { _id, unsure_since }
    if (rooms.get(webhook)?.includes(room)) await WebhookPositions.updateOne(asRead, { $unset: { unsure_since: 1 } })
    else await WebhookPositions.deleteOne(asRead)
  }
}

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
