import { z } from 'zod'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import type { Node } from '#server/kernel/context'
import { shownUrls } from '#server/kernel/domain'
import { job } from '#server/kernel/work/jobs'
import { RoomEvents } from '#server/log/model'
import { isDuplicate } from '#server/ports/database/port'
import { addressOf, keyAt } from '#server/ports/storage/port'
import { type StoredUpload, UploadRecords, UsedVectors } from './model.ts'

/** So many are removed before the answer; the sweep removes the rest. */
export const filesAtOnce = 50

/** Removes files without references. `isMeant` chooses the messages that count. Throws where the storage fails. */
export async function removeUnnamed(
  node: Node,
  keys: readonly string[],
  isMeant?: (message: NamingRow) => boolean,
): Promise<void> {
  if (keys.length === 0) return
  const records = await UploadRecords.find({ _id: { $in: keys.slice(0, filesAtOnce) } }).lean<StoredUpload[]>()
  const named = await namedFiles(node, records, isMeant)
  for (const record of records) if (!named.has(record._id) && record.claims.length === 0) await removeFile(node, record)
}

/** Removes files later that could not be removed at once. */
export const removingFiles = job({
  kind: 'files.remove',
  payload: z.object({ keys: z.array(z.string()) }),
  atOnce: 1,
  run: ({ keys }, { node }) => removeUnnamed(node, keys),
})

/** Removes files without references. A job tries again what fails, later and later, and after that the sweep. */
export async function removeUnnamedFiles(node: Node, keys: readonly string[]): Promise<void> {
  try {
    await removeUnnamed(node, keys)
  } catch (error) {
    node.logger.warn({ error }, 'files that nothing names any more stay for now')
    await node.jobs
      .add(removingFiles, { keys: keys.slice(0, filesAtOnce) })
      .catch((failure: unknown) => node.logger.warn({ error: failure }, 'these files are left to the sweep'))
  }
}

/** The same for a profile or room picture. Files of messages are left to the sweep, as an unsent or sealed message may name them. */
export async function removePicture(node: Node, url: string | null | undefined): Promise<void> {
  const key = url ? keyAt(node.settings.storageUrl, url) : null
  if (key !== null && isForShow(key)) await removeUnnamedFiles(node, [key])
}

const isForShow = (key: string): boolean =>
  [storageFolders.avatar, storageFolders.icon].some(({ bucket, folder }) => key.startsWith(`${bucket}/${folder}/`))

interface NamingRow {
  room: string
  sender: string
  seq: number
  body: { media: string[] }
}
type NamedRecord = Pick<StoredUpload, '_id' | 'url'>

/** The files that an account, agent or room refers to, or a message. `isMeant` chooses the messages that count. */
export async function namedFiles(
  node: Node,
  records: readonly NamedRecord[],
  isMeant: (message: NamingRow) => boolean = () => true,
): Promise<ReadonlySet<string>> {
  const keys = records.map(({ _id }) => _id)
  const urls = records.flatMap(({ _id, url }) => [addressOf(node.settings.storageUrl, _id), url])
  const [rows, shown] = await Promise.all([
    RoomEvents.find({ 'body.media': { $in: keys } }, { room: 1, sender: 1, seq: 1, 'body.media': 1 }).lean<
      NamingRow[]
    >(),
    shownUrls(node, urls),
  ])
  const named = new Set([...rows.flatMap((row) => (isMeant(row) ? row.body.media : [])), ...shown])
  const isNamed = ({ _id, url }: NamedRecord) =>
    [_id, url, addressOf(node.settings.storageUrl, _id)].some((name) => named.has(name))
  return new Set(records.filter(isNamed).map(({ _id }) => _id))
}

/** The lifetime of a file that nothing names. */
export const forgottenMilliseconds = ({ settings }: Node): number => settings.retention.deletedFileMilliseconds

/** The sweep finishes removals that take longer. */
const removalMilliseconds = 3_600_000

/** Removes a file, unless it was uploaded again or used since its record was read. */
export async function removeFile(node: Node, { _id, claim }: StoredUpload): Promise<void> {
  const now = node.now()
  const { matchedCount } = await UploadRecords.updateOne(
    { _id, claim },
    {
      $set: { taken_at: new Date(now), checked_at: new Date(now - forgottenMilliseconds(node) + removalMilliseconds) },
    },
  )
  if (matchedCount === 1) await removeTakenFile(node, _id)
}

export async function removeTakenFile({ services: { storage } }: Node, _id: string): Promise<void> {
  await storage?.remove(_id)
  await keepVector(_id)
  await UploadRecords.deleteOne({ _id, taken_at: { $exists: true } })
}

/** Stored before the record is deleted, so that a new upload finds one of them. Unsealed files have their key as vector. */
async function keepVector(_id: string): Promise<void> {
  const record = await UploadRecords.findOne({ _id }).lean<StoredUpload>()
  if (!record || record.vector === _id) return
  const { vector, owner, content } = record
  await UsedVectors.create({ _id: vector, owner, content }).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
  })
}
