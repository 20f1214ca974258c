import type { Node } from '#server/kernel/context'
import type { Lease } from '#server/kernel/lease'
import type { RoomKey } from '#server/log/types'
import { type StopReason, type StoredWebhook, Webhooks } from './model.ts'
import { letGo, placesOf } from './room-places.ts'

/** Longer than one attempt takes. A webhook that nobody holds may be delivered before it is due, as an event wakes it. */
export const hookLease: Lease<StoredWebhook> = {
  model: Webhooks,
  holder: 'holder',
  held_until: 'due_at',
  milliseconds: 20_000,
  isFreeUnheld: true,
}

/** The webhook as it is now; null where it is held by another node, paused or gone. */
export const heldHook = ({ _id, holder }: StoredWebhook): Promise<StoredWebhook | null> =>
  Webhooks.findOne({ _id, holder, enabled: true }).lean<StoredWebhook>()

/** What stops a webhook: until its maker enables it, nothing is sent. Whoever holds it gives it back when its request is over. */
export const stopped = (node: Node, stopped_reason: StopReason, stopped_room: RoomKey | null = null) => {
  const at = new Date(node.now())
  return { enabled: false, stopped_reason, stopped_room, stopped_at: at, updated_at: at }
}

/** Stops a webhook that is held, unless it was paused meanwhile; its places are free then. */
export async function stop(
  node: Node,
  { _id, holder }: StoredWebhook,
  reason: StopReason,
  room?: RoomKey,
): Promise<void> {
  const places = await placesOf(_id)
  const { modifiedCount } = await Webhooks.updateOne(
    { _id, holder, enabled: true },
    { $set: stopped(node, reason, room) },
  )
  if (modifiedCount === 0) return
  node.metrics.webhookStopped(reason)
  await letGo(places)
}

/** Has a webhook that nobody works on looked at as soon as may be. */
export const hurry = (node: Node, ids: readonly string[]) =>
  Webhooks.updateMany(
    { _id: { $in: [...ids] }, enabled: true, holder: null },
    { $min: { due_at: new Date(node.now()) } },
  )

/** The only node of its store frees what it held when it died. */
export const freeAll = (node: Node) =>
  Webhooks.updateMany({ holder: { $ne: null } }, { $set: { holder: null, due_at: new Date(node.now()) } })
