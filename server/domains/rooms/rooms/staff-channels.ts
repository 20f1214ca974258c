import { recordOf } from '#server/domains/events'
import type { RoomFact } from '#server/domains/rooms/room-state/facts'
import { settleAllStaff, settleStaff } from '#server/domains/rooms/room-state/staff-rooms'
import type { Context, Node } from '#server/kernel/context'
import { GLOBAL, type RoomKey } from '#server/log/types'
import { found } from './founding.ts'

/** Founds a channel of the staff, into which all of it is brought. It takes no name from others, who are not to know of it. */
export async function foundStaffChannel(
  context: Context,
  about: Pick<RoomFact, 'name'> & Partial<RoomFact>,
): Promise<RoomKey> {
  const key = await found(context, 'channel', { ...about, is_official: true, access_level: 'staff' }, [])
  void quietly(context.node, settleAllStaff(context.node))
  return key
}

/**
 * Whoever comes to be of the staff, or is of it no more, is brought into its rooms or taken out of them by the node that has appended that. What is
 * missed there any node makes up for; from the row itself on, nobody who is not of the staff sees such a room, whatever the records say.
 */
export function followStaff(node: Node): void {
  node.log.onRows((key, rows, isOurs) => {
    if (!isOurs || key !== GLOBAL) return
    for (const { type, target } of rows) {
      const isConcerned = recordOf(type)?.changesRights === 'of the target'
      if (isConcerned && target !== null) void quietly(node, settleStaff(node, target))
    }
  })
}

const quietly = (node: Node, settling: Promise<void>): Promise<void> =>
  settling.catch((error: unknown) => node.logger.warn({ error }, 'the staff was not settled'))
