import { isClosed, weightOf } from '#server/domains/moderation/social/decisions'
import { Reports } from '#server/domains/moderation/social/model'
import { isKnownRoom } from '#server/domains/rooms/room-state/kinds'
import { Flags } from '#server/domains/rooms/room-state/model'
import type { Node } from '#server/kernel/context'
import { cursorAt, cursorPlaceIn } from '#server/kernel/store/cursors'
import { GLOBAL, type RoomKey } from '#server/log/types'
import type { QueueItem } from '#shared/api/moderation/moderation-records'
import { conversationOf, roomOfKey } from '#shared/kit/room-key'
import { itemOfFlag, itemOfReport, itemSeenBy, type StoredItem } from './queue-items.ts'

/** The most rows read for one page, if most wait for others. */
const scannedAtMost = 1_000

interface Mark {
  at: string
  id: string
}

interface Page {
  queue: QueueItem[]
  /** The cursor of the next page; null after the last. */
  next_cursor: string | null
}

/** A page of items that wait for this account's decision, newest first. */
export async function openItemsFor(
  node: Node,
  account: string,
  key: RoomKey,
  cursor: string | null,
  limit: number,
): Promise<Page> {
  const { decidesGlobally } = key === GLOBAL ? { decidesGlobally: true } : await weightOf(node, account, key)
  const found: QueueItem[] = []
  const own = `queue ${account} ${key}` as const
  let mark = cursor === null ? null : markIn(cursorPlaceIn(own, cursor))
  for (let scanned = 0; scanned < scannedAtMost; scanned += limit) {
    const rows = await rowsAfter(key, decidesGlobally, mark, limit)
    const seen = await Promise.all(rows.map((row) => itemSeenBy(node, account, row)))
    for (const [index, row] of rows.entries()) {
      mark = markOf(row)
      const item = seen[index]
      if (item && !isClosed(item.state)) found.push(item)
      if (found.length === limit && (index < rows.length - 1 || rows.length === limit))
        return { queue: found, next_cursor: cursorAt(own, placeOf(mark)) }
    }
    if (rows.length < limit) return { queue: found, next_cursor: null }
  }
  return { queue: found, next_cursor: mark && cursorAt(own, placeOf(mark)) }
}

const markOf = ({ created_at, id }: StoredItem): Mark => ({ at: created_at, id })
const placeOf = ({ at, id }: Mark): string => `${at} ${id}`

function markIn(place: string): Mark {
  const [at = '', id = ''] = place.split(' ')
  return { at, id }
}

const isBefore = (one: Mark, other: Mark) => one.at < other.at || (one.at === other.at && one.id < other.id)

/** Open reports and flags of one room or of all, after a place in their common order. */
async function rowsAfter(
  key: RoomKey,
  decidesGlobally: boolean,
  mark: Mark | null,
  limit: number,
): Promise<StoredItem[]> {
  const after = (time: string, id: string) =>
    mark
      ? { [time]: { $lte: mark.at }, $or: [{ [time]: { $lt: mark.at } }, { [time]: mark.at, [id]: { $lt: mark.id } }] }
      : {}
  const byRoom = decidesGlobally ? {} : { room_status: { $nin: ['action_taken', 'dismissed'] } }
  const reportsOf = (status: string) =>
    Reports.find({ ...namedBy(key), status, ...byRoom, ...after('created_at', '_id') })
      .sort({ created_at: -1, _id: -1 })
      .limit(limit)
      .lean()
  const [pending, reviewed, flags] = await Promise.all([
    reportsOf('pending'),
    reportsOf('reviewed'),
    Flags.find({ is_active: true, ...(key === GLOBAL ? {} : { room: key }), ...after('flagged_at', 'message_id') })
      .sort({ flagged_at: -1, message_id: -1 })
      .limit(limit)
      .lean(),
  ])
  const items = [
    ...[...pending, ...reviewed].map(itemOfReport),
    ...flags.filter(({ room }) => isKnownRoom(room)).map((flag) => itemOfFlag(flag)),
  ]
  return items.sort((one, other) => (isBefore(markOf(one), markOf(other)) ? 1 : -1)).slice(0, limit)
}

/** Reports name their room as a conversation. */
function namedBy(key: RoomKey) {
  if (key === GLOBAL) return {}
  const { conversationType: conversation_type, conversationId: conversation_id } = conversationOf(roomOfKey(key), '')
  return { conversation_type, conversation_id }
}
