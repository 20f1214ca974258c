import type { Node } from '#server/kernel/context'
import { RoomHeads } from '#server/log/model'
import type { AttendanceFields, Room } from '#shared/api/room'
import { AppError } from '#shared/errors'
import { type RoomRef, type RoomType, roomOfKey } from '#shared/kit/primitives'
import { mayRead } from './access.ts'
import { type RoomFact, roomFactOf, roomIn } from './facts.ts'
import { Members, RoomFacts, Rooms } from './model.ts'
import { rightsIn } from './standing.ts'

export const rowOf = (
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

/** What its gate says of the event or the collection, under the documented names. */
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

/** What a room that somebody may not read shows them: enough to join it, nothing of its people or of what is said. */
const cardOf = (row: Room): Room => ({ ...row, creator_address: null, owner_address: null, message_count: 0 })

/** The row of one room as this account sees it. */
export const roomAnswer = (node: Node, key: string, account: string | null): Promise<Room> =>
  node.log.ask(key, (view, now) => {
    const room = roomIn(view)
    const standing = account === null ? null : rightsIn(view, account, now)
    if (!room) throw new AppError('ROOM_NOT_FOUND')
    const row = rowOf(roomOfKey(key), room, { messages: view.total, isMember: standing?.isMember === true })
    return mayRead(view, standing) ? row : cardOf(row)
  })

/** Which of these rooms are for members alone. */
async function closedAmong(keys: readonly string[]): Promise<Set<string>> {
  const filter = { _id: { $in: keys.map((key) => `${key}|rules`) }, 'value.read_access': 'members' }
  return new Set((await RoomFacts.find(filter, { room: 1 }).lean()).map(({ room }) => room))
}

/** How far the logs of many rooms have come. What is open here may be ahead of what is stored. */
export async function headsOf(node: Node, keys: readonly string[]) {
  const stored = await RoomHeads.find({ _id: { $in: [...keys] } }).lean()
  const heads = new Map(stored.map(({ _id, seq, total }) => [_id, { seq, total }]))
  for (const key of keys) {
    const here = node.log.headHere(key)
    if (here && here.seq > (heads.get(key)?.seq ?? 0)) heads.set(key, here)
  }
  return heads
}

type Stored = NonNullable<Awaited<ReturnType<typeof findOne>>>
const findOne = () => Rooms.findOne().lean()

/** Rows of many rooms, from their records. */
export async function rowsOf(node: Node, documents: readonly Stored[], account: string | null): Promise<Room[]> {
  const ids = documents.map(({ _id }) => _id)
  const [heads, closed, mine] = await Promise.all([
    headsOf(node, ids),
    closedAmong(ids),
    account === null
      ? []
      : Members.find({ _id: { $in: ids.map((id) => `${id}|member:${account}`) }, is_active: true }, { room: 1 }).lean(),
  ])
  const joined = new Set(mine.map(({ room }) => room))
  return documents.map((document) => {
    const ref = { type: document.type as RoomType, id: document.id ?? null }
    const isMember = joined.has(document._id) || (account !== null && document.peers.includes(account))
    const row = rowOf(ref, roomFactOf(document), { messages: heads.get(document._id)?.total ?? 0, isMember })
    return closed.has(document._id) && !isMember ? cardOf(row) : row
  })
}
