import { useCallback, useLayoutEffect, useRef, useState } from 'react'
import type { Row } from './rows.ts'

const nearEnd = 80
const nearStart = 240

/** Scrolls along with new messages while the end is visible; keeps the visible rows in place when rows are added above. */
export function useScroll(input: {
  rows: readonly Row[]
  marked: { id: string; at: number } | null
  hasMore: boolean
  onOlder: () => void
}) {
  const { rows, marked } = input
  const box = useRef<HTMLDivElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)
  const isStuck = useRef(true)
  const before = useRef({ height: 0, firstKey: '', count: 0 })
  const markedShown = useRef(0)

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const firstKey = rows.find((row) => row.kind === 'message')?.key ?? ''
    const wasPrepended = before.current.firstKey !== firstKey && before.current.count > 0
    if (isStuck.current) element.scrollTop = element.scrollHeight
    else if (wasPrepended) element.scrollTop += element.scrollHeight - before.current.height
    before.current = { height: element.scrollHeight, firstKey, count: rows.length }
  }, [rows])

  useLayoutEffect(() => {
    if (!marked || marked.at === markedShown.current || rows.length === 0) return
    const row = document.getElementById(`m-${marked.id}`)
    if (!row) return
    markedShown.current = marked.at
    isStuck.current = false
    row.scrollIntoView({ block: 'center' })
    row.focus({ preventScroll: true })
  }, [marked, rows])

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const watch = new ResizeObserver(() => {
      if (isStuck.current) element.scrollTop = element.scrollHeight
    })
    watch.observe(element)
    for (const child of element.children) watch.observe(child)
    return () => watch.disconnect()
  }, [])

  const toEnd = useCallback(() => {
    isStuck.current = true
    setAtEnd(true)
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [])

  const onScroll = () => {
    const element = box.current
    if (!element) return
    const left = element.scrollHeight - element.scrollTop - element.clientHeight
    isStuck.current = left < nearEnd
    setAtEnd(left < nearEnd)
    if (element.scrollTop < nearStart && input.hasMore && !isStuck.current) input.onOlder()
  }

  return { box, isAtEnd, toEnd, onScroll }
}
