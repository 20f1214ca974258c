import { randomBytes } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { storageOf } from '#server/domains/media/uploads/store'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { sendEmail } from '#server/domains/platform/outgoing/index'
import { notifyArchive } from '#server/domains/platform/push/event-notices'
import { audiences, type Context, type JobRun, type Node } from '#server/kernel/context'
import { definePeerMessage } from '#server/kernel/peer-message'
import { openSpoolFolder } from '#server/kernel/uploads'
import { job, PermanentFailure } from '#server/kernel/work/jobs'
import { upsert } from '#server/ports/database/port'
import { archiveFolder } from '#server/ports/storage/port'
import {
  archiveDays,
  type DataExport,
  dataExportChanged,
  exportIntervalMilliseconds,
} from '#shared/api/platform/own-data'
import { AppError } from '#shared/errors'
import { linkTo } from '#shared/kit/pages'
import { DataExports, type StoredExport } from './model.ts'
import { writeArchive } from './write-archive.ts'

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
  const leftMilliseconds = before === null ? 0 : before.created_at.getTime() + exportIntervalMilliseconds - now
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
const newArchiveKey = (): string => `${archiveFolder}${randomBytes(24).toString('hex')}.zip`

export const exportOf = (account: string): Promise<StoredExport | null> =>
  DataExports.findOne({ _id: account }).lean<StoredExport>()

/** Changes an export and notifies its owner. False if the export was replaced. */
async function changeExport(
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

const archiveExpiry = (now: number): Date => new Date(now + archiveDays * dayMilliseconds)

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

const triesAtMost = 5
/** A folder below the temporary one; the next run removes leftovers of a dead process. */
export const archiveSpool = 'plaza-archives'
/** Milliseconds between two notices of progress. */
const noticeMilliseconds = 1_000

/** Writes the archive of an account. An aborted run starts again. */
export const exportJob = job({
  kind: 'own-data.export',
  payload: z.object({ account: z.string(), export_id: z.string() }),
  atOnce: 1,
  async run({ account, export_id }, run) {
    const stored = await exportOf(account)
    if (stored?.export_id !== export_id || stored.state !== 'working') return
    try {
      await exportFor(stored, run)
    } catch (error) {
      if (run.signal.aborted || run.attempt < triesAtMost) throw error
      await changeExport(run.node, stored, { state: 'failed', finished_at: new Date(run.node.now()) })
      throw new PermanentFailure(String(error))
    }
  },
})

/** Removes an expired archive. */
export const archiveRemoval = job({
  kind: 'own-data.remove-archive',
  payload: z.object({ account: z.string(), export_id: z.string() }),
  run: ({ account, export_id }, { node }) => removeArchive(node, account, export_id),
})

async function exportFor(stored: StoredExport, { node, signal }: JobRun): Promise<void> {
  const { _id: account, export_id, include_media: withFiles } = stored
  const storage = storageOf(node)
  const folder = await openSpoolFolder(join(tmpdir(), archiveSpool), () => node.now())
  const key = newArchiveKey()
  const begun = performance.now()
  let noticed = begun
  try {
    const onPart = async (done: number, total: number) => {
      const now = performance.now()
      if (now < noticed + noticeMilliseconds && done < total) return
      noticed = now
      const left = ((now - begun) / done) * (total - done)
      const ready_at = left > 0 ? new Date(node.now() + left) : null
      if (!(await changeExport(node, stored, { done, total, ready_at })))
        throw new PermanentFailure('The archive is not wanted any more')
    }
    const path = await writeArchive(node, { account, withFiles, folder, signal, onPart })
    // Noted before the upload, so that a later run removes it.
    if (stored.key) await storage.remove(stored.key)
    await DataExports.updateOne({ _id: account, export_id }, { $set: { key } })
    const blob = await openAsBlob(path)
    await storage.put(key, blob)
    const now = node.now()
    const expires_at = archiveExpiry(now)
    await node.jobs.add(archiveRemoval, { account, export_id }, `archive ${export_id}`, expires_at.getTime())
    const ready = { state: 'ready' as const, bytes: blob.size, finished_at: new Date(now), expires_at }
    if (await changeExport(node, stored, ready)) {
      notifyArchive(node, account, export_id)
      await emailThatReady(node, account, export_id)
    } else await storage.remove(key)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function emailThatReady(node: Node, account: string, export_id: string): Promise<void> {
  const email = (await accountOf(account))?.email
  if (!node.services.mail || !email) return
  const text = `The copy of your data that you asked for is ready. Download it in the settings, under "Your data":\n\n${node.settings.publicUrl}${linkTo('settings', { section: 'data' })}\n\nIt is deleted after ${archiveDays} days. If you did not ask for it, sign out your other devices there.\n`
  await sendEmail(node, { to: email, subject: 'Your data is ready', text }, `archive-letter ${export_id}`)
}

export async function removeArchive(node: Node, account: string, export_id: string): Promise<void> {
  const stored = await exportOf(account)
  if (stored?.export_id !== export_id || stored.key === null) return
  await node.services.storage?.remove(stored.key)
  await DataExports.deleteOne({ _id: account, export_id })
}
