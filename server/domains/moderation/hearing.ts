import { banIn, refOf, roomIn, rulesIn } from '#server/domains/rooms/facts'
import { kindOf, kinds, typesWhere } from '#server/domains/rooms/kinds'
import { rightsIn } from '#server/domains/rooms/standing'
import type { Node } from '#server/kernel/context'
import { chainedRows } from '#server/log/store'
import { GLOBAL, type RoomKey, type Row, type View } from '#server/log/types'
import type { RoomType } from '#shared/kit/primitives'

/**
 * Is somebody who moderates everywhere told of what is done in this room? Of direct conversations nobody is, of all other
 * rooms admins are; global moderators are told of those that they could read without being a member, and are not banned in.
 */
export function hearsOf(view: View, account: string, now: number): boolean {
  const mine = rightsIn(view, account, now)
  const everywhere = rightsIn(view.global, account, now)
  const kind = kinds[refOf(view).type]
  if (!kind.hasModerators) return false
  if (mine.isAdmin) return true
  if (kind.readers === 'members' || banIn(view, account, now) !== null) return false
  const isOpen = rulesIn(view).read_access !== 'members' && roomIn(view)?.access_level !== 'staff'
  return mine.isModerator || (everywhere.isModerator && isOpen)
}

/** Is what is done in this room told to its own two people alone? */
export const isUnheard = (key: RoomKey): boolean => key !== GLOBAL && !kindOf(key).hasModerators

const scannedAtMost = 1_000

/** The newest entries of the log of everything that this moderator is told of; an admin is told of more. */
export async function entriesFor(
  node: Node,
  { account, isAdmin }: { account: string; isAdmin: boolean },
  filter: object,
  limit: number,
): Promise<Row[]> {
  const hidden = typesWhere((kind) => !kind.hasModerators || (!isAdmin && kind.readers === 'members'))
  const rows = await chainedRows(null, { ...filter, $and: hidden.map(outside) }, isAdmin ? limit : scannedAtMost)
  if (isAdmin) return rows
  const rooms = [...new Set(rows.map(({ room }) => room))]
  const heard = await Promise.all(
    rooms.map((room) => room === GLOBAL || node.log.ask(room, (view, now) => hearsOf(view, account, now))),
  )
  const those = new Set(rooms.filter((_, at) => heard[at]))
  return rows.filter(({ room }) => those.has(room)).slice(0, limit)
}

/** All rooms but those of a kind: its keys lie between the colon and the sign after it. */
const outside = (type: RoomType) => ({ $or: [{ room: { $lt: `${type}:` } }, { room: { $gte: `${type};` } }] })
