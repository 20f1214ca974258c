import { useEffect, useRef } from 'react'
import { isTakenPress } from '../kit/keys.ts'
import { actionOf, type KeyAction, type KeyPlace } from './key-table.ts'

const bound = new Map<KeyAction, readonly (() => void)[]>()

/** Binds an action of the table of keys while the component is shown. With null, its press is left to the browser. */
export function useKey(action: KeyAction, run: (() => void) | null): void {
  const latest = useRef(run)
  latest.current = run
  const isBound = run !== null
  useEffect(() => {
    if (!isBound) return
    const own = () => latest.current?.()
    bound.set(action, [...(bound.get(action) ?? []), own])
    return () => {
      bound.set(action, bound.get(action)?.filter((one) => one !== own) ?? [])
    }
  }, [action, isBound])
}

/** Runs an action as its keys do. */
export const runKey = (action: KeyAction): void => bound.get(action)?.at(-1)?.()

/** Listens to the keys of the page. */
export function useKeyTable(): void {
  useEffect(() => {
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
}

function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || isTakenPress(event)) return
  const action = actionOf(event, placeOf(event), (one) => (bound.get(one)?.length ?? 0) > 0)
  if (action === null) return
  event.preventDefault()
  runKey(action)
}

/** By the path of the event: the press may have closed its dialog already. */
function placeOf(event: KeyboardEvent): KeyPlace {
  const path = event.composedPath().filter((one) => one instanceof Element)
  const isIn = (selector: string) => path.some((one) => one.matches(selector))
  if (isIn('[role=menu], select')) return 'menu'
  if (isIn('dialog') || document.querySelector('dialog[open]')) return 'dialog'
  return isIn('input, textarea, [contenteditable]') ? 'field' : 'page'
}
