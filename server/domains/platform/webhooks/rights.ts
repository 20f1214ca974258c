import { actingRoom, mayRead } from '#server/domains/rooms/room-state/access'
import { ranks } from '#server/domains/rooms/room-state/standing'
import type { Node } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import { AppError, type ErrorCode } from '#shared/errors'

/** The head of a room for its owner and admins, and server admins who may read. Throws ROOM_NOT_FOUND, BANNED, SUSPENDED, FORBIDDEN. */
export const roomHeadFor = (node: Node, account: string, room: RoomKey): Promise<number> =>
  node.log.ask(room, (view, now) => {
    const { standing } = actingRoom(view, account, now)
    if (!standing.isModerator || standing.rank < ranks.admin || !mayRead(view, standing))
      throw new AppError('FORBIDDEN', { message: 'Only owners and admins of a room may have its events sent' })
    return view.seq
  })

const rightLost: readonly ErrorCode[] = ['ROOM_NOT_FOUND', 'BANNED', 'SUSPENDED', 'FORBIDDEN']

/** Whether the error means a lost right, not a failed check. */
export const isRightLost = (error: unknown): boolean => error instanceof AppError && rightLost.includes(error.code)
