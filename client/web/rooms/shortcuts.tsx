import { Fragment, useEffect, useState } from 'react'
import { Dialog } from '../kit/dialog.tsx'
import { rowKeys } from '../moderation/row-acts.ts'
import { roomTexts as t } from '../texts/rooms.ts'

const general = [
  ['Enter', t.keys.send],
  ['Shift Enter', t.keys.newLine],
  ['↑', t.keys.editLast],
  ['Shift Tab', t.keys.toMessages],
  ['↑ ↓', t.keys.walk],
  ['Tab', t.keys.toActions],
  ['Esc', t.keys.close],
  ['?', t.keys.list],
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
    <Dialog title={t.keys.title} onClose={onClose}>
      <div className="stack wide">
        <Keys keys={general} />
        <section className="stack">
          <h3 className="label">{t.keys.moderators}</h3>
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
