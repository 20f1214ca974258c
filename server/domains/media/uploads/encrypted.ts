import { createHash } from 'node:crypto'
import {
  type StoredUpload,
  storedFile,
  UploadRecords,
  type UsedVector,
  UsedVectors,
} from '#server/domains/media/files/model'
import { type Action, type Context, signedIn } from '#server/kernel/context'
import { ReceivedFile } from '#server/kernel/uploads'
import { isDuplicate } from '#server/ports/database/port'
import { bytesOf, isPrivate, keyAt } from '#server/ports/storage/port'
import type { uploads as contract } from '#shared/api/media/uploads'
import { AppError } from '#shared/errors'
import { fileAddressOf, newFileKey, newFileName, storageOf, type UploadFolder } from './store.ts'
import { newUploadFields, storeFileOnce } from './store-once.ts'

const vectorBytes = 12

/** Stores an encrypted file under a random name. */
export async function storeEncrypted(
  context: Context,
  place: UploadFolder,
  given: { file: File; conversationId?: string | undefined; commitment?: string | undefined },
): Promise<{ url: string; path: string }> {
  const { file, conversationId, commitment } = given
  if (conversationId === undefined) throw new AppError('VALIDATION_ERROR', { message: 'conversationId is required' })
  const { account } = signedIn(context)
  const { node } = context
  const storage = storageOf(context.node)
  const key = newFileKey(context, place, conversationHash(conversationId), `${newFileName(context)}.enc`)
  const record = {
    _id: key,
    owner: account,
    bytes: file.size,
    ...(await fingerprintsOf(file, conversationId)),
    ...(commitment === undefined ? {} : { commitment }),
    url: fileAddressOf(node, key).url,
    ...newUploadFields(node),
  }
  const known = await createRecord(record)
  await storeFileOnce(context, storage, known, file)
  return fileAddressOf(node, known._id)
}

/** The sender's commitment to a file, for anyone with its address. */
export const fileCommitment: Action<typeof contract.commitment> = async ({ url }, { node }) => {
  const key = keyAt(node.settings.storageUrl, url)
  const isSealed = key !== null && !isPrivate(key)
  const record = isSealed && (await UploadRecords.findOne({ _id: key, ...storedFile }).lean<StoredUpload>())
  if (!record) throw new AppError('NOT_FOUND', { message: 'There is no such file' })
  const { commitment = null, owner: sender, created_at } = record
  return { commitment, sender, created_at: created_at.toISOString() }
}

/** Creates the record of a file, or returns that of the same upload after a lost answer. */
async function createRecord(record: StoredUpload): Promise<StoredUpload> {
  try {
    await UploadRecords.create(record)
  } catch (error) {
    if (!isDuplicate(error)) throw error
    const { vector, owner, content, commitment } = record
    const known = await UploadRecords.findOne({ vector, owner, content }).lean<StoredUpload>()
    if (known && bucketOf(known) === bucketOf(record) && known.commitment === commitment) return known
    throw usedBefore
  }
  // A removed file leaves its vector before its record is deleted.
  const used = await UsedVectors.findById(record.vector).lean<UsedVector>()
  if (!used || (used.owner === record.owner && used.content === record.content)) return record
  await UploadRecords.deleteOne({ _id: record._id, claim: record.claim })
  throw usedBefore
}

const usedBefore = new AppError('CONFLICT', {
  message: 'This initialization vector was used before. Encrypt the file again.',
})

const bucketOf = ({ _id }: StoredUpload) => _id.slice(0, _id.indexOf('/'))

/** As document 3 has it. It reveals six bytes of the id; the name separates files. */
const conversationHash = (conversationId: string) => Buffer.from(conversationId).toString('base64url').slice(0, 8)

/** The identity of an upload: its vector in the conversation, and its bytes. */
async function fingerprintsOf(file: File, conversationId: string): Promise<Pick<StoredUpload, 'vector' | 'content'>> {
  const vector = new Uint8Array(await file.slice(0, vectorBytes).arrayBuffer())
  return {
    vector: createHash('sha256').update(vector).update(conversationId).digest('base64url'),
    content: await contentOf(file),
  }
}

async function contentOf(file: File): Promise<string> {
  if (file instanceof ReceivedFile) return Buffer.from(file.sha256, 'hex').toString('base64url')
  const content = createHash('sha256')
  for await (const chunk of bytesOf(file)) content.update(chunk)
  return content.digest('base64url')
}
