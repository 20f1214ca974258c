import { useCallback, useLayoutEffect, useRef, useState } from 'react'

const nearEnd = 80

/** Scrolls along with what is written at the end of a box, while its end is visible. */
export function useStick() {
  const box = useRef<HTMLDivElement>(null)
  const isStuck = useRef(true)
  const [isAtEnd, setAtEnd] = useState(true)

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const follow = () => {
      if (isStuck.current) element.scrollTop = element.scrollHeight
    }
    const watch = new ResizeObserver(follow)
    watch.observe(element)
    for (const child of element.children) watch.observe(child)
    follow()
    return () => watch.disconnect()
  }, [])

  const onScroll = () => {
    const element = box.current
    if (!element) return
    const isNear = element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd
    isStuck.current = isNear
    setAtEnd(isNear)
  }
  const toEnd = useCallback(() => {
    isStuck.current = true
    setAtEnd(true)
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [])
  /** Returns what brings the same place into view again, after something was added above it. */
  const hold = () => {
    const { scrollHeight = 0, scrollTop = 0 } = box.current ?? {}
    return () => box.current?.scrollTo({ top: box.current.scrollHeight - (scrollHeight - scrollTop) })
  }
  return { box, isAtEnd, toEnd, onScroll, hold }
}
