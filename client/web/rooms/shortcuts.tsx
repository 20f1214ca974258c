import { Fragment, useEffect, useState } from 'react'
import { Dialog } from '../kit/dialog.tsx'
import { rowKeys } from '../moderation/row-acts.ts'

const general = [
  ['Enter', 'Send'],
  ['Shift Enter', 'Begin a new line'],
  ['↑', 'In an empty field: edit your last message'],
  ['Shift Tab', 'From the field to the newest message'],
  ['↑ ↓', 'On a message: go to the one before or after'],
  ['Tab', 'On a message: go to what can be done with it'],
  ['Esc', 'Close, or cancel'],
  ['?', 'Show this list'],
] as const

/** The list of shortcuts; `?` opens it while no field has the focus and no dialog is open. */
export function ShortcutsKey() {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== '?' || event.ctrlKey || event.metaKey || isElsewhere(event.target)) return
      event.preventDefault()
      setOpen(true)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
  return isOpen ? <Shortcuts onClose={() => setOpen(false)} /> : null
}

const isElsewhere = (target: EventTarget | null): boolean =>
  document.querySelector('dialog[open]') !== null ||
  (target instanceof Element && target.closest('input, textarea, select, [role=menu]') !== null)

export function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <div className="stack wide">
        <Keys keys={general} />
        <section className="stack">
          <h3 className="label">Moderators, on a message reached by keyboard</h3>
          <Keys keys={rowKeys} />
        </section>
      </div>
    </Dialog>
  )
}

function Keys({ keys }: { keys: readonly (readonly [string, string])[] }) {
  return (
    <dl className="keys">
      {keys.map(([key, title]) => (
        <Fragment key={key}>
          <dt>
            {key.split(' ').map((part) => (
              <kbd key={part}>{part}</kbd>
            ))}
          </dt>
          <dd>{title}</dd>
        </Fragment>
      ))}
    </dl>
  )
}
