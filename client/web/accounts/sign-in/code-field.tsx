import { useEffect, useRef, useState } from 'react'
import { lengthOf, secondsUntil } from '../../kit/format.ts'
import { useNowUntil } from '../../kit/use-now.ts'
import { signInTexts as t } from '../../texts/sign-in.ts'
import roomPreviewStyles from '../welcome/room-preview.module.css'
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

const resendAfterMilliseconds = 30_000
const fromNow = () => new Date(Date.now() + resendAfterMilliseconds).toISOString()

/** Buttons to send a code or a link once more, after it had time to arrive, or to another address or number. */
export function SendAgain(props: {
  destination: keyof typeof t.changeTo
  isBusy: boolean
  onAgain: () => void
  onElsewhere: () => void
}) {
  const [again, setAgain] = useState(fromNow)
  const wait = Math.ceil(secondsUntil(again, useNowUntil(again)))
  const send = () => {
    setAgain(fromNow())
    props.onAgain()
  }
  return (
    <div className="row wrap">
      <button type="button" className="button" disabled={wait > 0 || props.isBusy} onClick={send}>
        {wait > 0 ? t.resendIn({ time: lengthOf(wait) }) : t.resend}
      </button>
      <button type="button" className="button plain" onClick={props.onElsewhere}>
        {t.changeTo[props.destination]}
      </button>
    </div>
  )
}

/** A link to the development mailbox, which shows the emails and texts that this server does not send. */
export function Mailbox(props: { kind: 'letters' | 'texts'; shownAt: string | null | undefined }) {
  if (!props.shownAt) return null
  return (
    <p className={roomPreviewStyles.demoNote}>
      {t.mailbox[props.kind]({
        mailbox: (parts) => (
          <a href={props.shownAt ?? ''} target="_blank" rel="noreferrer">
            {parts}
          </a>
        ),
      })}
    </p>
  )
}
