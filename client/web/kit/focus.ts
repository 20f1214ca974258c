import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'

/** The field in which messages are written. */
export const composerId = 'composer'
const composer = () => document.getElementById(composerId)
export const focusComposer = (): void => composer()?.focus()

/** On a touch screen, a focused field opens a keyboard over half the screen. */
const opensKeyboard = (): boolean => matchMedia('(hover: none)').matches

/**
 * Moves the focus into an overlay, and restores it when the overlay closes: for the keyboard to the element that had it, for a
 * pointer to the message field. It is restored in the layout phase, in which React handles no events: `focusin` is sent again later.
 */
export function useBorrowedFocus<T extends HTMLElement>(take: (element: T) => void, close?: (element: T) => void) {
  const borrower = useRef<T>(null)
  useLayoutEffect(() => {
    const element = borrower.current
    if (!element) return
    const before = document.activeElement
    const isByKeyboard = before?.matches(':focus-visible') ?? false
    take(element)
    return () => {
      close?.(element)
      if (before instanceof HTMLElement) before.focus()
      if (!isByKeyboard && !opensKeyboard()) focusComposer()
    }
  }, [take, close])
  useEffect(() => tellOfFocus, [])
  return borrower
}

function tellOfFocus(): void {
  if (document.activeElement === document.body) return
  document.activeElement?.dispatchEvent(new FocusEvent('focusin', { bubbles: true }))
}

/** Focuses a field when it is mounted, except on touch screens, where that would open the keyboard. */
export function useFocused<T extends HTMLElement>(): RefObject<T | null> {
  const field = useRef<T>(null)
  useEffect(() => {
    if (!opensKeyboard()) field.current?.focus()
  }, [])
  return field
}

const writable = 'input, textarea, select, [contenteditable]'
const reachable = ':is(a, button, input, textarea, select):not(:disabled, [tabindex="-1"])'
const focusable = `a, button, [tabindex], ${writable}`

/** The position of the keyboard's focus in a list: if that row is removed, the row now at this position takes the focus. */
function placeInList(focused: Element | null): () => HTMLElement | null {
  const row = focused?.matches(':focus-visible') ? focused.closest('li') : null
  const list = row?.parentElement
  if (!row || !list) return () => null
  const at = [...list.children].indexOf(row)
  return () => {
    const next = list.isConnected ? list.children[Math.min(at, list.children.length - 1)] : null
    if (next instanceof HTMLElement && next.matches('[tabindex]')) return next
    return next?.querySelector<HTMLElement>(reachable) ?? null
  }
}

/**
 * Keeps every key press: when the focused element is removed or disabled, the focus moves to the next row of its list, else to the
 * message field; a key that is pressed while nothing has the focus is typed there too.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Element | null = null
    let next: () => HTMLElement | null = () => null
    const hasNone = () => document.activeElement === document.body
    const isNowhere = () => hasNone() && !document.querySelector('dialog[open]')
    const note = ({ target }: Event) => {
      last = target instanceof Element ? target.closest(focusable) : null
      next = placeInList(last)
    }
    const look = () => {
      if (last && hasNone() && !last.isConnected) next()?.focus()
      if (!last || !isNowhere() || (opensKeyboard() && last.id !== composerId)) return
      if (last.isConnected && !last.matches(`:disabled, #${composerId}`)) return
      focusComposer()
    }
    const press = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
      if (key.length === 1 && key !== ' ' && key !== '?' && !(ctrlKey || metaKey || altKey) && isNowhere())
        focusComposer()
    }
    const watch = new MutationObserver(look)
    watch.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] })
    document.addEventListener('focusin', note)
    document.addEventListener('pointerdown', note)
    document.addEventListener('keydown', press)
    return () => {
      watch.disconnect()
      document.removeEventListener('focusin', note)
      document.removeEventListener('pointerdown', note)
      document.removeEventListener('keydown', press)
    }
  }, [])
}
