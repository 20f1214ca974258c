import { type ReactNode, useRef } from 'react'
import { kitTexts as t } from '../texts/kit.ts'
import { closeDialog, showDialog } from './dialog-layers.ts'
import { useBorrowedFocus } from './focus.ts'
import { Icon } from './icon.tsx'

const firstControl = '.body :is(button, a, input:not([type=radio]), select, textarea):not(:disabled, [tabindex="-1"])'

/** A modal with the focus on its first control: the browser keeps the focus inside and closes it on Escape. A press outside closes it unless something was typed in it. */
export function Dialog(props: {
  title: string
  onClose: () => void
  isBroad?: boolean
  /** Whether it is a page of its own, which the browser's back leaves. */
  hasAddress?: boolean
  children: ReactNode
}) {
  const isWritten = useRef(false)
  const dialog = useBorrowedFocus(open, closeDialog)

  return (
    <dialog
      ref={dialog}
      className={props.isBroad ? 'broad' : ''}
      data-address={props.hasAddress || undefined}
      aria-label={props.title}
      onCancel={(event) => {
        // React passes on the cancellation of a dialog inside this one.
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        props.onClose()
      }}
      onInput={() => {
        isWritten.current = true
      }}
      onPointerDown={(event) => {
        if (event.target === dialog.current && !isWritten.current) props.onClose()
      }}
    >
      <header>
        <h2>{props.title}</h2>
        <button type="button" className="icon-button" aria-label={t.close} title={t.close} onClick={props.onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="body">{props.children}</div>
    </dialog>
  )
}

function open(dialog: HTMLDialogElement) {
  showDialog(dialog)
  dialog.querySelector<HTMLElement>(firstControl)?.focus()
}
