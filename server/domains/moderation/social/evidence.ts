import { withKeptFiles } from '#server/domains/media/files/claims'
import { evidenceKey } from '#server/domains/media/files/evidence'
import { type StoredUpload, storedFile, UploadRecords } from '#server/domains/media/files/model'
import { removeUnnamedFiles } from '#server/domains/media/files/removal'
import { addressesIn, type NamedFile } from '#server/domains/moderation/verdict/named-files'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import type { Node } from '#server/kernel/context'
import { addressOf, keyAt } from '#server/ports/storage/port'
import { AppError } from '#shared/errors'
import { Reports } from './model.ts'

interface ReportInput {
  description?: string | null | undefined
  messageId?: string | null | undefined
  evidence?: string | null | undefined
}

/** The uploads of this account that a description names as evidence of a bug. */
function faultFiles(node: Node, account: string, description: string): NamedFile[] {
  const { bucket, folder } = storageFolders.bugReport
  const own = `${bucket}/${folder}/${account.toLowerCase()}/`
  return addressesIn(description, node.settings.storageUrl).flatMap((url) => {
    const key = keyAt(node.settings.storageUrl, url)
    return key?.startsWith(own) ? { url, key } : []
  })
}

/** Stores a report with the uploads that it names. They are kept until the report is decided. */
export async function withEvidence<T>(
  node: Node,
  account: string,
  { description, messageId, evidence }: ReportInput,
  act: (fields: { evidence_key?: string; file_keys?: string[]; is_as_sent?: boolean }) => Promise<T>,
): Promise<T> {
  const faults = faultFiles(node, account, description ?? '')
  const files: { file_keys?: string[] } = faults.length > 0 ? { file_keys: faults.map(({ key }) => key) } : {}
  if (!evidence) return withKeptFiles(node, account, faults, () => act(files))
  const key = evidenceKey(account, evidence)
  const all = [...faults, { key, url: addressOf(node.settings.storageUrl, key) }]
  return withKeptFiles(node, account, all, async () => {
    const its = { _id: key, evidence_of: messageId ?? '', ...storedFile }
    const record = await UploadRecords.findOne(its).lean<StoredUpload>()
    if (!record)
      throw new AppError('VALIDATION_ERROR', { message: 'evidence: none that you handed in for this message' })
    return act({ ...files, evidence_key: key, is_as_sent: record.is_as_sent ?? false })
  })
}

/** Open reports keep their evidence and the files that they name. */
export async function evidenceAmong(urls: readonly string[], { settings }: Node) {
  const keys = urls.flatMap((url) => keyAt(settings.storageUrl, url) ?? [])
  const [one, many] = await Promise.all([
    Reports.find({ evidence_key: { $in: keys } }, { evidence_key: 1 }).lean(),
    Reports.find({ file_keys: { $in: keys } }, { file_keys: 1 }).lean(),
  ])
  return [...one.map(({ evidence_key }) => evidence_key), ...many.flatMap(({ file_keys }) => file_keys ?? [])]
}

interface Review {
  status: string
  reviewed_by: string
  reviewed_at: string
  admin_notes?: string | null | undefined
}

/** Reviews a report, and removes its evidence when it is decided; null if it does not exist. */
export async function settleReport(node: Node, filter: object, reviewed: Review) {
  const isClosed = ['action_taken', 'dismissed'].includes(reviewed.status)
  const change = { $set: reviewed, ...(isClosed && { $unset: { evidence_key: '', file_keys: '', is_as_sent: '' } }) }
  const before = await Reports.findOneAndUpdate(filter, change).lean()
  const named = [before?.evidence_key ?? [], before?.file_keys ?? []].flat()
  if (isClosed) await removeUnnamedFiles(node, named)
  return before && { ...before, ...reviewed }
}
