import { openAsBlob } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { storageOf } from '#server/domains/media/uploads/store'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { sendEmail } from '#server/domains/platform/outgoing/index'
import { notifyArchive } from '#server/domains/platform/push/event-notices'
import type { JobRun, Node } from '#server/kernel/context'
import { openSpoolFolder } from '#server/kernel/spool-folder'
import { job, PermanentFailure } from '#server/kernel/work/jobs'
import { archiveDays } from '#shared/api/platform/own-data'
import { linkTo } from '#shared/kit/pages'
import { archiveExpiry, changeExport, exportOf, newArchiveKey } from './exports.ts'
import { DataExports, type StoredExport } from './model.ts'
import { writeArchive } from './write-archive.ts'

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
