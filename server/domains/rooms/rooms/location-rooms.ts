import { claimPosition } from '#server/domains/rooms/places/claims'
import { keyOf, mayRead, visibleRoom } from '#server/domains/rooms/room-state/access'
import { banIn } from '#server/domains/rooms/room-state/facts'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { roomAnswer, rowsOf } from '#server/domains/rooms/room-state/rows'
import { type Action, signedIn } from '#server/kernel/context'
import { orderedPages } from '#server/kernel/pages'
import type { RoomKey } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import type { PlaceGate } from '#shared/api/gates'
import { locationChatOf } from '#shared/api/location-chat'
import type { rooms as contract } from '#shared/api/rooms'
import { AppError } from '#shared/errors'
import type { InputOf } from '#shared/kit/contract'
import { boxAround, metresBetween, metresText, type Point, roundedPoint } from '#shared/kit/earth'
import { roomKey } from '#shared/kit/room-key'
import { foundedBy } from '#shared/kit/room-kinds'
import { foundRoom } from './founding.ts'
import { newestMembers } from './members.ts'
import { closedRoomKeys } from './rooms.ts'

const type = foundedBy('createLocationRoom')
const mileMetres = 1_609.344
const lookedThroughAtMost = 1_000
const shownMembers = 50

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
  const fields = { name, description, emoji, gate, place_id: gate.place_id }
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

const byMembers = orderedPages({ member_count: ['count', -1], _id: ['text', 1] })

export const listLocationRooms: Action<typeof contract.listLocationRooms> = async (input, { node, caller }) => {
  const { lat: latitude, lng: longitude, radius, placeId, limit, cursor } = input
  const list = `places ${JSON.stringify([caller.account, latitude, longitude, radius, placeId])}` as const
  const around = latitude === undefined || longitude === undefined ? null : { latitude, longitude }
  const lookedThrough = around ? lookedThroughAtMost : limit + 1
  const matching = await Rooms.find({
    ...{ type, is_active: true, access_level: 'public' },
    ...(caller.account === null ? { _id: { $nin: await closedRoomKeys() } } : {}),
    ...(placeId === undefined ? {} : { 'gate.place_id': placeId }),
    ...(around ? within(around, radius) : {}),
    ...byMembers.after(list, cursor),
  })
    .sort(byMembers.sort)
    .limit(lookedThrough)
    .lean()
  const isNear = ({ gate }: { gate?: unknown }) => !around || metresBetween(around, gate as PlaceGate) <= radius
  const page = byMembers.cut(list, matching.filter(isNear), limit)
  const rows = await rowsOf(
    node,
    page.rows.map(({ _id }) => _id),
    caller.account,
  )
  const last = matching.length === lookedThrough ? matching.at(-1) : undefined
  const next_cursor = page.next_cursor ?? (last ? byMembers.cursorOf(list, last) : null)
  return { chats: rows.map(locationChatOf), count: rows.length, next_cursor }
}

function within(point: Point, metres: number) {
  const { south, north, across } = boxAround(point, metres)
  return {
    'gate.latitude': { $gte: south, $lte: north },
    ...(across ? { 'gate.longitude': { $gte: across.west, $lte: across.east } } : {}),
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
