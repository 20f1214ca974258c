import { mediaIn, type NamedMedia } from '#client/sdk/media'
import type { LocalMessage } from '#client/sdk/types'
import type { MessageType } from '#shared/api/moderation/verdict'
import { AppError, type ErrorCode, errors } from '#shared/errors'
import { lineOfWords } from '#shared/kit/markup'
import { withPlainNames } from '#shared/kit/room-agents'
import { lengthInBytes } from '../kit/byte-length.ts'
import { isolated, lengthOf } from '../kit/format.ts'
import { problemText } from '../kit/problem.ts'
import { mediaTexts as t } from '../texts/media.ts'

export const mediaNames: Readonly<Record<NamedMedia['kind'], string>> = t.names

/** A message in one line of words, as quotes and lists show it: media and polls by their name, without signs that turn what stands beside it. */
export function lineOf(text: string, type: MessageType = 'text'): string {
  const media = mediaIn(text, type)
  if (media) return mediaNames[media.kind]
  const asks = /^\[POLL\]/.test(text)
  return isolated(asks ? t.poll({ question: lineOfWords(text.slice(6)) }) : lineOfWords(text))
}

/** The same with the marks and addresses as they were written, for who judges it. */
export function evidenceOf(text: string): string {
  const media = mediaIn(text, 'text')
  if (media) return mediaNames[media.kind]
  const words = withPlainNames(text)
  return isolated(/^\[POLL\]/.test(words) ? t.poll({ question: words.slice(6) }) : words)
}

/** Whether a message, as far as it can be read here, carries media or files. */
export const hasMedia = (message: LocalMessage): boolean =>
  message.local === 'sent' &&
  !message.is_deleted &&
  (message.attachments.length > 0 || mediaIn(message.content, message.message_type) !== null)

/** Why a file of so many bytes, of which at most `mostBytes` are sent, was not taken: which quota is spent and until when, or what is too large. */
export function uploadText(error: unknown, bytes: number, mostBytes: number): string {
  if (!(error instanceof AppError)) return problemText(error)
  const { code, message, retryAfter, details } = error
  const isExplained = message !== errors[code][1]
  if (code === 'RATE_LIMIT_EXCEEDED' && isExplained && retryAfter !== undefined)
    return t.problems.spent({ reason: message, time: lengthOf(retryAfter) })
  if (code !== 'PAYLOAD_TOO_LARGE') return problemText(error)
  const most = typeof details?.most_bytes === 'number' ? details.most_bytes : mostBytes
  if (bytes > most) return tooLarge(bytes, most)
  return isExplained
    ? t.problems.explained({ reason: message })
    : t.problems.tooLargeAtOnce({ size: lengthInBytes(bytes) })
}

export const hasErrorCode = (error: unknown, ...codes: ErrorCode[]): boolean =>
  error instanceof AppError && codes.includes(error.code)

export const tooLarge = (bytes: number, mostBytes: number): string =>
  t.problems.tooLarge({ size: lengthInBytes(bytes), most: lengthInBytes(mostBytes) })
