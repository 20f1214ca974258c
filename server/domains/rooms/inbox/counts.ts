import { blockedBy } from '#server/domains/moderation/blocks/blocks'
import { countsOf as leftIn } from '#server/domains/rooms/messages/reads'
import { Members, Reads } from '#server/domains/rooms/room-state/model'
import { type Card, cardsOf } from '#server/domains/rooms/room-state/rows'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { createStampedCache } from '#server/kernel/store/kept-as-of'
import type { RoomKey } from '#server/log/types'

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
      return [idOf(key), await leftIn(key, account, { ...ownDataOf(card), total, blocked })]
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
