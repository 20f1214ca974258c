import { useState } from 'react'
import type { booking } from '#shared/api/booking'
import type { OutputOf } from '#shared/kit/contract'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { dayOf, isolated, timeOf } from '../kit/format.ts'
import { useTell } from '../kit/toasts.tsx'

type Shown = Pick<
  OutputOf<typeof booking.invited>,
  'id' | 'scheduled_at' | 'duration_minutes' | 'status' | 'guest_name' | 'guest_email' | 'hostName'
>

export const linkToCall = (token: string): string => `${location.origin}/join/${token}`

/** A call, for whoever has its token: a guest who booked it can cancel it there. */
export function CallCard({ call, token, isNew = false }: { call: Shown; token: string; isNew?: boolean }) {
  const client = useClient()
  const tell = useTell()
  const [status, setStatus] = useState(call.status)
  const isOn = status === 'confirmed' || status === 'pending'
  const titles = {
    pending: 'A call',
    confirmed: 'A call',
    cancelled: 'This call is cancelled',
    completed: 'This call is over',
  }
  const copy = async () => {
    await navigator.clipboard.writeText(linkToCall(token))
    tell('Copied')
  }
  const cancel = async () => {
    await client.booking.cancel({ id: call.id, status: 'cancelled', token })
    setStatus('cancelled')
  }
  return (
    <section className="booking-card" aria-label="Call">
      <h2>{isNew && isOn ? 'Your call is booked' : titles[status]}</h2>
      <p>
        <strong className="numerals">
          {dayOf(call.scheduled_at)}, {timeOf(call.scheduled_at)}
        </strong>
        <span className="hint"> by your own clock</span>
      </p>
      <p>
        {call.duration_minutes} minutes with {isolated(call.hostName)}
      </p>
      {isNew && call.guest_email !== null && <p className="hint">Its link goes to {call.guest_email}, too.</p>}
      {isOn && (
        <div className="row wrap">
          <ActButton className="button" onPress={copy}>
            Copy the link of the call
          </ActButton>
          {(isNew || call.guest_name !== null) && (
            <ActButton className="button risky" onPress={cancel}>
              Cancel the call
            </ActButton>
          )}
        </div>
      )}
    </section>
  )
}
