import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { type StoredUpload, UploadRecords } from '#server/domains/media/files/model'
import { forgottenMilliseconds, namedFiles, removeFile, removeTakenFile } from '#server/domains/media/files/removal'
import { buckets } from '#server/domains/moderation/verdict/storage-folders'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import type { Stop } from '#server/kernel/domain'
import { newId } from '#server/kernel/ids'
import { every } from '#server/kernel/work/every'
import { job } from '#server/kernel/work/jobs'
import { type Lease, takeLease, withLease } from '#server/kernel/work/lease'
import { isDuplicate } from '#server/ports/database/port'
import { addressOf as addressIn, isArchive, type Storage } from '#server/ports/storage/port'
import { AppError } from '#shared/errors'
import { countTowardsQuota } from './quota.ts'

/** Another node takes over so long after a node has died. */
const uploadLease: Lease<StoredUpload> = {
  model: UploadRecords,
  holder: 'holder',
  held_until: 'held_until',
  milliseconds: 10_000,
  isFreeUnheld: true,
}
const lookAgainMilliseconds = 50
const looksAtMost = 600

/** Fields of a file that is not stored yet. */
export const newUploadFields = (node: Node) => ({
  created_at: new Date(node.now()),
  checked_at: new Date(node.now()),
  claim: newId(),
  claims: [],
})

/** Writes the bytes of a record once: of simultaneous uploads one counts and writes, and the others wait. */
export async function storeFileOnce(
  { node, caller }: Context,
  storage: Storage,
  record: StoredUpload,
  blob: Blob,
): Promise<void> {
  for (let looks = 0; looks < looksAtMost; looks++) {
    const known = await keepRecord(node, record)
    if (known.taken_at) throw beingRemoved
    if (known.stored_at) return writeAgain(storage, known._id, blob)
    const unstored = { _id: known._id, stored_at: { $exists: false }, taken_at: { $exists: false } }
    const held = await takeLease(uploadLease, node, unstored)
    if (held) return write(node, storage, held, caller.ip, blob)
    await pause(lookAgainMilliseconds)
  }
  throw new AppError('SERVICE_UNAVAILABLE', { message: 'The same file is being stored. Try again.' })
}

const beingRemoved = new AppError('CONFLICT', {
  message: 'The same file is being removed. Upload it again in a moment.',
  retryAfter: 5,
})

/** Renews or creates the record, so that the sweep does not remove it. */
async function keepRecord(node: Node, record: StoredUpload): Promise<StoredUpload> {
  const { _id } = record
  const renewed = { $set: { claim: newId(), checked_at: new Date(node.now()) } }
  const renew = () => UploadRecords.findOneAndUpdate({ _id }, renewed, { returnDocument: 'after' }).lean<StoredUpload>()
  const known = await renew()
  if (known) return known
  await UploadRecords.create(record).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
  })
  return (await renew()) ?? record
}

/** A refusal leaves no record, and a failure is not counted. */
const write = (node: Node, storage: Storage, record: StoredUpload, ip: string, blob: Blob): Promise<void> =>
  withLease(uploadLease, node, record, async (held) => {
    const { _id, owner } = record
    const giveBack = await countTowardsQuota(node, { account: owner, ip }, blob.size).catch(async (error: unknown) => {
      await held.end(null)
      throw error
    })
    try {
      await storage.put(_id, blob)
      const stored = { $set: { stored_at: new Date(node.now()) }, $unset: { holder: '', held_until: '' } }
      // The bytes are stored even if the lease was lost.
      if (!(await held.end(stored))) await UploadRecords.updateOne({ _id }, stored)
    } catch (error) {
      await giveBack().catch(() => undefined)
      throw error
    }
  })

/** Writes the bytes again if the storage has lost them. */
async function writeAgain(storage: Storage, key: string, blob: Blob): Promise<void> {
  if ((await storage.sizeOf(key)) !== blob.size) await storage.put(key, blob)
}

const randomCharacters = 25

/** The storage of files; throws without one. */
export function storageOf({ services: { storage } }: Pick<Node, 'services'>): Storage {
  if (!storage) throw new AppError('SERVICE_UNAVAILABLE', { message: 'This server keeps no files' })
  return storage
}

/** A key in a bucket's folder of the caller. */
export const newFileKey = (context: Context, { bucket, folder }: UploadFolder, ...below: string[]): string =>
  [bucket, folder, signedIn(context).account.toLowerCase(), ...below].join('/')

/** A random name. */
export const newFileName = ({ node }: Context): string => `${node.now()}_${randomName()}`

export interface UploadFolder {
  bucket: string
  folder: string
}

interface Given {
  ending: string
  blob: Blob
  /** The hash of its bytes: a file of the same name is the same. */
  name?: string
  /** More fields of its record. */
  about?: Pick<StoredUpload, 'evidence_of' | 'is_as_sent'>
}

/** Stores a file that is public unless its folder is private. */
export async function storeFile(context: Context, place: UploadFolder, { ending, blob, name, about }: Given) {
  const { account } = signedIn(context)
  const { node } = context
  const storage = storageOf(node)
  const key = newFileKey(context, place, `${name ?? newFileName(context)}.${ending}`)
  const { url } = fileAddressOf(node, key)
  const record = {
    ...newUploadFields(node),
    owner: account,
    bytes: blob.size,
    vector: key,
    content: key,
    url,
    ...about,
  }
  await storeFileOnce(context, storage, { _id: key, ...record }, blob)
  return fileAddressOf(node, key)
}

export const fileAddressOf = ({ settings }: Pick<Node, 'settings'>, key: string): { url: string; path: string } => ({
  url: addressIn(settings.storageUrl, key),
  path: key.slice(key.indexOf('/') + 1),
})

/** As many characters as 128 random bits need. */
const randomName = () =>
  BigInt(`0x${randomBytes(20).toString('hex')}`)
    .toString(36)
    .padStart(31, '0')
    .slice(-randomCharacters)

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
      else if (named.has(record._id)) await keepSweptRecord(node, record)
      else await removeFile(node, record)
    }
  }
}

/** Sends that began a day ago have ended, or died. */
async function keepSweptRecord(node: Node, { _id, claim }: StoredUpload): Promise<void> {
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
  const about = { owner: '', bytes: 0, vector: _id, content: _id, url: addressIn(node.settings.storageUrl, _id) }
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
