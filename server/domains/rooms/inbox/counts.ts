import { blockedBy } from '#server/domains/moderation/blocks/blocks'
import { readMarker } from '#server/domains/moderation/verdict/markers'
import { isUnreadable } from '#server/domains/moderation/verdict/sealed-text'
import { countUnread } from '#server/domains/rooms/messages/reads'
import { type MessageBody, messageFactOf } from '#server/domains/rooms/room-state/facts'
import { Members, Reads } from '#server/domains/rooms/room-state/model'
import { presentMessagesAt } from '#server/domains/rooms/room-state/redaction'
import { type Card, cardsOf } from '#server/domains/rooms/room-state/rows'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { createStampedCache } from '#server/kernel/store/kept-answers'
import type { RoomKey } from '#server/log/types'
import type { MessageType } from '#shared/api/moderation/verdict'
import type { LastMessage } from '#shared/api/rooms/room'
import { isInClear } from '#shared/kit/clear-types'
import { cut, cutToLength } from '#shared/kit/cut'
import { lineOfWords } from '#shared/kit/markup'
import { roomOfKey } from '#shared/kit/room-key'
import { type SealedBy, sealedBy } from '#shared/kit/room-kinds'

export interface Counts {
  head_seq: number
  read_seq: number
  unread: number
  mentions: number
  total: number
  /** Unread messages, including blocked senders. */
  left: number
}
export const noCounts: Counts = { head_seq: 0, read_seq: 0, unread: 0, mentions: 0, total: 0, left: 0 }
type UnreadCounts = Pick<Counts, 'unread' | 'mentions' | 'left'>
const nothingLeft: UnreadCounts = { unread: 0, mentions: 0, left: 0 }

/** The account's own data in its rooms: read marks and arrivals. */
export interface OwnRoomData {
  marks: ReadonlyMap<RoomKey, { seq: number; n: number }>
  arrivals: ReadonlyMap<RoomKey, { joined_seq?: number; joined_n?: number }>
  blocked: readonly string[]
}

const keptAtMost = 50_000
const leftOn = nodeState(() => createStampedCache<UnreadCounts>(keptAtMost))

/** Complete counts, from heads and marks. Archived rooms, which are in no list, have nothing unread. */
export async function countsOf(node: Node, account: string, keys: readonly RoomKey[]): Promise<Map<RoomKey, Counts>> {
  const [cards, reads, members, blocked] = await Promise.all([
    cardsOf(node, keys),
    Reads.find({ _id: { $in: keys.map((key) => `${key}|${account}`) } }).lean(),
    Members.find({ _id: { $in: keys.map((key) => `${key}|member:${account}`) } }).lean(),
    blockedBy(account),
  ])
  const marks = new Map(reads.map((one) => [one.room, one]))
  const arrivals = new Map(members.map((one) => [one.room, one]))
  return countsOfCards(node, account, cards, { marks, arrivals, blocked })
}

/** The same for loaded cards and own data; only changed rooms are counted again. */
export async function countsOfCards(
  node: Node,
  account: string,
  cards: readonly Card[],
  { marks, arrivals, blocked }: OwnRoomData,
): Promise<Map<RoomKey, Counts>> {
  const idOf = (key: RoomKey) => `${key}|${account}`
  const hidden = [...blocked].sort().join()
  const ownDataOf = ({ key }: Card) => ({ read: marks.get(key) ?? { seq: 0, n: 0 }, arrival: arrivals.get(key) })
  const stampOf = (card: Card) => {
    const { read, arrival } = ownDataOf(card)
    return [card.stamp, read.seq, read.n, arrival?.joined_seq, arrival?.joined_n, hidden].join(' ')
  }
  const active = new Map(cards.filter(({ room }) => room.is_active).map((card) => [idOf(card.key), card]))
  const stamps = new Map([...active].map(([id, card]) => [id, stampOf(card)]))
  const count = async (ids: string[]) => {
    const stale = ids.flatMap((id) => active.get(id) ?? [])
    const counted = stale.map(async (card): Promise<[string, UnreadCounts]> => {
      const { key, total } = card
      return [idOf(key), await countUnread(key, account, { ...ownDataOf(card), total, blocked })]
    })
    return new Map(await Promise.all(counted))
  }
  const left = await leftOn(node).of(stamps, count)
  return new Map(
    cards.map((card) => {
      const { key, seq, total } = card
      return [
        key,
        { head_seq: seq, read_seq: ownDataOf(card).read.seq, total, ...(left.get(idOf(key)) ?? nothingLeft) },
      ]
    }),
  )
}

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

const previewsKeptAtMost = 20_000
const lastOn = nodeState(() => createStampedCache<LastMessage | null>(previewsKeptAtMost))

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
  const rows = new Map((await presentMessagesAt(places)).map((row) => [row.room, row]))
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
