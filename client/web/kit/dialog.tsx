import { type ReactNode, useEffect, useRef } from 'react'
import { Icon } from './icon.tsx'

/** A modal: the browser keeps the focus inside, closes it on Escape and gives the focus back. */
export function Dialog(props: { title: string; onClose: () => void; isBroad?: boolean; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const element = dialog.current
    const before = document.activeElement
    if (element && !element.open) element.showModal()
    return () => {
      element?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])

  return (
    <dialog
      ref={dialog}
      className={props.isBroad ? 'broad' : ''}
      aria-label={props.title}
      onCancel={(event) => {
        event.preventDefault()
        props.onClose()
      }}
      onPointerDown={(event) => {
        if (event.target === dialog.current) props.onClose()
      }}
    >
      <header>
        <h2>{props.title}</h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={props.onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="body">{props.children}</div>
    </dialog>
  )
}
