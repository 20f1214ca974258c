import { isUnreadable } from '#server/domains/moderation/verdict/sealed-text'
import { keyOf, readableRoomOf } from '#server/domains/rooms/room-state/access'
import { messageIn, sealingOf } from '#server/domains/rooms/room-state/facts'
import type { Context } from '#server/kernel/context'
import { RoomEvents } from '#server/log/model'
import { reportStatuses } from '#shared/api/moderation/social'
import { AppError } from '#shared/errors'
import { cut } from '#shared/kit/cut'
import { conversationOf, roomOfConversation, roomOfKey } from '#shared/kit/room-key'
import { type Conversation, isBetweenTwo } from '#shared/kit/room-kinds'
import { isClosed } from './decisions.ts'
import { Reports } from './model.ts'

/** Which of these messages are in a report that is not decided. */
export async function reportedAmong(ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const open = { status: { $in: reportStatuses.filter((status) => !isClosed(status)) }, message_id: { $in: [...ids] } }
  const rows = await Reports.find(open, { message_id: 1 }).lean()
  return new Set(rows.flatMap(({ message_id }) => message_id ?? []))
}

const snapshotLength = 1_000

interface ReportInput {
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
export async function reportSubjectOf(context: Context, account: string, input: ReportInput): Promise<ReportSubject> {
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
  { conversationType, conversationId }: ReportInput,
) {
  if (!conversationType || !conversationId) return null
  const room = roomOfConversation(conversationType, conversationId, account)
  // A direct conversation named by its other person always includes the caller.
  if (isBetweenTwo(room.type)) return { conversationType, conversationId }
  const key = await keyOf(room)
  await node.log.ask(key, (view, now) => readableRoomOf(view, caller.account, now))
  return conversationOf(roomOfKey(key), account)
}
