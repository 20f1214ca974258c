import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { RoomKey } from '#server/log/types'
import { type StopReason, type StoredWebhook, Webhooks } from './model.ts'
import { letGo, placesOf } from './room-places.ts'

/** Longer than one attempt takes: it is renewed before each. */
const leaseMilliseconds = 20_000

type Held = Pick<StoredWebhook, '_id' | 'holder'>

const until = (node: Node) => new Date(node.now() + leaseMilliseconds)

/** Takes an enabled webhook that nobody works on; null where there is none. */
export const claim = (node: Node, _id: string): Promise<StoredWebhook | null> =>
  Webhooks.findOneAndUpdate(
    { _id, enabled: true, $or: [{ holder: null }, { due_at: { $lte: new Date(node.now()) } }] },
    { $set: { holder: newId(), due_at: until(node) } },
    { returnDocument: 'after' },
  ).lean<StoredWebhook>()

/** The webhook as it is now, held for longer; null where it is not ours any more, paused or gone. */
export const renew = (node: Node, { _id, holder }: Held): Promise<StoredWebhook | null> =>
  Webhooks.findOneAndUpdate(
    { _id, holder, enabled: true },
    { $set: { due_at: until(node) } },
    { returnDocument: 'after' },
  ).lean<StoredWebhook>()

/** Lets others work on it, from then on. */
export async function giveBack({ _id, holder }: Held, due_at: Date): Promise<void> {
  await Webhooks.updateOne({ _id, holder }, { $set: { holder: null, due_at } })
}

/** What stops a webhook: until its maker enables it, nothing is sent. Whoever holds it gives it back when its request is over. */
export const stopped = (node: Node, stopped_reason: StopReason, stopped_room: RoomKey | null = null) => {
  const at = new Date(node.now())
  return { enabled: false, stopped_reason, stopped_room, stopped_at: at, updated_at: at }
}

/** Stops a webhook that is held, unless it was paused meanwhile; its places are free then. */
export async function stop(node: Node, { _id, holder }: Held, reason: StopReason, room?: RoomKey): Promise<void> {
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
