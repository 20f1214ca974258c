import type { Caller, Node } from '#server/kernel/context'
import type { View } from '#server/log/types'
import type { ReadAccess } from '#shared/api/moderation/verdict'
import { AppError } from '#shared/errors'
import { dmOf, type RoomRef, roomKey } from '#shared/kit/primitives'
import { peersOf } from '#shared/kit/room-key'
import { isBetweenTwo } from '#shared/kit/room-kinds'
import { banIn, blocksIn, type RoomFact, roomIn, roomRefOf, rulesIn, sealingOf } from './facts.ts'
import { kinds } from './kinds.ts'
import { Rooms } from './model.ts'
import { isSuspended, rightsIn, type Standing, standingOf } from './standing.ts'

const madeId = /^[0-9a-f]{8}-[0-9a-f]{4}-/

/** The key of a named room; channels may be named by slug. */
export async function keyOf(room: RoomRef): Promise<string> {
  if (isBetweenTwo(room.type)) {
    const [one = '', other = '', ...more] = peersOf(room.id)
    if (more.length > 0 || one === other || dmOf(one, other).id !== room.id) throw new AppError('ROOM_NOT_FOUND')
  }
  if (!kinds[room.type].hasUniqueName || room.id === null || madeId.test(room.id)) return roomKey(room)
  const found = await Rooms.findOne({ slug: room.id }, { _id: 1 }).lean()
  if (!found) throw new AppError('ROOM_NOT_FOUND')
  return found._id
}

/** Is the room hidden from people outside it? */
export const isUnlisted = (view: View, { access_level }: RoomFact): boolean =>
  kinds[roomRefOf(view).type].seenBy === 'members' || access_level === 'staff'

/** The room, if the caller may see it. Otherwise the error is the same, whether or not the room exists. */
export function visibleRoom(
  view: View,
  account: string | null,
  now: number,
): { room: RoomFact; standing: Standing | null } {
  const room = roomIn(view)
  const standing = account === null ? null : rightsIn(view, account, now)
  if (!room) throw new AppError('ROOM_NOT_FOUND')
  const mayEnter = room.access_level === 'staff' ? standing?.isModerator : standing?.isMember
  const isGone = !room.is_active && kinds[roomRefOf(view).type].archived === 'is gone' && !standing?.isModerator
  if (isGone || (isUnlisted(view, room) && !mayEnter)) throw new AppError('ROOM_NOT_FOUND')
  if (account === null && isClosed(rulesIn(view))) throw new AppError('UNAUTHORIZED')
  return { room, standing }
}

/** As `seenBy`, for acts on others; refuses suspended and banned callers. */
export function actingRoom(view: View, account: string, now: number): { room: RoomFact; standing: Standing } {
  const standing = standingOf(view, account)
  refuseBanned(view, account, now)
  if (isSuspended(view, account)) throw new AppError('SUSPENDED')
  const { room } = visibleRoom(view, account, now)
  return { room, standing }
}

function refuseBanned(view: View, account: string, now: number): void {
  const ban = banIn(view, account, now)
  if (ban) throw new AppError('BANNED', { details: { until: ban.banned_until, reason: ban.reason } })
}

/** As `seenBy`; also refuses callers without access by a ban, a block or a missing membership. */
export function readableRoomOf(
  view: View,
  account: string | null,
  now: number,
): { room: RoomFact; standing: Standing | null } {
  if (account !== null) refuseBanned(view, account, now)
  const seen = visibleRoom(view, account, now)
  if (!mayRead(view, seen.standing)) throw new AppError('NOT_A_MEMBER')
  return seen
}

/** Is the room hidden from anonymous callers? Rooms without this rule are open. */
const isClosed = ({ read_access }: { read_access?: ReadAccess }): boolean => (read_access ?? 'everyone') !== 'everyone'

/** Is the room visible to everybody, and not archived? */
export function isPublic(view: View): boolean {
  const room = roomIn(view)
  return room?.is_active === true && !isUnlisted(view, room) && !isClosed(rulesIn(view))
}

/** May this member still listen here? Former staff may not, before their record changes. */
export const mayListen = (view: View, account: string, now: number): boolean =>
  roomIn(view)?.access_level !== 'staff' || rightsIn(view, account, now).isModerator

/** May this person read the messages? Others see only the room's card. */
export function mayRead(view: View, standing: Standing | null): boolean {
  if (standing?.isMember) return true
  if (kinds[roomRefOf(view).type].readers === 'members' || sealingOf(view) !== null) return false
  return rulesIn(view).read_access !== 'members' || standing?.isModerator === true
}

interface ReadRoom {
  key: string
  now: number
  room: RoomFact
  standing: Standing | null
}

/** The only way to read a named room. `also` reads further data from the same view. */
export async function readRoom<T>(
  node: Node,
  caller: Caller,
  ref: RoomRef,
  also: (view: View, seen: ReadRoom) => T,
): Promise<ReadRoom & { also: T }> {
  const key = await keyOf(ref)
  return node.log.ask(key, (view, now) => {
    const { room, standing } = readableRoomOf(view, caller.account, now)
    const seen = { key, now, room, standing }
    return { also: also(view, seen), ...seen }
  })
}

/** Has one of the two people blocked the other? */
export const hasBlock = (view: View): boolean => isBetweenTwo(roomRefOf(view).type) && blocksIn(view).length > 0
