import { banIn, memberIn, roomIn } from '#server/domains/rooms/room-state/facts'
import { typesWhere } from '#server/domains/rooms/room-state/kinds'
import { roomsLeftByBan } from '#server/domains/rooms/room-state/membership'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { rowsOf } from '#server/domains/rooms/room-state/rows'
import { type Action, signedIn } from '#server/kernel/context'
import type { inbox as contract } from '#shared/api/rooms/inbox'

/** Rooms that the account left by an expired ban and may rejoin. The log decides, because its records may be older. */
export const openAgain: Action<typeof contract.openAgain> = async (_input, context) => {
  const { account } = signedIn(context)
  const { node } = context
  const once = await roomsLeftByBan(account)
  const isOpen = (room: string) =>
    node.log.ask(
      room,
      (view, now) => !banIn(view, account, now) && !memberIn(view, account) && roomIn(view)?.is_active === true,
    )
  const open = await Promise.all(once.map(async (room) => ((await isOpen(room)) ? [room] : [])))
  const free = { _id: { $in: open.flat() }, type: { $in: joinable }, access_level: 'public' }
  const found = await Rooms.find(free, { _id: 1 }).lean()
  return {
    rooms: await rowsOf(
      node,
      found.map(({ _id }) => _id),
      account,
    ),
  }
}

const joinable = typesWhere(({ joining }) => joining === 'open')
