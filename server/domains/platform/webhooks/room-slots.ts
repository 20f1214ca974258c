import { randomInt } from 'node:crypto'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { RoomKey } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { type StoredPlace, type StoredWebhook, WebhookPlaces, Webhooks } from './model.ts'

const mostOfRoom = 20
/** Longer than any call. */
const staleMilliseconds = 10 * 60_000

/** Takes or keeps a slot in each room for a webhook, and returns the new ones. Throws CONFLICT for a full room. */
export async function takeRoomSlots(node: Node, webhook: string, rooms: readonly RoomKey[]): Promise<StoredPlace[]> {
  const taken: StoredPlace[] = []
  try {
    for (const room of rooms) taken.push(...(await takeRoomSlot(node, webhook, room)))
  } catch (error) {
    await releaseRoomSlots(taken)
    throw error
  }
  return taken
}

async function takeRoomSlot(node: Node, webhook: string, room: RoomKey): Promise<StoredPlace[]> {
  for (;;) {
    const there = await WebhookPlaces.find({ room }).lean<StoredPlace[]>()
    const hold = { hold: newId(), taken_at: new Date(node.now()) }
    const own = there.find((place) => place.webhook === webhook)
    if (own) {
      const { matchedCount } = await WebhookPlaces.updateOne({ _id: own._id, hold: own.hold }, { $set: hold })
      if (matchedCount === 1) return []
      continue
    }
    const taken = new Set(there.map(({ _id }) => _id))
    const free = Array.from({ length: mostOfRoom }, (_, at) => `${room}|${at}`).filter((_id) => !taken.has(_id))
    // Random, so that simultaneous requests rarely choose the same.
    const _id = free[randomInt(Math.max(1, free.length))]
    if (_id === undefined) {
      await releaseStaleSlots(node, room, there)
      continue
    }
    const place = { _id, room, webhook, ...hold }
    try {
      await WebhookPlaces.create(place)
      return [place]
    } catch (error) {
      if (!isDuplicate(error)) throw error
    }
  }
}

/** Releases slots of half-done calls in a full room. Throws CONFLICT without any. */
async function releaseStaleSlots(node: Node, room: RoomKey, places: readonly StoredPlace[]): Promise<void> {
  const long = node.now() - staleMilliseconds
  const on = await Webhooks.find({ rooms: room, enabled: true }, { _id: 1 }).lean<Pick<StoredWebhook, '_id'>[]>()
  const isOn = new Set(on.map(({ _id }) => _id))
  const stale = places.filter(({ webhook, taken_at }) => taken_at.getTime() <= long && !isOn.has(webhook))
  if (stale.length === 0)
    throw new AppError('CONFLICT', { message: `A room has ${mostOfRoom} webhooks that are on at most` })
  await releaseRoomSlots(stale)
}

/** Read before a webhook stops, leaves a room or is removed, and released after. */
export const roomSlotsOf = (webhook: string): Promise<StoredPlace[]> =>
  WebhookPlaces.find({ webhook }).lean<StoredPlace[]>()

/** Releases slots that were not taken again since they were read. */
export async function releaseRoomSlots(places: readonly StoredPlace[]): Promise<void> {
  await Promise.all(places.map(({ _id, hold }) => WebhookPlaces.deleteOne({ _id, hold })))
}
