import { buffer } from 'node:stream/consumers'
import {
  isClosed,
  refuseLateDecision,
  refuseOverruling,
  settleForRoom,
  unchangedFilter,
} from '#server/domains/moderation/social/decisions'
import { settleReport } from '#server/domains/moderation/social/evidence'
import { Reports } from '#server/domains/moderation/social/model'
import { keyOf } from '#server/domains/rooms/room-state/access'
import { Flags } from '#server/domains/rooms/room-state/model'
import { type Action, type Context, signedIn } from '#server/kernel/context'
import { chainedRows } from '#server/log/store'
import { GLOBAL } from '#server/log/types'
import type { moderation as contract } from '#shared/api/moderation/moderation'
import type { QueueItem } from '#shared/api/moderation/moderation-records'
import { AppError } from '#shared/errors'
import { logEntryOf } from './entries.ts'
import { openItemsFor } from './open-items.ts'
import { announceItem } from './queue-events.ts'
import { findReport, itemFor, keyOfItem } from './queue-items.ts'
import { entriesFor } from './receivers.ts'
import { moderatorsOnline, subscribeModerator } from './subscriptions.ts'

const entriesAtMost = 100

export const queue: Action<typeof contract.queue> = async ({ scope, room, cursor, limit }, context) => {
  if (scope === 'room' && !room) throw new AppError('VALIDATION_ERROR', { message: 'room: required for scope room' })
  const key = scope === 'room' && room ? await keyOf(room) : GLOBAL
  const { account } = signedIn(context)
  const { isAdmin } = await subscribeModerator(context, key)
  const [page, rows] = await Promise.all([
    openItemsFor(context.node, account, key, cursor ?? null, limit),
    key === GLOBAL
      ? entriesFor(context.node, { account, isAdmin }, {}, entriesAtMost)
      : chainedRows(key, {}, entriesAtMost),
  ])
  return {
    ...page,
    logs: rows.map(logEntryOf),
    log_head: rows[0]?.seq ?? 0,
    moderators_online: await moderatorsOnline(context.node, key),
  }
}

export const claim: Action<typeof contract.claim> = async ({ item: id, on }, context) => {
  const { item } = await itemFor(context, id)
  const { account } = signedIn(context)
  const claim = { $set: { claimed_by: on ? account : null } }
  const free = { claimed_by: { $in: [null, account] } }
  refuseLateDecision(
    item.kind === 'report'
      ? await Reports.findOneAndUpdate({ _id: id, ...free }, claim).lean()
      : await Flags.findOneAndUpdate({ message_id: id, ...free }, claim).lean(),
  )
  return announceChange(context, id)
}

/** The media of a report, for accounts that may decide it. A hidden report, or one without media, is not found. */
export const evidence: Action<typeof contract.evidence> = async ({ item: id }, context) => {
  const { seen: item } = await itemFor(context, id)
  const { storage } = context.node.services
  const key = (await findReport(id))?.evidence_key
  if (!item.evidence || !key) throw new AppError('NOT_FOUND')
  if (!storage) throw new AppError('SERVICE_UNAVAILABLE', { message: 'This server keeps no files' })
  const found = await storage.read(key)
  if (!found) throw new AppError('NOT_FOUND')
  return { ...item.evidence, data: (await buffer(found.bytes)).toString('base64') }
}

export const decide: Action<typeof contract.decide> = async ({ item: id, decision, note }, context) => {
  const { node } = context
  const { account } = signedIn(context)
  const { item } = await itemFor(context, id)
  const decidesGlobally = await refuseOverruling(node, account, keyOfItem(item), item)
  const at = new Date(node.now()).toISOString()
  if (item.kind === 'flag') {
    const { claimed_by, state, decided_by, message_content: content } = item
    const asRead = { message_id: id, claimed_by, state, decided_by, content }
    const change = { state: decision, is_active: !isClosed(decision), decided_by: account }
    refuseLateDecision(await Flags.findOneAndUpdate(asRead, { $set: change }).lean())
  } else if (decidesGlobally) {
    const notes = note === undefined ? {} : { admin_notes: note }
    const reviewed = { status: decision, reviewed_by: account, reviewed_at: at, ...notes }
    refuseLateDecision(await settleReport(node, unchangedFilter(item), reviewed))
  } else await settleForRoom(item, { status: decision, by: account, at, note: note ?? null })
  return announceChange(context, id)
}

async function announceChange(context: Context, id: string): Promise<{ item: QueueItem }> {
  await announceItem(context.node, signedIn(context).account, id)
  return { item: (await itemFor(context, id)).seen }
}
