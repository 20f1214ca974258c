import { type RefObject, useCallback, useLayoutEffect } from 'react'

const mostPixels = 180

/** A field that grows with its text. */
export function useField(field: RefObject<HTMLTextAreaElement | null>, text: string) {
  useLayoutEffect(() => {
    const element = field.current
    if (!element || element.value !== text) return
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
  return { focusAtEnd }
}
