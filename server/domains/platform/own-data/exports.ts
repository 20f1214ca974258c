import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { storageOf } from '#server/domains/media/uploads/store'
import { audiences, type Context, type Node } from '#server/kernel/context'
import { definePeerMessage } from '#server/kernel/peer-message'
import { upsert } from '#server/ports/database/port'
import { archiveFolder } from '#server/ports/storage/port'
import { archiveDays, type DataExport, dataExportChanged } from '#shared/api/platform/own-data'
import { AppError } from '#shared/errors'
import { DataExports, type StoredExport } from './model.ts'

const dayMilliseconds = 86_400_000

/** Begins an export of an account, or returns the running one. Throws if the account had one within a day. */
export async function beginExport(context: Context, account: string, include_media: boolean): Promise<StoredExport> {
  const { node } = context
  storageOf(node)
  const now = node.now()
  const begun = {
    export_id: context.creationId,
    state: 'working' as const,
    include_media,
    ...{ done: 0, total: 0, ready_at: null, key: null, bytes: null, finished_at: null, expires_at: null },
    created_at: new Date(now),
  }
  const before = await exportOf(account)
  const leftMilliseconds = before === null ? 0 : before.created_at.getTime() + dayMilliseconds - now
  if (before && before.state !== 'failed' && leftMilliseconds > 0) {
    if (before.state === 'working') return before
    const retryAfter = Math.ceil(leftMilliseconds / 1_000)
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter, message: 'You can have one archive a day' })
  }
  // Of simultaneous requests one is written, as the others find a changed row.
  const asRead = { _id: account, ...(before ? { export_id: before.export_id, state: before.state } : {}) }
  const write = before ? { $set: begun } : { $setOnInsert: begun }
  await upsert(() => DataExports.updateOne(asRead, write, { upsert: before === null }))
  const stored = await exportOf(account)
  if (!stored) throw new AppError('CONFLICT')
  if (before?.key) await node.services.storage?.remove(before.key)
  return stored
}

/** A random key. */
export const newArchiveKey = (): string => `${archiveFolder}${randomBytes(24).toString('hex')}.zip`

export const exportOf = (account: string): Promise<StoredExport | null> =>
  DataExports.findOne({ _id: account }).lean<StoredExport>()

/** Changes an export and notifies its owner. False if the export was replaced. */
export async function changeExport(
  node: Node,
  { _id, export_id }: Pick<StoredExport, '_id' | 'export_id'>,
  change: Partial<StoredExport>,
): Promise<boolean> {
  const stored = await DataExports.findOneAndUpdate(
    { _id, export_id, state: 'working' },
    { $set: change },
    { returnDocument: 'after' },
  ).lean<StoredExport>()
  if (stored) exportMessage.publish(node, { account: _id, export: renderExport(stored) })
  return stored !== null
}

/** The progress of an export; without peer messages clients poll. */
export const exportMessage = definePeerMessage(
  'data-export',
  dataExportChanged.payload.extend({ account: z.string() }),
  ({ live }, { account, ...payload }) => live.send(dataExportChanged, audiences.account(account), payload),
)

export const archiveExpiry = (now: number): Date => new Date(now + archiveDays * dayMilliseconds)

/** Whether a readable archive exists. */
export const hasArchive = (stored: StoredExport | null, now: number): stored is StoredExport & { key: string } =>
  stored?.state === 'ready' && stored.key !== null && stored.expires_at !== null && stored.expires_at.getTime() > now

export const renderExport = (stored: StoredExport): DataExport => ({
  id: stored.export_id,
  state: stored.state,
  include_media: stored.include_media,
  done: stored.done,
  total: stored.total,
  ready_at: (stored.state === 'working' && stored.ready_at?.toISOString()) || null,
  bytes: stored.bytes,
  created_at: stored.created_at.toISOString(),
  finished_at: stored.finished_at?.toISOString() ?? null,
  expires_at: stored.expires_at?.toISOString() ?? null,
})
