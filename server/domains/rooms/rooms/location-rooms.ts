import { claimPosition } from '#server/domains/rooms/places/index'
import { keyOf, mayRead, visibleRoom } from '#server/domains/rooms/room-state/access'
import { banIn } from '#server/domains/rooms/room-state/facts'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { openRoomsAmong, roomAnswer, rowsOf } from '#server/domains/rooms/room-state/rows'
import { type Action, type Context, signedIn } from '#server/kernel/context'
import { budgets } from '#server/kernel/limits/budgets'
import { orderedPages } from '#server/kernel/store/pages'
import type { RoomKey } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import type { PlaceGate } from '#shared/api/rooms/gates'
import { locationChatOf } from '#shared/api/rooms/location-chat'
import type { rooms as contract } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import type { InputOf } from '#shared/kit/contract'
import { cellOf, cellsAround, metresBetween, metresText, type Point, roundedPoint } from '#shared/kit/earth'
import { roomKey } from '#shared/kit/room-key'
import { foundedBy } from '#shared/kit/room-kinds'
import { foundRoom } from './founding.ts'
import { newestMembers } from './members.ts'

const type = foundedBy('createLocationRoom')
const mileMetres = 1_609.344
const lookedThroughAtMost = 1_000
const lookedThroughAtOnce = 100
const shownMembers = 50
const hourSeconds = 3_600

export const createLocationRoom: Action<typeof contract.createLocationRoom> = async (input, context) => {
  const { account } = signedIn(context)
  const { node } = context
  const here = { latitude: input.userLat, longitude: input.userLng }
  await claimPosition(node, account, here)
  const gate = placeOf(input, here)
  const own = roomKey({ type, id: context.creationId })
  const answer = async (key: RoomKey) => ({ room: await roomAnswer(node, key, account), existing: key !== own })
  const there = await roomOf(gate)
  if (there !== null && there !== own) return answer(there)
  refuseFarAway(metresBetween(here, gate))
  const { name = gate.place_name, description = null, emoji } = input
  const fields = { name, description, emoji, gate, place_id: gate.place_id, place_cell: cellOf(gate) }
  await limitFounding(context, account)
  return answer(await foundOrFind(gate, () => foundRoom(context, type, fields, [])))
}

const attempts = 3

/** One room for simultaneous founders; an archived room frees its place. */
async function foundOrFind(gate: PlaceGate, foundIt: () => Promise<RoomKey>): Promise<RoomKey> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await foundIt()
    } catch (error) {
      if (!(error instanceof AppError && isDuplicate(error.cause)) || attempt === attempts) throw error
      const first = await roomOf(gate)
      if (first !== null) return first
      await Rooms.updateMany({ place_id: gate.place_id, is_active: false }, { $unset: { place_id: '' } })
    }
  }
}

function placeOf(input: InputOf<typeof contract.createLocationRoom>, here: Point): PlaceGate {
  const { latitude = here.latitude, longitude = here.longitude, radius: radius_m } = input
  const point = roundedPoint({ latitude, longitude })
  const degrees = `${point.latitude}, ${point.longitude}`
  const place_id = input.placeId ?? `geo:${point.latitude},${point.longitude}`
  return { by: 'place', place_id, place_name: input.placeName ?? input.name ?? degrees, ...point, radius_m }
}

async function roomOf({ place_id }: PlaceGate): Promise<RoomKey | null> {
  const room = await Rooms.findOne({ 'gate.place_id': place_id, is_active: true }, { _id: 1 }).lean()
  return room?._id ?? null
}

function refuseFarAway(metres: number): void {
  if (metres <= mileMetres) return
  const text = `Rooms of places are founded within a mile of them, and you say you are ${metresText(metres)} away`
  throw new AppError('FORBIDDEN', { message: text, details: { distance: Math.ceil(metres / 10) * 10 } })
}

/** Each room is read in the lists of everybody near it. */
async function limitFounding({ node: { limits }, caller }: Context, account: string): Promise<void> {
  const { placesOfAccount, placesOfAddress } = budgets
  const retryAfter =
    (await limits.wait('places-by', account, placesOfAccount.most, hourSeconds)) ??
    (await limits.wait('places-from', caller.ip, placesOfAddress.most, hourSeconds))
  if (retryAfter !== null) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter })
}

const byMembers = orderedPages({ member_count: ['count', -1], _id: ['text', 1] })

export const listLocationRooms: Action<typeof contract.listLocationRooms> = async (input, context) => {
  const { node, caller } = context
  const { lat: latitude, lng: longitude, radius, placeId, limit, cursor } = input
  const list = `places ${JSON.stringify([caller.account, latitude, longitude, radius, placeId])}` as const
  const around = latitude === undefined || longitude === undefined ? null : { latitude, longitude }
  const filter = {
    ...{ type, is_active: true, access_level: 'public' },
    ...(placeId === undefined ? {} : { place_id: placeId }),
    ...(around ? { place_cell: { $in: cellsAround(around, radius) } } : {}),
  }
  const isNear = ({ gate }: { gate?: unknown }) => !around || metresBetween(around, gate as PlaceGate) <= radius
  const most = around ? lookedThroughAtOnce : limit + 1
  const shown: { _id: RoomKey }[] = []
  let after = cursor
  for (let looked = 0; shown.length <= limit && looked < lookedThroughAtMost; ) {
    const found = await firstOf(filter, byMembers.rangesAfter(list, after), most)
    await context.charge(found.length)
    looked += found.length
    const near = found.filter(isNear)
    shown.push(...(caller.account === null ? await openRoomsAmong(near) : near))
    const last = found.at(-1)
    after = last && found.length === most ? byMembers.cursorOf(list, last) : undefined
    if (after === undefined) break
  }
  const page = byMembers.cut(list, shown, limit)
  const keys = page.rows.map(({ _id }) => _id)
  const rows = await rowsOf(node, keys, caller.account)
  return { chats: rows.map(locationChatOf), count: rows.length, next_cursor: page.next_cursor ?? after ?? null }
}

async function firstOf(filter: object, ranges: readonly object[], most: number) {
  const read = (range: object, limit: number) =>
    Rooms.find({ ...filter, ...range }, { gate: 1, member_count: 1 })
      .sort(byMembers.sort)
      .limit(limit)
      .lean()
  const found: Awaited<ReturnType<typeof read>> = []
  for (const range of ranges) if (found.length < most) found.push(...(await read(range, most - found.length)))
  return found
}

/** Stores the cell of rooms of older versions, a few at a time. */
export async function storePlaceCells(): Promise<void> {
  for (;;) {
    const older = { 'gate.place_id': { $exists: true }, place_cell: { $exists: false } }
    const rooms = await Rooms.find(older, { gate: 1 }).limit(100).lean()
    if (rooms.length === 0) return
    for (const { _id, gate } of rooms)
      await Rooms.updateOne({ _id }, { $set: { place_cell: cellOf(gate as unknown as PlaceGate) } })
  }
}

export const locationRoom: Action<typeof contract.locationRoom> = async ({ id }, { node, caller: { account } }) => {
  const key = await keyOf({ type, id })
  const mayReadIt = await node.log.ask(
    key,
    (view, now) =>
      mayRead(view, visibleRoom(view, account, now).standing) && (account === null || !banIn(view, account, now)),
  )
  const room = await roomAnswer(node, key, account)
  const members = mayReadIt ? await newestMembers(node, key, shownMembers, account) : []
  return { chat: locationChatOf(room), isMember: room.is_member, members }
}
