import { useState } from 'react'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { Problem } from '../kit/notice.tsx'
import { bookedCallTexts as t } from '../texts/booked-calls.ts'

const longest = 2_000

/** Asks before a call is cancelled, and for the reason, which the other one reads. */
export function CancelDialog(props: {
  call: { id: string; isPaid: boolean; time: string }
  token?: string
  onCancelled: (payment: 'kept' | 'withdrawn' | 'unknown' | null, reason: string | null) => void
  onClose: () => void
}) {
  const client = useClient()
  const [reason, setReason] = useState('')
  const { call, token, onClose } = props
  const [error, setError] = useState<unknown>(null)
  const cancel = async () => {
    const said = reason.trim() || null
    const asked = { id: call.id, status: 'cancelled', token, reason: said } as const
    const answer = await client.booking.cancel(asked).catch(setError)
    if (!answer) return
    props.onCancelled(answer.payment, said)
    onClose()
  }
  return (
    <Dialog title={t.dialog.title} onClose={onClose}>
      <div className="stack">
        <p>
          {t.dialog.text({ time: call.time, b: (time) => <strong className="numerals">{time}</strong> })}
          {call.isPaid && ` ${t.dialog.paid}`}
        </p>
        <label className="field">
          <span>{t.dialog.reason}</span>
          <textarea
            className="input"
            dir="auto"
            rows={3}
            maxLength={longest}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        </label>
        <Problem error={error} />
        <div className="row wrap">
          <button type="button" className="button" onClick={onClose}>
            {t.dialog.keep}
          </button>
          <ActButton className="button grave" onPress={cancel}>
            {t.dialog.cancel}
          </ActButton>
        </div>
      </div>
    </Dialog>
  )
}
