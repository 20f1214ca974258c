import { type StoredUpload, UploadRecords } from '#server/domains/media/files/model'
import { namedFiles, removeUnnamedFiles } from '#server/domains/media/files/removal'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { upsert } from '#server/ports/database/port'
import { blobOf } from '#server/ports/storage/port'
import { type ErasedAccount, isBetween, withAlias } from './alias.ts'

const filesAtOnce = 50

/**
 * Copies the files of an account that others show to keys with its alias. Rows name them so once it is erased. Files that nothing names are
 * removed; while `rows` are still to be erased, copies are not. Sealed messages of two name their files as before.
 * It can be ended and begun anew.
 */
export async function moveFiles(
  node: Node,
  erased: ErasedAccount,
  signal: AbortSignal,
  left: 'rows' | 'nothing',
): Promise<void> {
  const owner = { $in: [erased.account, erased.alias] }
  const isRenamed = (room: string) => !isBetween(room, erased.account)
  for (let after = ''; ; ) {
    signal.throwIfAborted()
    const own = { owner, _id: { $gt: after } }
    const found = await UploadRecords.find(own).sort({ _id: 1 }).limit(filesAtOnce).lean<StoredUpload[]>()
    if (found.length === 0) return
    const isCopy = ({ _id }: StoredUpload) => withAlias(_id, erased) === _id
    const pairs = found.filter((one) => !isCopy(one)).map((file) => ({ file, copy: copyOf(node, file, erased) }))
    const named = await namedFiles(
      node,
      pairs.flatMap(({ file, copy }) => [file, copy]),
      isRenamed,
    )
    for (const { file, copy } of pairs) {
      signal.throwIfAborted()
      if (named.has(file._id) || named.has(copy._id)) await storeCopy(node, file, copy)
    }
    const unwanted = left === 'rows' ? pairs.map(({ file }) => file) : found
    await removeUnnamedFiles(
      node,
      unwanted.map(({ _id }) => _id),
    )
    if (found.length < filesAtOnce) return
    after = found.at(-1)?._id ?? ''
  }
}

/** The record of a copy. Its vector is that of no message, as one key seals a vector once. */
function copyOf(node: Node, file: StoredUpload, erased: ErasedAccount): StoredUpload {
  const { commitment, evidence_of, is_as_sent, bytes, created_at } = file
  const _id = withAlias(file._id, erased)
  return {
    _id,
    owner: erased.alias,
    url: withAlias(file.url, erased),
    bytes,
    created_at,
    vector: _id,
    content: _id,
    ...(commitment !== undefined && { commitment }),
    ...(evidence_of !== undefined && { evidence_of }),
    ...(is_as_sent !== undefined && { is_as_sent }),
    claim: newId(),
    claims: [],
    checked_at: new Date(node.now()),
  }
}

/** The record is stored first, so that the sweep finds what a process leaves behind that dies meanwhile. */
async function storeCopy(node: Node, file: StoredUpload, copy: StoredUpload): Promise<void> {
  const { storage } = node.services
  const { _id, claim, checked_at, ...fields } = copy
  if (!storage || (await storage.sizeOf(file._id)) === null) return
  const kept = { $set: { claim, checked_at }, $setOnInsert: fields, $unset: { taken_at: '' } }
  await upsert(() => UploadRecords.updateOne({ _id }, kept, { upsert: true }))
  if ((await storage.sizeOf(_id)) === null) {
    const found = await storage.read(file._id)
    if (!found) return
    await storage.put(_id, blobOf(found)).finally(() => found.bytes.destroy())
  }
  await UploadRecords.updateOne({ _id }, { $set: { stored_at: new Date(node.now()) } })
}
