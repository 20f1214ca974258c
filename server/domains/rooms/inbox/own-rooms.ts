import { blockedBy } from '#server/domains/moderation/blocks/blocks'
import { conversationMuteOf, conversationMutesOf } from '#server/domains/moderation/social/conversation-mutes'
import { namesOfPeople } from '#server/domains/people/accounts/profiles'
import type { ownMemberships } from '#server/domains/rooms/room-state/membership'
import { Reads } from '#server/domains/rooms/room-state/model'
import { type Card, cardsOf, rowOfCard } from '#server/domains/rooms/room-state/rows'
import { visibleRooms } from '#server/domains/rooms/room-state/staff-rooms'
import type { Node } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import type { LastMessage, RoomSummary } from '#shared/api/rooms/room'
import { peerIn, roomOfKey } from '#shared/kit/room-key'
import { countsOfCards, noCounts, type OwnRoomData } from './counts.ts'
import { lastMessagesOf } from './previews.ts'

type Membership = Awaited<ReturnType<typeof ownMemberships>>[number]

/** The visible rooms of an account, with its own data in them. */
export interface OwnRooms extends OwnRoomData {
  cards: readonly Card[]
  members: ReadonlyMap<RoomKey, Membership>
  mutes: Awaited<ReturnType<typeof conversationMutesOf>>
  /** The other person of each direct room. */
  peers: ReadonlyMap<RoomKey, { id: string; name: string }>
}

export async function ownRooms(node: Node, account: string, memberships: readonly Membership[]): Promise<OwnRooms> {
  const keys = memberships.map(({ room }) => room)
  const between = keys.flatMap((key) => {
    const peer = peerIn(roomOfKey(key), account)
    return peer === null ? [] : [{ key, peer }]
  })
  const peers = between.map(({ peer }) => peer)
  const [cards, reads, mutes, blocked, names] = await Promise.all([
    cardsOf(node, keys),
    Reads.find({ _id: { $in: keys.map((key) => `${key}|${account}`) } }, { room: 1, seq: 1, n: 1 }).lean(),
    conversationMutesOf(account, node.now()),
    blockedBy(account),
    namesOfPeople(node, peers),
  ])
  const active = cards.filter(({ room }) => room.is_active)
  const members = new Map(memberships.map((one) => [one.room, one]))
  return {
    cards: await visibleRooms(node, account, active),
    members,
    arrivals: members,
    marks: new Map(reads.map((one) => [one.room, one])),
    mutes,
    blocked,
    peers: new Map(between.map(({ key, peer }) => [key, { id: peer, name: names.get(peer) ?? peer }])),
  }
}

/** A room with its newest message, by which lists are ordered. */
export interface LatestRoom {
  card: Card
  last: LastMessage | null
  /** The time of the last message, or of the founding. */
  at: string
}

/** Newest activity first. */
export async function orderedRooms(node: Node, { cards, blocked }: OwnRooms): Promise<LatestRoom[]> {
  const newest = await lastMessagesOf(node, cards, blocked)
  const latest = cards.map((card): LatestRoom => {
    const last = newest.get(card.key) ?? null
    return { card, last, at: last?.created_at ?? card.room.created_at }
  })
  return latest.sort((one, other) => (listPlaceOf(one) < listPlaceOf(other) ? 1 : -1))
}

export const listPlaceOf = ({ card, at }: LatestRoom) => `${at} ${card.key}`

export async function summariesOf(
  node: Node,
  account: string,
  own: OwnRooms,
  shown: readonly LatestRoom[],
): Promise<RoomSummary[]> {
  const counts = await countsOfCards(
    node,
    account,
    shown.map(({ card }) => card),
    own,
  )
  return shown.map(({ card, last }): RoomSummary => {
    const { key } = card
    const { head_seq, read_seq, unread, mentions } = counts.get(key) ?? noCounts
    const mute = conversationMuteOf(own.mutes, key, account)
    const peer = own.peers.get(key)
    return {
      ...rowOfCard(card, true),
      role: (own.members.get(key)?.role as RoomSummary['role']) ?? null,
      head_seq,
      read_seq,
      unread,
      mentions,
      muted_until: mute?.muted_until ?? null,
      is_muted: mute !== null,
      peer: peer ? { ...peer, role: null, isAgent: false } : null,
      last_message: last,
    }
  })
}
