import { evidenceKey, withKeptFiles } from '#server/domains/media/files/claims'
import { type StoredUpload, storedFile, UploadRecords } from '#server/domains/media/files/model'
import { removeUnnamedFiles } from '#server/domains/media/files/removal'
import { type NamedFile, storedUrlsIn } from '#server/domains/moderation/verdict/content'
import { isUnreadable } from '#server/domains/moderation/verdict/sealed-text'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { keyOf, readableRoomOf } from '#server/domains/rooms/room-state/access'
import { messageIn, sealingOf } from '#server/domains/rooms/room-state/facts'
import type { Context, Node } from '#server/kernel/context'
import { RoomEvents } from '#server/log/model'
import { addressOf, keyAt } from '#server/ports/storage/port'
import { reportStatuses } from '#shared/api/moderation/social'
import { AppError } from '#shared/errors'
import { cut } from '#shared/kit/cut'
import { conversationOf, roomOfConversation, roomOfKey } from '#shared/kit/room-key'
import { type Conversation, isBetweenTwo } from '#shared/kit/room-kinds'
import { isClosed } from './decisions.ts'
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
  return storedUrlsIn(description, node.settings.storageUrl).flatMap((url) => {
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
  const isDecided = isClosed(reviewed.status)
  const change = { $set: reviewed, ...(isDecided && { $unset: { evidence_key: '', file_keys: '', is_as_sent: '' } }) }
  const before = await Reports.findOneAndUpdate(filter, change).lean()
  const named = [before?.evidence_key ?? [], before?.file_keys ?? []].flat()
  if (isDecided) await removeUnnamedFiles(node, named)
  return before && { ...before, ...reviewed }
}

/** Which of these messages are in a report that is not decided. */
export async function reportedAmong(ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const open = { status: { $in: reportStatuses.filter((status) => !isClosed(status)) }, message_id: { $in: [...ids] } }
  const rows = await Reports.find(open, { message_id: 1 }).lean()
  return new Set(rows.flatMap(({ message_id }) => message_id ?? []))
}

const snapshotLength = 1_000

interface SubjectInput {
  reportedAddress: string
  messageId?: string | null | undefined
  messageContent?: string | null | undefined
  conversationType?: Conversation | null | undefined
  conversationId?: string | null | undefined
}

/** The subject of a report: fields of its record. */
interface ReportSubject {
  conversation_type: Conversation | null
  conversation_id: string | null
  message_id: string | null
  message_content: string | null
  /** `server` if the text is our own copy; absent in reports of an older version. */
  message_content_by: 'server' | 'reporter' | null
}

/**
 * The room and message as stored here, if the reporter can read them. For a sealed or unknown message, the reporter's
 * copy. Refuses a room that the reporter cannot read.
 */
export async function reportSubjectOf(context: Context, account: string, input: SubjectInput): Promise<ReportSubject> {
  const { messageId = null, messageContent = null } = input
  const message = messageId === null ? null : await ownCopy(context, messageId, input.reportedAddress)
  const conversation = message
    ? conversationOf(roomOfKey(message.room), account)
    : await conversationNamed(context, account, input)
  const content = message?.text ?? messageContent
  const by = message && message.text !== null ? 'server' : 'reporter'
  return {
    conversation_type: conversation?.conversationType ?? null,
    conversation_id: conversation?.conversationId ?? null,
    message_id: messageId,
    message_content: content,
    message_content_by: content === null ? null : by,
  }
}

/** The source of the message text in a report. Older reports have none, so it is the reporter. */
export const contentBy = (row: {
  message_content?: string | null | undefined
  message_content_by?: string | null | undefined
}): 'server' | 'reporter' | null => {
  if ((row.message_content ?? null) === null) return null
  return row.message_content_by === 'server' ? 'server' : 'reporter'
}

/** The room of this person's message that the caller can read, and its text; null if sealed. */
async function ownCopy({ node, caller }: Context, id: string, sender: string) {
  const found = await RoomEvents.findOne({ _id: id, sender }, { room: 1 }).lean()
  if (!found) return null
  const copy = await node.log
    .ask(found.room, (view, now) => {
      const its = messageIn(view, id)
      readableRoomOf(view, caller.account, now)
      return its && { text: its.body.text, sealed: sealingOf(view) }
    })
    .catch(refusedIsNull)
  if (!copy) return null
  const text = isUnreadable(copy.sealed, copy.text) ? null : cut(copy.text, snapshotLength)
  return { room: found.room, text }
}

function refusedIsNull(error: unknown): null {
  if (error instanceof AppError && error.status < 500) return null
  throw error
}

async function conversationNamed(
  { node, caller }: Context,
  account: string,
  { conversationType, conversationId }: SubjectInput,
) {
  if (!conversationType || !conversationId) return null
  const room = roomOfConversation(conversationType, conversationId, account)
  // A direct conversation named by its other person always includes the caller.
  if (isBetweenTwo(room.type)) return { conversationType, conversationId }
  const key = await keyOf(room)
  await node.log.ask(key, (view, now) => readableRoomOf(view, caller.account, now))
  return conversationOf(roomOfKey(key), account)
}
