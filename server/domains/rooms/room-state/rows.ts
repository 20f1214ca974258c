import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { createStampedCache } from '#server/kernel/store/kept-answers'
import { RoomHeads } from '#server/log/model'
import type { RoomKey } from '#server/log/types'
import type { ReadAccess } from '#shared/api/moderation/verdict'
import type { AttendanceFields, Room } from '#shared/api/rooms/room'
import { AppError } from '#shared/errors'
import { type RoomRef, roomOfKey } from '#shared/kit/primitives'
import { mayRead } from './access.ts'
import { type RoomFact, type RulesFact, roomFactOf, roomIn } from './facts.ts'
import { Members, RoomFacts, Rooms } from './model.ts'
import { rightsIn } from './standing.ts'

const rowOf = (
  { type, id }: RoomRef,
  room: RoomFact,
  { messages, isMember }: { messages: number; isMember: boolean },
): Room => ({
  ...room,
  id: id ?? 'global',
  type,
  message_count: messages,
  is_member: isMember,
  ...attendanceOf(room),
})

/** The gate's event or collection under the documented names. */
function attendanceOf({ gate }: RoomFact): AttendanceFields {
  const asked = gate?.by === 'attendance' ? gate : null
  const [event, collection] = asked?.event_id === undefined ? [null, asked] : [asked, null]
  return {
    attendance_event_id: event?.event_id ?? null,
    attendance_event_name: event?.name ?? null,
    attendance_image_url: event?.image_url ?? null,
    attendance_collection_id: collection?.collection_id ?? null,
    attendance_collection_name: collection?.name ?? null,
    attendance_collection_image_url: collection?.image_url ?? null,
  }
}

/** The card of an unreadable room: enough to join it, without people or messages. */
const cardOf = (row: Room): Room => ({ ...row, creator_address: null, owner_address: null, message_count: 0 })

/** A room as this account sees it. */
export const roomAnswer = (node: Node, key: string, account: string | null): Promise<Room> =>
  node.log.ask(key, (view, now) => {
    const room = roomIn(view)
    const standing = account === null ? null : rightsIn(view, account, now)
    if (!room) throw new AppError('ROOM_NOT_FOUND')
    const row = rowOf(roomOfKey(key), room, { messages: view.total, isMember: standing?.isMember === true })
    return mayRead(view, standing) ? row : cardOf(row)
  })

const rulesAtOnce = 1_000

/** The read access of these rooms, if their rules set it. */
async function readAccessOf(keys: readonly string[]): Promise<Map<RoomKey, ReadAccess>> {
  const found = new Map<RoomKey, ReadAccess>()
  for (let at = 0; at < keys.length; at += rulesAtOnce) {
    const ids = keys.slice(at, at + rulesAtOnce).map((key) => `${key}|rules`)
    for (const { room, value } of await RoomFacts.find({ _id: { $in: ids } }, { room: 1, value: 1 }).lean())
      found.set(room, (value as Partial<RulesFact> | null)?.read_access ?? 'everyone')
  }
  return found
}

/** Those of these rooms that anonymous callers may read. */
export async function openRoomsAmong<Row extends { _id: RoomKey }>(rooms: readonly Row[]): Promise<Row[]> {
  const access = await readAccessOf(rooms.map(({ _id }) => _id))
  return rooms.filter(({ _id }) => (access.get(_id) ?? 'everyone') === 'everyone')
}

/** The first rooms of a list that anonymous callers may read. Each page is as long as all before it, as rooms are skipped again. */
export async function firstOpenRooms<Row extends { _id: RoomKey }>(
  most: number,
  read: (skip: number, limit: number) => Promise<Row[]>,
  lookedAtMost = Number.POSITIVE_INFINITY,
): Promise<Row[]> {
  const open: Row[] = []
  for (let looked = 0; open.length < most && looked < lookedAtMost; ) {
    const wanted = Math.min(Math.max(most, looked), lookedAtMost - looked)
    const page = await read(looked, wanted)
    looked += page.length
    open.push(...(await openRoomsAmong(page)))
    if (page.length < wanted) break
  }
  return open.slice(0, most)
}

interface Head {
  seq: number
  total: number
  /** The row up to which all records are written. */
  recorded: number
}
const noHead: Head = { seq: 0, total: 0, recorded: 0 }

/** The heads of many rooms. An open room may be ahead of the stored head, and always is on a single node. */
export async function headsOf(node: Node, keys: readonly RoomKey[]): Promise<Map<RoomKey, Head>> {
  const heads = new Map<RoomKey, Head>()
  for (const key of keys) {
    const here = node.log.headHere(key)
    if (here) heads.set(key, here)
  }
  const asked = node.alone ? keys.filter((key) => !heads.has(key)) : [...keys]
  const stored = asked.length === 0 ? [] : await RoomHeads.find({ _id: { $in: asked } }).lean()
  for (const { _id, seq, total, applied } of stored) {
    const here = heads.get(_id) ?? noHead
    const furthest = here.seq >= seq ? here : { seq, total }
    heads.set(_id, { ...furthest, recorded: Math.max(here.recorded, applied) })
  }
  return heads
}

/** A room as lists show it, from its records. */
export interface Card extends Head {
  key: RoomKey
  /** Changes with the room and its messages. */
  stamp: string
  room: RoomFact
  peers: readonly string[]
  readAccess: ReadAccess
}
type RecordedRoom = Pick<Card, 'room' | 'peers' | 'readAccess'>

const cardsAtMost = 20_000
const cardsOn = nodeState(() => createStampedCache<RecordedRoom>(cardsAtMost))

/** The existing rooms among these. A card follows from the room's log, so only a row makes it stale. */
export async function cardsOf(node: Node, keys: readonly RoomKey[]): Promise<Card[]> {
  const heads = await headsOf(node, keys)
  const stampOf = ({ seq, recorded } = noHead) => `${seq} ${recorded}`
  const stamps = new Map(keys.map((key) => [key, stampOf(heads.get(key))]))
  const recorded = await cardsOn(node).of(stamps, readCards)
  return [...stamps].flatMap(([key, stamp]) => {
    const card = recorded.get(key)
    return card ? [{ key, stamp, ...(heads.get(key) ?? noHead), ...card }] : []
  })
}

/** Called after a change of a record without a row. */
export const forgetCard = (node: Node, key: RoomKey): void => cardsOn(node).forget(key)

/** Called after a change of many records without a row. */
export const forgetCards = (node: Node): void => cardsOn(node).forgetAll()

async function readCards(keys: readonly RoomKey[]): Promise<Map<RoomKey, RecordedRoom>> {
  const [documents, access] = await Promise.all([Rooms.find({ _id: { $in: keys } }).lean(), readAccessOf(keys)])
  return new Map(
    documents.map((document) => {
      const { _id, peers } = document
      return [_id, { room: roomFactOf(document), peers, readAccess: access.get(_id) ?? 'everyone' }]
    }),
  )
}

/** A card's row, for members or others. */
export function rowOfCard({ key, room, total, readAccess }: Card, isMember: boolean): Room {
  const row = rowOf(roomOfKey(key), room, { messages: total, isMember })
  return readAccess === 'members' && !isMember ? cardOf(row) : row
}

/** Rows of many rooms as an account sees them, in this order. */
export async function rowsOf(node: Node, keys: readonly RoomKey[], account: string | null): Promise<Room[]> {
  const [cards, mine] = await Promise.all([
    cardsOf(node, keys),
    account === null
      ? []
      : Members.find(
          { _id: { $in: keys.map((key) => `${key}|member:${account}`) }, is_active: true },
          { room: 1 },
        ).lean(),
  ])
  const joined = new Set(mine.map(({ room }) => room))
  return cards.map((card) =>
    rowOfCard(card, joined.has(card.key) || (account !== null && card.peers.includes(account))),
  )
}
