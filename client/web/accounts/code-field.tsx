import { useRef } from 'react'

const digits = 6

/** Six digits that were sent; the sixth hands them in. */
export function CodeField(props: { disabled: boolean; onComplete: (code: string) => void }) {
  const field = useRef<HTMLInputElement>(null)
  const type = (text: string) => {
    const code = text.replace(/\D/g, '').slice(0, digits)
    if (field.current) field.current.value = code
    if (code.length === digits) props.onComplete(code)
  }
  return (
    <label className="field">
      <span>Six digits</span>
      <input
        ref={field}
        className="input code-field"
        inputMode="numeric"
        autoComplete="one-time-code"
        placeholder="000000"
        disabled={props.disabled}
        onFocus={(event) => event.target.select()}
        onChange={(event) => type(event.target.value)}
      />
    </label>
  )
}
