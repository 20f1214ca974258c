import { useState } from 'react'
import { lengthOf, secondsUntil } from '../../kit/format.ts'
import { useNowUntil } from '../../kit/use-now.ts'
import { signInTexts as t } from '../../texts/sign-in.ts'

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
