import { createHash } from 'node:crypto'
import { evidenceEnding } from '#server/domains/media/files/claims'
import {
  type StoredUpload,
  storedFile,
  UploadRecords,
  type UsedVector,
  UsedVectors,
} from '#server/domains/media/files/model'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { readableRoomOf } from '#server/domains/rooms/room-state/access'
import { messageCreated } from '#server/domains/rooms/room-state/events/messages'
import { type Action, type Context, type Node, signedIn } from '#server/kernel/context'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { budgets, holdShares } from '#server/kernel/limits/budgets'
import { nodeState } from '#server/kernel/operate/node-state'
import { callerKindOf } from '#server/kernel/sockets/connection-slots'
import { ReceivedFile } from '#server/kernel/uploads'
import { RoomEvents } from '#server/log/model'
import { isDuplicate } from '#server/ports/database/port'
import type { CleanFile, FileKind } from '#server/ports/reader/port'
import { bytesOf, isPrivate, keyAt } from '#server/ports/storage/port'
import type { uploads as contract } from '#shared/api/media/uploads'
import { AppError } from '#shared/errors'
import {
  fileAddressOf,
  newFileKey,
  newFileName,
  newUploadFields,
  storageOf,
  storeFile,
  storeFileOnce,
  type UploadFolder,
} from './store.ts'

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

/** Stores opened media of a sealed message for a report. It is readable once a report names it, by its moderators alone. */
export const storeEvidence: Action<typeof contract.evidence> = async ({ file, messageId, url, salt }, context) => {
  storageOf(context.node)
  const { room, sender } = await readableMessage(context, messageId)
  const sent = await sealedFile(context, url, sender)
  const ending = await evidenceEnding(file)
  if (ending === null)
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', { message: 'file: not a picture or a voice message that is shown' })
  const isCommitted = sent.commitment !== undefined && salt !== undefined
  if (isCommitted && sent.commitment !== (await commitmentBy(salt, file)))
    throw new AppError('VALIDATION_ERROR', { message: 'file: not what its sender has committed to, with this salt' })
  // A file from another conversation proves nothing about this one.
  const isAsSent = isCommitted && (await RoomEvents.exists({ 'body.media': sent._id, room, sender })) !== null
  const about = { evidence_of: messageId, is_as_sent: isAsSent }
  const { path } = await storeFile(context, storageFolders.evidence, { ending, blob: file, about })
  return { evidence: path.slice(path.lastIndexOf('/') + 1), is_as_sent: isAsSent }
}

/** Loads a message that the caller can read, also if it was deleted since. */
async function readableMessage({ node, caller }: Context, id: string): Promise<{ room: string; sender: string }> {
  const row = await RoomEvents.findOne({ _id: id, type: messageCreated.type }, { room: 1, sender: 1 }).lean()
  const unknown = new AppError('NOT_FOUND', { message: 'There is no such message' })
  if (!row) throw unknown
  await node.log
    .ask(row.room, (view, now) => void readableRoomOf(view, caller.account, now))
    .catch((error: unknown) => {
      throw error instanceof AppError && error.status < 500 ? unknown : error
    })
  return row
}

/** The sealed file of a sender. Its key has the account as the message has it, also of one who is erased. */
async function sealedFile({ node }: Context, url: string, sender: string): Promise<StoredUpload> {
  const key = keyAt(node.settings.storageUrl, url) ?? ''
  const isSealed = [storageFolders.image, storageFolders.voice].some(({ bucket, folder }) =>
    key.startsWith(`${bucket}/${folder}/${sender.toLowerCase()}/`),
  )
  const record = isSealed ? await UploadRecords.findOne({ _id: key, ...storedFile }).lean<StoredUpload>() : null
  if (!record) throw new AppError('NOT_FOUND', { message: 'There is no such file' })
  return record
}

async function commitmentBy(salt: string, file: File): Promise<string> {
  const hash = createHash('sha256').update(Buffer.from(salt, 'hex'))
  for await (const piece of bytesOf(file)) hash.update(piece)
  return hash.digest('hex')
}

/** The files in memory at a time. */
const atOnce = 4
const retrySeconds = 5

const reading = nodeState(() => ({ run: fewAtOnce(atOnce), held: new Map<unknown, number>() }))

interface Given {
  file: Blob
  kinds: readonly FileKind[]
  /** The refusal for other kinds. */
  refusal: string
}

/** Calls `work` with the file without its metadata. Addresses take turns; a caller with too many waiting files is refused. */
export async function withCleanFile<T>(
  context: Context,
  { file, kinds, refusal }: Given,
  work: (clean: CleanFile) => Promise<T>,
): Promise<T> {
  const { node } = context
  const release = holdFile(context)
  try {
    return await reading(node).run(async () => {
      const bytes = new Uint8Array(await file.arrayBuffer())
      const found = await node.services.reader.clean(kinds, bytes).catch((error: unknown) => refuse(node, error))
      if (found === null) throw new AppError('UNSUPPORTED_MEDIA_TYPE', { message: refusal })
      return work(found)
    }, context.caller.ip)
  } finally {
    release()
  }
}

/** A file that crashed its reader or took too long is refused alone. */
function refuse({ logger }: Node, error: unknown): null {
  if (!(error instanceof AppError) || !['TIMEOUT', 'UPSTREAM_ERROR'].includes(error.code)) throw error
  logger.warn({ error }, 'a file could not be read')
  return null
}

function holdFile(context: Context): () => void {
  const { node } = context
  const caller = signedIn(context)
  const kind = callerKindOf(caller, node.now())
  if (kind === 'anonymous') throw new AppError('UNAUTHORIZED')
  return holdShares(
    reading(node).held,
    [
      { key: caller.account, budget: budgets.filesOfAccount, of: 'account' },
      { key: [kind, caller.ip].join(' '), budget: budgets.filesOfAddress[kind], of: 'address' },
    ],
    { scale: node.limits.scale, what: 'files that wait to be read', retryAfter: retrySeconds },
  )
}
