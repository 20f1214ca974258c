import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useState } from 'react'
import { useBorrowedFocus } from './focus.ts'
import { stepRight } from './keys.ts'

/** A menu above the page; the arrow keys move through its items, Escape and a press elsewhere close it. */
export function Menu(props: { label: string; onClose: () => void; children: ReactNode }) {
  const menu = useBorrowedFocus(toFirst)
  const { onClose } = props
  const [opensUp, setOpensUp] = useState(false)
  useLayoutEffect(() => setOpensUp(isCutOff(menu.current)), [menu])
  useEffect(() => {
    const closeOutside = (event: PointerEvent) => {
      if (!menu.current?.contains(event.target as Node)) onClose()
    }
    document.addEventListener('pointerdown', closeOutside)
    return () => document.removeEventListener('pointerdown', closeOutside)
  }, [menu, onClose])

  const walk = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.stopPropagation()
      return onClose()
    }
    const step = { ArrowDown: 1, ArrowRight: stepRight, ArrowUp: -1, ArrowLeft: -stepRight }[event.key]
    if (!step) return
    event.preventDefault()
    const items = itemsOf(menu.current)
    const at = items.findIndex((item) => item.matches(':focus'))
    const from = at < 0 && step < 0 ? 0 : at
    items[(from + step + items.length) % items.length]?.focus()
  }

  return (
    <div
      ref={menu}
      className={opensUp ? 'menu up' : 'menu'}
      role="menu"
      tabIndex={-1}
      aria-label={props.label}
      onKeyDown={walk}
    >
      {props.children}
    </div>
  )
}

const itemsOf = (menu: HTMLElement | null): readonly HTMLElement[] =>
  [...(menu?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])].filter((item) => item.checkVisibility())

const toFirst = (menu: HTMLDivElement) => itemsOf(menu)[0]?.focus()

/** True when there is too little space below the button and more above it. */
function isCutOff(menu: HTMLElement | null): boolean {
  if (!menu) return false
  const frame = (menu.closest('.timeline') ?? document.documentElement).getBoundingClientRect()
  const { top, bottom } = menu.getBoundingClientRect()
  return bottom > frame.bottom && top - frame.top > frame.bottom - top
}
