import { evidenceType } from '#server/domains/media/files/evidence'
import { isClosed, weightOf } from '#server/domains/moderation/social/decisions'
import { Reports } from '#server/domains/moderation/social/model'
import { contentBy } from '#server/domains/moderation/social/report-subject'
import { isKnownRoom, kindOf } from '#server/domains/rooms/room-state/kinds'
import { Flags } from '#server/domains/rooms/room-state/model'
import { mayTouch, rightsIn, standingOf } from '#server/domains/rooms/room-state/standing'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import { GLOBAL, type RoomKey, type View } from '#server/log/types'
import type { QueueItem } from '#shared/api/moderation/moderation-records'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey, roomOfConversation, roomOfKey } from '#shared/kit/room-key'
import type { Conversation } from '#shared/kit/room-kinds'
import { receivesModeration } from './receivers.ts'

/** An item of the queue with its deciders: globally, or for the moderators of its room. */
export interface StoredItem extends QueueItem {
  decided_by: string | null
  room_decided_by: string | null
}

type ReportRow = NonNullable<Awaited<ReturnType<typeof findReport>>>
export const findReport = (id: string) => Reports.findOne({ _id: id }).lean()
type FlagRow = NonNullable<Awaited<ReturnType<typeof findFlag>>>
export const findFlag = (id: string) => Flags.findOne({ message_id: id }).lean()

export function itemOfReport(row: ReportRow): StoredItem {
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
 * The item as this account may see it. Nobody sees reports about themselves. Moderators see reports about people below
 * their rank, and only admins see the reporter. For a room's own moderators, its decision counts.
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
  if (!mine.some((one) => one.isModerator && mayTouch(one, theirs))) return null
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
