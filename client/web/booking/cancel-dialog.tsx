import { useState } from 'react'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { Problem } from '../kit/notice.tsx'

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
    <Dialog title="Cancel this call?" onClose={onClose}>
      <div className="stack">
        <p>
          The call on <strong className="numerals">{call.time}</strong> will not take place, and its time is free again.
          {call.isPaid && ' What was paid is not given back from here.'}
        </p>
        <label className="field">
          <span>Reason (optional)</span>
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
            Keep the call
          </button>
          <ActButton className="button grave" onPress={cancel}>
            Cancel the call
          </ActButton>
        </div>
      </div>
    </Dialog>
  )
}
