import { mediaIn, type NamedMedia } from '#client/sdk/media'
import type { LocalMessage } from '#client/sdk/types'
import type { MessageType } from '#shared/api/verdict'
import { AppError, errors } from '#shared/errors'
import { lineOfWords } from '#shared/kit/markup'
import { withPlainNames } from '#shared/kit/room-agents'
import { isolated, lengthInBytes, lengthOf } from '../kit/format.ts'
import { problemText } from '../kit/problem.ts'

export const mediaNames = {
  image: 'Photo',
  picture: 'Photo',
  gif: 'GIF',
  pixel_art: 'Pixel art',
  voice: 'Voice message',
  place: 'Location',
} as const satisfies Record<NamedMedia['kind'], string>

/** A message in one line of words, as quotes and lists show it: media and polls by their name, without signs that turn what stands beside it. */
export function lineOf(text: string, type: MessageType = 'text'): string {
  const media = mediaIn(text, type)
  if (media) return mediaNames[media.kind]
  const asks = /^\[POLL\]/.test(text)
  return isolated(`${asks ? 'Poll: ' : ''}${lineOfWords(asks ? text.slice(6) : text)}`)
}

/** The same with the marks and addresses as they were written, for who judges it. */
export function evidenceOf(text: string): string {
  const media = mediaIn(text, 'text')
  return media ? mediaNames[media.kind] : isolated(withPlainNames(text.replace(/^\[POLL\]/, 'Poll: ')))
}

/** Whether a message, as far as it can be read here, carries media or files. */
export const hasMedia = (message: LocalMessage): boolean =>
  message.local === 'sent' &&
  !message.is_deleted &&
  (message.attachments.length > 0 || mediaIn(message.content, message.message_type) !== null)

/** Why a file of so many bytes, of which at most `mostBytes` are sent, was not taken: which quota is spent and until when, or what is too large. */
export function uploadText(error: unknown, bytes: number, mostBytes: number): string {
  if (!(error instanceof AppError)) return problemText(error)
  const { code, message, retryAfter } = error
  const isExplained = message !== errors[code][1]
  if (code === 'RATE_LIMIT_EXCEEDED' && isExplained && retryAfter !== undefined)
    return `${message}. More can be sent in ${lengthOf(retryAfter)}.`
  if (code !== 'PAYLOAD_TOO_LARGE') return problemText(error)
  if (bytes > mostBytes) return tooLarge(bytes, mostBytes)
  return isExplained ? `${message}.` : `This has ${lengthInBytes(bytes)}, more than the server takes at once.`
}

export const tooLarge = (bytes: number, mostBytes: number): string =>
  `This has ${lengthInBytes(bytes)}; at most ${lengthInBytes(mostBytes)} can be sent here.`
