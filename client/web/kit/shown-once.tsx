import { useId } from 'react'
import { controlTexts as t } from '../texts/controls.ts'
import { useTell } from './toasts.tsx'

const selectAll = (field: HTMLInputElement | null) => field?.select()

/** What is copied from here, as a link, or a secret that is never shown again: selected, and with a button. `what` is its name, as `link`. */
export function ShownOnce({
  what,
  label,
  value,
  hint,
  isLasting = false,
}: {
  what: keyof typeof t.copied
  label: string
  value: string
  hint: string
  /** It is shown again at any time, so that nothing is selected for it. */
  isLasting?: boolean
}) {
  const tell = useTell()
  const id = useId()
  const copy = () =>
    navigator.clipboard.writeText(value).then(
      () => tell(t.copied[what]),
      () => tell(t.notCopied),
    )
  return (
    <div className="stack">
      <div className="row">
        <input
          ref={isLasting ? undefined : selectAll}
          className="input"
          dir="ltr"
          aria-label={label}
          aria-describedby={id}
          readOnly
          value={value}
        />
        <button type="button" className="button" onClick={copy}>
          {t.copy}
        </button>
      </div>
      <p className="hint" id={id}>
        {hint}
      </p>
    </div>
  )
}
