import type { MessageDraft } from '#server/domains/moderation/verdict/content'
import { pollMarker } from '#server/domains/moderation/verdict/markers'
import type { MessageBody, PollFact } from '#server/domains/rooms/room-state/facts'
import type { Asked } from '#shared/api/rooms/polls'
import { AppError } from '#shared/errors'
import { isInClear } from '#shared/kit/clear-types'
import { isVisible } from '#shared/kit/primitives'
import type { SealedBy } from '#shared/kit/room-kinds'
import { spansFault } from './mention-spans.ts'
import { isCiphertext } from './sealed.ts'

interface SpelledInput {
  text?: string | undefined
  content?: string | undefined
  type?: MessageDraft['type'] | 'image' | undefined
  messageType?: MessageDraft['type'] | 'image' | undefined
  message_type?: MessageDraft['type'] | 'image' | undefined
  reply_to?: string | null | undefined
  replyToId?: string | null | undefined
  reply_to_id?: string | null | undefined
  attachments?: MessageDraft['attachments'] | undefined
  mentions?: MessageDraft['mentions'] | undefined
  blobs?: MessageDraft['blobs'] | undefined
}

/** The value of a field with several spellings; different values are an error. */
function oneOf<T>(name: string, values: readonly (T | null | undefined)[]): T | null {
  const given = [...new Set(values.filter((value) => value !== undefined && value !== null))]
  if (given.length > 1)
    throw new AppError('VALIDATION_ERROR', { message: `${name}: given twice with different values` })
  return given[0] ?? null
}

/** The draft of an input in any spelling. */
export function draftOf(input: SpelledInput, sealed: SealedBy | null): MessageDraft {
  const given = oneOf('text', [input.text, input.content]) ?? ''
  const text = given.trim()
  const spelled = oneOf('type', [input.type, input.messageType, input.message_type]) ?? 'text'
  const type = spelled === 'image' ? 'photo' : spelled
  if (isInClear(type))
    throw new AppError('VALIDATION_ERROR', { message: `type: ${type} messages are not sent by people` })
  const { attachments = [], blobs } = input
  const trimmed = given.length - given.trimStart().length
  const mentions = (input.mentions ?? []).map((one) => ({ ...one, start: one.start - trimmed }))
  if (!isVisible(text)) throw new AppError('VALIDATION_ERROR', { message: 'text: the message is empty' })
  const fault = spansFault(text, mentions)
  if (fault !== null) throw new AppError('VALIDATION_ERROR', { message: `mentions: ${fault}` })
  if (sealed === 'epoch' && !isCiphertext(text))
    throw new AppError('VALIDATION_ERROR', {
      message: 'text: direct messages carry ciphertext, base64 of at least 28 bytes',
    })
  return {
    type,
    text,
    attachments,
    mentions,
    poll: null,
    replyTo: oneOf('reply_to', [input.reply_to, input.replyToId, input.reply_to_id]),
    blobs,
  }
}

export const draftOfPoll = (poll: Asked): MessageDraft => ({
  type: 'poll',
  text: pollMarker(poll.question),
  attachments: [],
  mentions: [],
  poll,
  replyTo: null,
})

export const draftOfBody = ({ type, text, attachments, mentions, reply_to, poll }: MessageBody): MessageDraft => ({
  type: type as MessageDraft['type'],
  text,
  attachments,
  mentions: mentions as MessageDraft['mentions'],
  poll: poll ? pollInputOf(poll) : null,
  replyTo: reply_to?.id ?? null,
})

export const pollInputOf = ({ question, options, allows_multiple, ends_at, is_anonymous }: PollFact): Asked => ({
  question,
  options,
  allowsMultiple: allows_multiple,
  endsAt: ends_at,
  isAnonymous: is_anonymous,
})
