import { useId } from 'react'
import { controlTexts as t } from '../texts/controls.ts'
import { useTell } from './toasts.tsx'

const selectAll = (field: HTMLInputElement | null) => field?.select()

/** What is told this once and never again, as a link or a secret, selected and with a button that copies it. `what` is its name, as `link`. */
export function ShownOnce({
  what,
  label,
  value,
  hint,
}: {
  what: keyof typeof t.copied
  label: string
  value: string
  hint: string
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
          ref={selectAll}
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
