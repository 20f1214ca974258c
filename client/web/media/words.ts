import { mediaIn, type NamedMedia } from '#client/sdk/media'
import type { LocalMessage } from '#client/sdk/types'
import type { MessageType } from '#shared/api/verdict'
import { withPlainNames } from '#shared/kit/room-agents'

export const mediaNames = {
  image: 'Photo',
  picture: 'Photo',
  gif: 'GIF',
  pixel_art: 'Pixel art',
  voice: 'Voice message',
  place: 'Location',
} as const satisfies Record<NamedMedia['kind'], string>

/** A message in one line, as quotes and lists show it: media and polls by their name. */
export function lineOf(text: string, type: MessageType = 'text'): string {
  const media = mediaIn(text, type)
  return media ? mediaNames[media.kind] : withPlainNames(text.replace(/^\[POLL\]/, 'Poll: '))
}

/** Whether a message, as far as it can be read here, carries media or files. */
export const hasMedia = (message: LocalMessage): boolean =>
  message.local === 'sent' &&
  !message.is_deleted &&
  (message.attachments.length > 0 || mediaIn(message.content, message.message_type) !== null)
