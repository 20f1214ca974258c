import { banIn, roomIn, roomRefOf, rulesIn } from '#server/domains/rooms/room-state/facts'
import { isKnownRoom, kindOf, kinds, typesWhere } from '#server/domains/rooms/room-state/kinds'
import { rightsIn } from '#server/domains/rooms/room-state/standing'
import type { Node } from '#server/kernel/context'
import { chainedRows } from '#server/log/store'
import { GLOBAL, type RoomKey, type Row, type View } from '#server/log/types'
import type { RoomType } from '#shared/kit/primitives'

/**
 * Does this account receive the moderation of this room? Direct conversations have no receivers. Admins receive all
 * other rooms, global moderators the public rooms from which they are not banned.
 */
export function receivesModeration(view: View, account: string, now: number): boolean {
  const mine = rightsIn(view, account, now)
  const everywhere = rightsIn(view.global, account, now)
  const kind = kinds[roomRefOf(view).type]
  if (!kind.hasModerators) return false
  if (mine.isAdmin) return true
  if (kind.readers === 'members' || banIn(view, account, now) !== null) return false
  const isOpen = rulesIn(view).read_access !== 'members' && roomIn(view)?.access_level !== 'staff'
  return mine.isModerator || (everywhere.isModerator && isOpen)
}

/** Has the room no moderators, so that only its members are notified? */
export const hasNoModerators = (key: RoomKey): boolean =>
  !isKnownRoom(key) || (key !== GLOBAL && !kindOf(key).hasModerators)

const scannedAtMost = 1_000

/** The newest moderation entries of all rooms that this moderator receives; an admin receives more rooms. */
export async function entriesFor(
  node: Node,
  { account, isAdmin }: { account: string; isAdmin: boolean },
  filter: object,
  limit: number,
): Promise<Row[]> {
  const hidden = typesWhere((kind) => !kind.hasModerators || (!isAdmin && kind.readers === 'members'))
  const most = isAdmin ? limit : scannedAtMost
  const stored = await chainedRows(null, { ...filter, $and: hidden.map(outside) }, most)
  const rows = stored.filter(({ room }) => isKnownRoom(room))
  if (isAdmin) return rows
  const rooms = [...new Set(rows.map(({ room }) => room))]
  const received = await Promise.all(
    rooms.map((room) => room === GLOBAL || node.log.ask(room, (view, now) => receivesModeration(view, account, now))),
  )
  const those = new Set(rooms.filter((_, at) => received[at]))
  return rows.filter(({ room }) => those.has(room)).slice(0, limit)
}

/** Excludes the rooms of a kind: their keys lie between `type:` and the character after the colon. */
const outside = (type: RoomType) => ({ $or: [{ room: { $lt: `${type}:` } }, { room: { $gte: `${type};` } }] })
