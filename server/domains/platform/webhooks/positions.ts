import { randomInt } from 'node:crypto'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { RoomKey } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import {
  type StoredPlace,
  type StoredPosition,
  type StoredWebhook,
  WebhookPlaces,
  WebhookPositions,
  Webhooks,
} from './model.ts'

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

/** Simultaneous deliveries of a node. */
const most = 64
/** Simultaneous deliveries to slow or failing receivers, in all and per account, so that others have slots. */
const mostSlow = 32
const mostSlowOfAccount = 4

export interface WebhookTurnEnd {
  isMore: boolean
  /** The receiver was slow or failed; null if nothing was sent. */
  isSlow: boolean | null
}

/** Gives webhooks their turns at this node in order, each once at a time. */
export function createWebhookTurns(take: (id: string) => Promise<WebhookTurnEnd>) {
  /** The accounts of waiting webhooks, in order. */
  const waiting = new Map<string, string>()
  const running = new Map<string, string>()
  const slow = new Set<string>()
  let isEnded = false

  function beginSome(): void {
    const slowAccounts = [...running].flatMap(([id, account]) => (slow.has(id) ? [account] : []))
    for (const [id, account] of waiting) {
      if (isEnded || running.size >= most) return
      if (running.has(id)) continue
      if (slow.has(id)) {
        const ofAccount = slowAccounts.filter((one) => isSameAccount(one, account)).length
        if (slowAccounts.length >= mostSlow || ofAccount >= mostSlowOfAccount) continue
        slowAccounts.push(account)
      }
      waiting.delete(id)
      running.set(id, account)
      void begin(id, account)
    }
  }

  async function begin(id: string, account: string): Promise<void> {
    const { isMore, isSlow } = await take(id)
    running.delete(id)
    if (isSlow) slow.add(id)
    if (isSlow === false) slow.delete(id)
    if (isMore) waiting.set(id, account)
    beginSome()
  }

  return {
    /** Requests a turn; a running webhook gets another one. */
    request(id: string, account: string): void {
      if (!waiting.has(id)) waiting.set(id, account)
      beginSome()
    },
    /** Cancels a waiting turn. */
    drop(id: string): void {
      waiting.delete(id)
      slow.delete(id)
    },
    /** Starts no more turns. */
    end(): void {
      isEnded = true
    },
  }
}

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
