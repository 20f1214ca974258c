import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { LiveRoom, RoomState } from '#client/sdk/types'
import { useRoomList } from '../rooms/use-rooms.ts'
import styles from './messages.module.css'
import type { Row } from './rows.ts'
import timelineStyles from './timeline.module.css'

type FirstUnread = RoomState['me']['first_unread']

/** So many pages of older messages are loaded on the way to the first unread one; where that is further, only what is around it. */
const mostPages = 20
/** Parts of pixels. */
const rounding = 2

/** The first message that was unread when the room was opened: the "new" mark stays there while the room is open. */
export function useFirstUnread(state: RoomState): FirstUnread {
  const first = useRef<FirstUnread>(null)
  const isKnown = useRef(false)
  if (!isKnown.current && state.status === 'live') {
    isKnown.current = true
    first.current = state.me.unread > 0 ? state.me.first_unread : null
  }
  return first.current
}

/** How many rows are shown if those from this seq on are. */
export const countFrom = ({ messages }: RoomState, seq: number): number =>
  messages.filter((message) => message.local !== 'sent' || message.seq >= seq).length + 1

/**
 * Reads as the person does: at the newest message all is read; further up, from the first unread message on, only what was in the viewport
 * of a visible page. Until that message was seen, `isBarShown` says that it is further up.
 */
export function useUnread(input: {
  box: RefObject<HTMLDivElement | null>
  state: RoomState
  live: LiveRoom
  first: FirstUnread
  isAtEnd: boolean
  rows: readonly Row[]
  toRow: (row: Element) => void
  showFrom: (seq: number) => void
}) {
  const { box, state, live, first, isAtEnd, rows, toRow } = input
  const { see } = useRoomList()
  const [isReading, setReading] = useState(false)
  const [jumps, setJumps] = useState(0)
  const jumped = useRef(0)
  const hasBegun = useRef(false)
  const count = useRef(0)
  if (first !== null && count.current === 0) count.current = state.me.unread
  const now = useRef(input)
  now.current = input

  const read = useCallback(
    (seq: number) => {
      live.markRead(seq)
      see(live.ref, seq)
    },
    [live, see],
  )

  const look = useCallback(() => {
    const { state: shown, isAtEnd: isEnd, first: from } = now.current
    const frame = box.current?.getBoundingClientRect()
    if (!frame || document.hidden || shown.status !== 'live' || shown.messages.length === 0) return
    const isNewest = isEnd && shown.atNewest
    if (isNewest) read(shown.seq)
    if (from !== null && !isReadingFrom(box.current, frame)) return
    setReading(true)
    const seq = isNewest ? 0 : lastSeen(box.current, frame, shown)
    if (seq > 0) read(seq)

    function isReadingFrom(element: HTMLElement | null, { top }: DOMRect): boolean {
      if (hasBegun.current) return true
      const mark = element?.querySelector(`.${timelineStyles.divider}.new`)
      hasBegun.current = mark ? mark.getBoundingClientRect().bottom >= top - rounding : false
      return hasBegun.current
    }
  }, [box, read])
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at again with each change of what is shown
  useEffect(look, [look, isAtEnd, rows, state.status])
  useEffect(() => {
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [look])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the mark is there once the rows are
  useLayoutEffect(() => {
    const mark = jumps > jumped.current ? box.current?.querySelector(`.${timelineStyles.divider}.new`) : null
    if (!mark) return
    jumped.current = jumps
    toRow(mark)
    const row = mark.nextElementSibling
    if (row instanceof HTMLElement) row.focus({ preventScroll: true })
  }, [jumps, rows, toRow])

  const jump = () => {
    if (!first) return
    const isHere = () => live.state.messages.some((row) => row.seq > 0 && row.seq <= first.seq) || !live.state.hasOlder
    const load = async () => {
      for (let page = 0; page < mostPages && !isHere(); page += 1) await live.loadOlder()
      if (!isHere()) await live.loadAround(first.seq)
      input.showFrom(first.seq)
      setJumps((count) => count + 1)
    }
    load().catch(() => {})
  }
  const markAll = () => {
    hasBegun.current = true
    setReading(true)
    live.markRead(live.state.seq)
    see(live.ref, live.state.seq)
  }
  return { look, jump, markAll, isBarShown: first !== null && !isReading, count: count.current }
}

/** The seq of the newest message of which the end was seen; 0 where there is none. */
function lastSeen(element: HTMLElement | null, { bottom }: DOMRect, { messages }: RoomState): number {
  const seen = [...(element?.querySelectorAll(`.${styles.message}`) ?? [])].findLast(
    (row) => row.getBoundingClientRect().bottom <= bottom + rounding,
  )
  return messages.find(({ id }) => seen?.id === `m-${id}`)?.seq ?? 0
}
