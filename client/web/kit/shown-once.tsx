import { useId } from 'react'
import { useTell } from './toasts.tsx'

const selectAll = (field: HTMLInputElement | null) => field?.select()

/** What is told this once and never again, as a link or a secret, selected and with a button that copies it. `what` is its name, as `link`. */
export function ShownOnce({ what, label, value, hint }: { what: string; label: string; value: string; hint: string }) {
  const tell = useTell()
  const id = useId()
  const copy = () =>
    navigator.clipboard.writeText(value).then(
      () => tell(`${what.charAt(0).toUpperCase()}${what.slice(1)} copied.`),
      () => tell(`The browser does not let this page copy. Copy the ${what} from its field.`),
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
          Copy
        </button>
      </div>
      <p className="hint" id={id}>
        {hint}
      </p>
    </div>
  )
}
