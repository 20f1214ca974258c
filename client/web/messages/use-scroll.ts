import { useCallback, useLayoutEffect, useRef, useState } from 'react'
import type { Row } from './use-unread.ts'

const nearEnd = 80
const nearStart = 240
/** Where each timeline was last, by its reader or by us: an event that tells no other place is nobody's wish. */
const lastTops = new WeakMap<Element, number>()

/**
 * Makes a change by which an element of the timeline becomes higher or lower. What stands below it stays where it is, also at the end, unless the
 * element begins in the lower half of what is seen: then what stands above it does.
 */
export function keepBelow(element: HTMLElement | null, change: () => void): void {
  const timeline = element?.closest<HTMLElement>('.timeline')
  if (!element || !timeline) {
    change()
    return
  }
  const seen = timeline.getBoundingClientRect()
  const before = element.getBoundingClientRect()
  const { scrollTop, scrollHeight, clientHeight } = timeline
  const isAtEnd = scrollHeight - scrollTop - clientHeight < 1
  change()
  if (!isAtEnd && before.top >= seen.top + seen.height / 2) return
  // Not added to what it is now: at the end of less than before it is less already.
  timeline.scrollTop = scrollTop + element.getBoundingClientRect().height - before.height
  lastTops.set(timeline, timeline.scrollTop)
}

/** Scrolls along with new messages while the end is visible; keeps the visible rows in place when rows are added above. */
export function useScroll(input: {
  rows: readonly Row[]
  marked: { id: string; at: number } | null
  hasMore: boolean
  onOlder: () => void
  /** The row that the keyboard is at. */
  focusedRow: () => Element | null
}) {
  const { rows, marked } = input
  const box = useRef<HTMLDivElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)
  const isStuck = useRef(true)
  const before = useRef({ height: 0, firstKey: '', count: 0 })
  const markedShown = useRef(0)
  const focusedRow = useRef(input.focusedRow)
  focusedRow.current = input.focusedRow

  /** Scrolls to the end; stops following it before the row that the keyboard is at would leave the view. */
  const follow = useCallback((element: HTMLElement) => {
    const end = element.scrollHeight - element.clientHeight
    const rowTop = focusedRow.current()?.getBoundingClientRect().top ?? Number.POSITIVE_INFINITY
    const room = Math.max(0, rowTop - element.getBoundingClientRect().top)
    isStuck.current = end - element.scrollTop <= room
    if (!isStuck.current) setAtEnd(false)
    element.scrollTop = Math.min(end, element.scrollTop + room)
    // Where less was to be seen, this is further up, and its event may come only after there is more again.
    lastTops.set(element, element.scrollTop)
  }, [])

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const firstKey = rows.find((row) => row.kind === 'message')?.key ?? ''
    const wasPrepended = before.current.firstKey !== firstKey && before.current.count > 0
    if (isStuck.current) follow(element)
    else if (wasPrepended) element.scrollTop += element.scrollHeight - before.current.height
    before.current = { height: element.scrollHeight, firstKey, count: rows.length }
  }, [rows, follow])

  useLayoutEffect(() => {
    if (!marked || marked.at === markedShown.current || rows.length === 0) return
    const row = document.getElementById(`m-${marked.id}`)
    if (!row) return
    markedShown.current = marked.at
    isStuck.current = false
    row.scrollIntoView({ block: 'center' })
    if (box.current) lastTops.set(box.current, box.current.scrollTop)
    row.focus({ preventScroll: true })
  }, [marked, rows])

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const watch = new ResizeObserver(() => {
      if (isStuck.current) follow(element)
    })
    watch.observe(element)
    for (const child of element.children) watch.observe(child)
    return () => watch.disconnect()
  }, [follow])

  const toEnd = useCallback(() => {
    isStuck.current = true
    setAtEnd(true)
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [])

  /** Scrolls to a row, and stays there. */
  const toRow = useCallback((row: Element) => {
    const element = box.current
    if (!element) return
    isStuck.current = false
    row.scrollIntoView({ block: 'start' })
    lastTops.set(element, element.scrollTop)
    setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd)
  }, [])

  const onScroll = () => {
    const element = box.current
    if (!element) return
    const left = element.scrollHeight - element.scrollTop - element.clientHeight
    // A scroll to a marked row is our own, and nobody's wish to follow what comes. Another of ours may be told only after more was added
    // below: who reads on has not scrolled up.
    const lastTop = lastTops.get(element) ?? 0
    if (element.scrollTop === lastTop) return
    const isUp = element.scrollTop < lastTop
    lastTops.set(element, element.scrollTop)
    isStuck.current = left < nearEnd || (isStuck.current && !isUp)
    setAtEnd(isStuck.current)
    if (element.scrollTop < nearStart && input.hasMore && !isStuck.current) input.onOlder()
  }

  return { box, isAtEnd, toEnd, toRow, onScroll }
}
