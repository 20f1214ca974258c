import { removePicture } from '#server/domains/files/removal'
import type { Node } from '#server/kernel/context'
import type { Judgement, View } from '#server/log/types'
import { AppError } from '#shared/errors'
import { actingIn } from './access.ts'
import { actorOf, entryOf } from './entries.ts'
import { roomUpdated } from './events/rooms.ts'
import type { RoomFact } from './facts.ts'
import { Rooms } from './model.ts'
import { refuseMuted } from './state.ts'

/** Refuses whom the owner and the moderators of a room would refuse, before anything is stored. */
export const refuseIcon = (node: Node, key: string, account: string): Promise<void> =>
  node.log.ask(key, (view, now) => void iconed(view, account, now))

function iconed(view: View, account: string, now: number) {
  const { room, standing } = actingIn(view, account, now)
  if (!standing.isModerator)
    throw new AppError('FORBIDDEN', { message: 'Only the owner and moderators may change the icon' })
  refuseLocked(room)
  refuseMuted(view, account, now)
  if (!room.is_active) throw new AppError('ROOM_ARCHIVED')
  return room
}

/** The icon of the channel of an event, or of a collection, is part of what people know it by. */
export function refuseLocked({ gate }: RoomFact): void {
  if (gate?.by === 'attendance')
    throw new AppError('FORBIDDEN', { message: 'The icon of an attendance channel is that of its token' })
}

/** Changes the icon of a room; null takes it away. Its owner and its moderators may. */
export async function changeIcon(node: Node, key: string, account: string, icon_url: string | null): Promise<void> {
  const actor = await actorOf(node, account)
  let before: string | null = null
  await node.log.act<null>(key, {
    sender: account,
    judge(view, now): Judgement<null> {
      before = iconed(view, account, now).icon_url
      if (before === icon_url) return { already: null }
      const patch = { icon_url, updated_at: new Date(now).toISOString() }
      return { accept: entryOf(view, actor, roomUpdated, { patch }) }
    },
  })
  await removePicture(node, before)
}

/** Those of these addresses that rooms show. */
export async function iconsAmong(urls: readonly string[]) {
  const found = await Rooms.find({ icon_url: { $in: [...urls] } }, { icon_url: 1 }).lean()
  return found.map(({ icon_url }) => icon_url)
}
