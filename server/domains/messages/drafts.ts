import type { MessageBody } from '#server/domains/rooms/facts'
import type { MessageDraft } from '#server/domains/rooms/verdict'
import { AppError } from '#shared/errors'

interface Spelled {
  text?: string | undefined
  content?: string | undefined
  type?: MessageDraft['type'] | 'image' | undefined
  messageType?: MessageDraft['type'] | 'image' | undefined
  message_type?: MessageDraft['type'] | 'image' | undefined
  reply_to?: string | null | undefined
  replyToId?: string | null | undefined
  reply_to_id?: string | null | undefined
  attachments?: unknown
  mentions?: unknown
}

export interface Draft extends MessageDraft {
  replyTo: string | null
  attachments: MessageBody['attachments']
  mentions: MessageBody['mentions']
}

/** The one value among several spellings of a field; two that disagree are an error. */
function oneOf<T>(name: string, values: readonly (T | null | undefined)[]): T | null {
  const given = [...new Set(values.filter((value) => value !== undefined && value !== null))]
  if (given.length > 1)
    throw new AppError('VALIDATION_ERROR', { message: `${name}: given twice with different values` })
  return given[0] ?? null
}

/** One draft from every spelling a client may use. */
export function draftOf(input: Spelled, isSealed: boolean): Draft {
  const text = (oneOf('text', [input.text, input.content]) ?? '').trim()
  const spelled = oneOf('type', [input.type, input.messageType, input.message_type]) ?? 'text'
  const type = spelled === 'image' ? 'photo' : spelled
  if (type === 'system')
    throw new AppError('VALIDATION_ERROR', { message: 'type: system messages are not sent by people' })
  const attachments = (input.attachments ?? []) as MessageBody['attachments']
  const mentions = (input.mentions ?? []) as MessageBody['mentions']
  if (!/[\p{L}\p{N}\p{P}\p{S}]/u.test(text))
    throw new AppError('VALIDATION_ERROR', { message: 'text: the message is empty' })
  if (mentions.some(({ start, len }) => start + len > text.length))
    throw new AppError('VALIDATION_ERROR', { message: 'mentions: outside the text' })
  if (isSealed && !isCiphertext(text))
    throw new AppError('VALIDATION_ERROR', {
      message: 'text: direct messages carry ciphertext, base64 of at least 28 bytes',
    })
  return {
    type,
    text,
    attachments,
    mentions,
    replyTo: oneOf('reply_to', [input.reply_to, input.replyToId, input.reply_to_id]),
  }
}

const sealBytes = 12 + 16

function isCiphertext(text: string): boolean {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0 && Buffer.from(text, 'base64').length >= sealBytes
}
