import { createHash } from 'node:crypto'
import { evidenceEnding } from '#server/domains/media/files/evidence'
import { type StoredUpload, storedFile, UploadRecords } from '#server/domains/media/files/model'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { readableRoomOf } from '#server/domains/rooms/room-state/access'
import { messageCreated } from '#server/domains/rooms/room-state/events/messages'
import type { Action, Context } from '#server/kernel/context'
import { RoomEvents } from '#server/log/model'
import { bytesOf, keyAt } from '#server/ports/storage/port'
import type { uploads as contract } from '#shared/api/media/uploads'
import { AppError } from '#shared/errors'
import { storageOf, storeFile } from './store.ts'

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
