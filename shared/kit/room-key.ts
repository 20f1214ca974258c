import { canonicalAddress, isSameAccount } from './accounts.ts'
import {
  type Conversation,
  isBetweenTwo,
  isSingle,
  type RoomKind,
  type RoomType,
  roomKinds,
  roomTypes,
  singleTypes,
} from './room-kinds.ts'

export interface Ref {
  type: RoomType
  id: string | null
}

/** The room of everybody. */
export const alpha: Ref = { type: 'alpha', id: null }

/** The text form of a room's key: `type:id`, or `alpha`. */
export const roomKey = (room: Ref): string => (room.id === null ? room.type : `${room.type}:${room.id}`)

export const roomOfKey = (key: string): Ref => {
  const colon = key.indexOf(':')
  if (colon < 0) return { type: singleTypes.find((type) => type === key) ?? alpha.type, id: null }
  return { type: key.slice(0, colon) as RoomType, id: key.slice(colon + 1) }
}

/** The room of a row or a path, which gives some id to rooms that have none. */
export const roomRef = (type: RoomType, id: string | null | undefined): Ref => ({
  type,
  id: isSingle(type) ? null : (id ?? ''),
})

/** The id as rows of the documented paths carry it: null in the fields of other kinds. */
export const idIn = (field: NonNullable<RoomKind['idField']>, { type, id }: Ref): string | null =>
  roomKinds[type]?.idField === field ? id : null

/** The dm between two accounts. */
export const dmOf = (one: string, other: string): { type: 'dm'; id: string } => ({
  type: 'dm',
  id: [canonicalAddress(one), canonicalAddress(other)].sort().join('~'),
})

/** The two accounts a room is between. */
export const peersOf = (id: string | null): readonly string[] => id?.split('~') ?? []

/** The other person of a room between two; null of every other room. */
export const peerIn = ({ type, id }: Ref, account: string): string | null =>
  isBetweenTwo(type) ? (peersOf(id).find((peer) => !isSameAccount(peer, account)) ?? null) : null

/** A room as mutes and reports name it: one between two by the other person, alpha as the channel `global`. */
export const conversationOf = (room: Ref, account: string) => ({
  conversationType: roomKinds[room.type].conversation,
  conversationId: peerIn(room, account) ?? room.id ?? 'global',
})

/** The room that somebody has named so. */
export function roomOfConversation(type: Conversation, id: string, account: string): Ref {
  if (isBetweenTwo(type)) return dmOf(account, id)
  return id === 'global' ? alpha : { type, id }
}

const placesOf = (type: RoomType) =>
  roomKinds[type].paths.map((path) => ({
    type,
    matches: new RegExp(`^${path.replace(':id', '([^/]+)')}(?:/|$)`, 'i'),
  }))
const places = [...singleTypes, ...roomTypes.filter((type) => !isSingle(type))].flatMap(placesOf)

/** The room that a documented path is of, such as `/api/channels/:id/messages`; null of every other path. */
export function roomOfPath(path: string): Ref | null {
  for (const { type, matches } of places) {
    const found = matches.exec(path)
    if (found) return roomRef(type, found[1])
  }
  return null
}

const idBeginning = '/plaza/1/dm/'
const idEnd = '/proto'

/** What the documented paths call the conversation of two people: `/plaza/1/dm/<one account>-<the other>/proto`, in the order of their ids. */
export const conversationIdOf = ({ id }: Pick<Ref, 'id'>): string => idBeginning + peersOf(id).join('-') + idEnd

/** The conversation of this account that has such an id; null where it has none. Ids of accounts may have hyphens of their own. */
export function dmOfConversation(id: string, account: string) {
  const pair = id.slice(idBeginning.length, -idEnd.length)
  const peers = [pair.slice(account.length + 1), pair.slice(0, -account.length - 1)]
  return peers.map((peer) => dmOf(account, peer)).find((dm) => conversationIdOf(dm) === id) ?? null
}
