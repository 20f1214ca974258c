import { isPublic, keyOf } from '#server/domains/rooms/room-state/access'
import { roomAnswer } from '#server/domains/rooms/room-state/rows'
import type { Action, Node } from '#server/kernel/context'
import type { Room } from '#shared/api/rooms/room'
import { channelRef } from '#shared/api/rooms/room-paths'
import type { rooms as contract } from '#shared/api/rooms/rooms'
import { tokenChatOf } from '#shared/api/rooms/token-chat'
import { AppError } from '#shared/errors'
import type { RoomRef } from '#shared/kit/primitives'
import { foundedBy } from '#shared/kit/room-kinds'

export const publicChannel: Action<typeof contract.publicChannel> = async ({ id }, { node }) => {
  const channel = await cardOf(node, channelRef(id))
  const { attendance_event_id: poap_event_id, attendance_event_name: poap_event_name } = channel
  return { channel: { ...channel, poap_event_id, poap_event_name } }
}

export const publicTokenRoom: Action<typeof contract.publicTokenRoom> = async ({ id }, { node }) => {
  const { is_member: _, ...chat } = tokenChatOf(await cardOf(node, { type: foundedBy('createTokenRoom'), id }))
  return { chat }
}

/** The room for an anonymous reader. */
async function cardOf(node: Node, room: RoomRef): Promise<Room> {
  const key = await keyOf(room)
  if (!(await node.log.ask(key, isPublic))) throw new AppError('ROOM_NOT_FOUND')
  return roomAnswer(node, key, null)
}
