import { type MessageBody, messageFactOf } from '#server/domains/room-state/facts'
import { Rooms } from '#server/domains/room-state/model'
import { readMarker } from '#server/domains/verdict/markers'
import { isUnreadable } from '#server/domains/verdict/sealed-text'
import { messages as rowsBetween } from '#server/log/store'
import type { RoomKey } from '#server/log/types'
import type { LastMessage } from '#shared/api/room'
import type { MessageType } from '#shared/api/verdict'
import { isInClear } from '#shared/kit/clear-types'
import { cut, cutToLength } from '#shared/kit/cut'
import { lineOfWords } from '#shared/kit/markup'
import { roomOfKey } from '#shared/kit/room-key'
import { type SealedBy, sealedBy } from '#shared/kit/room-kinds'

const previewLength = 50
/** What is read of a text to make a preview of it, in UTF-16 code units. */
const lookedAt = 500
const words: Record<string, string> = {
  photo: 'Photo',
  encrypted_image: 'Photo',
  voice: 'Voice message',
  voice_memo: 'Voice message',
  gif: 'GIF',
  pixel_art: 'Pixel art',
  poll: 'Poll',
  location: 'Location',
}

/** The newest message of each of these rooms, of so many messages (`total`), as a list shows it; those of blocked people name nobody. */
export async function lastMessagesOf(
  totals: ReadonlyMap<RoomKey, number>,
  blocked: readonly string[],
): Promise<Map<RoomKey, LastMessage | null>> {
  const keys = [...totals.keys()]
  const [sealed, ...rows] = await Promise.all([
    Rooms.find({ _id: { $in: keys }, messaging_type: 'p2p' }, { messaging_type: 1 }).lean(),
    ...[...totals].map(([key, total]) => (total > 0 ? rowsBetween(key, total, total) : [])),
  ])
  const types = new Map(sealed.map(({ _id, messaging_type }) => [_id, messaging_type]))
  return new Map(
    keys.map((key, at): [RoomKey, LastMessage | null] => {
      const row = rows[at]?.[0]
      if (!row) return [key, null]
      const by = sealedBy({ type: roomOfKey(key).type, messaging_type: types.get(key) })
      const { body, sender, at: sent } = messageFactOf(row)
      const isBlocked = blocked.includes(sender)
      return [
        key,
        {
          sender_address: sender,
          sender_name: isBlocked || body.deleted ? null : body.actor.name,
          preview: isBlocked ? 'Somebody you have blocked' : previewOf(body, by),
          created_at: new Date(sent).toISOString(),
        },
      ]
    }),
  )
}

/** In words, as people read them once they are drawn; media and ciphertext are named, not shown. */
export function previewOf({ deleted, type, text, attachments }: MessageBody, sealed: SealedBy | null): string {
  if (deleted) return 'Message deleted'
  if (!isInClear(type) && isUnreadable(sealed, text))
    return words[type] ?? (sealed === 'epoch' ? 'Direct message' : 'Sealed message')
  const named = words[readMarker(type as MessageType, text)?.content ?? type]
  if (named) return named
  return cut(lineOfWords(cutToLength(text, lookedAt)), previewLength) || (attachments.length > 0 ? 'File' : '')
}
