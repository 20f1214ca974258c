import { setTimeout as pause } from 'node:timers/promises'
import { type StoredUpload, UploadRecords } from '#server/domains/files/model'
import type { Context, Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { isDuplicate } from '#server/ports/database/port'
import type { Storage } from '#server/ports/storage/port'
import { AppError } from '#shared/errors'
import { countTowardsQuota } from './quota.ts'

/** So long after its node has died, a file is written by another; who writes one says so again in time. */
const holdMilliseconds = 10_000
const lookAgainMilliseconds = 50
const looksAtMost = 600

/** What a file has that is not stored yet. */
export const fresh = (node: Node) => ({
  created_at: new Date(node.now()),
  checked_at: new Date(node.now()),
  claim: newId(),
  claims: [],
})

/** Writes the bytes of a record, once: of several who bring the same at a time one counts and writes, and the others wait for it. */
export async function storeOnce(
  { node, caller }: Context,
  storage: Storage,
  record: StoredUpload,
  blob: Blob,
): Promise<void> {
  for (let looks = 0; looks < looksAtMost; looks++) {
    const known = await keepRecord(node, record)
    if (known.taken_at) throw beingRemoved
    if (known.stored_at) return writeAgain(storage, known._id, blob)
    const holder = newId()
    if (await hold(node, known._id, holder)) return write(node, storage, { ...known, holder }, caller.ip, blob)
    await pause(lookAgainMilliseconds)
  }
  throw new AppError('SERVICE_UNAVAILABLE', { message: 'The same file is being stored. Try again.' })
}

const beingRemoved = new AppError('CONFLICT', {
  message: 'The same file is being removed. Upload it again in a moment.',
  retryAfter: 5,
})

/** Sees to it that there is a record, and that nobody takes the file for one that has long been forgotten. */
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

async function hold(node: Node, _id: string, holder: string): Promise<boolean> {
  const now = node.now()
  const isFree = [{ holder: { $exists: false } }, { held_until: { $lte: new Date(now) } }]
  const { matchedCount } = await UploadRecords.updateOne(
    { _id, stored_at: { $exists: false }, taken_at: { $exists: false }, $or: isFree },
    { $set: { holder, held_until: heldUntil(node) } },
  )
  return matchedCount === 1
}

const heldUntil = (node: Node) => new Date(node.now() + holdMilliseconds)

type Held = StoredUpload & { holder: string }

/** What is refused leaves no record, and what fails is not counted. */
async function write(node: Node, storage: Storage, held: Held, ip: string, blob: Blob): Promise<void> {
  const { _id, owner, holder } = held
  const isOurs = { _id, holder }
  const giveBack = await countTowardsQuota(node, { account: owner, ip }, blob.size).catch(async (error: unknown) => {
    await UploadRecords.deleteOne(isOurs)
    throw error
  })
  const hold = () => void UploadRecords.updateOne(isOurs, { $set: { held_until: heldUntil(node) } }).catch(() => {})
  const holding = setInterval(hold, holdMilliseconds / 4)
  try {
    await storage.put(_id, blob)
    await UploadRecords.updateOne({ _id }, { $set: { stored_at: new Date(node.now()) }, $unset: unheld })
  } catch (error) {
    await Promise.allSettled([giveBack(), UploadRecords.updateOne(isOurs, { $unset: unheld })])
    throw error
  } finally {
    clearInterval(holding)
  }
}

const unheld = { holder: '', held_until: '' }

/** Where the storage has lost it. */
async function writeAgain(storage: Storage, key: string, blob: Blob): Promise<void> {
  if ((await storage.sizeOf(key)) !== blob.size) await storage.put(key, blob)
}
