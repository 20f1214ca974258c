import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react'

const mostPixels = 180

/** A field that grows with its text, and whose cursor stays where one writes. */
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
  /** Where the cursor is to be as soon as a text stands there that was not typed as it is. */
  const placeCursor = useCallback((at: number) => {
    cursor.current = at
  }, [])
  return { focusAtEnd, placeCursor }
}
