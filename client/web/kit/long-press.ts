import { type PointerEvent, type TouchEvent, useCallback, useEffect, useMemo, useRef } from 'react'

const restMilliseconds = 450

/** What a finger can press by itself. */
const pressable = 'a, button, input, textarea, select, summary, video, audio, .menu'

/** Handlers for an element on which a finger may rest: `onRest` is called while it is still down. Whoever scrolls does not rest. */
export function useLongPress(onRest: () => void) {
  const latest = useRef(onRest)
  latest.current = onRest
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const hasRested = useRef(false)
  const lift = useCallback(() => clearTimeout(timer.current), [])
  useEffect(() => lift, [lift])
  return useMemo(() => {
    const press = ({ pointerType, isPrimary, target }: PointerEvent) => {
      lift()
      hasRested.current = false
      if (pointerType !== 'touch' || !isPrimary || !(target instanceof Element) || target.closest(pressable)) return
      timer.current = setTimeout(() => {
        hasRested.current = true
        latest.current()
      }, restMilliseconds)
    }
    /** What has opened below the finger is not pressed when it leaves. */
    const keep = (event: TouchEvent) => {
      if (hasRested.current) event.preventDefault()
      hasRested.current = false
    }
    return { onPointerDown: press, onPointerUp: lift, onPointerCancel: lift, onPointerLeave: lift, onTouchEnd: keep }
  }, [lift])
}
