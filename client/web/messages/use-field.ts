import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react'

const mostPixels = 180

/** A field that grows with its text, and that keeps the cursor in place when the text is changed by code. */
export function useField(field: RefObject<HTMLTextAreaElement | null>, text: string) {
  const cursor = useRef<number | null>(text.length)
  useLayoutEffect(() => {
    const element = field.current
    if (!element || element.value !== text) return
    if (cursor.current !== null) element.setSelectionRange(cursor.current, cursor.current)
    cursor.current = null
    element.style.height = 'auto'
    element.style.height = `${Math.min(element.scrollHeight, mostPixels)}px`
  }, [field, text])

  const focusAtEnd = useCallback(() => {
    requestAnimationFrame(() => {
      const element = field.current
      element?.focus()
      element?.setSelectionRange(element.value.length, element.value.length)
    })
  }, [field])
  /** Sets where the cursor goes after the next change of the text by code. */
  const placeCursor = useCallback((at: number) => {
    cursor.current = at
  }, [])
  return { focusAtEnd, placeCursor }
}
