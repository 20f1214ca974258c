import type { MessageDraft } from '#server/domains/moderation/verdict/content'
import { pollMarker } from '#server/domains/moderation/verdict/markers'
import type { MessageBody, PollFact } from '#server/domains/rooms/room-state/facts'
import type { Asked } from '#shared/api/rooms/polls'
import { AppError } from '#shared/errors'
import { isInClear } from '#shared/kit/clear-types'
import { isBetweenCharacters } from '#shared/kit/cut'
import { isVisible } from '#shared/kit/primitives'
import type { SealedBy } from '#shared/kit/room-kinds'
import { isCiphertext } from './shared-key.ts'

interface Span {
  start: number
  len: number
}

const ofWord = String.raw`[\p{L}\p{M}\p{N}_]`
const afterWord = new RegExp(`(?<=${ofWord})`, 'uy')
const beforeWord = new RegExp(`(?=${ofWord})`, 'uy')

/** The fault of mention spans, or null: a span outside the text, within a character, or overlapping another. */
function spansFault(text: string, spans: readonly Span[]): string | null {
  if (spans.some(({ start, len }) => start < 0 || start + len > text.length)) return 'outside the text'
  if (!spans.every((span) => isWhole(text, span))) return 'cuts a character in two'
  const inOrder = [...spans].sort((one, other) => one.start - other.start)
  const isApart = inOrder.every(({ start }, at) => start >= endOf(inOrder[at - 1]))
  return isApart ? null : 'two name the same words'
}

const endOf = (span: Span | undefined): number => (span ? span.start + span.len : 0)

const isWhole = (text: string, span: Span): boolean =>
  isBetweenCharacters(text, span.start) && isBetweenCharacters(text, endOf(span))

/**
 * Moves spans along with an edit. Between two changes a span is found by its words, if these occur once. A changed or
 * extended span is dropped.
 */
export function movedSpans<One extends Span>(spans: readonly One[], before: string, after: string): One[] {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head++
  let tail = 0
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const moved = (span: One): One | null => {
    if (endOf(span) <= head) return span
    if (span.start >= before.length - tail) return { ...span, start: span.start + after.length - before.length }
    const words = before.slice(span.start, endOf(span))
    return isOnce(before, words) && isOnce(after, words) ? { ...span, start: after.indexOf(words) } : null
  }
  return spans.flatMap((span) => {
    const now = moved(span)
    if (now === null || !isWhole(after, now)) return []
    const [was, is] = [gluedTo(before, span), gluedTo(after, now)]
    return (is.start && !was.start) || (is.end && !was.end) ? [] : [now]
  })
}

const isOnce = (text: string, words: string) => text.split(words).length === 2

/** Do letters directly precede or follow the span? */
const gluedTo = (text: string, span: Span) => ({
  start: isAt(afterWord, text, span.start),
  end: isAt(beforeWord, text, endOf(span)),
})

function isAt(edge: RegExp, text: string, at: number): boolean {
  edge.lastIndex = at
  return edge.test(text)
}

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
