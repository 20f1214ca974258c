import { setTimeout as pause } from 'node:timers/promises'
import { type StoredUpload, UploadRecords } from '#server/domains/media/files/model'
import type { Context, Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { type Lease, takeLease, withLease } from '#server/kernel/work/lease'
import { isDuplicate } from '#server/ports/database/port'
import type { Storage } from '#server/ports/storage/port'
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
