import { recordOf } from '#server/domains/events'
import type { RoomFact } from '#server/domains/rooms/room-state/facts'
import { updateAllStaffMemberships, updateStaffMemberships } from '#server/domains/rooms/room-state/staff-rooms'
import type { Context, Node } from '#server/kernel/context'
import { GLOBAL, type RoomKey } from '#server/log/types'
import { foundRoom } from './founding.ts'

/** Founds a staff channel and adds all staff. It reserves no name, because others must not know of it. */
export async function foundStaffChannel(
  context: Context,
  about: Pick<RoomFact, 'name'> & Partial<RoomFact>,
): Promise<RoomKey> {
  const key = await foundRoom(context, 'channel', { ...about, is_official: true, access_level: 'staff' }, [])
  void loggingErrors(context.node, updateAllStaffMemberships(context.node))
  return key
}

/**
 * Adds new staff to the staff rooms, and removes former staff, on the appending node. Any node completes missed
 * changes. From the row on, only staff see such a room, whatever the records say.
 */
export function followStaff(node: Node): void {
  node.log.onRows((key, rows, isOurs) => {
    if (!isOurs || key !== GLOBAL) return
    for (const { type, target } of rows) {
      const isConcerned = recordOf(type)?.changesRights === 'of the target'
      if (isConcerned && target !== null) void loggingErrors(node, updateStaffMemberships(node, target))
    }
  })
}

const loggingErrors = (node: Node, settling: Promise<void>): Promise<void> =>
  settling.catch((error: unknown) => node.logger.warn({ error }, 'the staff was not settled'))
