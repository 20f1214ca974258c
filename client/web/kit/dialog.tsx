import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { Icon } from './icon.tsx'

const firstControl = '.body :is(button, a, input:not([type=radio]), select, textarea):not(:disabled, [tabindex="-1"])'

/** A modal, begun at its first control: the browser keeps the focus inside, closes it on Escape and gives the focus back. */
export function Dialog(props: { title: string; onClose: () => void; isBroad?: boolean; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const element = dialog.current
    const before = document.activeElement
    if (element && !element.open) {
      element.showModal()
      element.querySelector<HTMLElement>(firstControl)?.focus()
    }
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
