import { createHash } from 'node:crypto'
import { blockedBy } from '#server/domains/moderation/blocks/blocks'
import { conversationMuteOf, conversationMutesOf } from '#server/domains/moderation/social/blocks'
import { namesOfPeople } from '#server/domains/people/accounts/profiles'
import { banIn, memberIn, messageFactOf, roomIn } from '#server/domains/rooms/room-state/facts'
import { typesWhere } from '#server/domains/rooms/room-state/kinds'
import {
  membershipsOf,
  ownMemberships,
  roomsLeftByBan,
  visibleRooms,
} from '#server/domains/rooms/room-state/membership'
import { Members, Reads, Rooms } from '#server/domains/rooms/room-state/model'
import { presentMessagesAt, presentMessagesBetween } from '#server/domains/rooms/room-state/redaction'
import { type Card, cardsOf, headsOf, rowOfCard, rowsOf } from '#server/domains/rooms/room-state/rows'
import { type Action, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { cursorAt, cursorPlaceIn } from '#server/kernel/store/pages'
import type { RoomKey } from '#server/log/types'
import { inbox as contract } from '#shared/api/rooms/inbox'
import { locationChatOf } from '#shared/api/rooms/location-chat'
import type { LastMessage, RoomSummary } from '#shared/api/rooms/room'
import { isInClear } from '#shared/kit/clear-types'
import { alpha, conversationIdOf, peerIn, roomKey, roomOfKey } from '#shared/kit/room-key'
import { foundedBy } from '#shared/kit/room-kinds'
import { countsOfCards, lastMessagesOf, noCounts, type OwnRoomData } from './counts.ts'
import { followUnread, greetNotifications } from './unread.ts'

const key = roomKey(alpha)
const timeOf = (row: { at: number } | undefined) => (row ? new Date(row.at).toISOString() : null)

const alphaMembership: Action<typeof contract.alphaMembership> = async (_input, context) => {
  const { node } = context
  const { account } = signedIn(context)
  const [member, read, mutes] = await Promise.all([
    Members.findOne({ _id: `${key}|member:${account}` }).lean(),
    Reads.findOne({ _id: `${key}|${account}` }).lean(),
    conversationMutesOf(account, node.now()),
  ])
  if (!member) return { membership: null }
  const { joined_at, is_active, applied_seq } = member
  const n = read?.n ?? 0
  const [[last], [parting]] = await Promise.all([
    n > 0 ? presentMessagesBetween(key, n, n) : [],
    is_active ? [] : node.log.read(key, applied_seq - 1, 1),
  ])
  return {
    membership: {
      user_address: account,
      notifications_muted: conversationMuteOf(mutes, key, account) !== null,
      last_read_at: timeOf(last),
      joined_at,
      left_at: timeOf(parting),
    },
  }
}

const directPreviews: Action<typeof contract.directPreviews> = async (_input, context) => {
  const { node } = context
  const { account } = signedIn(context)
  const conversations = (await membershipsOf(account)).flatMap((key) => {
    const { type, id } = roomOfKey(key)
    const peer = peerIn({ type, id }, account)
    return peer === null ? [] : [{ key, id, peer }]
  })
  await context.charge(conversations.length)
  const heads = await headsOf(
    node,
    conversations.map(({ key }) => key),
  )
  const newest = await presentMessagesAt(
    [...heads].flatMap(([room, { total }]) => (total > 0 ? { room, n: total } : [])),
  )
  const last = new Map(newest.map((row) => [row.room, row]))
  const previews = conversations.flatMap(({ key, id, peer }) => {
    const row = last.get(key)
    if (!row) return []
    const { body, sender, at } = messageFactOf(row)
    return {
      conversation_id: conversationIdOf({ id }),
      sender_address: sender,
      content: isInClear(body.type) && !body.deleted ? body.text : null,
      message_type: body.type,
      sent_at: new Date(at).toISOString(),
      peer_address: peer,
    }
  })
  return { previews: previews.sort((one, other) => other.sent_at.localeCompare(one.sent_at)) }
}

type Membership = Awaited<ReturnType<typeof ownMemberships>>[number]

/** The visible rooms of an account, with its own data in them. */
interface OwnRooms extends OwnRoomData {
  cards: readonly Card[]
  members: ReadonlyMap<RoomKey, Membership>
  mutes: Awaited<ReturnType<typeof conversationMutesOf>>
  /** The other person of each direct room. */
  peers: ReadonlyMap<RoomKey, { id: string; name: string }>
}

async function ownRooms(
  node: Node,
  account: string,
  memberships: readonly Membership[],
  isArchived = false,
): Promise<OwnRooms> {
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
  const asked = cards.filter(({ room }) => room.is_active !== isArchived)
  const members = new Map(memberships.map((one) => [one.room, one]))
  return {
    cards: await visibleRooms(node, account, asked),
    members,
    arrivals: members,
    marks: new Map(reads.map((one) => [one.room, one])),
    mutes,
    blocked,
    peers: new Map(between.map(({ key, peer }) => [key, { id: peer, name: names.get(peer) ?? peer }])),
  }
}

/** A room with its newest message, by which lists are ordered. */
interface LatestRoom {
  card: Card
  last: LastMessage | null
  /** The time of the last message, or of the founding. */
  at: string
}

/** Newest activity first. */
async function orderedRooms(node: Node, { cards, blocked }: OwnRooms): Promise<LatestRoom[]> {
  const newest = await lastMessagesOf(node, cards, blocked)
  const latest = cards.map((card): LatestRoom => {
    const last = newest.get(card.key) ?? null
    return { card, last, at: last?.created_at ?? card.room.created_at }
  })
  return latest.sort((one, other) => (listPlaceOf(one) < listPlaceOf(other) ? 1 : -1))
}

const listPlaceOf = ({ card, at }: LatestRoom) => `${at} ${card.key}`

async function summariesOf(
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

/** The rooms of an account with all data of its list; empty if the caller's version is current. */
const list: Action<typeof contract.list> = async ({ limit, cursor, known, archived }, context) => {
  const { node, http } = context
  const { account } = signedIn(context)
  const listName = `rooms ${account}` as const
  const after = cursor === undefined ? undefined : cursorPlaceIn(listName, cursor)
  const memberships = await ownMemberships(account)
  await context.charge(memberships.length)
  const own = await ownRooms(node, account, memberships, archived)
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

const locationChats: Action<typeof contract.locationChats> = async (_input, context) => {
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

/** Rooms that the account left by an expired ban and may rejoin. The log decides, because its records may be older. */
const openAgain: Action<typeof contract.openAgain> = async (_input, context) => {
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

export const inbox = defineDomain(
  contract,
  { list, alphaMembership, directPreviews, locationChats, openAgain },
  {
    connected: { '/notifications': greetNotifications },
    start: (node) => [followUnread(node)],
  },
)

/**
 * The version of an account's list, which changes with it. A room's part follows from its log, which the card's stamp
 * covers, and from the account's own data.
 */
function listVersionOf({ cards, members, marks, mutes, blocked, peers }: OwnRooms): string {
  const parts = [
    cards.map(({ key, stamp }) => `${key} ${stamp}`).sort(),
    cards.flatMap(({ key }) => (marks.has(key) ? `${key} ${marks.get(key)?.seq}` : [])).sort(),
    [...members.values()].map(({ room, role }) => `${room} ${role}`).sort(),
    mutes.map(({ id, muted_until }) => `${id} ${muted_until}`).sort(),
    [...blocked].sort(),
    [...peers.values()].map(({ id, name }) => `${id} ${name}`).sort(),
  ]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
