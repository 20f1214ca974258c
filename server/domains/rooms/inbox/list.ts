import { ownMemberships } from '#server/domains/rooms/room-state/membership'
import { type Action, signedIn } from '#server/kernel/context'
import { cursorAt, placeIn } from '#server/kernel/cursors'
import type { inbox as contract } from '#shared/api/inbox'
import { locationChatOf } from '#shared/api/location-chat'
import { roomOfKey } from '#shared/kit/room-key'
import { foundedBy } from '#shared/kit/room-kinds'
import { inOrder, ownRooms, placeOf, summariesOf } from './own-rooms.ts'
import { versionOf } from './version.ts'

/** The rooms of an account with all data of its list; empty if the caller's version is current. */
export const list: Action<typeof contract.list> = async ({ limit, cursor, known }, context) => {
  const { node, http } = context
  const { account } = signedIn(context)
  const place = `rooms ${account}` as const
  const after = cursor === undefined ? undefined : placeIn(place, cursor)
  const memberships = await ownMemberships(account)
  await context.charge(memberships.length)
  const own = await ownRooms(node, account, memberships)
  const version = `"${versionOf(own)}"`
  http?.setHeader('ETag', version)
  const told = known === undefined ? {} : { version }
  if (known !== undefined && names(known, version)) {
    http?.answerUnchanged()
    return { rooms: [], ...told, unchanged: true }
  }
  const left = (await inOrder(node, own)).filter((room) => after === undefined || placeOf(room) < after)
  const page = left.slice(0, limit)
  const rooms = await summariesOf(node, account, own, page)
  if (limit === undefined) return { rooms, ...told }
  const last = page.at(-1)
  return { rooms, ...told, next_cursor: last && left.length > limit ? cursorAt(place, placeOf(last)) : null }
}

/** Do tags of `If-None-Match`, or one without quotes, include this version? */
const names = (known: string, version: string) =>
  known.split(',').some((tag) => `"${tag.replace(/^\s*(?:W\/)?"?|"?\s*$/g, '')}"` === version)

export const locationChats: Action<typeof contract.locationChats> = async (_input, context) => {
  const { node } = context
  const { account } = signedIn(context)
  const type = foundedBy('createLocationRoom')
  const memberships = (await ownMemberships(account)).filter(({ room }) => roomOfKey(room).type === type)
  await context.charge(memberships.length)
  const own = await ownRooms(node, account, memberships)
  const order = await inOrder(node, own)
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
