import { readMarker } from '#server/domains/moderation/verdict/markers'
import { isUnreadable } from '#server/domains/moderation/verdict/sealed-text'
import { type MessageBody, messageFactOf } from '#server/domains/rooms/room-state/facts'
import type { Card } from '#server/domains/rooms/room-state/rows'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { createStampedCache } from '#server/kernel/store/kept-as-of'
import { messagesAt } from '#server/log/store'
import type { RoomKey } from '#server/log/types'
import type { MessageType } from '#shared/api/moderation/verdict'
import type { LastMessage } from '#shared/api/rooms/room'
import { isInClear } from '#shared/kit/clear-types'
import { cut, cutToLength } from '#shared/kit/cut'
import { lineOfWords } from '#shared/kit/markup'
import { roomOfKey } from '#shared/kit/room-key'
import { type SealedBy, sealedBy } from '#shared/kit/room-kinds'

const previewLength = 50
/** The characters of a text that a preview reads, in UTF-16 code units. */
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

const keptAtMost = 20_000
const lastOn = nodeState(() => createStampedCache<LastMessage | null>(keptAtMost))

/** Called after a change of messages without a row. */
export const forgetPreviews = (node: Node): void => lastOn(node).forgetAll()

/** The newest message of each room for a list; blocked senders stay unnamed. */
export async function lastMessagesOf(
  node: Node,
  cards: readonly Card[],
  blocked: readonly string[],
): Promise<Map<RoomKey, LastMessage | null>> {
  const byKey = new Map(cards.map((card) => [card.key, card]))
  const stamps = new Map(cards.map(({ key, stamp }) => [key, stamp]))
  const last = await lastOn(node).of(stamps, (keys) => readLast(keys.flatMap((key) => byKey.get(key) ?? [])))
  if (blocked.length === 0) return last
  const isBlocked = new Set(blocked)
  return new Map(
    [...last].map(([key, shown]) => [key, shown && isBlocked.has(shown.sender_address) ? hidden(shown) : shown]),
  )
}

const hidden = (shown: LastMessage): LastMessage => ({
  ...shown,
  sender_name: null,
  preview: 'Somebody you have blocked',
})

async function readLast(cards: readonly Card[]): Promise<Map<RoomKey, LastMessage | null>> {
  const places = cards.flatMap(({ key, total }) => (total > 0 ? { room: key, n: total } : []))
  const rows = new Map((await messagesAt(places)).map((row) => [row.room, row]))
  return new Map(
    cards.map(({ key, room: { messaging_type } }): [RoomKey, LastMessage | null] => {
      const row = rows.get(key)
      if (!row) return [key, null]
      const { body, sender, at } = messageFactOf(row)
      const preview = previewOf(body, sealedBy({ type: roomOfKey(key).type, messaging_type }))
      const sender_name = body.deleted ? null : body.actor.name
      return [key, { sender_address: sender, sender_name, preview, created_at: new Date(at).toISOString() }]
    }),
  )
}

/** The displayed text; media and ciphertext are named instead. */
export function previewOf({ deleted, type, text, attachments }: MessageBody, sealed: SealedBy | null): string {
  if (deleted) return 'Message deleted'
  if (!isInClear(type) && isUnreadable(sealed, text))
    return words[type] ?? (sealed === 'epoch' ? 'Direct message' : 'Sealed message')
  const named = words[readMarker(type as MessageType, text)?.content ?? type]
  if (named) return named
  return cut(lineOfWords(cutToLength(text, lookedAt)), previewLength) || (attachments.length > 0 ? 'File' : '')
}
