import { useEffect, useRef } from 'react'
import { signInTexts as t } from '../../texts/sign-in.ts'
import styles from './code-field.module.css'

const digits = 6

/** A field for a code of six digits, submitted with the sixth. It keeps the focus, so that a wrong code can be typed over. */
export function CodeField(props: { isChecking: boolean; onComplete: (code: string) => void }) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  useEffect(() => {
    if (!props.isChecking) field.current?.select()
  }, [props.isChecking])
  const type = (text: string) => {
    const code = text.replace(/\D/g, '').slice(0, digits)
    if (field.current) field.current.value = code
    if (code.length === digits) props.onComplete(code)
  }
  return (
    <label className="field">
      <span>{t.code}</span>
      <input
        dir="auto"
        ref={field}
        className={`input ${styles.codeField}`}
        inputMode="numeric"
        autoComplete="one-time-code"
        placeholder="000000"
        readOnly={props.isChecking}
        onFocus={(event) => event.target.select()}
        onChange={(event) => type(event.target.value)}
      />
      <small role="status">{props.isChecking ? t.checking : ''}</small>
    </label>
  )
}
