import { withFiles } from '#server/domains/files/claims'
import { evidenceKey } from '#server/domains/files/evidence'
import { type StoredUpload, UploadRecords } from '#server/domains/files/model'
import { namesFiles } from '#server/domains/files/namers'
import { removeUnnamed } from '#server/domains/files/removal'
import type { Node } from '#server/kernel/context'
import type { Stop } from '#server/kernel/domain'
import { addressOf, keyAt } from '#server/ports/storage/port'
import { AppError } from '#shared/errors'
import { Reports } from './model.ts'

interface Named {
  messageId?: string | null | undefined
  evidence?: string | null | undefined
}

/** Makes a report that names what this account has handed in, which is kept from then on until the report is decided. */
export async function withEvidence<T>(
  node: Node,
  account: string,
  { messageId, evidence }: Named,
  act: (fields: { evidence_key?: string; is_as_sent?: boolean }) => Promise<T>,
): Promise<T> {
  if (!evidence) return act({})
  const key = evidenceKey(account, evidence)
  return withFiles(node, account, [{ key, url: addressOf(node.settings.storageUrl, key) }], async () => {
    const its = { _id: key, evidence_of: messageId ?? '', taken_at: { $exists: false } }
    const record = await UploadRecords.findOne(its).lean<StoredUpload>()
    if (!record?.stored_at)
      throw new AppError('VALIDATION_ERROR', { message: 'evidence: none that you handed in for this message' })
    return act({ evidence_key: key, is_as_sent: record.is_as_sent ?? false })
  })
}

/** Reports that are not decided keep their evidence. */
export function keepEvidence(node: Node): Stop {
  namesFiles(node, 'reports', async (urls) => {
    const keys = urls.flatMap((url) => keyAt(node.settings.storageUrl, url) ?? [])
    const rows = await Reports.find({ evidence_key: { $in: keys } }, { evidence_key: 1 }).lean()
    return rows.map(({ evidence_key }) => evidence_key)
  })
  return () => {}
}

interface Review {
  status: string
  reviewed_by: string
  reviewed_at: string
  admin_notes?: string | null | undefined
}

/** Reviews a report, and removes its evidence once it is decided. Null where there is no such report. */
export async function settleReport(node: Node, filter: object, reviewed: Review) {
  const isClosed = ['action_taken', 'dismissed'].includes(reviewed.status)
  const change = { $set: reviewed, ...(isClosed && { $unset: { evidence_key: '', is_as_sent: '' } }) }
  const before = await Reports.findOneAndUpdate(filter, change).lean()
  if (isClosed && before?.evidence_key) await removeUnnamed(node, [before.evidence_key])
  return before && { ...before, ...reviewed }
}
