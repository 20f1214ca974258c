import { evidenceType } from '#server/domains/media/files/claims'
import { isClosed, weightOf } from '#server/domains/moderation/social/decisions'
import { contentBy } from '#server/domains/moderation/social/evidence'
import { Reports } from '#server/domains/moderation/social/model'
import { isKnownRoom, kindOf } from '#server/domains/rooms/room-state/kinds'
import { Flags } from '#server/domains/rooms/room-state/model'
import { mayTouch, rightsIn, standingOf } from '#server/domains/rooms/room-state/standing'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import { cursorAt, cursorPlaceIn } from '#server/kernel/store/pages'
import { GLOBAL, type RoomKey, type View } from '#server/log/types'
import type { QueueItem } from '#shared/api/moderation/moderation-records'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { conversationOf, roomKey, roomOfConversation, roomOfKey } from '#shared/kit/room-key'
import type { Conversation } from '#shared/kit/room-kinds'
import { receivesModeration } from './inspect.ts'

/** An item of the queue with its deciders: globally, or for the moderators of its room. */
export interface StoredItem extends QueueItem {
  decided_by: string | null
  room_decided_by: string | null
}

type ReportRow = NonNullable<Awaited<ReturnType<typeof findReport>>>
export const findReport = (id: string) => Reports.findOne({ _id: id }).lean()
type FlagRow = NonNullable<Awaited<ReturnType<typeof findFlag>>>
const findFlag = (id: string) => Flags.findOne({ message_id: id }).lean()

function itemOfReport(row: ReportRow): StoredItem {
  return {
    id: row._id,
    kind: 'report',
    state: row.status as QueueItem['state'],
    room_state: (row.room_status as QueueItem['room_state']) ?? null,
    decided_by: row.reviewed_by ?? null,
    room_decided_by: row.room_decided_by ?? null,
    room: roomOfReport(row),
    reporter_address: row.reporter_address,
    reported_address: row.reported_address,
    report_type: row.report_type,
    description: row.description ?? null,
    message_id: row.message_id ?? null,
    message_content: row.message_content ?? null,
    message_content_by: contentBy(row),
    evidence: row.evidence_key ? { type: evidenceType(row.evidence_key), is_as_sent: row.is_as_sent ?? false } : null,
    claimed_by: row.claimed_by ?? null,
    created_at: row.created_at,
  }
}

function roomOfReport({ conversation_type: type, conversation_id: id, reporter_address }: ReportRow) {
  if (!type || !id) return null
  return roomOfConversation(type as Conversation, id, reporter_address)
}

type FlagFields = 'message_id' | 'room' | 'user_address' | 'content' | 'flagged_at' | 'words'

export const itemOfFlag = (row: Pick<FlagRow, FlagFields> & Partial<FlagRow>): StoredItem => ({
  id: row.message_id,
  kind: 'flag',
  state: (row.state as QueueItem['state'] | undefined) ?? 'pending',
  room_state: null,
  decided_by: row.decided_by ?? null,
  room_decided_by: null,
  room: roomOfKey(row.room),
  reporter_address: null,
  reported_address: row.user_address,
  report_type: 'blocked_word',
  description: `Matched ${row.words.length === 1 ? 'a blocked word' : `${row.words.length} blocked words`}`,
  message_id: row.message_id,
  message_content: row.content,
  message_content_by: 'server',
  evidence: null,
  claimed_by: row.claimed_by ?? null,
  created_at: row.flagged_at,
})

export const keyOfItem = ({ room }: QueueItem): RoomKey | null => (room ? roomKey(room as RoomRef) : null)

/** The item, for an account that may decide it. */
export async function itemFor(context: Context, id: string): Promise<{ item: StoredItem; seen: QueueItem }> {
  const item = await findItem(id)
  const seen = item && (await itemSeenBy(context.node, signedIn(context).account, item))
  if (!seen) throw new AppError('NOT_FOUND')
  return { item, seen }
}

/**
 * The item as this account may see it. Nobody sees reports about themselves. Moderators who may
 * delete messages or mute see reports about people below their rank, and only admins see the reporter. For a room's own moderators, its decision counts.
 */
export async function itemSeenBy(node: Node, account: string, stored: StoredItem): Promise<QueueItem | null> {
  const { log } = node
  const { decided_by: _, room_decided_by: __, ...item } = stored
  if (isSameAccount(item.reported_address, account)) return null
  const key = keyOfItem(item)
  const isShared = key !== null && kindOf(key).hasModerators
  const reach = (view: View, now: number) => ({
    receives: view.room === GLOBAL || receivesModeration(view, account, now),
    mine: rightsIn(view, account, now),
    theirs: standingOf(view, item.reported_address),
  })
  const everywhere = await log.ask(GLOBAL, reach)
  if (everywhere.mine.isAdmin) return item
  const here = isShared ? await log.ask(key, reach) : everywhere
  const theirs = here.theirs.rank > everywhere.theirs.rank ? here.theirs : everywhere.theirs
  const mine = here.receives ? [everywhere.mine, here.mine] : [here.mine]
  if (!mine.some((one) => (one.canDelete || one.canMute) && mayTouch(one, theirs))) return null
  // The id of a direct conversation names both of its people.
  const its = { ...item, reporter_address: null, room: isShared ? item.room : null }
  const { decidesGlobally } = await weightOf(node, account, key)
  if (decidesGlobally || item.room_state === null || isClosed(item.state)) return its
  return { ...its, state: item.room_state, evidence: isClosed(item.room_state) ? null : item.evidence }
}

export async function findItem(id: string): Promise<StoredItem | null> {
  const report = await findReport(id)
  if (report) return itemOfReport(report)
  const flag = await findFlag(id)
  return flag && isKnownRoom(flag.room) ? itemOfFlag(flag) : null
}

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
