import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { composerId } from './composer-id.ts'

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

/** Focuses a field when it is mounted, except on touch screens, where that would open the keyboard, and while the arrow keys walk through tabs. */
export function useFocused<T extends HTMLElement>(): RefObject<T | null> {
  const field = useRef<T>(null)
  useEffect(() => {
    if (!opensKeyboard() && !document.activeElement?.matches('[role=tab]:focus-visible')) field.current?.focus()
  }, [])
  return field
}

/** Of the heading of a view that replaces another one: takes the focus where nothing has it. */
export function takeLostFocus(heading: HTMLElement | null): void {
  if (hasNone()) heading?.focus({ preventScroll: true })
}

/** Moves the focus to the heading of an opened screen once it is there, unless a field of the screen, a dialog or the user has moved it. */
export function useHeadingFocus(screen: string | null): void {
  useEffect(() => {
    if (screen === null) return
    const before = document.activeElement
    const take = () => {
      const heading = document.querySelector('main h1[tabindex="-1"]')
      if (!heading) return false
      const { activeElement: now } = document
      const isFree = hasNone() || (now === before && !heading.closest('main')?.contains(now))
      if (isFree && !document.querySelector('dialog[open]')) focusHeading()
      return true
    }
    if (take()) return
    const watch = new MutationObserver(() => take() && watch.disconnect())
    watch.observe(document.body, { childList: true, subtree: true })
    return () => watch.disconnect()
  }, [screen])
}

/** Of what is shown now; no keyboard opens for it. */
const focusHeading = () => document.querySelector<HTMLElement>('main h1[tabindex="-1"]')?.focus({ preventScroll: true })

const hasNone = () => document.activeElement === document.body
const writable = 'input, textarea, select, [contenteditable]'
const reachable = ':is(a, button, input, textarea, select, summary, [tabindex="0"]):not(:disabled, [tabindex="-1"])'
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

/** What is nearest to a focused element within its dialog or its part of the page; nothing where the message field is meant instead. */
function placeInPane(focused: Element | null): () => HTMLElement | null {
  const isByKeyboard = focused?.matches(':focus-visible') ?? false
  const pane =
    focused?.closest(`dialog, [role="tabpanel"]:not(aside *)${isByKeyboard ? ', aside' : ''}`) ??
    (composer() ? null : focused?.closest('main'))
  const around: Element[] = []
  for (let one = focused?.parentElement; pane && one && pane.contains(one); one = one.parentElement) around.push(one)
  return () => {
    const near = around.find((one) => one.isConnected && nearestIn(one))
    return near ? nearestIn(near) : null
  }
}

function nearestIn(around: Element): HTMLElement | null {
  if (around instanceof HTMLElement && around.matches('[tabindex="0"]')) return around
  return [...around.querySelectorAll<HTMLElement>(reachable)].find((one) => one.checkVisibility()) ?? null
}

/**
 * Keeps every key press: when the focused element is removed, the focus moves to the next row of its list, else to what is nearest in its
 * dialog or part of the page, else to the message field, or on a touch screen to the heading; to one that was disabled for a while it returns. A key that is pressed while nothing
 * has the focus is typed in the message field too.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Element | null = null
    let isByKeyboard = false
    let wasDisabled = false
    let places: readonly (() => HTMLElement | null)[] = []
    const isNowhere = () => hasNone() && !document.querySelector('dialog[open]')
    const note = ({ target }: Event) => {
      last = target instanceof Element ? target.closest(focusable) : null
      isByKeyboard = last?.matches(':focus-visible') ?? false
      wasDisabled = false
      places = [placeInList(last), placeInPane(last)]
    }
    const restore = () => {
      if (last?.isConnected) return wasDisabled && last instanceof HTMLElement ? last.focus() : undefined
      for (const place of places) if (hasNone() && (isByKeyboard || !opensKeyboard())) place()?.focus()
    }
    const look = () => {
      if (!last) return
      if (last.matches(':disabled')) wasDisabled = true
      else if (hasNone()) restore()
      if (!isNowhere()) return
      if (opensKeyboard() && !isByKeyboard && last.id !== composerId) {
        if (!last.isConnected) focusHeading()
        return
      }
      if (last.isConnected && !last.matches(`:disabled, #${composerId}`)) return
      focusComposer()
    }
    const press = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
      const isOnHeading = document.activeElement?.matches('h1') && !document.querySelector('dialog[open]')
      if (key.length === 1 && key !== ' ' && key !== '?' && !(ctrlKey || metaKey || altKey))
        if (isOnHeading || isNowhere()) focusComposer()
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
