import { useState } from 'react'
import { type booking, joinEarlyMilliseconds } from '#shared/api/meetings/booking'
import type { OutputOf } from '#shared/kit/contract'
import { linkTo } from '#shared/kit/pages'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { dayOf, isolated, timeOf } from '../kit/format.ts'
import { useTell } from '../kit/toasts.tsx'
import { useNowUntil } from '../kit/use-now.ts'
import styles from './booking.module.css'
import { CancelDialog } from './cancel-dialog.tsx'
import { linkToCall } from './link-to-call.ts'

type Shown = Pick<
  OutputOf<typeof booking.invited>,
  | 'id'
  | 'scheduled_at'
  | 'duration_minutes'
  | 'status'
  | 'is_paid'
  | 'guest_name'
  | 'guest_email'
  | 'recipient_wallet_address'
  | 'cancel_reason'
  | 'hostName'
>

/** A call, for whoever has its token: they enter it there, and a guest who booked it can cancel it. */
export function CallCard({ call, token, isNew = false }: { call: Shown; token: string; isNew?: boolean }) {
  const client = useClient()
  const tell = useTell()
  const [told, setTold] = useState(call.status)
  const [reason, setReason] = useState(call.cancel_reason)
  const [isAsking, setAsking] = useState(false)
  const opensAt = Date.parse(call.scheduled_at) - joinEarlyMilliseconds
  const endsAt = Date.parse(call.scheduled_at) + call.duration_minutes * 60_000
  const now = useNowUntil(new Date(endsAt).toISOString())
  const status = told !== 'cancelled' && now >= endsAt ? 'completed' : told
  const isOn = status === 'confirmed' || status === 'pending'
  const titles = {
    pending: 'A call that is being paid for',
    confirmed: 'A call',
    cancelled: 'This call is cancelled',
    completed: 'This call is over',
  }
  const copy = async () => {
    await navigator.clipboard.writeText(linkToCall(token))
    tell('Copied')
  }
  const enter = async () => {
    const { joinCode } = await client.booking.join({ token })
    location.assign(linkTo('meeting', { code: joinCode }))
  }
  return (
    <section className={styles.bookingCard} aria-label="Call">
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
          {status === 'confirmed' && now >= opensAt && (
            <ActButton className="button main" onPress={enter}>
              Join the call
            </ActButton>
          )}
          <ActButton className="button" onPress={copy}>
            Copy the link of the call
          </ActButton>
          {(isNew || call.guest_name !== null) && (
            <button type="button" className="button risky" onClick={() => setAsking(true)}>
              Cancel the call
            </button>
          )}
        </div>
      )}
      {status === 'cancelled' && (
        <>
          {reason && (
            <p dir="auto" className={styles.bookingBio}>
              {reason}
            </p>
          )}
          <div className="row">
            <a className="button" href={linkTo('schedule', { slug: call.recipient_wallet_address })}>
              Book another time
            </a>
          </div>
        </>
      )}
      {isAsking && (
        <CancelDialog
          call={{
            id: call.id,
            isPaid: call.is_paid,
            time: `${dayOf(call.scheduled_at)}, ${timeOf(call.scheduled_at)}`,
          }}
          token={token}
          onCancelled={(_payment, said) => {
            setTold('cancelled')
            setReason(said)
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  )
}
