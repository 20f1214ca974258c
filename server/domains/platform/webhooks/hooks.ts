import { keyOf } from '#server/domains/rooms/room-state/access'
import type { Context, Node } from '#server/kernel/context'
import { insertWithinLimit } from '#server/kernel/limited-inserts'
import type { RoomKey } from '#server/log/types'
import type { webhooks as contract, Webhook } from '#shared/api/platform/webhooks'
import { AppError } from '#shared/errors'
import type { InputOf } from '#shared/kit/contract'
import { type RoomRef, roomOfKey } from '#shared/kit/primitives'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { makeHooksDue, roomHeadFor, stoppedFields } from './deliver.ts'
import { enabledMessage } from './dispatch.ts'
import { type StoredWebhook, Webhooks } from './model.ts'
import {
  createPosition,
  deletePositions,
  makePositionsDue,
  markUnsure,
  releaseRoomSlots,
  roomSlotsOf,
  takeRoomSlots,
} from './positions.ts'
import { forgetDeliveries, newSecret, openSecret, sealSecret } from './send.ts'

const mostOfAccount = 20
const overlapMilliseconds = 24 * 60 * 60_000

/** The heads of rooms by key. Throws if the account may not have their events sent. */
async function headsOf(node: Node, account: string, rooms: readonly RoomRef[]): Promise<Map<RoomKey, number>> {
  const keys = [...new Set(await Promise.all(rooms.map(keyOf)))]
  const heads = await Promise.all(keys.map(async (key) => [key, await roomHeadFor(node, account, key)] as const))
  return new Map(heads)
}

/** Creates a webhook that starts with the next event of each room; with its secret. */
export async function createHook(
  { node, creationId: _id }: Context,
  account: string,
  { url, rooms, kinds, description }: InputOf<typeof contract.create>,
): Promise<{ hook: StoredWebhook; secret: string }> {
  const asked = node.services.web.check(url).href
  const heads = await headsOf(node, account, rooms)
  const keys = [...heads.keys()]
  const places = await takeRoomSlots(node, _id, keys)
  // Positions come first, so that all later events are sent.
  await Promise.all([...heads].map(([room, seq]) => createPosition(node, _id, room, seq)))
  const { sessionKeys } = node.settings
  const now = new Date(node.now())
  const made: StoredWebhook = {
    ...{ _id, account, url: asked, description, rooms: keys, kinds },
    ...{ secret: sealSecret(sessionKeys, _id, newSecret()), previous_secret: null, previous_until: null },
    ...{ enabled: true, stopped_reason: null, stopped_room: null, stopped_at: null, failing_since: null },
    ...{ holder: null, due_at: now, created_at: now, updated_at: now },
  }
  const hook = await insertWithinLimit(Webhooks, made, { others: { account }, most: mostOfAccount })
  if (!hook) {
    await Promise.all([deletePositions(_id, keys), releaseRoomSlots(places)])
    throw new AppError('CONFLICT', { message: `An account has ${mostOfAccount} webhooks at most` })
  }
  enabledMessage.publish(node, null)
  return { hook, secret: openSecret(sessionKeys, _id, hook.secret) }
}

export const hooksOf = (account: string): Promise<StoredWebhook[]> =>
  Webhooks.find({ account }).sort({ created_at: 1, _id: 1 }).lean<StoredWebhook[]>()

/** Loads a webhook of the account; others get NOT_FOUND. */
export async function ownHook(account: string, _id: string): Promise<StoredWebhook> {
  const hook = await Webhooks.findOne({ _id, account }).lean<StoredWebhook>()
  if (!hook) throw new AppError('NOT_FOUND', { message: 'Webhook not found' })
  return hook
}

/** Changes a webhook; enabling it checks the right to its rooms again. */
export async function updateHook(
  node: Node,
  account: string,
  { id, url, rooms, kinds, description, enabled }: InputOf<typeof contract.update>,
): Promise<StoredWebhook> {
  const before = await ownHook(account, id)
  const asked = url === undefined ? undefined : node.services.web.check(url).href
  const refs = rooms ?? (enabled ? before.rooms.map(roomOfKey) : undefined)
  const heads = refs && (await headsOf(node, account, refs))
  const given = withoutUndefined({ url: asked, rooms: heads && [...heads.keys()], kinds, description })
  const left = before.rooms.filter((room) => heads && !heads.has(room))
  await markUnsure(node, id, left)
  const hook = await changeHook(node, before, { given, enabled, heads })
  await deletePositions(id, left)
  if (enabled || asked !== undefined) {
    enabledMessage.publish(node, null)
    await makePositionsDue(id)
    // The holder of its lease finishes first; the sweep finds the rest.
    await makeHooksDue(node, [id])
  }
  return hook
}

interface Change {
  given: Partial<StoredWebhook>
  enabled: boolean | undefined
  heads: Map<RoomKey, number> | undefined
}

/** Of two simultaneous changes of rooms the second is refused, as it would delete the first one's positions. */
async function changeHook(
  node: Node,
  before: StoredWebhook,
  { given, enabled, heads }: Change,
): Promise<StoredWebhook> {
  const { _id, account, rooms } = before
  const isPlaced = heads !== undefined && (enabled ?? before.enabled)
  const held = await roomSlotsOf(_id)
  const taken = isPlaced ? await takeRoomSlots(node, _id, [...heads.keys()]) : []
  await Promise.all([...(heads ?? [])].map(([room, seq]) => createPosition(node, _id, room, seq)))
  const now = new Date(node.now())
  const turned = enabled === true ? enabledFields : enabled === false ? stoppedFields(node, 'PAUSED') : {}
  const hook = await Webhooks.findOneAndUpdate(
    { _id, account, rooms, ...(heads ? { enabled: before.enabled } : {}) },
    { $set: { ...given, ...turned, updated_at: now } },
    { returnDocument: 'after' },
  ).lean<StoredWebhook>()
  if (!hook) {
    await releaseRoomSlots(taken)
    throw new AppError('CONFLICT', { message: 'The webhook was changed at the same time' })
  }
  await releaseRoomSlots(held.filter(({ room }) => !hook.enabled || !hook.rooms.includes(room)))
  return hook
}

const enabledFields = { enabled: true, stopped_reason: null, stopped_room: null, stopped_at: null, failing_since: null }

export async function removeHook(node: Node, account: string, id: string): Promise<void> {
  const { _id, rooms } = await ownHook(account, id)
  const places = await roomSlotsOf(_id)
  await markUnsure(node, _id, rooms)
  await Webhooks.deleteOne({ _id, account })
  await Promise.all([deletePositions(_id, rooms), releaseRoomSlots(places), forgetDeliveries(_id)])
}

/** Replaces the secret; the old one signs too for a day. */
export async function rotateSecret(node: Node, account: string, _id: string) {
  const { secret: before } = await ownHook(account, _id)
  const secret = newSecret()
  const now = node.now()
  const change = {
    secret: sealSecret(node.settings.sessionKeys, _id, secret),
    previous_secret: before,
    previous_until: new Date(now + overlapMilliseconds),
    updated_at: new Date(now),
  }
  const hook = await Webhooks.findOneAndUpdate(
    { _id, account, secret: before },
    { $set: change },
    { returnDocument: 'after' },
  ).lean<StoredWebhook>()
  if (!hook) throw new AppError('CONFLICT', { message: 'Another secret was made at the same time' })
  return { hook, secret }
}

/** A webhook as clients see it; missing fields are null. */
export const renderHook = (hook: StoredWebhook, now: number): Webhook => {
  const { _id: id, url, description, rooms, kinds, enabled, created_at, updated_at } = hook
  const { stopped_reason: reason, stopped_room, stopped_at, failing_since, previous_until } = hook
  const at = stopped_at?.toISOString() ?? updated_at.toISOString()
  const room = stopped_room === null ? null : roomOfKey(stopped_room)
  const isInOverlap = previous_until !== null && previous_until.getTime() > now
  return {
    ...{ id, url, description, rooms: rooms.map(roomOfKey), kinds, enabled },
    stopped: reason === null ? null : { reason, room, at },
    failing_since: failing_since?.toISOString() ?? null,
    previous_secret_until: isInOverlap ? previous_until.toISOString() : null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}
