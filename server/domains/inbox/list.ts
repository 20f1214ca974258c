import { profilesOf } from '#server/domains/accounts/profiles'
import { blockedBy } from '#server/domains/blocks/blocks'
import { countsOf as leftOf } from '#server/domains/messages/reads'
import { membershipsOf } from '#server/domains/room-state/membership'
import { Members, Reads, Rooms } from '#server/domains/room-state/model'
import { headsOf, rowsOf } from '#server/domains/room-state/rows'
import { seenAmong } from '#server/domains/room-state/staff-rooms'
import { conversationMutesOf, muteOf } from '#server/domains/social/conversation-mutes'
import { type Action, type Node, signedIn } from '#server/kernel/context'
import { cursorAt, placeIn } from '#server/kernel/cursors'
import { nodeState } from '#server/kernel/node-state'
import { payFor } from '#server/kernel/pay-for'
import type { RoomKey } from '#server/log/types'
import type { inbox as contract } from '#shared/api/inbox'
import { locationChatOf } from '#shared/api/location-chat'
import type { Room, RoomSummary } from '#shared/api/room'
import { peerIn, roomKey, roomRef } from '#shared/kit/room-key'
import { foundedBy } from '#shared/kit/room-kinds'
import { lastMessagesOf } from './previews.ts'
import { versionOf } from './version.ts'

/** The rooms of an account with all that its list of rooms shows; nothing of them where it is as the caller knows it. */
export const list: Action<typeof contract.list> = async ({ limit, cursor, known }, context) => {
  const { node, http } = context
  const { account } = signedIn(context)
  const own = `rooms ${account}` as const
  const after = cursor === undefined ? undefined : placeIn(own, cursor)
  const keys = await membershipsOf(account)
  const version = `"${await versionOf(node, account, keys)}"`
  http?.setHeader('ETag', version)
  const told = known === undefined ? {} : { version }
  if (known !== undefined && names(known, version)) {
    http?.answerUnchanged()
    return { rooms: [], ...told, unchanged: true }
  }
  await payFor(node, account, keys.length, 'general')
  const left = (await madeOnce(node, account)).filter((room) => after === undefined || placeOf(room) < after)
  if (limit === undefined) return { rooms: left, ...told }
  const rooms = left.slice(0, limit)
  const last = rooms.at(-1)
  return { rooms, ...told, next_cursor: last && left.length > limit ? cursorAt(own, placeOf(last)) : null }
}

/** Whether tags, as `If-None-Match` has them or one alone without its quotes, are of this version. */
const names = (known: string, version: string) =>
  known.split(',').some((tag) => `"${tag.replace(/^\s*(?:W\/)?"?|"?\s*$/g, '')}"` === version)

interface Making {
  running: Promise<unknown>
  next: Promise<RoomSummary[]> | null
}
const makingOn = nodeState(() => new Map<string, Making>())

/** One list of an account at a time: who asks while one is made shares the one after it, so that each is newer than its question. */
function madeOnce(node: Node, account: string): Promise<RoomSummary[]> {
  const making = makingOn(node)
  const mine = making.get(account) ?? { running: Promise.resolve(), next: null }
  if (mine.next) return mine.next
  const next = mine.running.then(() => {
    mine.next = null
    return summariesOf(node, account, {})
  })
  making.set(account, mine)
  mine.next = next
  mine.running = next
    .catch(() => {})
    .then(() => {
      if (mine.next === null) making.delete(account)
    })
  return next
}

const placeOf = (room: RoomSummary) => `${activity(room)} ${keyOfRow(room)}`

export const locationChats: Action<typeof contract.locationChats> = async (_input, context) => {
  const { account } = signedIn(context)
  const rooms = await summariesOf(context.node, account, { type: foundedBy('createLocationRoom') })
  const ids = rooms.map((room) => `${keyOfRow(room)}|member:${account}`)
  const members = await Members.find({ _id: { $in: ids } }, { room: 1, joined_at: 1 }).lean()
  const joined = new Map(members.map(({ room, joined_at }) => [room, joined_at]))
  return {
    chats: rooms.map(({ last_message, ...room }) => ({
      ...locationChatOf(room),
      joined_at: joined.get(keyOfRow(room)) ?? room.created_at,
      last_message_at: last_message?.created_at ?? null,
      last_message_preview: last_message?.preview ?? null,
    })),
  }
}

/** The rooms that an account is in, newest activity first. */
async function summariesOf(node: Node, account: string, which: { type?: string }): Promise<RoomSummary[]> {
  const filter = { _id: { $in: await membershipsOf(account) }, is_active: true, ...which }
  const rows = await rowsOf(node, await seenAmong(node, account, await Rooms.find(filter).lean()), account)
  const [mutes, blocked] = await Promise.all([conversationMutesOf(account, node.now()), blockedBy(account)])
  const keys = rows.map(keyOfRow)
  const counts = await countsOf(node, account, keys)
  const totals = new Map(keys.map((key) => [key, (counts.get(key) ?? noCounts).total]))
  const [roles, peers, last] = await Promise.all([
    rolesOf(account, keys),
    peersIn(node, rows, account),
    lastMessagesOf(totals, blocked),
  ])
  const rooms = rows.map((row): RoomSummary => {
    const key = keyOfRow(row)
    const { head_seq, read_seq, unread, mentions } = counts.get(key) ?? noCounts
    const mute = muteOf(mutes, key, account)
    return {
      ...row,
      role: (roles.get(key) as RoomSummary['role']) ?? null,
      head_seq,
      read_seq,
      unread,
      mentions,
      muted_until: mute?.muted_until ?? null,
      is_muted: mute !== null,
      peer: peers.get(key) ?? null,
      last_message: last.get(key) ?? null,
    }
  })
  return rooms.sort((one, other) => (placeOf(one) < placeOf(other) ? 1 : -1))
}

const activity = ({ last_message, created_at }: RoomSummary) => last_message?.created_at ?? created_at
const refOfRow = ({ type, id }: Pick<Room, 'type' | 'id'>) => roomRef(type, id)
const keyOfRow = (row: Pick<Room, 'type' | 'id'>): RoomKey => roomKey(refOfRow(row))

export interface Counts {
  head_seq: number
  read_seq: number
  unread: number
  mentions: number
  total: number
  /** Unread, whoever wrote it. */
  left: number
}
export const noCounts: Counts = { head_seq: 0, read_seq: 0, unread: 0, mentions: 0, total: 0, left: 0 }

/** Full values, computed from the heads and the marks. Nothing is left to read in an archived room, which no list has. */
export async function countsOf(node: Node, account: string, keys: readonly RoomKey[]): Promise<Map<RoomKey, Counts>> {
  const [heads, archived, reads, members, blocked] = await Promise.all([
    headsOf(node, keys),
    Rooms.find({ _id: { $in: keys }, is_active: false }, { _id: 1 }).lean(),
    Reads.find({ _id: { $in: keys.map((key) => `${key}|${account}`) } }).lean(),
    Members.find({ _id: { $in: keys.map((key) => `${key}|member:${account}`) } }).lean(),
    blockedBy(account),
  ])
  const read = new Map(reads.map((one) => [one.room, one]))
  const isArchived = new Set(archived.map(({ _id }) => _id))
  const arrivals = new Map(members.map((one) => [one.room, one]))
  const entries = keys.map(async (key): Promise<[RoomKey, Counts]> => {
    const { seq: head_seq, total } = heads.get(key) ?? { seq: 0, total: 0 }
    const mark = read.get(key) ?? { seq: 0, n: 0 }
    const arrival = arrivals.get(key)
    const left = isArchived.has(key)
      ? { unread: 0, mentions: 0, left: 0 }
      : await leftOf(key, account, { read: mark, arrival, total, blocked })
    return [key, { head_seq, read_seq: mark.seq, total, ...left }]
  })
  return new Map(await Promise.all(entries))
}

async function rolesOf(account: string, keys: readonly RoomKey[]): Promise<Map<RoomKey, string>> {
  const rows = await Members.find(
    { _id: { $in: keys.map((key) => `${key}|member:${account}`) } },
    { room: 1, role: 1 },
  ).lean()
  return new Map(rows.map(({ room, role }) => [room, role]))
}

async function peersIn(node: Node, rows: readonly Room[], account: string) {
  const dms = rows.flatMap((row) => {
    const peer = peerIn(refOfRow(row), account)
    return peer === null ? [] : [{ key: keyOfRow(row), peer }]
  })
  const profiles = await profilesOf(
    node,
    dms.map(({ peer }) => peer),
  )
  return new Map(
    dms.map(({ key, peer }) => [key, { id: peer, name: profiles.get(peer)?.name ?? peer, role: null, isAgent: false }]),
  )
}
