import type { Node } from '#server/kernel/context'
import type { Lease } from '#server/kernel/work/lease'
import type { RoomKey } from '#server/log/types'
import { type StopReason, type StoredWebhook, Webhooks } from './model.ts'
import { releaseRoomSlots, roomSlotsOf } from './room-slots.ts'

/** Longer than one attempt. A free webhook may be delivered before it is due, when an event wakes it. */
export const hookLease: Lease<StoredWebhook> = {
  model: Webhooks,
  holder: 'holder',
  held_until: 'due_at',
  milliseconds: 20_000,
  isFreeUnheld: true,
}

/** The current webhook; null if its lease is lost, or it is paused or gone. */
export const heldHook = ({ _id, holder }: StoredWebhook): Promise<StoredWebhook | null> =>
  Webhooks.findOne({ _id, holder, enabled: true }).lean<StoredWebhook>()

/** The fields of a stopped webhook, until its owner enables it. The holder releases it after its request. */
export const stoppedFields = (node: Node, stopped_reason: StopReason, stopped_room: RoomKey | null = null) => {
  const at = new Date(node.now())
  return { enabled: false, stopped_reason, stopped_room, stopped_at: at, updated_at: at }
}

/** Stops a leased webhook unless it was paused, and releases its slots. */
export async function stopHook(
  node: Node,
  { _id, holder }: StoredWebhook,
  reason: StopReason,
  room?: RoomKey,
): Promise<void> {
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
