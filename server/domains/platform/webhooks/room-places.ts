import { randomInt } from 'node:crypto'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { RoomKey } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { type StoredPlace, type StoredWebhook, WebhookPlaces, Webhooks } from './model.ts'

const mostOfRoom = 20
/** Longer than any call takes. */
const staleMilliseconds = 10 * 60_000

/**
 * Takes a place in each of these rooms for a webhook that is to be enabled there, or keeps that which it has. Returns those that it had not.
 * Throws CONFLICT where a room is full.
 */
export async function takePlaces(node: Node, webhook: string, rooms: readonly RoomKey[]): Promise<StoredPlace[]> {
  const taken: StoredPlace[] = []
  try {
    for (const room of rooms) taken.push(...(await takePlace(node, webhook, room)))
  } catch (error) {
    await letGo(taken)
    throw error
  }
  return taken
}

async function takePlace(node: Node, webhook: string, room: RoomKey): Promise<StoredPlace[]> {
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
    // One at random, as those who ask at once then seldom choose the same.
    const _id = free[randomInt(Math.max(1, free.length))]
    if (_id === undefined) {
      await letGoStale(node, room, there)
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

/** Of a full room: those of webhooks that are not on there, whose calls ended half done. Throws CONFLICT where there is none. */
async function letGoStale(node: Node, room: RoomKey, places: readonly StoredPlace[]): Promise<void> {
  const long = node.now() - staleMilliseconds
  const on = await Webhooks.find({ rooms: room, enabled: true }, { _id: 1 }).lean<Pick<StoredWebhook, '_id'>[]>()
  const isOn = new Set(on.map(({ _id }) => _id))
  const stale = places.filter(({ webhook, taken_at }) => taken_at.getTime() <= long && !isOn.has(webhook))
  if (stale.length === 0)
    throw new AppError('CONFLICT', { message: `A room has ${mostOfRoom} webhooks that are on at most` })
  await letGo(stale)
}

/** To be read before a webhook stops, leaves a room or is removed, and let go of after it. */
export const placesOf = (webhook: string): Promise<StoredPlace[]> =>
  WebhookPlaces.find({ webhook }).lean<StoredPlace[]>()

/** Lets go of places that nobody has taken anew since they were read. */
export async function letGo(places: readonly StoredPlace[]): Promise<void> {
  await Promise.all(places.map(({ _id, hold }) => WebhookPlaces.deleteOne({ _id, hold })))
}
