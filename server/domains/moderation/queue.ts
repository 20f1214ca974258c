import { buffer } from 'node:stream/consumers'
import { bodyOf, isOf, unsigned } from '#server/domains/events/define'
import { evidenceType } from '#server/domains/files/evidence'
import { keyOf } from '#server/domains/room-state/access'
import { isKnown, kindOf } from '#server/domains/room-state/kinds'
import { Flags } from '#server/domains/room-state/model'
import { mayTouch, rightsIn, standingOf } from '#server/domains/room-state/standing'
import { settleReport } from '#server/domains/social/evidence'
import { Reports } from '#server/domains/social/model'
import { onReport } from '#server/domains/social/reports'
import { type Action, audiences, type Context, type Node, signedIn } from '#server/kernel/context'
import { chainedRows } from '#server/log/store'
import { GLOBAL, type RoomKey, type Row, type View } from '#server/log/types'
import { type moderation as contract, queued } from '#shared/api/moderation'
import type { QueueItem } from '#shared/api/moderation-records'
import { AppError } from '#shared/errors'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey, roomOfConversation, roomOfKey } from '#shared/kit/room-key'
import type { Conversation } from '#shared/kit/room-kinds'
import { logEntryOf } from './entries.ts'
import { queueChanged } from './events.ts'
import { entriesFor, hearsOf } from './hearing.ts'
import { moderatorsOnline, subscribe } from './listening.ts'

const shownAtMost = 100

type ReportRow = NonNullable<Awaited<ReturnType<typeof findReport>>>
const findReport = (id: string) => Reports.findOne({ _id: id }).lean()
type FlagRow = NonNullable<Awaited<ReturnType<typeof findFlag>>>
const findFlag = (id: string) => Flags.findOne({ message_id: id }).lean()

function itemOfReport(row: ReportRow): QueueItem {
  return {
    id: row._id,
    kind: 'report',
    state: row.status as QueueItem['state'],
    room: roomOfReport(row),
    reporter_address: row.reporter_address,
    reported_address: row.reported_address,
    report_type: row.report_type,
    description: row.description ?? null,
    message_id: row.message_id ?? null,
    message_content: row.message_content ?? null,
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

export const itemOfFlag = (row: Pick<FlagRow, FlagFields> & Partial<FlagRow>): QueueItem => ({
  id: row.message_id,
  kind: 'flag',
  state: (row.state as QueueItem['state'] | undefined) ?? 'pending',
  room: roomOfKey(row.room),
  reporter_address: null,
  reported_address: row.user_address,
  report_type: 'blocked_word',
  description: `Matched ${row.words.length === 1 ? 'a blocked word' : `${row.words.length} blocked words`}`,
  message_id: row.message_id,
  message_content: row.content,
  evidence: null,
  claimed_by: row.claimed_by ?? null,
  created_at: row.flagged_at,
})

export const queue: Action<typeof contract.queue> = async ({ scope, room }, context) => {
  if (scope === 'room' && !room) throw new AppError('VALIDATION_ERROR', { message: 'room: required for scope room' })
  const key = scope === 'room' && room ? await keyOf(room) : GLOBAL
  const { account } = signedIn(context)
  const { isAdmin } = await subscribe(context, key)
  const [items, rows] = await Promise.all([
    waiting(key),
    key === GLOBAL
      ? entriesFor(context.node, { account, isAdmin }, {}, shownAtMost)
      : chainedRows(key, {}, shownAtMost),
  ])
  const seen = await Promise.all(items.map((item) => asSeenBy(context.node, account, item)))
  return {
    queue: seen.filter((item) => item !== null),
    logs: rows.map(logEntryOf),
    log_head: rows[0]?.seq ?? 0,
    moderators_online: await moderatorsOnline(context.node, key),
  }
}

/** What waits for a decision, newest first. */
async function waiting(key: RoomKey): Promise<QueueItem[]> {
  const [reports, flags] = await Promise.all([
    Reports.find({ status: { $in: ['pending', 'reviewed'] } })
      .sort({ created_at: -1 })
      .limit(shownAtMost)
      .lean(),
    Flags.find({ is_active: true, ...(key === GLOBAL ? {} : { room: key }) })
      .sort({ flagged_at: -1 })
      .limit(shownAtMost)
      .lean(),
  ])
  const items = [
    ...reports.map(itemOfReport),
    ...flags.filter(({ room }) => isKnown(room)).map((flag) => itemOfFlag(flag)),
  ]
  return items
    .filter((item) => key === GLOBAL || keyOfItem(item) === key)
    .sort((one, other) => (one.created_at < other.created_at ? 1 : -1))
}

const keyOfItem = ({ room }: QueueItem): RoomKey | null => (room ? roomKey(room as RoomRef) : null)

/** The item, for somebody who may decide it. */
async function itemFor(context: Context, id: string): Promise<QueueItem> {
  const item = await findItem(id)
  const seen = item && (await asSeenBy(context.node, signedIn(context).account, item))
  if (!seen) throw new AppError('NOT_FOUND')
  return seen
}

/**
 * The item as this person may see it: nobody sees what is said about themselves, moderators see what is said about those
 * whom they may act on, and only admins learn who said it.
 */
async function asSeenBy({ log }: Node, account: string, item: QueueItem): Promise<QueueItem | null> {
  if (item.reported_address === account) return null
  const key = keyOfItem(item)
  const isShared = key !== null && kindOf(key).hasModerators
  const reach = (view: View, now: number) => ({
    hears: view.room === GLOBAL || hearsOf(view, account, now),
    mine: rightsIn(view, account, now),
    theirs: standingOf(view, item.reported_address),
  })
  const everywhere = await log.ask(GLOBAL, reach)
  if (everywhere.mine.isAdmin) return item
  const here = isShared ? await log.ask(key, reach) : everywhere
  const theirs = here.theirs.rank > everywhere.theirs.rank ? here.theirs : everywhere.theirs
  const mine = here.hears ? [everywhere.mine, here.mine] : [here.mine]
  if (!mine.some((one) => one.isModerator && mayTouch(one, theirs))) return null
  // The id of a direct conversation names both of its people.
  return { ...item, reporter_address: null, room: isShared ? item.room : null }
}

async function findItem(id: string): Promise<QueueItem | null> {
  const report = await findReport(id)
  if (report) return itemOfReport(report)
  const flag = await findFlag(id)
  return flag && isKnown(flag.room) ? itemOfFlag(flag) : null
}

export const claim: Action<typeof contract.claim> = async ({ item: id, on }, context) => {
  const item = await itemFor(context, id)
  const { account } = signedIn(context)
  const claim = { $set: { claimed_by: on ? account : null } }
  const free = { claimed_by: { $in: [null, account] } }
  const taken =
    item.kind === 'report'
      ? await Reports.updateOne({ _id: id, ...free }, claim)
      : await Flags.updateOne({ message_id: id, ...free }, claim)
  if (taken.matchedCount === 0) throw new AppError('CONFLICT', { message: 'Somebody else looks at this already' })
  return told(context, { ...item, claimed_by: on ? account : null })
}

/** Whoever may decide the report sees the media; a report that is out of their sight, or has none, is not there. */
export const evidence: Action<typeof contract.evidence> = async ({ item: id }, context) => {
  const item = await itemFor(context, id)
  const { storage } = context.node.services
  const key = (await findReport(id))?.evidence_key
  if (!item.evidence || !key) throw new AppError('NOT_FOUND')
  if (!storage) throw new AppError('SERVICE_UNAVAILABLE', { message: 'This server keeps no files' })
  const found = await storage.read(key)
  if (!found) throw new AppError('NOT_FOUND')
  return { ...item.evidence, data: (await buffer(found.bytes)).toString('base64') }
}

export const decide: Action<typeof contract.decide> = async ({ item: id, decision, note }, context) => {
  const item = await itemFor(context, id)
  const { account } = signedIn(context)
  const reviewed = {
    status: decision,
    reviewed_by: account,
    reviewed_at: new Date(context.node.now()).toISOString(),
    ...(note === undefined ? {} : { admin_notes: note }),
  }
  if (item.kind === 'report') await settleReport(context.node, { _id: id }, reviewed)
  else await Flags.updateOne({ message_id: id }, { $set: { state: decision, is_active: decision === 'reviewed' } })
  return told(context, { ...item, state: decision, evidence: decision === 'reviewed' ? item.evidence : null })
}

async function told({ node, caller }: Context, item: QueueItem): Promise<{ item: QueueItem }> {
  await announce(node, caller.account ?? '', item.id)
  return { item }
}

/** By the log that every node follows, so that moderators hear of it wherever they are connected. */
async function announce(node: Node, account: string, item: string): Promise<void> {
  await node.log.act(GLOBAL, {
    sender: account,
    makes: queueChanged,
    judge: () => ({ accept: unsigned(queueChanged, { item }) }),
  })
}

/** Moderators hear of reports as of all that waits for them. */
export const followReports = (node: Node): void =>
  onReport(node, ({ caller }, id) => announce(node, caller.account ?? '', id))

/** An item of the queue, if this row of the global log is about one. */
export async function tellItem(node: Node, row: Row): Promise<void> {
  const item = isOf(row, queueChanged) ? await findItem(bodyOf(row, queueChanged).item) : null
  if (item) await tellQueue(node, item)
}

/** To the moderators of everything and of the place it is about, each as they may see it. */
export async function tellQueue(node: Node, item: QueueItem): Promise<void> {
  const key = keyOfItem(item)
  const audienceOf = (scope: RoomKey) => node.live.connectionsOf('/moderation', audiences.moderators(scope))
  const listening = new Map([GLOBAL, ...(key === null ? [] : [key])].flatMap(audienceOf).map((one) => [one.id, one]))
  const accounts = new Set([...listening.values()].flatMap(({ account }) => account ?? []))
  for (const account of accounts) {
    const seen = await asSeenBy(node, account, item)
    if (seen === null) continue
    for (const connection of listening.values())
      if (connection.account === account) connection.emit(queued, { item: seen })
  }
}
