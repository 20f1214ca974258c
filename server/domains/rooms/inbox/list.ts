import { ownMemberships } from '#server/domains/rooms/room-state/membership'
import { type Action, signedIn } from '#server/kernel/context'
import { cursorAt, cursorPlaceIn } from '#server/kernel/store/cursors'
import type { inbox as contract } from '#shared/api/rooms/inbox'
import { locationChatOf } from '#shared/api/rooms/location-chat'
import { roomOfKey } from '#shared/kit/room-key'
import { foundedBy } from '#shared/kit/room-kinds'
import { listPlaceOf, orderedRooms, ownRooms, summariesOf } from './own-rooms.ts'
import { listVersionOf } from './version.ts'

/** The rooms of an account with all data of its list; empty if the caller's version is current. */
export const list: Action<typeof contract.list> = async ({ limit, cursor, known }, context) => {
  const { node, http } = context
  const { account } = signedIn(context)
  const listName = `rooms ${account}` as const
  const after = cursor === undefined ? undefined : cursorPlaceIn(listName, cursor)
  const memberships = await ownMemberships(account)
  await context.charge(memberships.length)
  const own = await ownRooms(node, account, memberships)
  const version = `"${listVersionOf(own)}"`
  http?.setHeader('ETag', version)
  const versionField = known === undefined ? {} : { version }
  if (known !== undefined && namesVersion(known, version)) {
    http?.answerUnchanged()
    return { rooms: [], ...versionField, unchanged: true }
  }
  const left = (await orderedRooms(node, own)).filter((room) => after === undefined || listPlaceOf(room) < after)
  const page = left.slice(0, limit)
  const rooms = await summariesOf(node, account, own, page)
  if (limit === undefined) return { rooms, ...versionField }
  const last = page.at(-1)
  return {
    rooms,
    ...versionField,
    next_cursor: last && left.length > limit ? cursorAt(listName, listPlaceOf(last)) : null,
  }
}

/** Do tags of `If-None-Match`, or one without quotes, include this version? */
const namesVersion = (known: string, version: string) =>
  known.split(',').some((tag) => `"${tag.replace(/^\s*(?:W\/)?"?|"?\s*$/g, '')}"` === version)

export const locationChats: Action<typeof contract.locationChats> = async (_input, context) => {
  const { node } = context
  const { account } = signedIn(context)
  const type = foundedBy('createLocationRoom')
  const memberships = (await ownMemberships(account)).filter(({ room }) => roomOfKey(room).type === type)
  await context.charge(memberships.length)
  const own = await ownRooms(node, account, memberships)
  const order = await orderedRooms(node, own)
  const rooms = await summariesOf(node, account, own, order)
  return {
    chats: rooms.map(({ last_message, ...room }, at) => ({
      ...locationChatOf(room),
      joined_at: own.members.get(order[at]?.card.key ?? '')?.joined_at ?? room.created_at,
      last_message_at: last_message?.created_at ?? null,
      last_message_preview: last_message?.preview ?? null,
    })),
  }
}
