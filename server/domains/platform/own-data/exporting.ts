import { openAsBlob } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { storageOf } from '#server/domains/media/uploads/store'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { postLetter } from '#server/domains/platform/outgoing/index'
import type { JobRun, Node } from '#server/kernel/context'
import { GiveUp, job } from '#server/kernel/jobs'
import { openSpoolFolder } from '#server/kernel/spool-folder'
import { archiveDays } from '#shared/api/own-data'
import { linkTo } from '#shared/kit/pages'
import { changeExport, expiryOf, exportOf, newKey } from './exports.ts'
import { DataExports, type StoredExport } from './model.ts'
import { writeArchive } from './writing.ts'

const triesAtMost = 5
/** Below the temporary folder; what a process that died has left there is removed by the next run. */
export const spool = 'plaza-archives'
/** Between two notices of how far it is. */
const noticeMilliseconds = 1_000

/** Writes the archive of an account. A run that was ended begins anew. */
export const exporting = job({
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
      throw new GiveUp(String(error))
    }
  },
})

/** Removes an archive when its time is over. */
export const removing = job({
  kind: 'own-data.remove-archive',
  payload: z.object({ account: z.string(), export_id: z.string() }),
  run: ({ account, export_id }, { node }) => removeArchive(node, account, export_id),
})

async function exportFor(stored: StoredExport, { node, signal }: JobRun): Promise<void> {
  const { _id: account, export_id, include_media: withFiles } = stored
  const storage = storageOf(node)
  const folder = await openSpoolFolder(join(tmpdir(), spool), () => node.now())
  const key = newKey()
  let noticed = performance.now()
  try {
    const onPart = async (done: number, total: number) => {
      if (performance.now() < noticed + noticeMilliseconds && done < total) return
      noticed = performance.now()
      if (!(await changeExport(node, stored, { done, total }))) throw new GiveUp('The archive is not wanted any more')
    }
    const path = await writeArchive(node, { account, withFiles, folder, signal, onPart })
    // Noted before it is there, so that whoever begins anew removes it.
    if (stored.key) await storage.remove(stored.key)
    await DataExports.updateOne({ _id: account, export_id }, { $set: { key } })
    const blob = await openAsBlob(path)
    await storage.put(key, blob)
    const now = node.now()
    const expires_at = expiryOf(now)
    await node.jobs.add(removing, { account, export_id }, `archive ${export_id}`, expires_at.getTime())
    const ready = { state: 'ready' as const, bytes: blob.size, finished_at: new Date(now), expires_at }
    if (await changeExport(node, stored, ready)) await writeThatReady(node, account, export_id)
    else await storage.remove(key)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function writeThatReady(node: Node, account: string, export_id: string): Promise<void> {
  const email = (await accountOf(account))?.email
  if (!node.services.mail || !email) return
  const text = `The copy of your data that you asked for is ready. Download it in the settings, under "Your data":\n\n${node.settings.publicUrl}${linkTo('settings', { section: 'data' })}\n\nIt is deleted after ${archiveDays} days. If you did not ask for it, sign out your other devices there.\n`
  await postLetter(node, { to: email, subject: 'Your data is ready', text }, `archive-letter ${export_id}`)
}

export async function removeArchive(node: Node, account: string, export_id: string): Promise<void> {
  const stored = await exportOf(account)
  if (stored?.export_id !== export_id || stored.key === null) return
  await node.services.storage?.remove(stored.key)
  await DataExports.deleteOne({ _id: account, export_id })
}
