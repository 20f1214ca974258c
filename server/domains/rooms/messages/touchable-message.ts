import { hasBlock, readableRoomOf } from '#server/domains/rooms/room-state/access'
import { type MessageFact, messageIn } from '#server/domains/rooms/room-state/facts'
import { isSuspended, type Standing } from '#server/domains/rooms/room-state/standing'
import type { View } from '#server/log/types'
import { AppError } from '#shared/errors'

export interface TouchedMessage {
  message: MessageFact
  standing: Standing
}

/** The standing of a member who may write in the room; throws otherwise, before anything in it is looked for. */
export function writerStanding(view: View, account: string, now: number): Standing {
  const { room, standing } = readableRoomOf(view, account, now)
  if (isSuspended(view, account)) throw new AppError('SUSPENDED')
  if (hasBlock(view)) throw new AppError('BLOCKED')
  if (!standing?.isMember && !standing?.isModerator) throw new AppError('NOT_A_MEMBER')
  if (!room.is_active) throw new AppError('ROOM_ARCHIVED')
  return standing
}

/** The message that a client named, if this member may write in its room; throws otherwise. */
export function touchableMessage(view: View, account: string, id: string, now: number): TouchedMessage {
  const standing = writerStanding(view, account, now)
  const message = messageIn(view, id)
  if (!message) throw new AppError('MESSAGE_NOT_FOUND')
  return { message, standing }
}

/** The message; throws if it was deleted. */
export const presentMessage = ({ message }: TouchedMessage): MessageFact => {
  if (message.body.deleted) throw new AppError('MESSAGE_NOT_FOUND')
  return message
}
