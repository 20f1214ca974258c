import { keyOf } from '#server/domains/rooms/room-state/access'
import type { Context, Node } from '#server/kernel/context'
import { insertWithinLimit } from '#server/kernel/limited-inserts'
import type { RoomKey } from '#server/log/types'
import type { webhooks as contract, Webhook } from '#shared/api/webhooks'
import { AppError } from '#shared/errors'
import type { InputOf } from '#shared/kit/contract'
import { type RoomRef, roomOfKey } from '#shared/kit/primitives'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { forgetDeliveries } from './deliveries.ts'
import { hurry, stopped } from './lease.ts'
import { type StoredWebhook, Webhooks } from './model.ts'
import { beginIn, doubt, leave, tryAtOnce } from './positions.ts'
import { headFor } from './rights.ts'
import { letGo, placesOf, takePlaces } from './room-places.ts'
import { newSecret, openSecret, sealSecret } from './secrets.ts'

const mostOfAccount = 20
const overlapMilliseconds = 24 * 60 * 60_000

/** The heads of the rooms by their keys. Throws where the account may not have their events sent away. */
async function headsOf(node: Node, account: string, rooms: readonly RoomRef[]): Promise<Map<RoomKey, number>> {
  const keys = [...new Set(await Promise.all(rooms.map(keyOf)))]
  const heads = await Promise.all(keys.map(async (key) => [key, await headFor(node, account, key)] as const))
  return new Map(heads)
}

/** Makes a webhook that begins with the next event of each of its rooms; with its secret. */
export async function create(
  { node, creationId: _id }: Context,
  account: string,
  { url, rooms, kinds, description }: InputOf<typeof contract.create>,
): Promise<{ hook: StoredWebhook; secret: string }> {
  const asked = node.services.web.check(url).href
  const heads = await headsOf(node, account, rooms)
  const keys = [...heads.keys()]
  const places = await takePlaces(node, _id, keys)
  // First where it begins: what happens from then on is sent.
  await Promise.all([...heads].map(([room, seq]) => beginIn(node, _id, room, seq)))
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
    await Promise.all([leave(_id, keys), letGo(places)])
    throw new AppError('CONFLICT', { message: `An account has ${mostOfAccount} webhooks at most` })
  }
  return { hook, secret: openSecret(sessionKeys, _id, hook.secret) }
}

export const hooksOf = (account: string): Promise<StoredWebhook[]> =>
  Webhooks.find({ account }).sort({ created_at: 1, _id: 1 }).lean<StoredWebhook[]>()

/** Somebody's own webhook: nobody else finds it. */
export async function ownHook(account: string, _id: string): Promise<StoredWebhook> {
  const hook = await Webhooks.findOne({ _id, account }).lean<StoredWebhook>()
  if (!hook) throw new AppError('NOT_FOUND', { message: 'Webhook not found' })
  return hook
}

/** Changes what is given; to enable it again asks anew for the right to its rooms. */
export async function update(
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
  await doubt(node, id, left)
  const hook = await change(node, before, { given, enabled, heads })
  await leave(id, left)
  if (enabled || asked !== undefined) {
    await tryAtOnce(id)
    // Nobody begins beside who holds it; what they no longer see is found by the sweep.
    await hurry(node, [id])
  }
  return hook
}

interface Change {
  given: Partial<StoredWebhook>
  enabled: boolean | undefined
  heads: Map<RoomKey, number> | undefined
}

/** Of two who change its rooms at once, the second would take away where the first begins: it is refused. */
async function change(node: Node, before: StoredWebhook, { given, enabled, heads }: Change): Promise<StoredWebhook> {
  const { _id, account, rooms } = before
  const isPlaced = heads !== undefined && (enabled ?? before.enabled)
  const held = await placesOf(_id)
  const taken = isPlaced ? await takePlaces(node, _id, [...heads.keys()]) : []
  await Promise.all([...(heads ?? [])].map(([room, seq]) => beginIn(node, _id, room, seq)))
  const now = new Date(node.now())
  const turned = enabled === true ? going : enabled === false ? stopped(node, 'PAUSED') : {}
  const hook = await Webhooks.findOneAndUpdate(
    { _id, account, rooms, ...(heads ? { enabled: before.enabled } : {}) },
    { $set: { ...given, ...turned, updated_at: now } },
    { returnDocument: 'after' },
  ).lean<StoredWebhook>()
  if (!hook) {
    await letGo(taken)
    throw new AppError('CONFLICT', { message: 'The webhook was changed at the same time' })
  }
  await letGo(held.filter(({ room }) => !hook.enabled || !hook.rooms.includes(room)))
  return hook
}

const going = { enabled: true, stopped_reason: null, stopped_room: null, stopped_at: null, failing_since: null }

export async function remove(node: Node, account: string, id: string): Promise<void> {
  const { _id, rooms } = await ownHook(account, id)
  const places = await placesOf(_id)
  await doubt(node, _id, rooms)
  await Webhooks.deleteOne({ _id, account })
  await Promise.all([leave(_id, rooms), letGo(places), forgetDeliveries(_id)])
}

/** Makes another secret; that of before signs beside it for a day. */
export async function rotate(node: Node, account: string, _id: string) {
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

/** A webhook as it is now; a field that its document does not have is null. */
export const shown = (hook: StoredWebhook, now: number): Webhook => {
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
