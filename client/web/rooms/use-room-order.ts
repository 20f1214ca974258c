import { useEffect, useRef, useState } from 'react'
import type { RoomSummary } from '#shared/api/rooms/room'
import { lookOf } from './kind.ts'
import { titleOf } from './room-title.ts'
import { keyOf } from './use-rooms.ts'

type RoomOrder = 'name' | 'unread'
const kept = 'plaza.room-order'

const byName = (one: RoomSummary, other: RoomSummary): number =>
  Number(lookOf(other).isFirst) - Number(lookOf(one).isFirst) || titleOf(one).localeCompare(titleOf(other))
const weight = ({ unread, mentions, is_muted }: RoomSummary): number =>
  is_muted || unread === 0 ? 0 : mentions > 0 ? 2 : 1
const orders = {
  name: byName,
  unread: (one: RoomSummary, other: RoomSummary) => weight(other) - weight(one) || byName(one, other),
}

/** The rooms in the chosen order; no room moves while the pointer or the focus is in the list. */
export function useRoomOrder(rooms: readonly RoomSummary[]) {
  const [order, setOrder] = useState<RoomOrder>(() => (localStorage.getItem(kept) === 'unread' ? 'unread' : 'name'))
  const [isHeld, setHeld] = useState(false)
  const shown = useRef<readonly string[]>([])
  const sorted = rooms.toSorted(orders[order])
  const ordered = isHeld ? inPlace(sorted, shown.current) : sorted
  useEffect(() => {
    shown.current = ordered.map(keyOf)
  })

  const choose = (next: RoomOrder) => {
    localStorage.setItem(kept, next)
    shown.current = []
    setOrder(next)
  }
  const held = {
    onPointerEnter: () => setHeld(true),
    onPointerLeave: () => setHeld(false),
    onFocus: () => setHeld(true),
    onBlur: () => setHeld(false),
  }
  return { ordered, order, choose, held }
}

/** Keeps the order that is shown, and appends new rooms. */
function inPlace(sorted: readonly RoomSummary[], shown: readonly string[]): readonly RoomSummary[] {
  const placeOf = (room: RoomSummary) => {
    const at = shown.indexOf(keyOf(room))
    return at < 0 ? shown.length : at
  }
  return sorted.toSorted((one, other) => placeOf(one) - placeOf(other))
}
