import { removePicture } from '#server/domains/media/files/removal'
import { actingRoom } from '#server/domains/rooms/room-state/access'
import { actorOf, entryOf } from '#server/domains/rooms/room-state/entries'
import { roomUpdated } from '#server/domains/rooms/room-state/events/rooms'
import { refuseLockedIcon, refuseMuted } from '#server/domains/rooms/room-state/judge-draft'
import type { Node } from '#server/kernel/context'
import type { Judgement, View } from '#server/log/types'
import { AppError } from '#shared/errors'

/** Refuses a caller who may not change the icon, before anything is stored. */
export const refuseIconChange = (node: Node, key: string, account: string): Promise<void> =>
  node.log.ask(key, (view, now) => void roomWithIcon(view, account, now))

function roomWithIcon(view: View, account: string, now: number) {
  const { room, standing } = actingRoom(view, account, now)
  if (!standing.isModerator)
    throw new AppError('FORBIDDEN', { message: 'Only the owner and moderators may change the icon' })
  refuseLockedIcon(room)
  refuseMuted(view, account, now)
  if (!room.is_active) throw new AppError('ROOM_ARCHIVED')
  return room
}

/** Changes the icon of a room, or removes it (null). The owner and moderators may. */
export async function changeRoomIcon(node: Node, key: string, account: string, icon_url: string | null): Promise<void> {
  const actor = await actorOf(node, account)
  let before: string | null = null
  await node.log.act(key, {
    sender: account,
    makes: roomUpdated,
    judge(view, now): Judgement<null> {
      before = roomWithIcon(view, account, now).icon_url
      if (before === icon_url) return { already: null }
      const patch = { icon_url, updated_at: new Date(now).toISOString() }
      return { accept: entryOf(view, actor, roomUpdated, { patch }) }
    },
  })
  await removePicture(node, before)
}
