import { z } from 'zod'
import { type StoredUpload, UploadRecords } from '#server/domains/media/files/model'
import { forgottenMilliseconds, namedFiles, removeFile, removeTakenFile } from '#server/domains/media/files/removal'
import { buckets } from '#server/domains/moderation/verdict/storage-folders'
import type { Node } from '#server/kernel/context'
import type { Stop } from '#server/kernel/domain'
import { every } from '#server/kernel/work/every'
import { job } from '#server/kernel/work/jobs'
import { isDuplicate } from '#server/ports/database/port'
import { addressOf, isArchive, type Storage } from '#server/ports/storage/port'
import { newUploadFields } from './store-once.ts'

const hourMilliseconds = 3_600_000
const minuteMilliseconds = 60_000
const batch = 100

/** Removes files without references: once an hour for all nodes. */
export const uploadsSweep = job({
  kind: 'uploads-sweep',
  payload: z.object({}),
  atOnce: 1,
  run: (_payload, { node, signal }) => sweepFiles(node, signal),
})

export function startSweeps(node: Node): Stop {
  if (!node.services.storage) return () => {}
  let begun = Math.floor(node.now() / hourMilliseconds)
  const begin = async () => {
    const hour = Math.floor(node.now() / hourMilliseconds)
    if (hour === begun) return
    await node.jobs.add(uploadsSweep, {}, `uploads-sweep ${hour}`)
    begun = hour
  }
  return every(node, minuteMilliseconds, begin, 'files are not swept yet')
}

export async function sweepFiles(node: Node, signal: AbortSignal): Promise<void> {
  const { storage } = node.services
  if (!storage) return
  await sweepRecords(node, signal)
  for (const bucket of buckets) await sweepBucket(node, storage, bucket, signal)
  await storage.removeUnfinished(new Date(node.now() - forgottenMilliseconds(node)))
}

/** Checks each file once a day, and removes files without references. */
async function sweepRecords(node: Node, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const due = { checked_at: { $lte: new Date(node.now() - forgottenMilliseconds(node)) } }
    const records = await UploadRecords.find(due).sort({ checked_at: 1 }).limit(batch).lean<StoredUpload[]>()
    if (records.length === 0) return
    const named = await namedFiles(node, records)
    for (const record of records) {
      if (record.taken_at) await removeTakenFile(node, record._id)
      else if (named.has(record._id)) await keepRecord(node, record)
      else await removeFile(node, record)
    }
  }
}

/** Sends that began a day ago have ended, or died. */
async function keepRecord(node: Node, { _id, claim }: StoredUpload): Promise<void> {
  await UploadRecords.updateOne({ _id, claim }, { $set: { checked_at: new Date(node.now()), claims: [] } })
}

/** Removes files without records: a record is written first, so these were left over. */
async function sweepBucket(node: Node, storage: Storage, bucket: string, signal: AbortSignal): Promise<void> {
  let keys: string[] = []
  const removeUnknown = async () => {
    const known = await UploadRecords.find({ _id: { $in: keys } }, { _id: 1 }).lean()
    const isKnown = new Set(known.map(({ _id }) => _id))
    for (const key of keys) if (!isKnown.has(key)) await removeUnrecorded(node, key)
    keys = []
  }
  for await (const { key, storedAt } of storage.list(bucket)) {
    if (signal.aborted) return
    if (isArchive(key) || storedAt.getTime() > node.now() - forgottenMilliseconds(node)) continue
    keys.push(key)
    if (keys.length === batch) await removeUnknown()
  }
  await removeUnknown()
}

/** Marks the removal in a record, for a simultaneous upload of the same file. */
async function removeUnrecorded(node: Node, _id: string): Promise<void> {
  const about = { owner: '', bytes: 0, vector: _id, content: _id, url: addressOf(node.settings.storageUrl, _id) }
  try {
    await UploadRecords.create({
      ...newUploadFields(node),
      _id,
      ...about,
      owner: 'nobody',
      taken_at: new Date(node.now()),
    })
  } catch (error) {
    if (isDuplicate(error)) return
    throw error
  }
  await removeTakenFile(node, _id)
}
